"""Draw the files again that show the state to other programs.

A run keeps them up to date: `.ralph/state.json`, `.ralph/implementation_plan.json`,
`.ralph/sessions.jsonl`, `.ralph/progress.txt`, `.ralph/failures.json`, `.ralph/metrics.json` and
`.ralph/reviews/`.
All that is in them is in the database as well, so whatever happened to them, this makes them whole.
Nothing is ever read back from them.
"""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph files rebuild
"""


def arguments(parser: ArgumentParser) -> None:
    del parser


def run(args: Namespace) -> int:
    import os

    from ralph.cli.opening import the_project, the_store
    from ralph.core.errors import UsageError
    from ralph.wiring.project import open_library
    from ralph.wiring.views import views_of

    del args
    if os.environ.get("RALPH_SOCKET"):
        raise UsageError("a session cannot write these files", hint="leave it to a person")
    project = the_project()
    with the_store(project) as store:
        drawn = views_of(project, store, open_library(project)).rebuild()
    print("\n".join(drawn))
    return 0
