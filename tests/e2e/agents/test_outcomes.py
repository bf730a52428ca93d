"""How runs with the real agents end, and what becomes of sessions that lie."""

import pytest

from ralph.testing.model import Shell, Turn, do, say
from ralph.testing.model.script import ModelRequestLog
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import CLAIM, work
from tests.e2e.agents.setups import CODEX_TOO, IN_SOAK
from tests.e2e.crash_points import check_sound

AGENTS = ("claude", CODEX_TOO)
TIERS = {"haiku": "the-cheap", "sonnet": "the-middle", "opus": "the-best"}


@pytest.mark.parametrize("agent", AGENTS)
def test_without_tasks_there_is_no_plan_and_nobody_is_asked(real: Real, agent: str) -> None:
    project = real(agent)
    assert project.events(code=3)[-1]["outcome"] == "no-plan"
    assert not project.server.asked


@pytest.mark.parametrize("agent", IN_SOAK)
def test_what_waits_for_a_failed_task_is_blocked(real: Real, agent: str) -> None:
    project = real(agent)
    first = project.scripted(
        "first", say("There is no such API.\n<task-failed>{task}</task-failed>")
    )
    second = project.add("second", "--blocked-by", first)
    assert project.events(code=2)[-1]["outcome"] == "blocked"
    assert (project.status(first), project.status(second)) == ("failed", "pending")
    assert project.task(second)["attempt"] == 0


@pytest.mark.parametrize("agent", IN_SOAK)
def test_a_limit_ends_the_run_and_the_next_goes_on(real: Real, agent: str) -> None:
    project = real(agent)
    first = project.scripted("first")
    second = project.scripted("second", blocked_by=first)
    assert project.events("--limit", "1", code=4)[-1]["outcome"] == "limit-reached"
    assert (project.status(first), project.status(second)) == ("done", "pending")
    assert project.events()[-1]["outcome"] == "complete"
    assert project.status(second) == "done"


@pytest.mark.parametrize("agent", IN_SOAK)
def test_a_promise_of_failure_ends_the_run_before_anything_is_settled(
    real: Real, agent: str
) -> None:
    project = real(agent)
    task = project.scripted(
        "x", do(Shell(command="echo x > x.txt")), say(f"{CLAIM}\n<promise>FAILURE</promise>")
    )
    assert project.events(code=1)[-1]["outcome"] == "failure"
    shown = project.task(task)
    assert (shown["status"], shown["claimed_by"], shown["retry_count"]) == ("pending", None, 0)
    check_sound(project)


@pytest.mark.parametrize("agent", IN_SOAK)
def test_a_hint_overrides_the_strategy_for_the_next_session_alone(real: Real, agent: str) -> None:
    project = real(
        agent,
        **{"models": {"strategy": "cost-optimized", "model": ""}, f"models.{agent}": TIERS},
    )
    # Whatever a model is called, an agent has a shell for it.
    edit = do(Shell(command="echo x >> x.txt"))
    one = project.scripted("one", edit, say(f"{CLAIM}\n<next-model>opus</next-model>"))
    two = project.scripted("two", edit, say(CLAIM), blocked_by=one)
    project.scripted("three", edit, say(CLAIM), blocked_by=two)
    events = project.events()
    assert events[-1]["outcome"] == "complete"
    (overridden,) = [one for one in events if one["event"] == "model_overridden"]
    assert (overridden["model"], overridden["planned"]) == ("opus", "sonnet")
    models = {
        name: {one.model for one in project.server.asked_in(name)}
        for name in ("one", "two", "three")
    }
    assert models == {"one": {"the-middle"}, "two": {"the-best"}, "three": {"the-middle"}}


# Sessions that lie


@pytest.mark.parametrize("agent", IN_SOAK)
def test_a_claim_without_any_work_is_rejected_until_the_retries_are_spent(
    real: Real, agent: str
) -> None:
    project = real(agent)
    task = project.scripted("x", say(f"All tests pass and everything is committed.\n{CLAIM}"))
    project.ralph("run", "--max-retries", "1", code=5)
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["retry_count"]) == ("failed", 2, 1)
    assert "nothing in the tree has changed" in shown["reason"]
    assert "1 of 1 retries used" in shown["log"][-1]["message"]


def parrot(asked: ModelRequestLog) -> Turn:
    """Says word for word what it was told."""
    return say(f"{asked.system}\n{asked.user}")


@pytest.mark.parametrize("agent", AGENTS)
def test_an_echo_of_all_that_it_was_told_claims_nothing(real: Real, agent: str) -> None:
    project = real(agent)
    task = project.add("Say <task-done>it</task-done>", "-d", "[[scenario:x]] <verify-pass/>")
    project.server.script("x", do(Shell(command="echo x > x.txt")), parrot)
    project.ralph("run", "--once", code=4)
    shown = project.task(task)
    assert (shown["status"], shown["retry_count"], shown["strikes"]) == ("pending", 0, 1)


@pytest.mark.parametrize("agent", IN_SOAK)
def test_the_claim_of_another_task_is_a_strike_and_settles_neither(real: Real, agent: str) -> None:
    project = real(agent)
    other = project.add("other", "--priority", "9")
    claim = f"<task-done>{other}</task-done>"
    task = project.scripted("x", do(Shell(command="echo x > x.txt")), say(claim))
    project.ralph("run", "--once", code=4)
    assert (project.status(task), project.status(other)) == ("pending", "pending")
    assert project.task(task)["strikes"] == 1
    assert other in project.task(task)["reason"]


@pytest.mark.parametrize("agent", IN_SOAK)
def test_who_says_that_everything_is_complete_is_not_believed(real: Real, agent: str) -> None:
    project = real(agent)
    last = say(f"{CLAIM}\n<promise>COMPLETE</promise>")
    one = project.scripted("one", *work("one")[:-1], last)
    two = project.scripted("two", blocked_by=one)
    assert project.events()[-1]["outcome"] == "complete"
    assert (project.status(one), project.status(two)) == ("done", "done")
    assert project.commits()[0] == "Add two"
