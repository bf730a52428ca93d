"""List agents: which are installed, in which version, and who would pay.

Nothing is spent: whether a login works is known only after `ralph agents probe`.
"""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.parser import add_json

if TYPE_CHECKING:
    from ralph.cli.agents_seen import Seen

EXAMPLES = """
ralph agents list
ralph agents list --json
"""


def arguments(parser: ArgumentParser) -> None:
    add_json(parser)


def run(args: Namespace) -> int:
    from ralph.adapters.executor.clock import SystemClock
    from ralph.adapters.executor.processes import Processes
    from ralph.cli.agents_seen import all_agents, see
    from ralph.cli.opening import the_project_if_any

    executor, project = Processes(SystemClock()), the_project_if_any()
    try:
        seen = [see(agent, executor, project) for agent in all_agents(led=True)]
    finally:
        executor.close()
    if args.json:
        import msgspec

        from ralph.cli.as_json import show_array

        show_array(msgspec.to_builtins(one) for one in seen)
        return 0
    from ralph.cli.screen import Screen
    from ralph.ui.tables import table

    screen = Screen(args, project)
    rows = [(one.name, one.version or "-", _paid_by(one), _probed(one)) for one in seen]
    headers = ("AGENT", "VERSION", "PAID BY", "PROBED")
    print("\n".join(table(rows, headers, width=screen.width, color=screen.has_colour)))
    for one in seen:
        if one.path is None:
            print(f"\n{one.name} is not installed: {one.install_hint}")
        elif one.account.logged_in is False:
            print(f"\n{one.name} is not logged in: {one.login_hint}")
    return 0


def _paid_by(one: "Seen") -> str:
    return one.account.name if one.path is not None else "not installed"


def _probed(one: "Seen") -> str:
    if one.record is None:
        return "never"
    outcome = f"fails: {one.record.trouble}" if one.record.trouble else "works"
    day = one.record.probed_at[:10]
    return f"{outcome} ({day}, {one.record.version})" if one.is_outdated else f"{outcome} ({day})"
