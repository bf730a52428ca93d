"""Agents that are missing, die, babble or say nothing: the run survives them all."""

import os
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.fault_helpers import CLAIM, fed, lines, refused


def endings(events: list[dict[str, object]]) -> list[object]:
    return [event["ended"] for event in events if event["event"] == "session_ended"]


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("no-such-agent-anywhere", "no-such-agent-anywhere"),
        ("no-such-agent-anywhere --flag < {prompt}", "no-such-agent-anywhere"),
        ("./README.md", "README.md"),
        ("./not-a-program", "not-a-program"),
        ("./lost-interpreter", "lost-interpreter"),
    ],
)
def test_an_agent_that_cannot_run_ends_the_run(project: Project, command: str, why: str) -> None:
    project.write("not-a-program", "\x7fELF nonsense").chmod(0o755)
    project.write("lost-interpreter", "#!/no/such/interpreter\n").chmod(0o755)
    project.agent(command)
    task = project.add("never begun")
    refused(project.try_ralph("run"), 69, why, "hint: ")
    shown = project.task(task)
    assert (shown["status"], shown["claimed_by"]) == ("pending", None)
    assert (shown["retry_count"], shown["strikes"]) == (0, 0)
    project.agent(DONE)
    project.ralph("run")
    assert project.status(task) == "done"


@pytest.mark.parametrize(
    ("fault", "ended"),
    [
        ("kill -9 $$", "killed"),
        ("kill -15 $$", "killed"),
        ("kill -11 $$", "killed"),
        ("kill -9 0", "killed"),
        ("exit 130", "killed"),
        ("exit 143", "killed"),
        (f"{CLAIM}; exit 3", "agent_error"),
        ("exit 1", "agent_error"),
        ("exit 0", "no_result"),
        ("printf '\\n \\n'", "no_result"),
        ("echo hello", "finished"),
        ("head -c 100000 /dev/urandom", "finished"),
        ("cat", "finished"),
        ("cat; cat 1>&2", "finished"),
        ("printf '<task-done>'", "finished"),
        ('printf "<task-done>\\0$RALPH_TASK_ID</task-done>"', "finished"),
        ('echo "<task-done>$RALPH_TASK_ID</task-done>" >&2; echo hm', "finished"),
    ],
)
def test_a_session_without_a_claim_that_counts_is_a_strike(
    project: Project, fault: str, ended: str
) -> None:
    project.agent(f"if [ $RALPH_ATTEMPT = 1 ]; then echo x > half.txt; {fault}; else {DONE}; fi")
    task = project.add("two sessions")
    events = project.events()
    assert endings(events) == [ended, "finished"]
    assert [event["event"] for event in events].count("task_struck") == 1
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["retry_count"]) == ("done", 2, 0)


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        ("<task-done>t-ffffff</task-done>", "task_struck"),
        ("<task-failed>t-ffffff</task-failed>", "task_struck"),
        ("<task-failed>$RALPH_TASK_ID</task-failed> <task-done>$RALPH_TASK_ID</task-done>", "done"),
        ("I am not done: <task-done>not yet</task-done>", "task_struck"),
        ("<TASK-DONE>$RALPH_TASK_ID</TASK-DONE>", "task_struck"),
        ("<promise>COMPLETE</promise>", "task_struck"),
        ("task $RALPH_TASK_ID is done", "task_struck"),
        ("the words <promise>FAILURE</promise> are only quoted here", "task_struck"),
        ("<task-done> $RALPH_TASK_ID </task-done>", "done"),
    ],
)
def test_what_counts_as_a_claim(project: Project, words: str, verdict: str) -> None:
    project.agent(f'echo x >> work.txt; echo "{words}"')
    task = project.add("claimed somehow")
    names = [event["event"] for event in project.events("--once", code=None)]
    assert ("task_done" if verdict == "done" else verdict) in names
    assert project.status(task) == ("done" if verdict == "done" else "pending")


def test_a_claim_for_another_task_moves_neither(project: Project) -> None:
    project.agent('echo x >> work.txt; echo "<task-done>$(cat ../other)</task-done>"')
    mine, other = project.add("mine"), project.add("other")
    (project.path.parent / "other").write_text(other)
    events = project.events("--once", code=4)
    (struck,) = [event for event in events if event["event"] == "task_struck"]
    assert struck["task_id"] == mine
    assert other in struck["reason"]
    assert [project.status(task) for task in (mine, other)] == ["pending", "pending"]
    assert project.task(mine)["claimed_by"] is None


