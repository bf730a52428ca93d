"""Watch the project on the whole terminal: tasks, what sessions do, evidence, diffs, logs, costs.

It follows a run in another terminal, a team, or none, and shows the history. Leaving it never
touches a run. Its keys do what the commands of the same names do; ? lists them.

examples:
  ralph watch
  ralph watch US-003                  begins with this task
  ralph watch 20261115-084300-1234    only the tasks that this run worked on
  ralph watch --no-mouse              the terminal's own selection of text works
"""

import os
import sys
from argparse import Namespace
from functools import partial

from ralph.cli.command import command, flag, option
from ralph.cli.project_access import open_view, project_with_store
from ralph.core.errors import NoSuchTask, UsageError
from ralph.core.ids import RunId
from ralph.core.safe_text import one_line


@command(
    option("name", "TASK|RUN", "a task to begin with, or a run", nargs="?"),
    flag("--no-mouse", "leave the mouse to the terminal"),
)
def watch(args: Namespace) -> None:
    if (
        not all(one.isatty() for one in (sys.stdin, sys.stdout, sys.stderr))
        or os.environ.get("TERM") == "dumb"
    ):
        raise UsageError(
            "ralph watch needs a terminal",
            hint="ralph status --watch prints lines, ralph serve is a page",
        )
    with project_with_store() as (project, store):
        from ralph.ui.watch.app import WatchApp
        from ralph.wiring.processes import run_own_command, start_own_command

        run = store.runs.get(RunId(args.name)) if args.name else None
        try:
            task = store.tasks.find(args.name) if args.name and run is None else None
        except NoSuchTask as error:
            shown = one_line(args.name, 60)
            raise NoSuchTask(f"no task or run is called {shown}", hint=error.hint) from error
        if args.color == "never" or project.config.ui.color == "never":
            os.environ["NO_COLOR"] = "1"
        app = WatchApp(
            open_view(project, store),
            partial(run_own_command, project.root),
            partial(start_own_command, project.root),
            project=os.path.basename(project.root),
            run=run,
            task=task.id if task is not None else None,
        )
        app.run(mouse=not args.no_mouse)
        if app.failure is not None:
            raise app.failure
