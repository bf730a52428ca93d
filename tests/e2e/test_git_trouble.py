"""Agents that do things to the repository, and repositories in odd states."""

import json
import os
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import CLAIM, refs, refused, warnings

FAIL = 'echo "<task-failed>$RALPH_TASK_ID</task-failed>"'


def test_a_repository_without_any_commit(tmp_path: Path) -> None:
    project = Project(tmp_path / "empty")
    project.git("update-ref", "-d", "HEAD")
    project.git("rm", "-q", "--cached", "README.md")
    project.ralph("init")
    task = project.add("x")
    project.ralph("run", AGENT_CMD=DONE)
    assert project.status(task) == "done"
    assert project.commits() == ["x"]
    assert project.git("show", "--name-only", "--format=", "HEAD") == "work.txt"
    failed = project.add("y")
    project.ralph("run", AGENT_CMD=f"echo half > half.txt; {FAIL}", code=5)
    assert project.status(failed) == "failed"
    assert not (project.path / "half.txt").exists()


def test_a_first_task_that_fails_before_any_commit(tmp_path: Path) -> None:
    project = Project(tmp_path / "empty")
    project.git("update-ref", "-d", "HEAD")
    project.ralph("init")
    task = project.add("x")
    project.ralph("run", AGENT_CMD=f"echo half > half.txt; git add -A; {FAIL}", code=5)
    assert refs(project) == [f"refs/ralph/{task}/1"]
    assert not (project.path / "half.txt").exists()
    assert project.git("diff", "--cached", "--name-only") == "README.md"


def test_a_detached_head_stays_detached_and_gets_the_commits(project: Project) -> None:
    project.agent(DONE)
    project.git("checkout", "-q", "--detach")
    main = project.git("rev-parse", "main")
    project.add("x")
    project.ralph("run")
    assert project.git("rev-parse", "HEAD~1") == main
    assert project.git("rev-parse", "main") == main
    assert project.git("rev-parse", "--abbrev-ref", "HEAD") == "HEAD"


@pytest.mark.parametrize("commits", [True, False], ids=["commits", "leaves it uncommitted"])
def test_an_agent_that_switches_branch_is_brought_back(project: Project, *, commits: bool) -> None:
    save = "git add -A; git commit -q -m 'its own';" if commits else ""
    project.agent(f"git checkout -q -b elsewhere-$RALPH_TASK_ID; echo x > work.txt; {save} {CLAIM}")
    task = project.add("wanders off")
    events = project.events()
    assert project.status(task) == "done"
    assert project.git("symbolic-ref", "--short", "HEAD") == "main"
    assert project.git("show", "main:work.txt") == "x"
    assert project.git("status", "--porcelain") == ""
    assert "main" in warnings(events)


def test_work_of_an_agent_that_wandered_off_and_failed_is_kept(project: Project) -> None:
    project.agent(
        f"git checkout -q -b elsewhere; echo x > work.txt; git add -A; git commit -q -m x; {FAIL}"
    )
    task = project.add("wanders off")
    project.ralph("run", code=5)
    assert project.git("symbolic-ref", "--short", "HEAD") == "main"
    assert not (project.path / "work.txt").exists()
    assert project.git("show", f"refs/ralph/{task}/1:work.txt") == "x"
    assert project.git("show", "elsewhere:work.txt") == "x"


@pytest.mark.parametrize(
    "rewrite",
    [
        "git reset -q --hard HEAD~1",
        "git commit -q --amend -m 'all mine'",
        "git checkout -q --detach HEAD~1",
        "git checkout -q --orphan fresh; git commit -q -m fresh",
        "git update-ref refs/heads/main HEAD~1",
    ],
)
def test_an_agent_that_rewrites_history_is_rejected_and_nothing_is_lost(
    project: Project, rewrite: str
) -> None:
    project.agent(DONE)
    project.add("good work")
    project.ralph("run")
    head = project.git("rev-parse", "HEAD")
    task = project.add("rewrites", "--max-retries", "0")
    project.ralph("run", code=5, AGENT_CMD=f"{rewrite}; echo more >> other.txt; {CLAIM}")
    shown = project.task(task)
    assert shown["status"] == "failed"
    assert "commit" in shown["reason"]
    assert head[:10] in shown["reason"]
    assert project.git("rev-parse", "main") == head, "the tree is back at the last accepted state"
    assert project.git("symbolic-ref", "--short", "HEAD") == "main"
    assert project.git("status", "--porcelain") == ""
    assert f"refs/ralph/{task}/1" in refs(project)


