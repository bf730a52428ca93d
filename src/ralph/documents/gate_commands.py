"""Find gates that plainly cannot fail. Less visible ones are found by running them."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from ralph.core.safe_text import one_line
from ralph.core.shell.parser import read
from ralph.core.shell.tree import Command, Compound, Pipeline, ShellScript, Simple
from ralph.core.shell.words import TooDeep

LONGEST: Final = 32_000
SUCCEEDS: Final = re.compile(
    r"((/usr)?/bin/)?(true|echo)( .*)?|:( .*)?|set( .*)?"
    r"|printf [^$%]*|sleep [\d.]+|exit 0|cd \.\.|wait",
    re.DOTALL,
)
"""Whole commands. `exit` without a number repeats the status of the command before it."""
FILTERS: Final = re.compile(
    r"tee( .*)?|cat( -)?|(head|tail|sort|uniq|wc)( -[-abd-zABD-Z0-9=]+| \d+)*", re.DOTALL
)
"""Commands that succeed at the end of a pipe. `sort -c` does not."""
SHELLS: Final = ("sh", "bash", "/bin/sh", "/bin/bash")
UNCLEAR: Final = re.compile(
    r"\b(exit|return|exec|set|shopt|trap|kill|eval|source|break|continue|function|alias)\b"
    r"|\$\{[^}]*\?|\(\s*\)|(^|[\s;&|(])\.\s"
)
"""May end the script early, or change the meaning of the commands after it."""
OPTIONS: Final = re.compile(r"\b(set|shopt)\s+-")


def cannot_fail(command: str) -> str | None:
    """Why the command is no gate: "ends with `|| true`, so it cannot fail"; None: it may fail."""
    if len(command) > LONGEST:
        return "is too long to be checked: put it into a script"
    if "\0" in command:
        return "holds a zero byte, which no command can"
    if "\r" in command:
        return "holds a carriage return, which a shell takes for a letter"
    try:
        script = read(command)
        if script.error:
            line = command.rstrip().count("\n", 0, max(script.error_at, 0)) + 1
            return f"is not valid shell: line {line}: {script.error}"
        return _reason(script) if _succeeds(script, command) else None
    except (TooDeep, RecursionError):
        return "is nested too deeply to be checked"


def _succeeds(script: ShellScript, text: str) -> bool:
    """Whether the script, a part of the text, plainly ends with success."""
    lists = _lists(script)
    for pipelines, following in pairwise(lists):
        may_end_here = _is_unclear(text, pipelines[0], following[0]) or _has_options(text)
        if may_end_here and not _list_succeeds(pipelines, text):
            return False
    return not lists or _list_succeeds(lists[-1], text)


@lru_cache(maxsize=1)
def _has_options(text: str) -> bool:
    return OPTIONS.search(text) is not None


def _list_succeeds(pipelines: Sequence[Pipeline], text: str) -> bool:
    """Evaluate `a && b || c` from left to right."""
    succeeds = _pipeline_succeeds(pipelines[0], text)
    is_unclear = False
    for before, pipeline in pairwise(pipelines):
        is_unclear = is_unclear or _is_unclear(text, before, pipeline)
        this = _pipeline_succeeds(pipeline, text)
        if pipeline.after == "&&":
            succeeds = succeeds and this
        elif not succeeds:
            succeeds = this and not is_unclear
    return succeeds or pipelines[-1].background


def _is_unclear(text: str, first: Pipeline, following: Pipeline) -> bool:
    return UNCLEAR.search(text[first.start : following.start]) is not None


def _pipeline_succeeds(pipeline: Pipeline, text: str) -> bool:
    if not pipeline.commands or pipeline.negated:
        return False
    *before, last = pipeline.commands
    if before and "pipefail" in text:
        return False
    if isinstance(last, Compound) and last.kind in ("(", "{"):
        return _succeeds(last.scripts[0], text)
    if not isinstance(last, Simple) or not last.words:
        return False
    words = [word.literal for word in last.words]
    if words[0] in SHELLS and words[1:2] == ["-c"] and (inner := words[-1]) is not None:
        script = read(inner)
        return len(words) == 3 and not script.error and _succeeds(script, inner)
    reads_file = any(each.operator in ("<", "<>", "<&") for each in last.redirects)
    # `${x:?}` and `set -u` fail where a variable has no value.
    may_be_unset = None in words and ("${" in text or _has_options(text))
    command = " ".join("$" if word is None else word for word in words)
    succeeds = SUCCEEDS.fullmatch(command) or (before and FILTERS.fullmatch(command))
    return bool(succeeds) and not reads_file and not may_be_unset


def _lists(script: ShellScript) -> list[list[Pipeline]]:
    """The statements, each as its pipelines joined by `&&` and `||`."""
    starts = [at for at, each in enumerate(script.pipelines) if not each.after]
    return [[*script.pipelines[at:end]] for at, end in pairwise([*starts, len(script.pipelines)])]


def _reason(script: ShellScript) -> str:
    """What to look at: the last statement."""
    if not script.pipelines:
        return "runs nothing, so it cannot fail"
    last = script.pipelines[-1]
    if last.background:
        return "runs in the background, so its failure is never seen"
    shown = _shown(last.commands[-1])
    if last.after == "||":
        return f"ends with `|| {shown}`, so it cannot fail"
    if len(last.commands) > 1:
        return f"ends with `| {shown}`, which succeeds whatever comes before (set -o pipefail)"
    only = "is" if len(_lists(script)) == 1 else "ends with"
    return f"{only} `{shown}`, which always succeeds"


def _shown(command: Command) -> str:
    words = command.words if isinstance(command, Simple) else ()
    return one_line(" ".join(word.literal or "…" for word in words), 40) or "{ … }"
