"""Make a task of an idea, in a conversation with an agent.

The agent takes over the terminal, looks at the code, asks, and adds the task when you agree.
`ralph task add` does it without a conversation.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.with_a_person import add_agent

EXAMPLES = """
ralph task create
ralph task create "exports should not time out" --agent claude
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("request", metavar="IDEA", nargs="?", default="", help="what is wanted")
    add_agent(parser)


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.cli.task.telling import titled
    from ralph.cli.with_a_person import flags, hold, need_terminal
    from ralph.core.errors import RalphError
    from ralph.core.events import TaskAdded
    from ralph.core.feature_texts import talk_about_task
    from ralph.wiring.project import open_library
    from ralph.workflows.context import context_of

    need_terminal("ralph task create", 'ralph task add "TITLE" -d "…"')
    project = the_project(flags(args))
    with the_store(project) as store:
        before = store.last_seq()
        talk = talk_about_task(
            args.request.strip(), context_of(project.loaded, store, open_library(project))
        )
    hold(project, talk)
    with the_store(project) as store:
        told = [recorded.event for recorded in store.events(after=before, limit=0)]
    added = [event.task for event in told if isinstance(event, TaskAdded)]
    if not added:
        raise RalphError("no task was added", hint='ralph task add "TITLE" -d "…"')
    for task in added:
        print(f"{task.id}  {titled(task)}")
    return 0
