"""Leave a task out: it is blocked, and its session, if it has one, is stopped.

`ralph task unblock` brings it back.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.task.naming import add_task

EXAMPLES = """
ralph skip t-4f2a1b
ralph skip US-003 -r "not needed before the release"
"""


def arguments(parser: ArgumentParser) -> None:
    add_task(parser)
    parser.add_argument("-r", "--reason", metavar="TEXT", default="", help="why it is left out")


def run(args: Namespace) -> int:
    from ralph.cli.living import living_runs
    from ralph.cli.opening import the_store
    from ralph.core.task import Status
    from ralph.core.transitions import Blocked
    from ralph.ports.history import Word

    reason = args.reason.strip()
    with the_store() as store:
        task = store.find(args.task)
        holders = []
        if task.status is Status.IN_PROGRESS:
            holders = [one for one in living_runs(store) if one.worker == task.claimed_by]
        for holder in holders:
            # Only the run itself can stop the session; it blocks the task then.
            store.send(holder.id, Word.SKIP, task.id, reason)
        if not holders:
            store.apply(task.id, [Blocked(reason or "skipped by a person")])
    if holders:
        print(f"{task.id}: run {holders[0].id} stops its session and leaves it out")
    else:
        print(f"{task.id}: blocked; `ralph task unblock {task.id}` brings it back")
    return 0
