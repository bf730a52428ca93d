"""The model refuses, is overloaded, falls silent or breaks off: what real agents make of it, and
what Ralph makes of that."""

import socket
import time
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from ralph.testing.model import Cut, ModelRequestLog, Refused, Silent, Turn
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import work
from tests.e2e.agents.setups import CODEX_TOO, MORE, ONE_FOR_ALL
from tests.e2e.fault_helpers import ended, until

RETRYING = ("claude", CODEX_TOO, *MORE)
"""Droid backs off for a minute and more, whatever it is told, so its turn is in the transcripts."""


@pytest.mark.parametrize("agent", RETRYING)
def test_too_many_requests_then_success_is_one_session(real: Real, agent: str) -> None:
    project = real(agent)
    slowly = Refused(status=429, kind="rate_limit_error", headers={"retry-after": "1"})
    task = project.scripted("x", *work("x", faults=(slowly,)))
    project.ralph("run")
    assert project.endings(task) == ["finished"]
    assert [one.turn for one in project.server.asked_in("x")] == [0, 0, 1, 2]


def usage_limit(resets_at: float) -> Refused:
    """As a subscription's server says it, to those who know the headers."""
    reset = str(int(resets_at))
    names = {
        "status": "rejected",
        "reset": reset,
        "representative-claim": "five_hour",
        "5h-status": "rejected",
        "5h-reset": reset,
        "5h-utilization": "1.0",
        "overage-status": "rejected",
    }
    headers = {f"anthropic-ratelimit-unified-{name}": value for name, value in names.items()}
    return Refused(status=429, kind="rate_limit_error", headers=headers)


def test_a_usage_limit_is_waited_for_and_the_same_task_goes_on(real: Real) -> None:
    project = real("claude-subscription")
    first, *rest = work("x")
    lines = []

    def limited(asked: ModelRequestLog) -> Turn:
        # From the moment on at which it is asked: how long the agent takes to start is not known.
        lines.append(int(time.time()) + 10)
        return replace(first, faults=(usage_limit(lines[0]),))

    task = project.scripted("x", limited, *rest)
    later = project.scripted("y", blocked_by=task)
    events = project.events()
    (waiting,) = [one for one in events if one["event"] == "run_waiting"]
    assert waiting["reason"]
    assert project.endings(task) == ["usage_limit", "finished"]
    shown = project.task(task)
    assert (shown["status"], shown["strikes"], shown["retry_count"]) == ("done", 0, 0)
    assert project.status(later) == "done"
    again = next(one["time"] for one in events if one["event"] == "task_done")
    assert again > waiting["until"] > iso(lines[0])


def iso(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment))


def test_codex_tells_its_usage_limit_in_a_sentence(real: Real) -> None:
    project = real("codex")
    resets_at = int(time.time()) + 3600
    body = (
        '{"error": {"type": "usage_limit_reached", "message": "The usage limit has been reached",'
        f' "plan_type": "plus", "resets_at": {resets_at}, "resets_in_seconds": 3600}}}}'
    )
    task = project.scripted("x", *work("x", faults=(Refused(status=429, body=body),)))
    run = project.start("run", "--json")
    waiting = until(run, "run_waiting")
    assert iso(resets_at - 90) < waiting["until"] < iso(resets_at + 90)
    assert project.endings(task) == ["usage_limit"]
    project.ralph("resume")
    ended(run)
    assert project.endings(task) == ["usage_limit", "finished"]
    assert project.task(task)["strikes"] == 0


def test_another_agent_takes_the_task_of_one_that_is_out_of_quota(real: Real) -> None:
    project = real(
        "claude-subscription",
        "codex",
        agent={"fallback": ["codex"], "pass_env": ["ANTHROPIC_*", "*_TOKEN", "SCRIPTED_API_KEY"]},
        models={"strategy": "cost-optimized"},
        **{"models.codex": {"sonnet": "gpt-5.5"}},
    )
    far = usage_limit(time.time() + 3600)
    task = project.scripted("x", *work("x", faults=(far,)))
    project.ralph("run")
    assert project.endings(task) == ["usage_limit", "finished"]
    assert project.status(task) == "done"
    first, *rest = project.server.asked_in("x")
    assert first.path.startswith("/v1/messages")
    assert {one.path for one in rest} == {"/v1/responses"}
    assert {one.model for one in rest} == {"gpt-5.5"}


OVERLOADED = {
    "claude": Refused(status=529, kind="overloaded_error", times=None),
    "codex": Refused(status=503, kind="server_is_overloaded", times=None),
    **dict.fromkeys(
        ("copilot", "pi", "kimi"), Refused(status=503, message="overloaded", times=None)
    ),
}


