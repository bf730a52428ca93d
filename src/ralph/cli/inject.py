"""Give guidance to the next session, without stopping the one at work."""

from argparse import ArgumentParser, Namespace

EXAMPLES = """
ralph inject "use the fixture in tests/data, do not write a new one"
ralph inject --task t-4f2a1b "the API changed, see docs/api.md"
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("message", metavar="MESSAGE", help="what to say; - reads standard input")
    parser.add_argument("--task", metavar="TASK", help="only for sessions of this task")


def run(args: Namespace) -> int:
    from ralph.cli.living import living_runs
    from ralph.cli.opening import the_store
    from ralph.cli.task.options import described
    from ralph.core.errors import UsageError

    message = described(args.message).strip()
    if not message:
        raise UsageError("the message is empty")
    with the_store() as store:
        task = store.find(args.task) if args.task else None
        store.inject(message, task.id if task else None)
        is_running = bool(living_runs(store))
    whose = f"the next session of {task.id}" if task else "the next session"
    print(f"{whose} will be told" + ("" if is_running else "; no run is at work now"))
    return 0
