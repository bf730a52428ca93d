"""Commands that show the sandbox and run something in it."""

import os
import shlex
from argparse import Namespace

from ralph.cli.command import command, option
from ralph.cli.options import SANDBOX_RULES, json_option, settings_of
from ralph.cli.output import TerminalStyle, print_json
from ralph.cli.project_access import open_project, warn
from ralph.core.safe_text import one_line
from ralph.ports.executor import Command
from ralph.wiring.agents import make_agent
from ralph.wiring.project_sandbox import ProjectSandbox
from ralph.wiring.sandbox import describe_project_sandbox, open_sandboxed_run

HEADINGS = {"write": "can be written", "read": "can be read", "hide": "hidden"}


@command(
    *SANDBOX_RULES,
    json_option("print sandbox, known_limits, places, programs, network and variables as JSON"),
)
def show(args: Namespace) -> None:
    """Show what sessions may write, read, start and reach, and why.

    examples:
      ralph sandbox show
      ralph sandbox show --allow aws
    """
    project = open_project(settings_of(args))
    seen = describe_project_sandbox(project)
    if args.json:
        print_json(seen)
        return
    style = TerminalStyle(args, project)
    limits = (f"does not stop: {limit}" for limit in seen.known_limits)
    lines = [f"{style.bold('sandbox')}  {seen.sandbox or 'none'}"]
    lines += [f"         {one_line(line)}" for line in (seen.note, *limits) if line]
    lines.append(" ".join((f"{style.bold('network')}  {seen.network}", *seen.domains)))
    what = "what is not listed here does not exist inside; [sandbox] read shows more"
    lines.append(f"{style.bold('files')}    {what}")
    for access, heading in HEADINGS.items():
        lines += ["", style.bold(heading)]
        for place in (one for one in seen.places if one.access == access):
            why = f"  {place.why}" if place.exists else f" (not there)  {place.why}"
            lines.append(f"  {one_line(place.path)}{style.dim(why)}")
    lines += ["", style.bold("blocked")]
    for program in seen.programs:
        allow = style.dim(f"  --allow {program.rule}")
        lines += [f"  {one_line(file)}{allow}" for file in program.files]
        said = f"  {program.name} is not blocked: this file does other things, too"
        lines += [f"  {one_line(file)}{style.dim(said)}" for file in program.shared]
    other = style.dim("  another program listens there")
    lines += [f"  {one_line(socket)}{other}" for socket in seen.sockets]
    lines += ["", style.bold("variables")]
    lines += [f"  {one_line(name)}{style.dim('  not passed on')}" for name in seen.dropped]
    lines += [f"  {name}={one_line(value)}" for name, value in seen.variables.items()]
    print("\n".join(lines))


@command(
    option("command", "COMMAND", "what to run, after --", nargs="+"),
    option("--agent", "NAME", "as a session of this agent"),
    *SANDBOX_RULES,
)
def run(args: Namespace) -> int:
    """Run any command in the sandbox that a session gets; its exit code is passed on.

    With --agent, the agent's configuration folder is there as in a session.

    examples:
      ralph sandbox run -- make test
      ralph sandbox run --allow aws -- aws sts get-caller-identity
      ralph sandbox run --agent claude -- claude --version
    """

    project = open_project(settings_of(args))
    traits = make_agent(project, args.agent).traits if args.agent is not None else None
    rules = ProjectSandbox(project=project, command=shlex.join(args.command))
    with open_sandboxed_run(rules, traits) as sandboxed:
        for warning in sandboxed.checkout_sandbox.warnings:
            warn(warning)
        argv = Command(argv=tuple(args.command), cwd=os.getcwd(), env=sandboxed.env)
        with sandboxed.checkout_sandbox.sandboxed(argv, home=sandboxed.home) as inside:
            code = sandboxed.executor.run_in_foreground(inside.command)
    for warning in inside.warnings:
        warn(warning)
    return code
