"""Whole runs behind the wall: everything inside works, nothing gets out, and none is in silence."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.sandbox.world import USERS, a_world
from tests.e2e.stage import ended, path, refused, until, warnings

CLAIM = 'echo "<task-done>$RALPH_TASK_ID</task-done>"'


def _started(events: list[dict[str, object]]) -> dict[str, object]:
    return next(one for one in events if one["event"] == "run_started")


def test_a_graph_is_finished_behind_the_wall(walled: Project, outside: Path) -> None:
    walled.agent(
        f"echo x > {outside}/planted; {DONE}",
        gates=f'test = "test -e work.txt || exit 0; ! touch {outside}/by-gate"',
    )
    first = walled.add("first")
    for title in ("second", "third"):
        walled.add(title, "--blocked-by", first)
    events = walled.events()
    assert events[-1]["outcome"] == "complete"
    assert _started(events)["sandbox"] == "bubblewrap"
    assert warnings(events) == ""
    sessions = [one for one in events if one["event"] == "session_ended"]
    assert [one["swept"] for one in sessions] == [0, 0, 0], "the wall is nothing that was left"
    assert walled.commits()[:3] == ["third", "second", "first"]
    assert not (outside / "planted").exists()
    assert not (outside / "by-gate").exists()
    assert walled.git("status", "--porcelain") == ""
    assert not (walled.path / ".claude").exists(), "a folder that held a place is left"


@pytest.mark.parametrize("user", USERS)
def test_anybody_can_run_it(user: str) -> None:
    agent = (
        "echo x >> work.txt; touch ~/planted; echo learned >> .ralph/guardrails.md;"
        " echo '<task-done>'$RALPH_TASK_ID'</task-done>'; echo '<verify-pass/>'"
    )
    with a_world(user) as world:
        settings = world.project / ".ralph.toml"
        text = settings.read_text().replace('command = "true"', f'command = "{agent}"')
        settings.write_text(text + '[gates]\ntest = "test -e README.md && ! touch ~/by-gate"\n')
        world.give()
        world.git(world.project, "commit", "-q", "-am", "configure")
        world.ralph("task", "add", "a task")
        assert "sandbox bubblewrap" in world.ralph("run").stdout
        assert world.git(world.project, "log", "-1", "--format=%s").strip() == "a task"
        assert world.git(world.project, "status", "--porcelain") == ""
        assert "learned" in (world.project / ".ralph/guardrails.md").read_text()
        assert not (world.home / "planted").exists()
        assert not (world.home / "by-gate").exists()


def test_a_session_commits_and_writes_documents(walled: Project) -> None:
    script = (
        "set -e; echo spec > .ralph/specs/s.md; mkdir -p .ralph/skills/x;"
        " echo skill > .ralph/skills/x/SKILL.md; echo learned >> .ralph/guardrails.md;"
        " echo x > work.txt; git add -A; git commit -q -m 'by the agent'; " + CLAIM
    )
    walled.write(".ralph/guardrails.md", "# Guardrails\n")
    walled.agent(script)
    walled.add("a task")
    assert walled.events()[-1]["outcome"] == "complete"
    assert walled.commits()[0] == "by the agent"
    assert "learned" in (walled.path / ".ralph/guardrails.md").read_text()
    assert walled.git("status", "--porcelain") == ""


def test_ralph_itself_works_inside_over_the_door(walled: Project) -> None:
    script = 'ralph task add "found on the way" && ralph task done $RALPH_TASK_ID && echo x >> w'
    walled.agent(script)
    walled.add("a task")
    events = walled.events("--limit", "1", code=4, PATH=path())
    assert [one["task"]["title"] for one in events if one["event"] == "task_added"] == [
        "found on the way"
    ]
    assert any(one["event"] == "task_done" for one in events)


@pytest.mark.parametrize("before", ["", "## Fixes\n\n- use port 0\n"])
def test_a_session_writes_lessons_down_and_leaves_what_it_learned(
    walled: Project, before: str
) -> None:
    script = (
        "set -e; ralph guardrails add 'no mocks'; ralph guardrails list;"
        " ralph task brief $RALPH_TASK_ID > brief.txt; ralph memory list;"
        " mkdir -p .ralph/skills/x; printf -- '---\\ndescription: made here\\n---\\n'"
        " > .ralph/skills/x/SKILL.md; echo '<knowledge>the pool is small</knowledge>'; "
    )
    walled.agent(script + CLAIM)
    if before:
        walled.write(".ralph/guardrails.md", before)
        walled.git("add", "-A")
        walled.git("commit", "-q", "-m", "what is known")
    walled.add("a task", "--no-change")
    second = walled.add("tune the pool", "--no-change")
    events = walled.events(PATH=path())
    assert events[-1]["outcome"] == "complete"
    assert warnings(events) == ""
    file = (walled.path / ".ralph/guardrails.md").read_text()
    assert file.count("> no mocks") == 1, "the second session says what is known"
    assert file.startswith(before)
    shown = walled.ralph("task", "brief", second)
    for words in ("Pattern: no mocks", "the pool is small", "**x**: made here"):
        assert words in shown


def test_the_database_and_the_settings_stay_as_they_are(walled: Project) -> None:
    script = (
        "rm -f .ralph/progress.db*; echo x > .ralph/progress.db; echo x > .ralph/runs/x;"
        ' printf "[sandbox]\\nmode=\\"off\\"\\n" > .ralph.toml; echo x > .ralph/metrics.json; '
    )
    walled.agent(script + DONE)
    task = walled.add("a task")
    before = (walled.path / ".ralph.toml").read_text()
    events = walled.events()
    assert events[-1]["outcome"] == "complete"
    assert "removed" not in warnings(events)
    assert walled.status(task) == "done"
    assert (walled.path / ".ralph.toml").read_text() == before
    assert not (walled.path / ".ralph/runs/x").exists()


def test_stopping_leaves_time_for_a_last_word_and_nothing_behind(walled: Project) -> None:
    script = (
        "trap 'echo a last word; exit 1' INT; setsid sleep 1000 & echo t > $TMPDIR/t;"
        " touch there; while :; do sleep 0.05; done"
    )
    walled.agent(script)
    task = walled.add("a task")
    run = walled.start("run", "--json")
    session = until(run, "session_started")
    wait_for((walled.path / "there").exists, "the session began")
    marked = f"RALPH_RUN_ID={session['run_id']}" if "run_id" in session else f"RALPH_TASK_ID={task}"
    assert _processes(marked)
    run.send_signal(signal.SIGINT)
    ended(run, 130)
    assert "a last word" in Path(str(session["log"])).read_text()
    assert not _processes(marked)
    assert not _temporary()


def test_a_killed_ralph_takes_everything_inside_with_it(walled: Project) -> None:
    walled.agent("setsid sleep 1000 & touch there; sleep 1000")
    task = walled.add("a task")
    run = walled.start("run")
    wait_for((walled.path / "there").exists, "the session began")
    assert _processes(f"RALPH_TASK_ID={task}")
    run.kill()
    run.wait()
    wait_for(lambda: not _processes(f"RALPH_TASK_ID={task}"), "everything inside died")
    walled.agent(DONE)
    assert walled.events()[-1]["outcome"] == "complete"
    assert not _temporary()


def test_what_hangs_is_ended(walled: Project) -> None:
    walled.agent("trap '' INT TERM; while :; do sleep 0.1; done", timeouts='session = "1s"')
    task = walled.add("a task")
    events = walled.events("--limit", "1", code=4)
    session = next(one for one in events if one["event"] == "session_ended")
    assert session["ended"] == "timed_out"
    assert not _processes(f"RALPH_TASK_ID={task}")


def test_a_gate_that_cannot_run_says_so_as_ever(walled: Project) -> None:
    walled.agent(DONE, gates='test = "no-such-command"')
    walled.add("a task")
    refused(walled.try_ralph("run"), 69, "gate test cannot run", "127")


def test_an_agent_that_is_missing_is_named(walled: Project) -> None:
    walled.agent("no-such-agent {prompt}")
    walled.add("a task")
    refused(walled.try_ralph("run"), 69, "no-such-agent")


def _path_without(tmp: Path, *programs: str) -> str:
    """A PATH with everything that is needed but these."""
    folder = tmp / "programs"
    folder.mkdir()
    for name in ("git", "sh", "env", "cat", "touch", "test", "python3", "true", "sleep", "echo"):
        found = shutil.which(name)
        if found and name not in programs:
            (folder / name).symlink_to(found)
    return str(folder)


def test_without_a_sandbox_there_is_no_run(walled: Project, outside: Path) -> None:
    walled.agent(DONE)
    task = walled.add("a task")
    done = walled.try_ralph("run", PATH=_path_without(outside))
    refused(done, 69, "bubblewrap is not installed", "--no-sandbox")
    assert walled.status(task) == "pending"
    assert walled.commits()[0] == "configure"


def test_without_a_sandbox_a_person_may_run_knowingly(walled: Project, outside: Path) -> None:
    walled.agent(f"touch {outside}/written; {DONE}")
    walled.add("a task")
    events = walled.events("--no-sandbox", PATH=_path_without(outside))
    assert _started(events)["sandbox"] == "off"
    assert (outside / "written").exists()


def test_every_screen_shows_that_there_is_no_wall(walled: Project) -> None:
    walled.agent(DONE)
    walled.add("a task")
    assert "sandbox bubblewrap" in walled.ralph("run", "--dry-run")
    assert "sandbox off" in walled.ralph("run", "--dry-run", "--no-sandbox")
    assert "sandbox off" in walled.ralph("run", "--no-sandbox")
    assert "sandbox off" in walled.ralph("logs")


@pytest.mark.parametrize("said", ["No permissions to create new namespace", "setting up uid map"])
def test_landlock_stands_in_and_what_it_does_not_stop_is_said(
    walled: Project, outside: Path, said: str
) -> None:
    programs = Path(_path_without(outside))
    fake = programs / "bwrap"
    fake.write_text(f'#!/bin/sh\necho "bwrap: {said}" >&2\nexit 1\n')
    fake.chmod(0o755)
    walled.agent(f"echo x > {outside}/planted; {DONE}", gates='test = "test -e README.md"')
    walled.add("a task")
    events = walled.events(PATH=str(programs))
    assert events[-1]["outcome"] == "complete"
    assert _started(events)["sandbox"] == "landlock"
    told = warnings(events)
    assert f"bubblewrap cannot start: {said}" in told
    assert "landlock does not stop this: sockets of other programs can be reached" in told
    assert not (outside / "planted").exists()


def test_doors_are_opened_by_flags(walled: Project, outside: Path) -> None:
    (outside / "shared").mkdir()
    walled.agent(f"echo x > {outside}/shared/written && cat ~/.aws/credentials && {DONE}")
    credentials = outside / "home/.aws/credentials"
    credentials.parent.mkdir()
    credentials.write_text("mine\n")
    walled.add("a task")
    flags = ("--allow", "aws", "--allow-write", str(outside / "shared"))
    assert walled.events(*flags)[-1]["outcome"] == "complete"
    assert (outside / "shared/written").exists()
    walled.add("another task")
    assert walled.events("--limit", "1", code=4)[-1]["outcome"] == "limit-reached"


def test_a_rule_that_does_not_exist_stops_the_run(walled: Project) -> None:
    walled.agent(DONE)
    walled.add("a task")
    refused(walled.try_ralph("run", "--allow", "awz"), 64, "no sandbox rule 'awz'")


def test_the_scripted_agent_says_itself_that_it_needs_no_wall(walled: Project) -> None:
    script = '[[session]]\ntask = "*"\nrepeat = true\nsteps = [{write="a",text="x"},{done=true}]\n'
    walled.write("script.toml", script)
    walled.write(".ralph.toml", '[agent]\nname = "scripted"\ncommand = "script.toml"\n')
    walled.git("add", "-A")
    walled.git("commit", "-q", "-m", "script")
    walled.add("a task")
    events = walled.events()
    assert _started(events)["sandbox"] == "off"


def _processes(mark: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text())
        except OSError:
            continue
    return found


def _temporary() -> list[Path]:
    """Folders of this process's children that nobody holds any more."""
    import fcntl

    left = []
    for folder in Path("/tmp").glob("ralph~*"):
        try:
            handle = os.open(folder, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.append(folder)
        except OSError:
            pass
        finally:
            os.close(handle)
    return left