@pytest.mark.parametrize("agent", RETRYING)
def test_an_overloaded_model_is_tried_again_later(real: Real, agent: str) -> None:
    project = real(agent)
    task = project.scripted("x", *work("x", faults=(OVERLOADED[agent],)), whole=False)
    run = project.start("run", "--json")
    waiting = until(run, "run_waiting")
    assert waiting["reason"]
    assert project.endings(task) == ["overloaded"]
    project.server.script("x", *work("x"))
    ended(run)
    assert project.endings(task)[-1] == "finished"
    shown = project.task(task)
    assert (shown["status"], shown["strikes"], shown["retry_count"]) == ("done", 0, 0)


@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_a_login_that_does_not_count_pauses_the_run(real: Real, agent: str) -> None:
    project = real(agent)
    refused = Refused(status=401, kind="authentication_error", message="invalid key", times=None)
    task = project.scripted("x", *work("x", faults=(refused,)), whole=False)
    events = project.events(code=6)
    assert events[-1]["outcome"] == "paused"
    assert events[-1]["reason"]
    assert project.endings(task) == ["auth_expired"]
    shown = project.task(task)
    assert (shown["status"], shown["strikes"], shown["retry_count"]) == ("pending", 0, 0)


UNPAID = {
    "claude": Refused(
        status=400,
        kind="invalid_request_error",
        message="Your credit balance is too low to access the Anthropic API.",
        times=None,
    ),
    "codex": Refused(status=429, kind="insufficient_quota", message="no quota", times=None),
    **dict.fromkeys(
        ("droid", "copilot", "pi", "kimi"),
        Refused(status=402, kind="billing_error", message="payment required", times=None),
    ),
}


@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_an_account_without_money_pauses_the_run(real: Real, agent: str) -> None:
    project = real(agent)
    task = project.scripted("x", *work("x", faults=(UNPAID[agent],)), whole=False)
    events = project.events(code=6)
    assert events[-1]["outcome"] == "paused"
    assert project.endings(task) == ["billing"]
    assert project.task(task)["strikes"] == 0


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Taken, so that nobody else gets it, and not listened to."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_no_connection_costs_the_task_nothing(real: Real, agent: str, closed_port: int) -> None:
    project = real(agent, url=f"http://127.0.0.1:{closed_port}")
    task = project.scripted("x", whole=False)
    run = project.start("run", "--json")
    waiting = until(run, "run_waiting")
    assert waiting["reason"].startswith("no network: ")
    assert project.endings(task) == ["no_network"]
    project.ralph("stop")
    ended(run, 6)
    shown = project.task(task)
    assert (shown["status"], shown["strikes"], shown["retry_count"]) == ("pending", 0, 0)


UNKNOWN = Refused(
    status=404, kind="not_found_error", message="The model `x` does not exist", times=None
)


@pytest.mark.parametrize("agent", RETRYING)
def test_an_unknown_model_ends_the_run_at_once_and_names_known_ones(real: Real, agent: str) -> None:
    own = {} if agent == "claude" else {f"models.{agent}": {"sonnet": "gpt-5.5"}}
    project = real(agent, **own)
    task = project.scripted("x", *work("x", faults=(UNKNOWN,)), whole=False)
    done = project.try_ralph("run")
    known = "haiku, sonnet, opus" if agent == "claude" else "gpt-5.5"
    hint = f"known models: {known}; another one with --model or in [models.{agent}]"
    assert done.returncode == 69
    assert hint in done.stderr
    assert project.endings(task) == ["unknown_model"]
    shown = project.task(task)
    assert (shown["status"], shown["strikes"], shown["retry_count"]) == ("pending", 0, 0)


@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_a_model_that_falls_silent_is_an_idle_session(real: Real, agent: str) -> None:
    project = real(agent, timeouts={"idle": "6s"})
    task = project.scripted("x", *work("x", faults=(Silent(after=1),)))
    project.ralph("run")
    *before, last = project.endings(task)
    # On a busy machine an agent may take as long to start as it may be silent.
    assert (set(before), last) == ({"idle"}, "finished")
    assert project.status(task) == "done"


@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_a_stream_that_breaks_off_is_asked_for_again(real: Real, agent: str) -> None:
    project = real(agent)
    task = project.scripted("x", *work("x", faults=(Cut(after=3),)))
    project.ralph("run")
    assert project.endings(task) == ["finished"]
    assert [one.turn for one in project.server.asked_in("x")] == [0, 0, 1, 2]
