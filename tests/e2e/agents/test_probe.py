"""A probe of each real agent: a tiny session, and what it was seen to do."""

import json
import re

import pytest

from ralph.testing.model import ModelRequestLog, Shell, Turn, do, say
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.setups import ONE_FOR_ALL

COMMIT = "git add -A && git commit -q -m probe"


def obeys(asked: ModelRequestLog) -> Turn:
    """Writes the word that the prompt names."""
    found = re.search(r"the word (ralph-[0-9a-f]+)", asked.user)
    assert found is not None, asked.user
    return do(Shell(command=f"echo {found[1]} > probe.txt; {COMMIT}"))


@pytest.mark.parametrize("agent", ONE_FOR_ALL)
@pytest.mark.parametrize("mode", ["off", "required"])
def test_an_agent_that_works_is_seen_to_work(
    real: Real, agent: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_SANDBOX_MODE", mode)
    project = real(agent)
    project.server.script("default", obeys, say("Done.\n<task-done>t-000000</task-done>"))
    said = project.ralph("agents", "probe", agent, "--json")
    (record,) = json.loads(said)
    assert (record["ended"], record["exit_code"]) == ("finished", 0)
    assert (record["reads_prompt"], record["claims"], record["commits"]) == (True, True, True)
    assert record["version"]
    assert {"tool_use", "tool_result", "result"} <= record["events"].keys()
    assert f"{agent} works: probed" in project.ralph("doctor")
    assert project.git("status", "--porcelain") == "", "it works elsewhere"


@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_an_agent_that_only_talks_is_seen_not_to_work(real: Real, agent: str) -> None:
    project = real(agent)
    project.server.script("default", say("I would rather not."))
    (record,) = json.loads(project.ralph("agents", "probe", agent, "--json", code=1))
    assert record["ended"] == "finished"
    assert (record["reads_prompt"], record["claims"], record["commits"]) == (False, False, False)
    assert f"{agent} failed its probe" in project.ralph("doctor")