def test_a_claim_far_before_the_end_of_the_output_does_not_count(project: Project) -> None:
    """The final message is the last 64 KiB."""
    project.agent(f"{DONE}; head -c 70000 /dev/zero | tr '\\0' y")
    task = project.add("long ago")
    project.ralph("run", "--once", code=4)
    assert project.status(task) == "pending"


def test_a_line_of_200_megabytes(project: Project) -> None:
    project.agent(f"head -c 200000000 /dev/zero | tr '\\0' x; echo; {DONE}")
    task = project.add("verbose")
    events = project.events()
    assert project.status(task) == "done"
    (log,) = [Path(str(event["log"])) for event in events if event["event"] == "session_started"]
    assert log.stat().st_size > 200_000_000, "the raw log has every byte"
    stream = log.with_suffix(".jsonl")
    assert stream.stat().st_size < 20_000_000, "the stream for screens is bounded"
    shown = project.ralph("logs", task)
    assert len(shown) < 100_000
    log.unlink()


def test_a_flood_of_lines_and_errors(project: Project) -> None:
    project.agent(f"yes line | head -n 300000; yes trouble | head -n 300000 >&2; {DONE}")
    task = project.add("talkative")
    out = project.ralph("run")
    assert project.status(task) == "done"
    assert len(out) < 1_000_000


def test_an_agent_that_waits_for_input_finds_its_end(project: Project) -> None:
    for template in ("cat {prompt} >/dev/null; ", ""):
        project.agent(f"{template}cat > /dev/null; read line; {DONE}")
        task = project.add("curious")
        project.ralph("run")
        assert project.status(task) == "done"


def test_an_agent_that_does_not_read_its_brief(project: Project) -> None:
    project.agent(f"exec <&-; {DONE}")
    task = fed(project, "word " * 50_000, "task", "add", "ignored", "-d", "-")
    project.ralph("run")
    assert project.status(task) == "done"


def test_an_agent_that_closes_its_output_may_go_on_working(project: Project) -> None:
    project.agent(f"{CLAIM}; exec >&- 2>&-; sleep 0.3; echo late > work.txt")
    task = project.add("quiet worker")
    project.ralph("run")
    assert project.status(task) == "done"
    assert project.git("show", "HEAD:work.txt") == "late"


@pytest.mark.parametrize(
    "leave",
    [
        "sleep 1000 &",
        "(trap '' INT TERM HUP; while :; do sleep 1; done) &",
        "setsid sleep 1000 &",
        "setsid -f sleep 1000",
        "nohup setsid sh -c 'sleep 1000; :' >/dev/null 2>&1 </dev/null &",
        "(env -i setsid -f sleep 1000)",
    ],
)
def test_nothing_survives_its_session(project: Project, leave: str, tmp_path: Path) -> None:
    """Each is a child of a shell that ended; only the kernel knows whose they were."""
    mark = f"1{os.getpid()}{len(leave)}"
    project.agent(f"{leave.replace('1000', mark)}\n{DONE}")
    task = project.add("leaves something")
    events = project.events()
    assert project.status(task) == "done"
    swept = next(event["swept"] for event in events if event["event"] == "session_ended")
    assert swept >= 1
    assert running(mark) == []


def running(word: str) -> list[str]:
    """Processes whose command line holds the word."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if word in line and "ralph" not in line and "pytest" not in line:
            found.append(line)
    return found


def test_an_agent_that_kills_ralph_itself_loses_nothing(project: Project) -> None:
    sessions = project.path.parent / "sessions"
    project.agent(
        f"echo x >> '{sessions}'; echo x >> work.txt;"
        f" if [ $RALPH_ATTEMPT = 1 ]; then kill -9 $PPID; sleep 1000; fi; {CLAIM}"
    )
    task = project.add("hostile")
    run = project.start("run")
    run.communicate(timeout=240)
    assert run.returncode == -9
    assert project.status(task) == "in_progress"
    wait_for(lambda: len(lines(sessions)) == 1, "the session began")
    project.ralph("run")
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["retry_count"]) == ("done", 2, 0)
