"""Whatever hangs is ended: sessions, gates, runs."""

import signal
from typing import Any

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import CLAIM, Stage, ended, refused, until

DEAF = "trap '' INT TERM HUP; "
"""An agent that does not want to be ended."""


def ended_as(events: list[dict[str, Any]]) -> list[str]:
    return [event["ended"] for event in events if event["event"] == "session_ended"]


@pytest.mark.parametrize(
    ("hang", "limit", "how"),
    [
        ("while :; do echo tick; sleep 0.1; done", 'session = "2s"', "timed_out"),
        ("sleep 1000", 'session = "2s"', "timed_out"),
        ("sleep 1000", 'idle = "2s"', "idle"),
        ("cat; cat < /dev/zero > /dev/null", 'idle = "2s"', "idle"),
        ("kill -STOP $$", 'idle = "2s"', "idle"),
    ],
)
def test_a_session_that_hangs_is_a_strike_and_its_task_goes_on(
    project: Project, hang: str, limit: str, how: str
) -> None:
    project.agent(
        f"if [ $RALPH_ATTEMPT = 1 ]; then echo half > work.txt; {hang}; fi; {DONE}",
        timeouts=limit,
    )
    task = project.add("hangs at first")
    events = project.events()
    assert ended_as(events) == [how, "finished"]
    why = next(event["detail"] for event in events if event["event"] == "session_ended")
    assert f"raise [timeouts] {limit.split(maxsplit=1)[0]}" in why
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["retry_count"]) == ("done", 2, 0)
    assert project.git("show", "HEAD:work.txt") == "half\nx", "what the first one left was used"


def test_a_claim_before_the_hang_does_not_count_for_a_plain_command(project: Project) -> None:
    """It never said that it was finished, so nobody knows what it still meant to do."""
    project.agent(f"{DONE}; sleep 1000", timeouts='session = "2s"')
    task = project.add("claims, then hangs")
    assert ended_as(project.events("--once", code=4)) == ["timed_out"]
    assert project.status(task) == "pending"


def test_an_interrupt_before_any_work(project: Project) -> None:
    stage = Stage(project, "gate")
    project.agent(DONE, gates=f"""slow = "{stage.agent("test -e README.md")}" """)
    task = project.add("x")
    run = project.start("run")
    stage.enter()
    run.send_signal(signal.SIGINT)
    ended(run, 130)
    assert project.task(task)["attempt"] == 0


def test_an_interrupt_in_a_pause(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    tasks = [project.add("first"), project.add("second")]
    run = project.start("run", "--json")
    stage.enter()
    project.ralph("pause")
    stage.go()
    until(run, "run_paused")
    run.send_signal(signal.SIGINT)
    ended(run, 130)
    assert [project.status(task) for task in tasks] == ["done", "pending"]


def test_an_agent_that_ignores_signals_is_killed_when_the_run_is_interrupted(
    project: Project,
) -> None:
    stage = Stage(project)
    project.agent(f"{DEAF} {stage.agent('sleep 1000')}")
    task = project.add("deaf")
    run = project.start("run")
    stage.enter()
    run.send_signal(signal.SIGINT)
    assert "interrupted" in ended(run, 130)
    shown = project.task(task)
    assert (shown["status"], shown["strikes"], shown["retry_count"]) == ("pending", 0, 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_the_run_in_good_order_too(
    project: Project, number: signal.Signals
) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    task = project.add("x")
    run = project.start("run")
    stage.enter()
    run.send_signal(number)
    ended(run, 130)
    assert project.status(task) == "pending"
    stage.go()
    project.ralph("run")
    assert project.status(task) == "done"


def test_the_second_interrupt_ends_everything_at_once(project: Project) -> None:
    stage = Stage(project)
    project.agent(f"{DEAF} {stage.agent('sleep 1000')}")
    task = project.add("deaf")
    run = project.start("run")
    stage.enter()
    run.send_signal(signal.SIGINT)
    while run.poll() is None:
        run.send_signal(signal.SIGINT)
    run.communicate()
    assert run.returncode == 130
    project.agent(DONE)
    project.ralph("run")
    shown = project.task(task)
    assert (shown["status"], shown["retry_count"]) == ("done", 0)


def test_a_gate_that_hangs_before_any_work_ends_the_run(project: Project) -> None:
    project.agent(DONE, timeouts='gate = "2s"', gates='slow = "tail -f /dev/null"')
    task = project.add("x")
    refused(project.try_ralph("run"), 69, "gate slow cannot run", "time", "hint: ")
    assert project.task(task)["attempt"] == 0


def test_a_gate_that_hangs_after_the_work_rejects_it(project: Project) -> None:
    project.agent(
        f"if [ $RALPH_ATTEMPT = 1 ]; then echo x > hang; else rm hang; fi; {DONE}",
        timeouts='gate = "2s"',
        gates='slow = "[ ! -e hang ] || { echo waiting for nothing; tail -f /dev/null; }"',
    )
    task = project.add("x")
    events = project.events()
    (rejected,) = [event for event in events if event["event"] == "task_rejected"]
    assert "gate slow fails (out of time)" in rejected["reason"]
    assert "waiting for nothing" in rejected["reason"]
    assert project.status(task) == "done"


def test_an_interrupted_gate_proves_nothing_and_the_session_is_not_repeated(
    project: Project,
) -> None:
    stage = Stage(project, "gate")
    sessions = project.path.parent / "sessions"
    project.agent(
        f"echo x >> '{sessions}'; {DONE}",
        gates=f"""slow = "[ ! -e work.txt ] || {{ {stage.agent("[ -e work.txt ]")}; }}" """,
    )
    task = project.add("x")
    run = project.start("run")
    stage.enter()
    run.send_signal(signal.SIGINT)
    ended(run, 130)
    shown = project.task(task)
    assert (shown["status"], shown["retry_count"]) == ("pending", 0)
    stage.go()
    project.ralph("run")
    assert project.status(task) == "done"
    assert sessions.read_text() == "x\n"


def test_the_time_of_a_run_is_limited(project: Project) -> None:
    # Time enough for a busy machine to begin with the first one.
    project.agent(f"sleep 8; {DONE}", timeouts='run = "8s"')
    tasks = [project.add("first"), project.add("second")]
    events = project.events(code=4)
    assert events[-1]["outcome"] == "limit-reached"
    assert "time" in events[-1]["reason"]
    assert [project.status(task) for task in tasks] == ["done", "pending"]


def test_no_timeout_at_all_is_a_choice(project: Project) -> None:
    project.agent(
        f"{CLAIM}; echo x > work.txt", timeouts='session = ""\nidle = ""\ngate = ""\nrun = ""'
    )
    project.add("x")
    done = project.try_ralph("run")
    assert done.returncode in (0, 78), done.stderr
