"""Under which conditions real agents work: limits, large briefs, odd surroundings."""

import re

import pytest

from ralph.testing.model import ModelRequestLog, Shell, Turn, do, say
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import CLAIM, work
from tests.e2e.agents.setups import ONE_FOR_ALL
from tests.e2e.fault_helpers import fed

OUTER_SESSION = {
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "CLAUDE_CODE_SSE_PORT": "1",
    "CLAUDE_CODE_SESSION_ID": "11111111-1111-4111-8111-111111111111",
    "CODEX_SANDBOX": "seatbelt",
    "CODEX_SANDBOX_NETWORK_DISABLED": "1",
    "CODEX_THREAD_ID": "11111111-1111-4111-8111-111111111111",
    "RALPH_TASK_ID": "t-000000",
}
"""What an agent leaves in the environment of the commands that it runs."""


@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_a_run_inside_a_session_of_another_agent(real: Real, agent: str) -> None:
    project = real(agent)
    look = "env | grep -E '^(CLAUDE|CODEX|RALPH_TASK_ID|HTTPS_PROXY)' > x.txt"
    commit = "git add x.txt && git commit -q -m 'Add x'"
    task = project.scripted("x", do(Shell(command=f"{look} && {commit}")), say(CLAIM))
    project.ralph("run", **OUTER_SESSION)
    assert project.endings(task) == ["finished"]
    assert project.status(task) == "done"
    seen = dict(line.split("=", 1) for line in project.git("show", "HEAD:x.txt").splitlines())
    assert seen["RALPH_TASK_ID"] == task
    assert seen["HTTPS_PROXY"].startswith("http://127.0.0.1:"), "or silence would prove nothing"
    # What it sets itself, for its own tools, has other values.
    assert not [name for name, value in OUTER_SESSION.items() if seen.get(name) == value != "1"]


def test_a_session_takes_only_so_many_turns(real: Real) -> None:
    """Of the three, claude alone can count them."""
    project = real("claude", agent={"max_turns": 2})
    project.server.script("x", do(Shell(command="echo x >> x.txt")), repeat=True)
    task = project.add("never done", "-d", "[[scenario:x]]")
    events = project.events("--once", code=4)
    assert project.endings(task) == ["turn_limit"]
    assert [one["event"] for one in events].count("task_struck") == 1
    assert [one.turn for one in project.server.asked_in("x")] == [0, 0]


LARGE = "word " * 400_000


def test_a_brief_of_two_megabytes_arrives(real: Real) -> None:
    project = real("droid", context={"brief_tokens": 0})
    project.server.script("x", *work("x"))
    task = fed(project, f"{LARGE} [[scenario:x]]", "task", "add", "large", "-d", "-")
    project.ralph("run")
    assert project.status(task) == "done"
    assert min(one.size for one in project.server.asked_in("x")) > len(LARGE)


def test_a_brief_that_the_agent_would_not_take_is_found_in_its_file(real: Real) -> None:
    project = real("codex", context={"brief_tokens": 0})
    project.server.script("default", _measure, _claim)
    task = fed(project, LARGE, "task", "add", "large", "-d", "-")
    project.ralph("run")
    assert project.status(task) == "done"
    assert int(project.git("show", "HEAD:size.txt")) > len(LARGE)


def _measure(asked: ModelRequestLog) -> Turn:
    """The prompt names the file and nothing else, so the task's name is found elsewhere."""
    file = _found(r"/\S.*\.prompt\.md", asked.user)
    commit = "git add size.txt && git commit -q -m Size"
    return do(Shell(command=f"wc -c < '{file}' > size.txt && {commit} && echo $RALPH_TASK_ID"))


def _claim(asked: ModelRequestLog) -> Turn:
    return say(f"<task-done>{_found('t-[0-9a-f]{6}', asked.results[-1])}</task-done>")


def _found(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    assert found, text
    return found[0]


def test_a_brief_that_the_agent_finds_too_long_is_a_strike(real: Real) -> None:
    """It does not even ask its model."""
    project = real("claude", context={"brief_tokens": 0})
    task = fed(project, LARGE, "task", "add", "large", "-d", "-")
    project.ralph("run", "--once", code=4)
    assert project.endings(task) == ["prompt_too_long"]
    assert project.task(task)["strikes"] == 1
    assert not [one for one in project.server.asked if one.method == "POST"]
