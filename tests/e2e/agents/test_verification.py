"""The real agents check each other's work: in a checkout of their own, and their word counts."""

import json
import os
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.testing.model import Refused, Shell, Turn, do, say
from ralph.testing.model.script import ModelRequestLog
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import CHECKED, CLAIM, either, work
from tests.e2e.agents.setups import IN_SOAK, ONE_FOR_ALL, SETUPS
from tests.e2e.agents.test_provider_trouble import usage_limit

PASS = "It works.\n<verify-pass/>"
FAIL = "It does not work.\n<verify-fail>the second line is missing</verify-fail>"


@pytest.fixture(autouse=True)
def verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RALPH_EXECUTION_VERIFY")


@pytest.fixture
def in_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RALPH_SANDBOX_MODE")


def passes_the_second_time(asked: ModelRequestLog) -> Turn:
    """As a verifier sees it: only the retry has made two lines."""
    if CHECKED not in asked.user:
        return say(CLAIM)
    return say(PASS if "two-lines" in "".join(asked.results) else FAIL)


COUNT = "test $(wc -l < it.txt) -ge 2 && echo two-lines; true"


@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_what_fails_once_passes_on_the_retry(real: Real, agent: str) -> None:
    project = real(agent)
    task = project.scripted(
        "it",
        either(do(Shell(command="echo line >> it.txt")), do(Shell(command=COUNT))),
        passes_the_second_time,
    )
    events = project.events()
    assert events[-1]["outcome"] == "complete", events
    shown = project.task(task)
    assert (shown["status"], shown["verification_status"]) == ("done", "passed")
    assert (shown["attempt"], shown["retry_count"]) == (2, 1)
    prompts = [one.user for one in project.server.asked_in("it") if CHECKED not in one.user]
    assert any("the second line is missing" in one for one in prompts)
    assert project.git("show", "HEAD:it.txt") == "line\nline"
    checks = [check for attempt in shown["attempts"] for check in attempt["checks"]]
    assert [check["passed"] for check in checks] == [False, True]
    assert all(Path(project.path, check["log"]).exists() for check in checks)


@pytest.mark.parametrize("agent", IN_SOAK)
def test_spent_retries_fail_the_task_with_the_reason(real: Real, agent: str) -> None:
    project = real(agent)
    task = project.scripted(
        "it",
        either(do(Shell(command="echo line >> it.txt")), do(Shell(command=COUNT))),
        either(say(CLAIM), say(FAIL)),
    )
    project.ralph("run", "--max-retries", "1", code=5)
    shown = project.task(task)
    assert (shown["status"], shown["verification_status"]) == ("failed", "failed")
    assert (shown["attempt"], shown["retry_count"]) == (2, 1)
    assert "the second line is missing" in shown["reason"]
    assert not (project.path / "it.txt").exists(), "its work is kept aside"
    assert project.git("show", f"refs/ralph/{task}/2:it.txt") == "line\nline"


@pytest.mark.usefixtures("in_the_sandbox")
@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_a_verifier_that_tries_to_write(real: Real, agent: str) -> None:
    project = real(agent)
    here, home = project.path, os.environ["HOME"]
    tries = (
        f"echo x > '{here}/planted.txt'; echo x >> '{here}/x.txt'; echo x > '{here}/.git/planted';"
        f" git -C '{here}' commit -q --allow-empty -m planted; echo x > {home}/planted;"
        f" ralph task add planted; echo x > '{here}/.ralph/features/planted';"
        " rm -rf ./* ; echo mine > x.txt; git add -A; git commit -q -m mine; pwd; true"
    )
    first, second, last = work("x")
    task = project.scripted(
        "x",
        either(first, do(Shell(command=tries))),
        either(second, do(Shell(command="ls -a"))),
        either(last, say(PASS)),
    )
    events = project.events()
    assert events[-1]["outcome"] == "complete", events
    assert events[0]["sandbox"] == "bubblewrap"
    assert project.task(task)["verification_status"] == "passed"
    assert (here / "x.txt").read_text() == "x\n"
    assert project.git("status", "--porcelain") == ""
    assert project.commits()[0] == "Add x"
    for planted in (here / "planted.txt", here / ".git/planted", Path(home, "planted")):
        assert not planted.exists()
    assert not (here / ".ralph/features/planted").exists()
    assert [
        one["title"] for one in json.loads(project.ralph("task", "list", "--all", "--json"))
    ] == ["Task x"]
    assert not list((here / ".ralph/checkouts").iterdir()), "the checkout is thrown away"
    assert "verify" not in project.git("for-each-ref")
    looked = [one for one in project.server.asked_in("x") if CHECKED in one.user]
    assert {one.cwd for one in looked}.isdisjoint({str(here)})


