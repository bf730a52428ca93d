"""In a sandbox: the command lines that switch an agent's own permissions off, as root too."""

import os
import subprocess
import time
from importlib.metadata import entry_points

import pytest
from msgspec.structs import replace

from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind
from ralph.core.session_output import StreamSummary
from ralph.ports.agent import Agent, AgentSetup, SessionTerms
from ralph.testing.agent_contract import a_brief
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import MARK, left_behind, work
from tests.e2e.agents.setups import ONE_FOR_ALL
from tests.e2e.conftest import wait_for


@pytest.mark.parametrize("name", ONE_FOR_ALL)
def test_a_session_in_a_sandbox_is_not_asked(real: Real, name: str) -> None:
    project = real(name)
    project.server.script("x", *work("x"))
    (point,) = entry_points(group="ralph.agents", name=name)
    agent: Agent = point.load()(AgentSetup())
    terms = SessionTerms(model=project.setup.model, sandboxed=True, as_root=os.geteuid() == 0)
    text = "## Your task: t-abc123\n\n[[scenario:x]]"
    launch = agent.command(replace(a_brief(text), checkout=str(project.path), terms=terms))
    done = subprocess.run(
        launch.argv,
        input=launch.stdin,
        cwd=project.path,
        env={**os.environ, **launch.env},
        capture_output=True,
        check=False,
        timeout=280,
    )
    digest = StreamSummary()
    for event in agent.read(done.stdout):
        digest.add(event)
    exit_ = ProcessExit(code=done.returncode, ended_at=time.time(), stderr=done.stderr.decode())
    ending = agent.ending(digest, exit_)
    assert ending.ended is EndingKind.FINISHED, done.stdout.decode() + exit_.stderr
    assert "<task-done>t-abc123</task-done>" in ending.message
    assert project.git("show", "HEAD:x.txt") == "x"
    assert not ending.denied
    # Nobody sweeps here, and droid leaves a clock running for two seconds.
    wait_for(lambda: not left_behind(os.environ[MARK]), "all of it has ended")
