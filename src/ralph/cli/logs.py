"""Show what happened in the sessions of a task or a run.

Without a name: of the newest run. Each session is shown with how it ended, its gates, who checked
its work and what came of that, its commits and the path of its raw log; then come the last lines of
what the newest one said and did.
"""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.parser import add_json, at_least

if TYPE_CHECKING:
    from ralph.cli.sessions import Sessions
    from ralph.ports.store import Store
    from ralph.wiring.project import Project

EXAMPLES = """
ralph logs
ralph logs t-4f2a1b
ralph logs t-4f2a1b --attempt 2 -n 200
ralph logs -f
"""

LINES = 20


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="TASK|RUN", nargs="?", help="a task or a run")
    parser.add_argument(
        "-f", "--follow", action="store_true", help="go on with what happens from now on"
    )
    parser.add_argument(
        "--raw",
        action="store_true",
        help="print the raw log's bytes as they are, control characters and all",
    )
    parser.add_argument("--attempt", metavar="N", type=at_least(1), help="only this attempt")
    parser.add_argument(
        "-n",
        "--lines",
        metavar="N",
        type=at_least(0),
        default=LINES,
        help=f"how many lines of the log (default {LINES})",
    )
    add_json(parser, "print the sessions as a JSON array")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.cli.sessions import find_sessions
    from ralph.core.errors import UsageError

    if args.json and args.follow:
        raise UsageError(
            "--json and --follow do not go together",
            hint="ralph run --json prints events as they happen",
        )
    project = the_project()
    with the_store(project) as store:
        after = store.last_seq() if args.follow else 0
        found = find_sessions(store, args.name, args.attempt, may_wait=args.follow)
        if args.json:
            from ralph.cli.as_json import session_object, show_array

            show_array(session_object(one, found.checks[one.id]) for one in found.sessions)
        else:
            _show(args, project, found)
        if args.follow:
            return _follow(args, project, store, found, after)
    return 0


def _show(args: Namespace, project: "Project", found: "Sessions") -> None:
    import os

    from ralph.cli.hearing import show_session
    from ralph.cli.screen import Screen

    screen = Screen(args, project)
    print("\n".join(found.lines(screen, project.root)))
    newest = found.newest_log
    if newest and args.lines:
        path = os.path.join(project.root, newest)
        show_session(path, args.lines, screen.paint, raw=args.raw)


def _follow(
    args: Namespace, project: "Project", store: "Store", found: "Sessions", after: int
) -> int:
    from ralph.cli.following import Follower
    from ralph.cli.screen import Screen

    # Without a name it goes on with whatever happens, also in runs that are still to come.
    run = found.run_id if args.name else None
    paint = Screen(args, project).paint
    follower = Follower(store, project.root, task=found.task_id, run=run, raw=args.raw, paint=paint)
    return follower.follow(after, found.newest_log if found.is_open else "")
