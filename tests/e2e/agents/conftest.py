"""The real agents in a temporary repository, with a scripted model and nothing else to talk to."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from uuid import uuid4

import pytest

from ralph.testing.model import ModelServer, RefusingProxy
from tests.e2e.agents.real import MARK, RealProject, left_behind
from tests.e2e.agents.setups import SETUPS
from tests.e2e.conftest import end_in_order

Real = Callable[..., RealProject]
TOOL = Path(__file__).parents[3] / "tools" / "agent-clis"


@pytest.fixture(scope="session")
def agent_bin() -> str:
    """The folders of the installed agents, as in a PATH. `make test` installs them first."""
    # `make test-agents` installs all of them.
    for sets in ((".", "more", "rest"), (".", "more")):
        command = [TOOL, "--where", *sets]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        if found.returncode == 0:
            return found.stdout.strip()
    pytest.skip("the agents are not installed: run tools/agent-clis")


@pytest.fixture
def real(
    tmp_path: Path,
    agent_bin: str,
    model_server: ModelServer,
    refusing_proxy: RefusingProxy,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Real]:
    """Make a project for one of the agents: `real("claude")`. At the end nothing of it may run, and
    nothing beyond this machine may have been asked for."""
    # Its start takes as long as a whole session with a scripted model; the tests of it say so.
    monkeypatch.setenv("RALPH_AGENT_MCP", "false")
    mark = uuid4().hex
    monkeypatch.setenv(MARK, mark)
    monkeypatch.setenv("PATH", f"{agent_bin}{os.pathsep}{os.environ['PATH']}")
    for name, value in refusing_proxy.environment().items():
        monkeypatch.setenv(name, value)
    made: list[RealProject] = []

    def make(
        agent: str, /, *beside: str, url: str = "", **sections: Mapping[str, object]
    ) -> RealProject:
        setup = SETUPS[agent]
        for each in (setup, *(SETUPS[name] for name in beside)):
            found = each.prepare(Path(os.environ["HOME"]), url or model_server.url)
            for name, value in found.items():
                monkeypatch.setenv(name, value)
        made.append(RealProject(tmp_path / "a project", setup, model_server, sections))
        return made[-1]

    yield make
    for project in made:
        for process in project.started:
            end_in_order(process)
    left = left_behind(mark)
    for pid in left:
        # Found is bad enough: it must not be in the way of others, too.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    assert left == {}
