"""Say that a finding of a review is not to be mended, and not to be raised again."""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph task dismiss t-4f2a1b F2 "the old format is gone on purpose"
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", metavar="TASK", help="its id or alias")
    parser.add_argument("finding", metavar="FINDING", help="its name in the review, such as F2")
    parser.add_argument("reason", metavar="REASON", help="why; the next reviewer reads it")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.core.errors import Missing, UsageError
    from ralph.core.review import Dismissal
    from ralph.engine.matter import matter_of, write_file
    from ralph.wiring.project import open_library

    if not args.reason.strip():
        raise UsageError("a finding is dismissed with a reason", hint="say why it is none")
    project = the_project()
    with the_store(project) as store:
        task = store.find(args.task)
        known = [one.id for one in matter_of(store, task).raised]
        if args.finding not in known:
            raise Missing(
                f"{task.name} has no finding {args.finding}",
                hint=f"it has {', '.join(known)}" if known else "no reviewer has found anything",
            )
        store.dismiss(
            task.id, Dismissal(finding=args.finding, reason=args.reason.strip(), by="a person")
        )
        write_file(store, open_library(project), task)
    return 0
