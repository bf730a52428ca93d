"""Killed by the agent itself, or by a gate: the next run ends what was left and goes on."""

from pathlib import Path

import pytest

from ralph.core.session_ending import EndingKind
from tests.e2e.conftest import Project, wait_for
from tests.e2e.crash_points import KILL, check_sound, left_running, store_of, trailers
from tests.e2e.fault_helpers import CLAIM, lines

pytestmark = pytest.mark.usefixtures("installed")

ONCE = f"if mkdir '{{mark}}' 2>/dev/null; then {KILL}; fi"
"""Kills Ralph the first time, and never again."""


def once(project: Project) -> str:
    return ONCE.format(mark=project.path.parent / "killed")


def is_alive(pid: Path) -> bool:
    try:
        # A zombie is dead; whose child it is does not matter here.
        state = Path(f"/proc/{pid.read_text().strip()}/stat").read_text().rpartition(")")[2]
    except OSError:
        return False
    return state.split()[0] not in "ZX"


def killed(project: Project) -> None:
    assert project.try_ralph("run").returncode == -9
    check_sound(project)


def test_what_the_agent_left_is_fixed_by_the_next_attempt(project: Project) -> None:
    project.agent(f"echo $RALPH_ATTEMPT >> work.txt; {once(project)}; {CLAIM}")
    task = project.add("Write it")
    project.write("mine.txt", "a person's")
    killed(project)
    assert project.task(task)["status"] == "in_progress"
    events = project.events()
    assert (project.path / "work.txt").read_text() == "1\n2\n"
    assert project.git("show", "HEAD:work.txt") == "1\n2"
    assert (project.path / "mine.txt").read_text() == "a person's"
    assert project.git("status", "--porcelain") == "?? mine.txt"
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["retry_count"]) == ("done", 2, 0)
    assert trailers(project) == [task]
    assert any("its process died" in event.get("message", "") for event in events)
    with store_of(project) as store:
        ends = [session.ending.ended for session in store.sessions.select() if session.ending]
        assert ends == [EndingKind.LOST, EndingKind.FINISHED]


def test_work_that_needs_an_ignored_file_of_the_killed_session_is_rejected(
    project: Project,
) -> None:
    # The second session finds the file, and makes none.
    project.agent(
        "grep -q data .gitignore || echo data >> .gitignore; [ -e data ] || echo 1 > data;"
        f" {once(project)}; echo x > work.txt; {CLAIM}",
        gates='check = "test ! -e work.txt || test -e data"',
    )
    task = project.add("x", "--max-retries", "0")
    killed(project)
    project.ralph("run", code=5)
    assert "only with what the commit does not have" in project.task(task)["reason"]


@pytest.mark.parametrize("how", ["", "setsid "], ids=["in its group", "in a session of its own"])
def test_an_agent_that_lives_on_is_ended_before_the_next_one_starts(
    project: Project, how: str
) -> None:
    outside = project.path.parent
    writes = outside / "writes.sh"
    writes.write_text(
        f"echo $$ > '{outside}/pid'; trap '' INT TERM\n"
        "while :; do echo still here > work.txt; sleep 0.01; done\n"
    )
    agent = outside / "agent.sh"
    agent.write_text(
        f"""
        if [ "$RALPH_ATTEMPT" = 1 ]; then
            {how}sh '{writes}' &
            until [ -s '{outside}/pid' ]; do sleep 0.01; done
            {KILL}
            wait
        fi
        # Nobody is at work beside the second one (the dead stay where nobody buries them).
        grep -qs '^State:.[^ZX]' /proc/$(cat '{outside}/pid')/status && echo x >> '{outside}/beside'
        echo good > work.txt
        {CLAIM}
        """
    )
    project.agent(f"exec sh '{agent}'")
    task = project.add("Write it")
    killed(project)
    assert is_alive(outside / "pid"), "the test has nothing to show"
    project.ralph("run")
    assert not is_alive(outside / "pid")
    assert lines(outside / "beside") == []
    assert left_running(project) == []
    assert project.git("show", "HEAD:work.txt") == "good"
    assert project.status(task) == "done"


def test_killed_while_a_gate_runs_the_session_is_not_repeated(project: Project) -> None:
    outside = project.path.parent
    project.agent(
        f"echo x >> '{outside}/sessions'; echo x > work.txt; {CLAIM}",
        gates=f'test = "[ ! -e work.txt ] || {{ {once(project)}; true; }} && test -e README.md"',
    )
    task = project.add("Write it")
    killed(project)
    project.ralph("run")
    assert lines(outside / "sessions") == ["x"]
    assert project.status(task) == "done"
    assert trailers(project) == [task]
    assert project.git("status", "--porcelain") == ""


def test_a_gate_that_outlives_a_run_without_a_claim_is_ended(project: Project) -> None:
    outside = project.path.parent
    gate = outside / "gate.sh"
    gate.write_text(f"echo $$ > '{outside}/pid'; trap '' INT TERM; {KILL}; sleep 1000\n")
    project.agent(f"echo x > work.txt; {CLAIM}", gates=f'test = "exec sh {gate}"')
    task = project.add("Write it")
    killed(project)
    assert project.task(task)["attempt"] == 0
    assert is_alive(outside / "pid")
    gate.write_text("test -e README.md\n")
    project.ralph("run")
    wait_for(lambda: not is_alive(outside / "pid"), "the gate was ended")
    assert left_running(project) == []


def test_killed_again_and_again_it_comes_to_its_end(project: Project) -> None:
    outside = project.path.parent
    project.agent(
        f"echo x >> '{outside}/sessions'; echo $RALPH_ATTEMPT > work.txt;"
        f' if [ "$RALPH_ATTEMPT" -lt 6 ]; then {KILL}; fi; {CLAIM}'
    )
    task = project.add("Write it", "--max-retries", "0")
    for _ in range(5):
        killed(project)
    project.ralph("run")
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["retry_count"]) == ("done", 6, 0)
    assert lines(outside / "sessions") == ["x"] * 6
    assert trailers(project) == [task]
    with store_of(project) as store:
        assert store.runs.live() == []


def test_a_task_of_a_dead_run_is_shown_as_what_it_is(project: Project) -> None:
    project.agent(f"echo x > work.txt; {once(project)}; {CLAIM}")
    task = project.add("Write it")
    killed(project)
    assert task in project.ralph("doctor")
    assert "no run is at work" in project.try_ralph("stop").stderr
    project.ralph("run")
    assert "no claim without a living worker" in project.ralph("doctor")


def test_what_a_person_writes_after_a_crash_and_a_run_is_never_taken_for_the_agents(
    project: Project,
) -> None:
    project.agent(f"echo $RALPH_ATTEMPT > work.txt; {once(project)}; echo nothing done")
    task = project.add("Write it")
    killed(project)
    project.ralph("run", "--once", code=4)
    project.write("notes.txt", "a person's")
    project.agent(f"echo better > work.txt; {CLAIM}")
    # `agent` committed it along with the settings, as a person does.
    project.write("more.txt", "a person's")
    project.ralph("run")
    assert project.status(task) == "done"
    assert project.git("status", "--porcelain") == "?? more.txt"
    assert project.git("show", "--name-only", "--format=", "HEAD") == "work.txt"