def test_an_agent_may_rewrite_its_own_commits(project: Project) -> None:
    project.agent(
        "echo x > work.txt; git add -A; git commit -q -m first; echo y > work.txt;"
        f" git commit -q -a --amend -m better; {CLAIM}"
    )
    task = project.add("x")
    project.ralph("run")
    assert project.status(task) == "done"
    assert project.commits()[0] == "better"


def test_a_lock_that_an_agent_left_is_moved_aside(project: Project) -> None:
    project.agent(f"echo dead > .git/index.lock; {DONE}")
    task = project.add("x")
    events = project.events()
    assert project.status(task) == "done"
    assert project.commits()[0] == "x"
    (aside,) = (project.path / ".git/ralph").glob("index.lock-*")
    assert aside.read_text() == "dead\n"
    assert any(str(aside) in event.get("message", "") for event in events)


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "refs/heads/main.lock"])
def test_a_lock_of_a_dead_git_stops_nobody(project: Project, name: str) -> None:
    project.agent(DONE)
    task = project.add("x")
    lock = project.path / ".git" / name
    lock.write_text("dead")
    project.ralph("run")
    assert project.status(task) == "done"
    assert project.commits()[0] == "x"
    assert not lock.exists()


def test_a_lock_of_a_live_git_is_waited_for_in_sight(project: Project) -> None:
    project.agent(DONE)
    task = project.add("x")
    lock = project.path / ".git" / "index.lock"
    with lock.open("w"):
        run = project.start("run", "--json")
        assert run.stdout is not None
        waiting = next(line for line in run.stdout if '"run_waiting"' in line)
    lock.unlink()
    answer = json.loads(waiting)
    assert f"process {os.getpid()} (" in answer["reason"]
    assert "index.lock" in answer["reason"]
    run.communicate(timeout=240)
    assert run.returncode == 0
    assert project.status(task) == "done"


def test_a_lock_that_an_agent_removes_does_not_matter(project: Project) -> None:
    project.agent(f"rm -f .git/*.lock .git/ralph/*; {DONE}")
    task = project.add("x")
    project.ralph("run")
    assert project.status(task) == "done"


def test_an_agent_that_removes_the_repository(project: Project) -> None:
    sessions = project.path.parent / "sessions"
    project.agent(f"echo x >> '{sessions}'; mv .git ../gone; {DONE}")
    task = project.add("x")
    refused(project.try_ralph("run"), 66, "not in a git repository", "hint: ")
    (project.path.parent / "gone").rename(project.path / ".git")
    project.ralph("run")
    assert project.status(task) == "done"
    assert sessions.read_text() == "x\n"


@pytest.mark.parametrize(
    "leave",
    [
        "git init -q nested; touch nested/file",
        "git init -q nested; cd nested; git -c user.name=x -c user.email=x@x commit -q"
        " --allow-empty -m x; cd ..",
        "mkfifo pipe",
        "ln -s /nowhere dangling; ln -s . loop",
        "mkdir -p a/b/c/d",
        "printf 'x' > \"$(printf 'bad\\377name')\"",
        "printf 'x' > \"$(printf 'new\\nline')\"; printf x > '-rf'; printf x > ' lead'",
        "printf '* -text\\n*.bin filter=none\\n' > .gitattributes; head -c 99 /dev/urandom > a.bin",
        "chmod 000 work.txt 2>/dev/null; chmod 644 work.txt",
    ],
)
def test_odd_things_in_the_tree(project: Project, leave: str) -> None:
    project.agent(f"echo $RALPH_TASK_ID > work.txt; {leave}; {CLAIM}")
    task = project.add("odd")
    project.ralph("run")
    assert project.status(task) == "done"
    assert project.git("show", "HEAD:work.txt") == task
    other = project.add("fails")
    project.ralph("run", code=5, AGENT_CMD=f"{leave} 2>/dev/null; echo half > half.txt; {FAIL}")
    assert project.status(other) == "failed"
    assert project.git("show", "HEAD:work.txt") == task


def test_what_an_agent_hides_from_git_stays_on_disk(project: Project) -> None:
    project.agent(f"echo '*' > .gitignore; echo x > work.txt; {CLAIM}")
    task = project.add("hides")
    project.ralph("run")
    assert project.status(task) == "done"
    assert project.git("show", "--name-only", "--format=", "HEAD") == ".gitignore"
    assert (project.path / "work.txt").read_text() == "x\n"


