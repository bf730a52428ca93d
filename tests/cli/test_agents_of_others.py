"""Agents that come from another package, by way of its entry points."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, assert_one_line

HALF = """
from ralph.ports.agent import AgentTraits

class Agent:
    traits = AgentTraits(name="theirs", install_hint="pip install theirs")

    def __init__(self, setup): ...
    def command(self, brief): ...
    def read(self, block): ...
    def ending(self, digest, exit_): ...
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Install a package whose agent is called `theirs`."""

    def install(source: str) -> None:
        about = tmp_path / "packages" / "theirs-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text("[ralph.agents]\ntheirs = theirs_agent:Agent\n")
        (about.parent / "theirs_agent.py").write_text(source)
        monkeypatch.syspath_prepend(str(about.parent))
        monkeypatch.delitem(sys.modules, "theirs_agent", raising=False)

    return install


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (HALF, "agent theirs has no interactive_command and no account"),
        ("import no_such_module", "agent theirs cannot be loaded: ModuleNotFoundError"),
        ("", "agent theirs cannot be loaded: AttributeError"),
        ("class Agent(", "agent theirs cannot be loaded: SyntaxError"),
    ],
)
def test_one_that_is_broken_is_said_in_one_line(
    ralph: Cli, package: Callable[[str], None], source: str, said: str
) -> None:
    package(source)
    answer = ralph("run", "--agent", "theirs", code=69)
    assert_one_line(answer, hint=True)
    assert said in answer.err
