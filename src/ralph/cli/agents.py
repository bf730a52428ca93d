"""Commands about the agents on this machine."""

from argparse import Namespace

from ralph.cli.command import command, flag, option
from ralph.cli.options import JSON, NO_SANDBOX, settings_of
from ralph.cli.output import print_json_array, print_list
from ralph.cli.project_access import open_project, warn
from ralph.core.errors import Unavailable
from ralph.core.probe_result import ProbeResult
from ralph.core.safe_text import one_line
from ralph.wiring.agents import AgentInfo, agent_programs, inspect_agent, probe_records
from ralph.wiring.processes import open_executor


@command(JSON)
def list_agents(args: Namespace) -> None:
    """List agents: which are installed, in which version, and who would pay.

    This costs nothing, so it does not test logins; `ralph agents probe` does.

    examples:
      ralph agents list
    """
    project = open_project(anywhere=True)
    with open_executor() as executor:
        agents = agent_programs()
        found = [inspect_agent(agent, executor, project) for agent in agents]
    print_list(args, project, found, ("AGENT", "VERSION", "PAID BY", "PROBED"), _row)
    for one in found if not args.json else ():
        if one.path is None:
            print(f"\n{one.name} is not installed: {one.install_hint}")
        elif one.account.logged_in is False:
            print(f"\n{one.name} is not logged in: {one.login_hint}")


def _row(one: AgentInfo) -> tuple[str, ...]:
    paid_by = one.account.name if one.path is not None else "not installed"
    probed = "never"
    if one.record is not None:
        outcome = f"fails: {one.record.trouble}" if one.record.trouble else "works"
        version = f", {one.record.version}" if one.is_outdated else ""
        probed = f"{outcome} ({one.record.probed_at[:10]}{version})"
    return one.name, one.version or "-", paid_by, probed


@command(
    option("name", "AGENT", "which; default: what is new", nargs="*"),
    flag("--again", "also what was probed before"),
    NO_SANDBOX,
    JSON,
)
def probe(args: Namespace) -> int:
    """Run a tiny real session of agents, and record what this version can do.

    It costs one small request, and runs in the sandbox of a run. Without a name, it probes every
    installed agent whose version has no record yet; `ralph doctor` shows the records.

    examples:
      ralph agents probe            those that are new here, or have a new version
      ralph agents probe --again    all that are installed
      ralph agents probe claude     this one
      ralph agents probe --no-sandbox    without the sandbox
    """
    from ralph.wiring.single_sessions import open_agent_probe

    project = open_project(settings_of(args), anywhere=True)
    records = probe_records()
    found: list[ProbeResult] = []
    for agent in agent_programs(args.name):
        with open_agent_probe(project, agent, warn) as session:
            seen = inspect_agent(agent, session.executor, project)
            if seen.path is None and args.name:
                raise Unavailable(f"{seen.program} is not installed", hint=seen.install_hint)
            # A library runs another agent's program, which is probed itself.
            is_due = not agent.traits.package and (args.again or seen.is_outdated)
            if seen.path is None or not (args.name or is_due):
                continue
            record = session.run(agent, seen.version)
            if session.interrupted():
                return 130
        records.write(record)
        found.append(record)
        if not args.json:
            print(_probe_text(record), flush=True)
    if args.json:
        print_json_array(found)
    elif not found:
        print("nothing to probe: `--again` probes what was probed before")
    return 0 if all(one.works for one in found) else 1


def _probe_text(record: ProbeResult) -> str:
    mark = f"fails: {one_line(record.trouble, 120)}" if record.trouble else "works"
    cost = "unknown" if record.cost_usd is None else f"${record.cost_usd:.4f}"
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(record.events.items()))
    yes = {True: "yes", False: "no"}
    left = f"\n  left behind {record.left_behind} processes, ended" if record.left_behind else ""
    return f"""\
{record.agent} {record.version or "-"}: {mark} ({record.duration_s:.1f} s)
  sandbox   {record.sandbox}
  session   {record.ended}, exit code {record.exit_code}
  prompt    {yes[record.reads_prompt]}, claim {yes[record.claims]}
  commits   {yes[record.commits]}
  events    {kinds or "none"}
  model     {one_line(record.model, 60) or "not reported"}, cost {cost}{left}"""
