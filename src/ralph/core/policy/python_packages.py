"""Python packages are installed and run with uv alone, where a project uses it."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from ralph.core.policy.decision import Deny, Policy, PolicyContext, Verdict
from ralph.core.policy.words import CommandCall, names

INSTALLERS: Final = re.compile(
    r"(pip|pyvenv|virtualenv|conda|mamba|micromamba|poetry|pipenv|easy_install)[-\d.]*"
)
MODULES: Final = names("pip venv virtualenv ensurepip conda poetry pipenv easy_install")
PYTHON: Final = re.compile(r"python[\d.]*w?|pypy[\d.]*|py")
MODULE: Final = re.compile(r"(?: -[WX] \S+| -[A-Zabd-ln-z]+(?= ))*+ -[A-Za-ln-z]*m ?(\S+) ")
RUN_BY_UV: Final = names("python python3 pytest ruff mypy pyright black coverage")
"""They see the project's packages only through `uv run`."""
RUNNERS: Final = names("uv uvx pdm hatch rye npx bunx mise direnv tox nox")
"""What they run sees its packages already."""
UV_PIP: Final = re.compile(
    r"(?: --(?:directory|project|cache-dir|config-file|color) \S+| -\S+)*+ pip "
)


def judge_packages(call: CommandCall, policy: Policy, _context: PolicyContext) -> Iterator[Verdict]:
    """What is wrong with a command that installs packages, if anything."""
    if not policy.uses_uv:
        return
    if INSTALLERS.fullmatch(call.name):
        yield _deny(call.name)
    elif PYTHON.fullmatch(call.name) and (found := MODULE.match(call.arguments)):
        if found[1].partition(".")[0] in MODULES:
            yield _deny(f"{call.name} -m {found[1]}")
    elif call.name == "uv" and UV_PIP.match(call.arguments):
        yield _deny("uv pip")


def _deny(shown: str) -> Deny:
    return Deny(
        reason=f"`{shown}` is not used here: packages are managed with uv alone",
        suggestion="`uv add NAME` or `uv add -r FILE` installs, `uv remove NAME` removes, `uv tree`"
        " lists, `uv sync` makes the environment, `uv run …` runs in it",
    )


def with_uv_run(text: str, calls: Sequence[CommandCall]) -> str:
    """The text with `uv run` before each tool that needs it."""
    known = [call for call in calls if call.words and call.words[0].start >= 0]
    served = [
        range(call.words[0].start, max(word.start + len(word.text) for word in call.words) + 1)
        for call in known
        if call.name in RUNNERS
    ]
    places = {call.words[0].start for call in known if call.words[0].text in RUN_BY_UV}
    for place in sorted(places, reverse=True):
        if not any(place in each for each in served):
            text = f"{text[:place]}uv run {text[place:]}"
    return text