def test_a_merge_that_a_person_left_unfinished_stays_theirs(project: Project) -> None:
    project.write("shared.txt", "one\n")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "one")
    project.git("checkout", "-q", "-b", "side", "HEAD~1")
    project.write("shared.txt", "two\n")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "two")
    project.git("checkout", "-q", "main")
    assert os.system(f"cd '{project.path}' && git merge -q side >/dev/null 2>&1") != 0
    before = (project.path / "shared.txt").read_text()
    task = project.add("x")
    done = project.try_ralph("run", AGENT_CMD=DONE)
    assert "Traceback" not in done.stdout + done.stderr
    assert (project.path / "shared.txt").read_text() == before
    assert "AA shared.txt" in project.git("status", "--porcelain")
    assert (project.path / ".git" / "MERGE_HEAD").exists()
    assert project.status(task) == "done"


def test_hooks_and_signing_of_a_person_do_not_stop_the_night(project: Project) -> None:
    hook = project.path / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    project.git("config", "commit.gpgsign", "true")
    task = project.add("x")
    project.ralph("run", AGENT_CMD=DONE)
    assert project.status(task) == "done"
    assert project.commits()[0] == "x"


@pytest.mark.parametrize(
    "spoil",
    [
        "echo '[broken' > .gitmodules",
        "echo '[broken' > .gitmodules; git add -A; git commit -q -m broken",
        "echo '[broken' > .gitmodules; git add -A; git commit -q -m broken; rm .gitmodules",
        r"printf '[submodule \"part\"]\n\tbranch\n' >> .gitmodules; git add .gitmodules",
        "rm .gitmodules; ln -s work.txt .gitmodules; git add -A; git commit -q -m link",
        "yes '# x' | head -c 2000000 > .gitmodules",
    ],
)
def test_a_list_of_submodules_that_git_cannot_read(project: Project, spoil: str) -> None:
    head = project.git("rev-parse", "HEAD")
    project.write(".gitmodules", '[submodule "part"]\n\tpath = part\n\turl = ../part\n')
    project.git("add", ".gitmodules")
    project.git("update-index", "--add", "--cacheinfo", f"160000,{head},part")
    (project.path / "part").mkdir()
    project.git("commit", "-q", "-m", "part")
    said = project.path.parent / "said"
    repair = (
        "rm -f .gitmodules; git checkout -q good .gitmodules; git add -A; git commit -q -m good"
    )
    project.git("tag", "good")
    project.agent(
        f"cat >> '{said}'; if [ -e '{said}.2' ]; then {repair}; else touch '{said}.2'; {spoil}; fi;"
        f" {DONE}"
    )
    task = project.add("x")
    project.ralph("run")
    assert "git cannot read .gitmodules" in said.read_text(), "the next attempt is told"
    assert project.status(task) == "done"
    assert "part" in project.git("config", "--blob", "HEAD:.gitmodules", "--list")
    assert project.git("status", "--porcelain") == ""
    assert project.git("clone", "-q", ".", str(project.path.parent / "clone")) == ""


def test_pipes_where_git_reads_are_taken_away_without_a_sandbox_too(project: Project) -> None:
    git = (".git/HEAD", ".git/index", ".git/refs/heads/main", ".git/packed-refs", ".git/MERGE_HEAD")
    paths = (".gitignore", ".gitattributes", ".gitmodules", ".mailmap", "README.md", *git)
    pipes = "; ".join(f"rm -f {path}; mkfifo {path}" for path in paths)
    project.agent(f"{DONE}; {pipes}")
    task = project.add("x")
    done = project.ralph("run")
    assert project.status(task) == "done"
    assert "neither a file nor a folder" in done
    assert project.git("show", "HEAD:work.txt")
    assert project.git("status", "--porcelain") == ""


@pytest.mark.parametrize("path", [".gitattributes", ".git/config"])
@pytest.mark.parametrize("command", ["run", "undo --yes", "workspace clean"])
def test_pipes_where_git_reads_are_named_before_anything_is_done(
    project: Project, path: str, command: str
) -> None:
    project.agent(DONE)
    task = project.add("x")
    project.ralph("run")
    project.write("other.txt", "a person's\n")
    (project.path / path).unlink(missing_ok=True)
    os.mkfifo(project.path / path)
    if (command, path) == ("workspace clean", ".gitattributes"):
        project.ralph("workspace", "clean")  # reads none
        return
    # A file that looks changed is read again, by its attributes.
    os.utime(project.path / "work.txt", (1, 1))
    words = command.split()
    done = project.try_ralph(*words, *([task] if words[0] == "undo" else []))
    refused(done, 65, path, "is a pipe", "git waits")


def test_without_a_sandbox_a_session_may_move_branches(project: Project) -> None:
    project.git("branch", "side")
    project.agent(f"git commit -q --allow-empty -m x; git branch -f side; {DONE}")
    task = project.add("x")
    project.ralph("run")
    assert project.status(task) == "done"
    assert not [name for name in refs(project) if "moved" in name]