def test_claude_gets_no_tools_to_edit_when_it_verifies(real: Real) -> None:
    project = real("claude")
    first, second, last = work("x")
    look = do(Shell(command="cat x.txt"))
    project.scripted("x", either(first, look), either(second, look), either(last, say(PASS)))
    project.ralph("run")
    asked = project.server.asked_in("x")
    working = [one.tools for one in asked if CHECKED not in one.user]
    checking = [one.tools for one in asked if CHECKED in one.user]
    assert all({"Edit", "Write"} <= tools for tools in working)
    assert all({"Edit", "Write", "NotebookEdit"}.isdisjoint(tools) for tools in checking)
    assert all("Bash" in tools for tools in checking)


@pytest.mark.parametrize(
    ("agent", "other"),
    [("claude", "codex"), pytest.param("codex", "claude", marks=pytest.mark.soak)],
)
def test_another_agent_with_another_model_checks(real: Real, agent: str, other: str) -> None:
    model = "another-model"
    setups = {name: list(SETUPS[name].pass_env) for name in (agent, other)}
    project = real(
        agent,
        other,
        agent={"pass_env": [*setups[agent], *setups[other]]},
        verify={"agent": other, "model": model},
    )
    first, second, last = work("x")
    look = do(Shell(command="cat x.txt"))
    task = project.scripted("x", either(first, look), either(second, look), either(last, say(PASS)))
    events = project.events()
    assert events[-1]["outcome"] == "complete", events
    assert project.task(task)["verification_status"] == "passed"
    (started,) = [one for one in events if one["event"] == "verification_started"]
    assert (started["agent"], started["model"]) == (other, model)
    asked = project.server.asked_in("x")
    assert {one.model for one in asked if CHECKED in one.user} == {model}
    assert model not in {one.model for one in asked if CHECKED not in one.user}


def test_a_verifier_out_of_quota_is_waited_for_and_the_work_is_not_repeated(real: Real) -> None:
    project = real("claude-subscription")
    first, second, last = work("x")
    look = do(Shell(command="cat x.txt"))
    resets: list[float] = []

    def limited(asked: ModelRequestLog) -> Turn:
        if CHECKED not in asked.user:
            return first
        if not resets:
            resets.append(int(time.time()) + 10)
        out = replace(usage_limit(resets[0]), times=None)
        return look if time.time() >= resets[0] else replace(look, faults=(out,))

    task = project.scripted("x", limited, either(second, look), either(last, say(PASS)))
    events = project.events()
    assert [one["event"] for one in events].count("run_waiting") == 1
    shown = project.task(task)
    assert (shown["status"], shown["verification_status"]) == ("done", "passed")
    assert (shown["retry_count"], shown["strikes"]) == (0, 0)
    assert project.endings(task) == ["finished"]
    (attempt,) = shown["attempts"]
    assert [one["ending"]["ended"] for one in attempt["checks"]] == ["usage_limit", "finished"]


@pytest.mark.parametrize("agent", IN_SOAK)
def test_a_login_of_the_verifier_pauses_the_run_and_the_next_goes_on(
    real: Real, agent: str
) -> None:
    project = real(agent)
    first, second, last = work("x")
    refused = Refused(status=401, kind="authentication_error", message="invalid key", times=None)
    look = do(Shell(command="cat x.txt"))
    answers = [replace(look, faults=(refused,))]

    def checking(asked: ModelRequestLog) -> Turn:
        return answers[-1] if CHECKED in asked.user else first

    task = project.scripted("x", checking, either(second, look), either(last, say(PASS)))
    events = project.events(code=6)
    assert events[-1]["outcome"] == "paused"
    assert project.task(task)["verification_status"] is None
    assert project.status(task) == "pending"
    answers.append(look)
    project.ralph("run")
    assert project.task(task)["verification_status"] == "passed"
    assert project.endings(task) == ["finished"], "the work is not done again"
