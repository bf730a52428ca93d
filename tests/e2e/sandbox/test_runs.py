"""Whole runs in the sandbox: everything inside works, nothing gets out, and none is in silence."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.fault_helpers import ended, path, refused, until, warnings
from tests.e2e.sandbox.world import USERS, a_world

CLAIM = 'echo "<task-done>$RALPH_TASK_ID</task-done>"'


def _started(events: list[dict[str, object]]) -> dict[str, object]:
    return next(one for one in events if one["event"] == "run_started")


def test_a_graph_is_finished_in_the_sandbox(sandboxed: Project, outside: Path) -> None:
    sandboxed.agent(
        f"echo x > {outside}/planted; {DONE}",
        gates=f'test = "test -e work.txt || exit 0; ! touch {outside}/by-gate"',
    )
    first = sandboxed.add("first")
    for title in ("second", "third"):
        sandboxed.add(title, "--blocked-by", first)
    events = sandboxed.events()
    assert events[-1]["outcome"] == "complete"
    assert _started(events)["sandbox"] == "bubblewrap"
    assert warnings(events) == "gate test passes in an empty checkout, so it may prove nothing"
    sessions = [one for one in events if one["event"] == "session_ended"]
    assert [one["swept"] for one in sessions] == [0, 0, 0], "the sandbox is nothing that was left"
    assert sandboxed.commits()[:3] == ["third", "second", "first"]
    assert not (outside / "planted").exists()
    assert not (outside / "by-gate").exists()
    assert sandboxed.git("status", "--porcelain") == ""
    assert not (sandboxed.path / ".claude").exists(), "a folder that held a place is left"


@pytest.mark.parametrize("use", ["bubblewrap", "landlock"])
def test_a_session_and_a_gate_may_empty_their_temporary_folder(
    sandboxed: Project, use: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_SANDBOX_USE", use)
    empty = 'find "$TMPDIR" -mindepth 1 -delete'
    sandboxed.agent(f"echo x >> count; {empty}; {DONE}", gates=f"test = '{empty}'")
    task = sandboxed.add("a task")
    sandboxed.events()
    assert sandboxed.status(task) == "done"
    assert (sandboxed.path / "count").read_text() == "x\n", "one session is enough"


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


@pytest.mark.parametrize("workers", ["1", "2"])
def test_no_session_can_hold_a_lock_or_the_database(plain: Project, workers: str) -> None:
    """Whoever can open a file can lock it, also where it cannot be written."""
    names = "-name '*.lock' -o -name 'progress.db' -o -name '*-wal' -o -name '*-shm'"
    opened = f"find {plain.path} -type f \\( {names} \\)"
    plain.agent(f"{opened} > found; test ! -s found && {DONE} && echo '<verify-pass/>'; rm found")
    plain.add("a task")
    events = plain.events("--workers", workers, RALPH_EXECUTION_VERIFY="true")
    assert events[-1]["outcome"] == "complete"


def test_a_session_commits_and_writes_documents(sandboxed: Project) -> None:
    script = (
        "set -e; echo spec > .ralph/specs/s.md; mkdir -p .ralph/skills/x;"
        " echo skill > .ralph/skills/x/SKILL.md; echo learned >> .ralph/guardrails.md;"
        " echo x > work.txt; git add -A; git commit -q -m 'by the agent'; " + CLAIM
    )
    sandboxed.write(".ralph/guardrails.md", "# Guardrails\n")
    sandboxed.agent(script)
    sandboxed.add("a task")
    assert sandboxed.events()[-1]["outcome"] == "complete"
    assert sandboxed.commits()[0] == "by the agent"
    assert "learned" in (sandboxed.path / ".ralph/guardrails.md").read_text()
    assert sandboxed.git("status", "--porcelain") == ""


def test_ralph_itself_works_inside_over_the_door(sandboxed: Project) -> None:
    script = 'ralph task add "found on the way" && ralph task done $RALPH_TASK_ID && echo x >> w'
    sandboxed.agent(script)
    sandboxed.add("a task")
    events = sandboxed.events("--limit", "1", code=4, PATH=path())
    assert [one["task"]["title"] for one in events if one["event"] == "task_added"] == [
        "found on the way"
    ]
    assert any(one["event"] == "task_done" for one in events)


@pytest.mark.parametrize("before", ["", "## Fixes\n\n- use port 0\n"])
def test_a_session_writes_lessons_down_and_leaves_what_it_learned(
    sandboxed: Project, before: str
) -> None:
    script = (
        "set -e; ralph memory add 'no mocks'; ralph memory guardrails;"
        " ralph task brief $RALPH_TASK_ID > brief.txt; ralph memory list;"
        " mkdir -p .ralph/skills/x; printf -- '---\\ndescription: made here\\n---\\n'"
        " > .ralph/skills/x/SKILL.md; echo '<knowledge>the pool is small</knowledge>'; "
    )
    sandboxed.agent(script + CLAIM)
    if before:
        sandboxed.write(".ralph/guardrails.md", before)
        sandboxed.git("add", "-A")
        sandboxed.git("commit", "-q", "-m", "what is known")
    sandboxed.add("a task", "--no-change")
    second = sandboxed.add("tune the pool", "--no-change")
    events = sandboxed.events(PATH=path())
    assert events[-1]["outcome"] == "complete"
    assert warnings(events) == ""
    file = (sandboxed.path / ".ralph/guardrails.md").read_text()
    assert file.count("> no mocks") == 1, "the second session says what is known"
    assert file.startswith(before)
    shown = sandboxed.ralph("task", "brief", second)
    for words in ("Pattern: no mocks", "the pool is small", "**x**: made here"):
        assert words in shown


def test_the_database_and_the_settings_stay_as_they_are(sandboxed: Project) -> None:
    script = (
        "rm -f .ralph/progress.db*; echo x > .ralph/progress.db; echo x > .ralph/runs/x;"
        ' printf "[sandbox]\\nmode=\\"off\\"\\n" > .ralph.toml; echo x > .ralph/metrics.json; '
    )
    sandboxed.agent(script + DONE)
    task = sandboxed.add("a task")
    before = (sandboxed.path / ".ralph.toml").read_text()
    events = sandboxed.events()
    assert events[-1]["outcome"] == "complete"
    assert "removed" not in warnings(events)
    assert sandboxed.status(task) == "done"
    assert (sandboxed.path / ".ralph.toml").read_text() == before
    assert not (sandboxed.path / ".ralph/runs/x").exists()


def test_stopping_leaves_time_for_a_last_word_and_nothing_behind(sandboxed: Project) -> None:
    script = (
        "trap 'echo a last word; exit 1' INT; setsid sleep 1000 & echo t > $TMPDIR/t;"
        " touch there; while :; do sleep 0.05; done"
    )
    sandboxed.agent(script)
    task = sandboxed.add("a task")
    run = sandboxed.start("run", "--json")
    session = until(run, "session_started")
    wait_for((sandboxed.path / "there").exists, "the session began")
    marked = f"RALPH_RUN_ID={session['run_id']}" if "run_id" in session else f"RALPH_TASK_ID={task}"
    assert _processes(marked)
    run.send_signal(signal.SIGINT)
    ended(run, 130)
    assert "a last word" in Path(str(session["log"])).read_text()
    assert not _processes(marked)
    assert not _temporary()


def test_a_killed_ralph_takes_everything_inside_with_it(sandboxed: Project) -> None:
    sandboxed.agent("setsid sleep 1000 & touch there; sleep 1000")
    task = sandboxed.add("a task")
    run = sandboxed.start("run")
    wait_for((sandboxed.path / "there").exists, "the session began")
    assert _processes(f"RALPH_TASK_ID={task}")
    run.kill()
    run.wait()
    wait_for(lambda: not _processes(f"RALPH_TASK_ID={task}"), "everything inside died")
    sandboxed.agent(DONE)
    assert sandboxed.events()[-1]["outcome"] == "complete"
    assert not _temporary()


def test_what_hangs_is_ended(sandboxed: Project) -> None:
    sandboxed.agent("trap '' INT TERM; while :; do sleep 0.1; done", timeouts='session = "1s"')
    task = sandboxed.add("a task")
    events = sandboxed.events("--limit", "1", code=4)
    session = next(one for one in events if one["event"] == "session_ended")
    assert session["ended"] == "timed_out"
    assert not _processes(f"RALPH_TASK_ID={task}")


def test_a_gate_that_cannot_run_says_so_as_ever(sandboxed: Project) -> None:
    sandboxed.agent(DONE, gates='test = "no-such-command"')
    sandboxed.add("a task")
    refused(sandboxed.try_ralph("run"), 69, "gate test cannot run", "127")


def test_an_agent_that_is_missing_is_named(sandboxed: Project) -> None:
    sandboxed.agent("no-such-agent {prompt}")
    sandboxed.add("a task")
    refused(sandboxed.try_ralph("run"), 69, "no-such-agent")


def _path_without(tmp: Path, *programs: str) -> str:
    """A PATH with everything that is needed but these."""
    folder = tmp / "programs"
    folder.mkdir()
    for name in ("git", "sh", "env", "cat", "touch", "test", "python3", "true", "sleep", "echo"):
        found = shutil.which(name)
        if found and name not in programs:
            (folder / name).symlink_to(found)
    return str(folder)


def test_without_a_sandbox_there_is_no_run(sandboxed: Project, outside: Path) -> None:
    sandboxed.agent(DONE)
    task = sandboxed.add("a task")
    path = _path_without(outside)
    for command in (["run"], ["a wish"]):
        done = sandboxed.try_ralph(*command, PATH=path)
        refused(done, 69, "bubblewrap is not installed", "--no-sandbox")
    assert sandboxed.status(task) == "pending"
    assert "a wish" not in sandboxed.ralph("task", "list")
    assert sandboxed.commits()[0] == "configure"


def test_without_a_sandbox_a_person_may_run_knowingly(sandboxed: Project, outside: Path) -> None:
    sandboxed.agent(f"touch {outside}/written; {DONE}")
    sandboxed.add("a task")
    events = sandboxed.events("--no-sandbox", PATH=_path_without(outside))
    assert _started(events)["sandbox"] == "off"
    assert (outside / "written").exists()


def test_every_screen_shows_that_there_is_no_sandbox(sandboxed: Project) -> None:
    sandboxed.agent(DONE)
    sandboxed.add("a task")
    assert "sandbox bubblewrap" in sandboxed.ralph("run", "--dry-run")
    assert "sandbox off" in sandboxed.ralph("run", "--dry-run", "--no-sandbox")
    assert "sandbox off" in sandboxed.ralph("run", "--no-sandbox")
    assert "sandbox off" in sandboxed.ralph("logs")


@pytest.mark.parametrize("said", ["No permissions to create new namespace", "setting up uid map"])
def test_landlock_stands_in_and_what_it_does_not_stop_is_said(
    sandboxed: Project, outside: Path, said: str
) -> None:
    programs = Path(_path_without(outside))
    fake = programs / "bwrap"
    fake.write_text(f'#!/bin/sh\necho "bwrap: {said}" >&2\nexit 1\n')
    fake.chmod(0o755)
    sandboxed.agent(f"echo x > {outside}/planted; {DONE}", gates='test = "test -e README.md"')
    sandboxed.add("a task")
    events = sandboxed.events(PATH=str(programs))
    assert events[-1]["outcome"] == "complete"
    assert _started(events)["sandbox"] == "landlock"
    warned = warnings(events)
    assert f"bubblewrap cannot start: {said}" in warned
    assert "landlock does not stop this: sockets of other programs can be reached" in warned
    assert not (outside / "planted").exists()


def test_doors_are_opened_by_flags(sandboxed: Project, outside: Path) -> None:
    (outside / "shared").mkdir()
    sandboxed.agent(f"echo x > {outside}/shared/written && cat ~/.aws/credentials && {DONE}")
    credentials = outside / "home/.aws/credentials"
    credentials.parent.mkdir()
    credentials.write_text("mine\n")
    sandboxed.add("a task")
    flags = ("--allow", "aws", "--allow-write", str(outside / "shared"))
    assert sandboxed.events(*flags)[-1]["outcome"] == "complete"
    assert (outside / "shared/written").exists()
    sandboxed.add("another task")
    assert sandboxed.events("--limit", "1", code=4)[-1]["outcome"] == "limit-reached"


def test_a_rule_that_does_not_exist_stops_the_run(sandboxed: Project) -> None:
    sandboxed.agent(DONE)
    sandboxed.add("a task")
    refused(sandboxed.try_ralph("run", "--allow", "awz"), 64, "no sandbox rule 'awz'")


def test_the_scripted_agent_says_itself_that_it_needs_no_sandbox(sandboxed: Project) -> None:
    script = '[[session]]\ntask = "*"\nrepeat = true\nsteps = [{write="a",text="x"},{done=true}]\n'
    sandboxed.write("script.toml", script)
    sandboxed.write(".ralph.toml", '[agent]\nname = "scripted"\ncommand = "script.toml"\n')
    sandboxed.git("add", "-A")
    sandboxed.git("commit", "-q", "-m", "script")
    sandboxed.add("a task")
    events = sandboxed.events()
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
