"""What has to be there first: said in one line, with the way to get it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import refused, warnings
from tests.e2e.ralph_process import RALPH, run_ralph


def ralph(path: Path, *args: str, **env: str) -> "subprocess.CompletedProcess[str]":
    return run_ralph(*args, cwd=path, env={**os.environ, **env})


def test_without_a_repository_nothing_runs(tmp_path: Path) -> None:
    refused(ralph(tmp_path, "init"), 66, "not in a git repository", "hint: git init")
    (tmp_path / ".ralph.toml").write_text('[agent]\ncommand = "true"\n')
    refused(ralph(tmp_path, "run"), 66, "not in a git repository", "hint: git init")


@pytest.mark.parametrize(
    "words",
    [["run"], ["status"], ["task", "add", "x"], ["task", "list"], ["logs"], ["stop"], ["pause"]],
    ids=" ".join,
)
def test_without_settings_nothing_runs(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / ".git").mkdir()
    refused(ralph(tmp_path, *words), 66, ".ralph.toml", "hint: ralph init")
    assert os.listdir(tmp_path) == [".git"], "a question leaves nothing behind"


def test_settings_that_cannot_be_read(project: Project) -> None:
    settings = project.path / ".ralph.toml"
    for text in (b"[agent\n", b"\xff\xfe\x00garbage", b'[agent]\ncommand = "x'):
        settings.write_bytes(text)
        refused(project.try_ralph("run"), 78, ".ralph.toml")
    settings.unlink()
    settings.mkdir()
    done = project.try_ralph("run")
    assert done.returncode in (66, 78)
    refused(done, done.returncode, ".ralph.toml")


def test_settings_with_a_wrong_value(project: Project) -> None:
    for section, body in (
        ("timeouts", 'session = "soon"'),
        ("execution", 'max_retries = "many"'),
        ("git", 'commit = "perhaps"'),
        ("breaker", "failures = -1"),
    ):
        project.agent(DONE, **{section: body})
        refused(project.try_ralph("run"), 78, ".ralph.toml", body.split()[0])


def test_without_git_nothing_runs(project: Project, tmp_path: Path) -> None:
    project.agent(DONE)
    task = project.add("x")
    refused(project.try_ralph("run", PATH=str(tmp_path)), 69, "git", "hint: install git")
    assert project.task(task)["attempt"] == 0


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    """A PATH on which there is git, and no agent."""
    folder = tmp_path / "only git"
    folder.mkdir()
    (folder / "git").symlink_to(str(shutil.which("git")))
    return str(folder)


def test_without_an_agent_nothing_runs(project: Project, bare_path: str) -> None:
    task = project.add("x")
    done = project.try_ralph("run", PATH=bare_path)
    refused(done, 69, "no agent is installed", "hint: ", "ralph agents list")
    done = project.try_ralph("run", "--agent", "claud", PATH=bare_path)
    refused(done, 69, "no agent 'claud'; did you mean claude?", "hint: ")
    assert project.task(task)["attempt"] == 0


@pytest.mark.parametrize("agent", ["claude", "codex", "droid"])
def test_an_agent_that_is_missing_says_how_to_install_it(
    project: Project, bare_path: str, agent: str
) -> None:
    task = project.add("x")
    done = project.try_ralph("run", "--agent", agent, PATH=bare_path)
    refused(done, 69, f"{agent} is not installed", "hint: npm install")
    assert project.task(task)["attempt"] == 0


def test_an_agent_that_cannot_step_in_is_told_at_the_start(
    project: Project, bare_path: str
) -> None:
    agent = f'[agent]\ncommand = "{shutil.which("true")}"\nfallback = ["droid", "droid"]\n'
    project.write(".ralph.toml", agent)
    project.git("commit", "-q", "-am", "configure")
    project.add("x")
    events = project.events("--once", code=4, PATH=bare_path)
    warned = [line for line in warnings(events).splitlines() if "droid" in line]
    assert warned == ["droid cannot step in, since it is not installed: npm install -g droid"]
    assert "droid cannot step in" in project.ralph("doctor", PATH=bare_path)


def test_agents_have_command_lines_of_a_persons_own(project: Project) -> None:
    project.write(
        ".agents/ralph/agents.sh",
        "DEFAULT_AGENT=mine\n"
        f"AGENT_MINE_CMD='echo mine > who; {DONE}'\n"
        f"AGENT_CLAUDE_CMD='echo other > who; {DONE}'\n",
    )
    project.add("x")
    project.ralph("run")
    assert (project.path / "who").read_text() == "mine\n"
    project.add("y")
    events = project.events("--agent", "claude")
    assert (project.path / "who").read_text() == "other\n"
    assert {one["agent"] for one in events if one["event"] == "session_started"} == {"claude"}
    refused(project.try_ralph("run", "--agent", "mien"), 69, "did you mean mine?", "kimi, mine,")


def test_a_bare_repository_has_nothing_to_work_on(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path)], check=True)
    (tmp_path / ".ralph.toml").write_text('[agent]\ncommand = "true"\n')
    refused(ralph(tmp_path, "run"), 65, "bare repository")


@pytest.mark.parametrize("command", ["run", "go x", "init"])
def test_a_directory_that_is_gone(command: str, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["/bin/sh", "-c", f'rmdir "$PWD"; exec "{RALPH}" {command}'],
        cwd=gone,
        capture_output=True,
        text=True,
        check=False,
    )
    # The launcher's shell has a word of its own to say about it.
    done.stderr = done.stderr[done.stderr.index("ralph: ") :]
    refused(done, 66, "the current directory is gone", "hint: ")
    refused(ralph(tmp_path, "-C", str(gone), "run"), 66, "gone")


def test_names_that_do_not_exist_bring_near_ones(project: Project) -> None:
    project.agent(DONE)
    task = project.add("x")
    near = task[:-1] + ("0" if task[-1] != "0" else "1")
    refused(project.try_ralph("task", "show", near), 66, near, task)
    refused(project.try_ralph("run", near), 66, near, task)
    for words in (["done"], ["fail"], ["reset"], ["delete", "--yes"], ["update", "--title", "y"]):
        refused(project.try_ralph("task", words[0], near, *words[1:]), 66, near)
    refused(project.try_ralph("logs", "no-such-thing"), 66, "no-such-thing")
    refused(project.try_ralph("task", "add", "y", "--blocked-by", near), 66, near)
    refused(project.try_ralph("task", "add", "y", "--parent", near), 66, near)
    assert project.status(task) == "pending"


def test_circles_are_refused_and_change_nothing(project: Project) -> None:
    first = project.add("first")
    second = project.add("second", "--blocked-by", first)
    third = project.add("third", "--blocked-by", second)
    child = project.add("child", "--parent", first)
    for blocker, blocked in ((third, first), (first, first), (third, child), (child, first)):
        refused(project.try_ralph("task", "deps", "add", blocker, blocked), 64)
    refused(project.try_ralph("task", "update", first, "--parent", child), 64)
    assert project.task(first)["blockers"] == []
    assert project.task(child)["blockers"] == []


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--limit", "x"],
        ["run", "--once", "--limit", "2"],
        ["run", "--no-such-flag"],
        ["rum"],
        ["task"],
        ["task", "add"],
        ["inject"],
    ],
    ids=" ".join,
)
def test_a_command_line_that_makes_no_sense_is_64(project: Project, words: list[str]) -> None:
    done = project.try_ralph(*words)
    if words == ["task"]:
        assert done.returncode in (0, 64)
    else:
        refused(done, 64)


def test_every_folder_of_ours_may_be_missing(project: Project) -> None:
    """A fresh clone has none of what git ignores."""
    shutil.rmtree(project.path / ".ralph")
    project.agent(DONE)
    task = project.add("x")
    project.ralph("run")
    assert project.status(task) == "done"
    assert project.git("status", "--porcelain") == ""
