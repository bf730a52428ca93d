"""Talking to a live run, and looking at it."""

import hashlib
import json
from pathlib import Path
from typing import Any

from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.fault_helpers import Stage, ended, lines, refs, until


class Live:
    """A run of two tasks in the middle of its first session."""

    def __init__(self, project: Project, **sections: str) -> None:
        self.project = project
        self.stage = Stage(project)
        self.briefs = project.path.parent / "briefs"
        self.briefs.mkdir()
        copy = f"cp {{prompt}} '{self.briefs}'/$RALPH_TASK_ID.$RALPH_ATTEMPT"
        project.agent(f"{copy}; echo said aloud; {self.stage.agent()}", **sections)
        self.first, self.second = project.add("first"), project.add("second")
        self.run = project.start("run", "--json")
        self.stage.enter()

    def brief(self, task: str, attempt: int = 1) -> str:
        return (self.briefs / f"{task}.{attempt}").read_text()

    def end(self, code: int = 0) -> list[dict[str, Any]]:
        return [json.loads(line) for line in ended(self.run, code).splitlines()]

    def statuses(self) -> list[str]:
        return [self.project.status(task) for task in (self.first, self.second)]


def names(events: list[dict[str, Any]]) -> list[str]:
    return [event["event"] for event in events]


def test_pause_waits_after_the_session_and_resume_goes_on(project: Project) -> None:
    live = Live(project)
    assert "resume" in project.ralph("pause")
    live.stage.go()
    until(live.run, "run_paused")
    assert live.statuses() == ["done", "pending"]
    project.ralph("resume")
    events = live.end()
    assert "run_resumed" in names(events)
    assert live.statuses() == ["done", "done"]


def test_a_paused_run_can_be_stopped(project: Project) -> None:
    live = Live(project)
    project.ralph("pause")
    live.stage.go()
    until(live.run, "run_paused")
    project.ralph("stop")
    events = live.end(6)
    assert events[-1]["reason"] == "stopped by a person"
    assert live.statuses() == ["done", "pending"]


def test_stop_lets_the_session_finish(project: Project) -> None:
    live = Live(project)
    project.ralph("stop")
    live.stage.go()
    events = live.end(6)
    assert (events[-1]["outcome"], events[-1]["done"]) == ("paused", 1)
    assert live.statuses() == ["done", "pending"]
    assert project.try_ralph("stop").returncode == 1
    project.ralph("run")
    assert live.statuses() == ["done", "done"]


def test_stop_now_gives_the_task_back_at_no_cost(project: Project) -> None:
    live = Live(project)
    project.ralph("stop", "--now")
    events = live.end(6)
    assert "task_released" in names(events)
    shown = project.task(live.first)
    assert (shown["status"], shown["retry_count"], shown["strikes"]) == ("pending", 0, 0)
    live.stage.go()
    project.ralph("run")
    assert live.statuses() == ["done", "done"]


def test_guidance_reaches_the_next_brief_and_is_acknowledged(project: Project) -> None:
    live = Live(project)
    project.ralph("session", "inject", "use the blue paint")
    project.ralph("session", "inject", "--task", live.second, "only for the second")
    live.stage.go()
    events = live.end()
    assert "blue paint" not in live.brief(live.first)
    assert "blue paint" in live.brief(live.second)
    assert "only for the second" in live.brief(live.second)
    (delivered,) = [event for event in events if event["event"] == "guidance_delivered"]
    assert (delivered["task_id"], delivered["count"]) == (live.second, 2)


def test_skip_leaves_the_task_out_and_goes_on(project: Project) -> None:
    live = Live(project)
    project.write("half.txt", "by the agent, as far as anybody knows\n")
    project.ralph("session", "skip", live.first)
    assert until(live.run, "task_blocked")["task_id"] == live.first
    live.stage.go()
    live.end(2)
    assert live.statuses() == ["blocked", "done"]
    assert f"refs/ralph/{live.first}/1" in refs(project)
    assert not (project.path / "half.txt").exists()
    project.ralph("task", "unblock", live.first)
    project.ralph("run")
    assert live.statuses() == ["done", "done"]


def test_skip_counts_also_in_the_last_moment_of_a_session(project: Project) -> None:
    live = Live(project, gates='x = "test -e README.md"')
    project.ralph("session", "skip", live.first)
    live.stage.go()
    events = live.end(2)
    assert names(events).count("control_sent") == 1
    assert live.statuses() == ["blocked", "done"]


def test_skip_of_a_task_that_waits(project: Project) -> None:
    live = Live(project)
    project.ralph("session", "skip", live.second, "-r", "not needed")
    live.stage.go()
    live.end(2)
    assert live.statuses() == ["done", "blocked"]
    assert project.task(live.second)["reason"] == "not needed"


def test_status_and_logs_during_and_after(project: Project) -> None:
    live = Live(project)
    during = project.ralph("status")
    assert live.first in during
    wait_for(lambda: "said aloud" in project.ralph("logs"), "the log has what the agent said")
    assert "at work" in project.ralph("logs", live.first)
    state = json.loads(project.ralph("status", "--json"))
    assert state
    follower = project.start("logs", "-f")
    live.stage.go()
    live.end()
    after = project.ralph("status")
    assert "2 done" in after
    assert "complete" in after
    sessions = json.loads(project.ralph("logs", "--json"))
    assert [one["task_id"] for one in sessions] == [live.first, live.second]
    assert all(Path(one["log"]).exists() for one in sessions)
    assert follower.stdout is not None
    for line in follower.stdout:
        if live.second in line:
            break
    follower.kill()


def test_a_dry_run_changes_nothing(project: Project) -> None:
    sessions = project.path.parent / "sessions"
    project.agent(f"echo x >> '{sessions}'; {DONE}", gates=f"""x = "! echo x >> '{sessions}'" """)
    task = project.add("x")
    project.add("y", "--blocked-by", task)
    before = everything(project)
    out = project.ralph("run", "--dry-run")
    assert task in out
    assert json.loads(project.ralph("run", "--dry-run", "--json"))["ready"][0]["id"] == task
    assert everything(project) == before
    assert lines(sessions) == []
    assert "nothing has run yet" in project.ralph("status")


def everything(project: Project) -> dict[str, str]:
    """Every file but those in which SQLite keeps its locks."""
    return {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(project.path.rglob("*"))
        if file.is_file() and not file.name.endswith(("-shm", "-wal"))
    }


def test_a_hand_off_by_a_person_and_a_kill_in_the_second_session(project: Project) -> None:
    live = Live(project)
    project.write("half.txt", "by the agent, as far as anybody knows\n")
    assert "fresh" in project.ralph("session", "handoff")
    assert until(live.run, "session_handed_over")["reason"] == "a person wants a fresh session"
    assert until(live.run, "session_started")["attempt"] == 1
    live.run.kill()
    live.run.wait()
    memory = project.path / "MEMORY.md"
    assert memory.read_text().startswith(f"# Memory of {live.first}, attempt 1, session 1\n")
    again = project.start("run", "--json")
    until(again, "session_started")
    live.stage.go()
    ended(again)
    assert live.statuses() == ["done", "done"]
    assert "half.txt" in live.brief(live.first, 2)
    shown = project.task(live.first)
    assert (shown["attempt"], shown["retry_count"], shown["strikes"]) == (2, 0, 0)
    assert not memory.exists()
    assert project.git("status", "--porcelain") == ""
    assert project.git("log", "--all", "--format=%h", "--", "MEMORY.md") == ""
