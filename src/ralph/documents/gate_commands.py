"""Which gates are no gates: commands whose exit status can never be a failure."""

from typing import Final

from ralph.core.safe_text import one_line
from ralph.core.shell.reading import TooDeep, read
from ralph.core.shell.tree import Pipeline, Script
from ralph.documents.shell.commands import can_fail
from ralph.documents.shell.interpreter import lists

LONGEST: Final = 32_000


def cannot_fail(command: str) -> str | None:
    """Why the command is no gate, as the rest of a sentence that begins with its name, or None.

    "ends with `|| true`, so it cannot fail"; also "is not valid shell: …".
    """
    if len(command) > LONGEST:
        return "is too long to be checked: put it into a script"
    if "\0" in command:
        return "holds a zero byte, which no command can"
    if "\r" in command:
        return "holds a carriage return, which a shell takes for a letter"
    try:
        script = read(command)
        if script.error:
            return f"is not valid shell: {_mistake(script, command)}"
        return None if can_fail(script, command) else _reason(script, command)
    except (TooDeep, RecursionError):
        # What nobody can follow proves nothing to a reader either.
        return "is nested too deeply to be checked"


def _mistake(script: Script, command: str) -> str:
    """What is wrong with the text, and where."""
    end = len(command.rstrip())
    line = command.count("\n", 0, min(script.error_at, end)) + 1
    if script.error_at < 0:
        return script.error
    if script.error_at >= end:
        return f"line {line} stops before it is finished"
    is_sentence = script.error.startswith("it ")
    return f"line {line} {script.error[3:] if is_sentence else f'has {script.error}'}"


def _reason(script: Script, command: str) -> str:
    """What to look at: nearly always the last statement."""
    if not script.pipelines:
        return "runs nothing, so it cannot fail"
    statements = lists(script)
    pipelines = statements[-1]
    last = pipelines[-1]
    if last.background:
        return "runs in the background, so its failure is never seen"
    if can_fail(Script(pipelines=tuple(pipelines)), command):
        return "always ends with success, so it cannot fail"
    if last.after == "||":
        return f"ends with `|| {_short(last, last, command)}`, so it cannot fail"
    if len(last.commands) > 1 and not last.denied:
        shown = one_line(command[last.commands[-1].start : last.commands[-1].end].strip(), 40)
        return f"ends with `| {shown}`, which succeeds whatever comes before (set -o pipefail)"
    only = "is" if len(statements) == 1 else "ends with"
    return f"{only} `{_short(pipelines[0], last, command)}`, which always succeeds"


def _short(first: Pipeline, last: Pipeline, command: str) -> str:
    end = last.commands[-1].end if last.commands else len(command)
    return one_line(command[first.start : end].strip(), 40)
