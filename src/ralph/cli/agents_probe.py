"""Run a tiny real session of agents, and keep what this version was seen to do.

It costs what one small request costs, and stands behind the wall that sessions of a run have.
Without a name, every installed agent is probed whose version has not been probed yet; `ralph
doctor` shows the records.
"""

import os
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.doors import add_no_sandbox
from ralph.cli.parser import add_json

if TYPE_CHECKING:
    from ralph.core.capability import Capability

EXAMPLES = """
ralph agents probe            those that are new here, or have a new version
ralph agents probe --again    all that are installed
ralph agents probe claude     this one
ralph agents probe --no-sandbox    without a wall, knowingly
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="*", metavar="AGENT", help="which; default: what is new")
    parser.add_argument("--again", action="store_true", help="also what was probed before")
    add_no_sandbox(parser)
    add_json(parser)


def run(args: Namespace) -> int:
    from ralph.adapters.agents.records import Records
    from ralph.cli.agents_seen import all_agents, see
    from ralph.cli.opening import the_project_if_any, warn
    from ralph.core.errors import Unavailable
    from ralph.wiring.probe import a_probe

    project = the_project_if_any({"sandbox.mode": "off" if args.no_sandbox else None})
    records = Records(os.environ)
    found: list[Capability] = []
    for agent in all_agents(args.name):
        with a_probe(project, agent, warn) as probe:
            seen = see(agent, probe.executor, project)
            if seen.path is None and args.name:
                raise Unavailable(f"{seen.program} is not installed", hint=seen.install_hint)
            if seen.path is None or not (args.name or args.again or seen.is_outdated):
                continue
            record = probe.run(agent, seen.version)
            if probe.interrupted():
                return 130
        records.write(record)
        found.append(record)
        if not args.json:
            print(_told(record), flush=True)
    if args.json:
        import msgspec

        from ralph.cli.as_json import show_array

        show_array(msgspec.to_builtins(one) for one in found)
    elif not found:
        print("nothing to probe: `--again` probes what was probed before")
    return 0 if all(one.works for one in found) else 1


def _told(record: "Capability") -> str:
    """For people, a line and what is behind it."""
    from ralph.core.safe_text import one_line

    mark = f"fails: {one_line(record.trouble, 120)}" if record.trouble else "works"
    cost = "unknown" if record.cost_usd is None else f"${record.cost_usd:.4f}"
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(record.events.items()))
    lines = [
        f"{record.agent} {record.version or '-'}: {mark} ({record.duration_s:.1f} s)",
        f"  sandbox   {record.sandbox}",
        f"  session   {record.ended}, exit code {record.exit_code}",
        f"  prompt    {_yes(record.reads_prompt)}, claim {_yes(record.claims)}",
        f"  commits   {_yes(record.commits)}",
        f"  events    {kinds or 'none'}",
        f"  model     {one_line(record.model, 60) or 'not told'}, cost {cost}",
    ]
    if record.left_behind:
        lines.append(f"  left behind {record.left_behind} processes, ended")
    return "\n".join(lines)


def _yes(fact: bool) -> str:  # noqa: FBT001 - a word for a fact
    return "yes" if fact else "no"
