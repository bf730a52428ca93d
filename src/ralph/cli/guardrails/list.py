"""List the lessons that sessions are told."""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json

EXAMPLES = """
ralph guardrails list
ralph guardrails list --json | jq -r .[].text
"""


def arguments(parser: ArgumentParser) -> None:
    add_json(parser)


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project
    from ralph.cli.screen import Screen
    from ralph.core.errors import UnusableData
    from ralph.documents import guardrails
    from ralph.ui.tables import table
    from ralph.wiring.project import guardrails_of, open_library

    project = the_project()
    page = open_library(project).read(guardrails_of(project))
    if page.trouble:
        raise UnusableData(page.trouble, hint="look at what is in its place")
    found = guardrails.read(page.text or "")
    if args.json:
        from ralph.cli.as_json import show_array

        show_array(found)
        return 0
    if not found:
        print("no guardrails; `ralph guardrails add TEXT` writes one down")
        return 0
    screen = Screen(args, project)
    rows = [(one.id, one.created, ", ".join(one.tags), one.text) for one in found]
    headers = ("ID", "CREATED", "TAGS", "TEXT")
    print("\n".join(table(rows, headers, width=screen.width, color=screen.has_colour)))
    return 0
