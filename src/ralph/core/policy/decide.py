"""The decision about one use of a tool: allow, deny or rewrite."""

from collections.abc import Collection, Mapping
from itertools import chain
from typing import Final

from ralph.core.policy.commands import CommandReader, read_commands
from ralph.core.policy.decision import (
    Allow,
    Decision,
    Deny,
    Policy,
    PolicyContext,
    Rewrite,
)
from ralph.core.policy.file_rules import judge_files, judge_read_file, judge_written_file
from ralph.core.policy.git_rules import judge_git
from ralph.core.policy.machine_rules import judge_machine
from ralph.core.policy.python_packages import judge_packages, with_uv_run
from ralph.core.policy.read_only import judge_read_only
from ralph.core.policy.shell_state import TooMuch
from ralph.core.policy.tools import OWN_TOOLS, TOOLS, ToolPermissions, command_of
from ralph.core.policy.words import Field
from ralph.core.shell.words import TooDeep

LONGEST: Final = 4 * 1024 * 1024
FILES: Final = ("file_path", "path", "notebook_path", "pattern")
RULES: Final = (judge_git, judge_packages, judge_files, judge_machine)
SIMPLER: Final = "write it in simpler words, or put it into a script"


def decide(tool: str, given: Mapping[str, object], permissions: ToolPermissions) -> Decision:
    phase, policy, context = permissions.phase, permissions.policy, permissions.context
    if tool.startswith(OWN_TOOLS):
        return Allow()
    meanings = set(permissions.tools.names.get(tool, (tool,)))
    is_allowed = bool(TOOLS[phase] & meanings)
    if "Bash" in meanings:
        command = command_of(given)
        tools = permissions.tools
        if is_allowed:
            decision = decide_command(command, policy=policy, context=context)
            if isinstance(decision, Rewrite) and not tools.takes_rewrites:
                return Deny(
                    reason="this project runs it in other words",
                    suggestion=f"run `{decision.command}`",
                )
            return decision
        if tools.reads_by_shell or _calls_ralph(command, context):
            # Some models call the tool that edits as a program: it may do what the tool may.
            may = TOOLS[phase] & {"Write", "Edit"}
            editors = {name for name, means in tools.names.items() if may.intersection(means)}
            return decide_command(
                command, policy=policy, context=context, only_reads=True, editors=editors
            )
    if not is_allowed:
        return Deny(
            reason=f"{tool or 'a tool without a name'} is not for the {phase} phase",
            suggestion=f"this phase has {', '.join(sorted(TOOLS[phase]))}",
        )
    for path in (given[key] for key in FILES if key in given):
        if isinstance(path, str):
            verdict = _judge_path(path, policy, context, writes=bool({"Write", "Edit"} & meanings))
            if verdict is not None:
                return verdict
    return Allow()


def _judge_path(path: str, policy: Policy, context: PolicyContext, *, writes: bool) -> Deny | None:
    path = context.home + path[1:] if path.startswith("~/") else path
    cwd = context.cwd or context.checkout
    verdict = judge_read_file(path, cwd, context, policy.allow_rules)
    return verdict or (judge_written_file(Field(path), cwd, context) if writes else None)


def decide_command(
    text: str,
    *,
    policy: Policy,
    context: PolicyContext,
    only_reads: bool = False,
    editors: Collection[str] = (),
) -> Decision:
    """Decide whether a session may run a shell text. Never raises, whatever the text. If it
    `only_reads`, `editors` are programs that it may run all the same."""
    found = _found(text, context)
    if isinstance(found, Deny):
        return found
    judged = (rule(call, policy, context) for call in found.calls for rule in RULES)
    changes = (judge_read_only(call, editors) for call in found.calls if only_reads)
    doubts: list[str] = []
    for verdict in chain(found.doubts, *judged, *changes):
        if isinstance(verdict, Deny):
            return verdict
        if verdict is not None:
            doubts.append(verdict.reason)
    if doubts and (policy.strict or only_reads):
        return Deny(reason=f"this cannot be decided: {doubts[0]}", suggestion=SIMPLER)
    noted = tuple(dict.fromkeys(doubts))
    rewritten = with_uv_run(found.source, found.calls) if policy.uses_uv else found.source
    if rewritten != found.source:
        return Rewrite(command=rewritten, doubts=noted)
    return Allow(doubts=noted)


def _found(text: str, context: PolicyContext) -> CommandReader | Deny:
    if len(text) > LONGEST:
        return Deny(reason="the command is too long to be judged", suggestion=SIMPLER)
    try:
        return read_commands(text, context)
    except (TooDeep, TooMuch, RecursionError):
        return Deny(reason="the command is too involved to be judged", suggestion=SIMPLER)


def _calls_ralph(text: str, context: PolicyContext) -> bool:
    """Whether the text calls Ralph, which phases without a shell may do."""
    found = _found(text, context)
    return not isinstance(found, Deny) and any(call.name == "ralph" for call in found.calls)
