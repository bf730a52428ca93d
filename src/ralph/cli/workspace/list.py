"""List the private checkouts: whose they are, since when, and what room they take."""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json

EXAMPLES = """
ralph workspace list
ralph workspace list --json | jq -r .[].path
"""


def arguments(parser: ArgumentParser) -> None:
    add_json(parser)


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.cli.times import local
    from ralph.cli.workspace.tenants import tenants, told_size

    project = the_project()
    with the_store(project) as store:
        found = tenants(store, project)
    if args.json:
        from ralph.cli.as_json import show_array

        show_array(found)
        return 0
    if not found:
        print("no private checkouts; several workers have one for each task")
        return 0
    from ralph.cli.screen import Screen
    from ralph.ui.tables import table

    screen = Screen(args, project)
    rows = [
        (one.name, one.status or one.kind, local(one.since), told_size(one.size_bytes), one.title)
        for one in found
    ]
    headers = ("NAME", "STATUS", "SINCE", "SIZE", "TITLE")
    print("\n".join(table(rows, headers, width=screen.width, color=screen.has_colour)))
    print(f"{told_size(sum(one.size_bytes for one in found))} in all")
    return 0
