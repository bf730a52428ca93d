"""List features and how far their tasks have come."""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json

EXAMPLES = """
ralph feature list
ralph feature list --json
"""


def arguments(parser: ArgumentParser) -> None:
    add_json(parser)


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.cli.screen import Screen
    from ralph.core.target import OneFeature
    from ralph.ui.tables import table

    project = the_project()
    with the_store(project) as store:
        features = [
            (feature, store.counts(OneFeature(feature.id, feature.name)))
            for feature in store.features()
        ]
    if args.json:
        import msgspec

        from ralph.cli.as_json import show_array

        show_array(
            msgspec.structs.asdict(feature) | {"tasks": msgspec.structs.asdict(counts)}
            for feature, counts in features
        )
        return 0
    if not features:
        print("no features; `ralph feature create NAME` makes one")
        return 0
    screen = Screen(args, project)
    rows = [
        (
            feature.id,
            feature.name,
            feature.status.value,
            f"{counts.done}/{counts.total}",
            str(counts.failed),
            str(counts.blocked),
        )
        for feature, counts in features
    ]
    headers = ("ID", "NAME", "STATUS", "DONE", "FAILED", "BLOCKED")
    print("\n".join(table(rows, headers, width=screen.width, color=screen.has_colour)))
    return 0
