"""The decision itself: tool, input, phase and policy in; allow, deny or rewrite out."""

from collections.abc import Iterable, Mapping
from typing import Final

from ralph.core.policy.calling import walk
from ralph.core.policy.credentials import judge_credentials, judge_file
from ralph.core.policy.decision import (
    Allow,
    Decision,
    Deny,
    Doubt,
    Ground,
    Packaging,
    Phase,
    Policy,
    Rewrite,
)
from ralph.core.policy.destructive import judge_destruction
from ralph.core.policy.git_rules import judge_git
from ralph.core.policy.inputs import command_of
from ralph.core.policy.machine import judge_machine
from ralph.core.policy.packaging import judge_packaging, under_uv
from ralph.core.policy.processes import judge_ending
from ralph.core.policy.read_only import judge_reading
from ralph.core.policy.tools import TOOLS, Toolbox, is_own, meant
from ralph.core.policy.walking import Bomb, Call, Found, TooMuch
from ralph.core.policy.written_files import judge_writing, judge_written
from ralph.core.shell.reading import TooDeep

LONGEST: Final = 4 * 1024 * 1024
FILES: Final = ("file_path", "path", "notebook_path", "pattern")
SIMPLER: Final = "write it in simpler words, or put it into a script"


def decide(
    tool: str,
    given: Mapping[str, object],
    *,
    phase: Phase,
    policy: Policy,
    ground: Ground,
    toolbox: Toolbox,
) -> Decision:
    """Whether a session may use a tool like this."""
    if is_own(tool):
        return Allow()
    tools = meant(tool, toolbox)
    is_allowed = bool(TOOLS[phase] & set(tools))
    if "Bash" in tools:
        command = command_of(given)
        if is_allowed:
            return decide_command(command, policy=policy, ground=ground)
        if toolbox.reads_by_shell or _asks_ralph(command, ground):
            return decide_command(command, policy=policy, ground=ground, only_reads=True)
    if not is_allowed:
        return Deny(
            reason=f"{tool or 'a tool without a name'} is not for the {phase} phase",
            suggestion=f"this phase has {', '.join(sorted(TOOLS[phase]))}",
        )
    for key in FILES:
        path = given.get(key)
        if not isinstance(path, str):
            continue
        path = ground.home + path[1:] if path.startswith("~/") else path
        writes = bool({"Write", "Edit"} & set(tools))
        verdict = judge_file(path, ground, policy.doors) or (
            judge_written(path, ground.cwd or ground.checkout, ground) if writes else None
        )
        if verdict is not None:
            return verdict
    return Allow()


def decide_command(
    text: str, *, policy: Policy, ground: Ground, only_reads: bool = False
) -> Decision:
    """Whether a session may run a shell text like this. Never raises, whatever the text."""
    # A zero cannot be in a command; a shell that meets one in a file leaves it out.
    text = text.replace("\0", "")
    if len(text) > LONGEST:
        return Deny(reason="the command is too long to be judged", suggestion=SIMPLER)
    try:
        found = walk(text, ground)
    except TooDeep:
        return Deny(reason="the command is nested too deeply to be judged", suggestion=SIMPLER)
    except (TooMuch, RecursionError):
        return Deny(reason="the command is too involved to be judged", suggestion=SIMPLER)
    doubts: list[str] = []
    for verdict in _verdicts(found, policy, ground, only_reads=only_reads):
        if isinstance(verdict, Deny):
            return verdict
        doubts.append(verdict.reason)
    if doubts and (policy.strict or only_reads):
        return Deny(reason=f"this cannot be decided: {doubts[0]}", suggestion=SIMPLER)
    noted = tuple(dict.fromkeys(doubts))
    if policy.packaging is Packaging.UV:
        calls = [each for each in found if isinstance(each, Call)]
        rewritten = under_uv(text, calls)
        if rewritten != text:
            return Rewrite(command=rewritten, doubts=noted)
    return Allow(doubts=noted)


def _verdicts(
    found: Iterable[Found], policy: Policy, ground: Ground, *, only_reads: bool
) -> Iterable[Deny | Doubt]:
    for each in found:
        match each:
            case Doubt():
                yield each
            case Bomb():
                yield Deny(
                    reason=f"the function `{each.name}` starts itself over and over",
                    suggestion="call it once",
                )
            case Call():
                yield from _judged(each, policy, ground, only_reads=only_reads)


def _judged(
    call: Call, policy: Policy, ground: Ground, *, only_reads: bool
) -> Iterable[Deny | Doubt]:
    verdicts = (
        judge_git(call, policy.git),
        judge_packaging(call) if policy.packaging is Packaging.UV else None,
        judge_destruction(call, ground),
        judge_ending(call.name, call.words),
        judge_machine(call),
        judge_writing(call, ground),
        judge_credentials(call, ground, policy.doors),
        judge_reading(call) if only_reads else None,
    )
    for verdict in verdicts:
        if isinstance(verdict, Deny) or (verdict is not None and call.is_sure):
            yield verdict


def _asks_ralph(text: str, ground: Ground) -> bool:
    """Whether the text calls Ralph: what it does with the answers may only be looking."""
    try:
        found = walk(text.replace("\0", ""), ground)
    except (TooDeep, TooMuch, RecursionError):
        return False
    return any(isinstance(each, Call) and each.name == "ralph" for each in found)
