"""Python packages with uv and nothing else, where a project wants it so."""

import re
from collections.abc import Sequence
from typing import Final

from ralph.core.policy.decision import Deny
from ralph.core.policy.known import Field
from ralph.core.policy.walking import Call
from ralph.core.shell.escapes import quote

INSTALLERS: Final = re.compile(
    r"pip[\d.]*|pyvenv|virtualenv|conda|mamba|micromamba|poetry|pipenv|easy_install[-\d.]*"
)
MODULES: Final = frozenset(
    {"pip", "venv", "virtualenv", "ensurepip", "conda", "poetry", "pipenv", "easy_install"}
)
PYTHON: Final = re.compile(r"python[\d.]*w?|pypy[\d.]*|py")
RUN_BY_UV: Final = frozenset(
    {"python", "python3", "pytest", "ruff", "mypy", "pyright", "black", "coverage"}
)
"""They see the project's packages only through `uv run`."""
RUNNERS: Final = frozenset(
    {"uv", "uvx", "pdm", "hatch", "rye", "npx", "bunx", "mise", "direnv", "tox", "nox"}
)
"""What they run has its surroundings already."""
UV_VALUES: Final = frozenset(
    {"--directory", "--project", "--cache-dir", "--config-file", "--color"}
)


def judge_packaging(call: Call) -> Deny | None:
    """What is wrong with a command that installs or runs packages, if anything."""
    texts = [word.text for word in call.words[1:]]
    if INSTALLERS.fullmatch(call.name):
        return _deny(call.name, call.name, texts)
    if PYTHON.fullmatch(call.name):
        module, rest = _module(texts)
        if module.partition(".")[0] in MODULES:
            return _deny(f"{call.name} -m {module}", module, rest)
    if call.name == "uv":
        while texts and texts[0].startswith("-"):
            texts = texts[2:] if texts[0] in UV_VALUES else texts[1:]
        if texts[:1] == ["pip"]:
            return _deny("uv pip", "pip", texts[1:])
    return None


def _module(texts: list[str]) -> tuple[str, list[str]]:
    """What `python -m` runs, and its arguments."""
    while texts and texts[0].startswith("-") and texts[0] != "-":
        option, *texts = texts
        if found := re.fullmatch(r"-[A-Za-ln-z]*m(.*)", option):
            if found.group(1):
                return found.group(1), texts
            return (texts[0], texts[1:]) if texts else ("", [])
        if re.fullmatch(r"-\w*c.*", option):
            return "", []
        if option in ("-W", "-X"):
            texts = texts[1:]
    return "", []


def _deny(shown: str, tool: str, arguments: Sequence[str]) -> Deny:
    return Deny(
        reason=f"`{shown}` is not used here: packages are managed with uv alone",
        suggestion=_suggestion(tool.partition(".")[0].rstrip("0123456789."), arguments),
    )


def _suggestion(tool: str, arguments: Sequence[str]) -> str:
    words = [word for word in arguments if not word.startswith("-")]
    verb, *names = words or [""]
    match tool, verb:
        case (("venv" | "virtualenv" | "pyvenv" | "ensurepip"), _):
            return "`uv sync` makes the environment, `uv run …` uses it"
        case _, "install" if "-e" in arguments or not names:
            return "`uv sync` installs the project and what it needs"
        case _, "install" | "add" if "-r" in arguments:
            return f"`uv add -r {quote(names[0])}`" if names else "`uv sync`"
        case _, "install" | "add":
            return f"`uv add {' '.join(map(quote, names))}`"
        case _, "uninstall" | "remove":
            return f"`uv remove {' '.join(map(quote, names))}`"
        case _, "run" if names:
            return f"`uv run {' '.join(map(quote, arguments[1:]))}`"
        case _, "list" | "freeze" | "show":
            return "`uv tree` shows what is installed"
        case _:
            return "`uv add`, `uv remove`, `uv sync` or `uv run`"


def under_uv(text: str, calls: Sequence[Call]) -> str:
    """The text with `uv run` before each tool that needs it."""
    runners = [call.words for call in calls if call.name in RUNNERS and call.words[0].start >= 0]
    served = [(words[0].start, _end(words)) for words in runners]
    places = {
        call.words[0].start
        for call in calls
        if call.is_sure
        and call.words
        and call.words[0].text in RUN_BY_UV
        and call.words[0].start >= 0
        and not any(start <= call.words[0].start <= end for start, end in served)
    }
    for place in sorted(places, reverse=True):
        text = f"{text[:place]}uv run {text[place:]}"
    return text


def _end(words: Sequence[Field]) -> int:
    """Where a command ends in the source."""
    return max(max(word.start, word.inner) + len(word.text) + 1 for word in words)
