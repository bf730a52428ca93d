"""Runs in the sandbox in checkouts of every kind."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.checkout_setup import CheckoutSetup
from ralph.adapters.workspace.merge_branch import GitMergeBranch
from ralph.adapters.workspace.private_checkout import create_private_checkout
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.config.load import load_config
from ralph.core.ids import TaskId
from ralph.ports.executor import Command, CommandOutput
from ralph.wiring.project_sandbox import ProjectSandbox
from ralph.wiring.sandbox import open_checkout_sandbox, sandboxed_git
from tests.e2e.conftest import DONE, Project

COMMIT = "git add -A && git commit -q -m 'by the agent'"


def _elsewhere(sandboxed: Project, path: Path) -> Project:
    """The same person in another checkout."""
    other = Project.__new__(Project)
    other.path, other.started = path, sandboxed.started
    return other


def test_a_linked_worktree(plain: Project, outside: Path) -> None:
    plain.agent(f"{DONE}; {COMMIT}; echo x >> more.txt", gates='test = "test -e README.md"')
    where = outside / "linked"
    plain.git("worktree", "add", "-q", "-b", "side", str(where))
    linked = _elsewhere(plain, where)
    linked.ralph("init")
    linked.add("first")
    linked.add("second")
    events = linked.events()
    assert events[-1]["outcome"] == "complete"
    assert events[0]["sandbox"] == "bubblewrap"
    subjects = linked.git("log", "--format=%s", "main..side").splitlines()
    assert subjects == ["second", "by the agent", "first", "by the agent"]
    assert linked.git("status", "--porcelain") == ""


def test_a_project_in_a_part_of_the_repository(plain: Project) -> None:
    plain.agent(f"echo x > ../../top.txt; {DONE}")
    part = plain.path / "apps/web"
    part.mkdir(parents=True)
    (plain.path / ".ralph.toml").rename(part / ".ralph.toml")
    inner = _elsewhere(plain, part)
    inner.ralph("init")
    inner.git("add", "-A", "/".join(("..", "..")))
    inner.git("commit", "-q", "-m", "move")
    inner.add("a task")
    assert inner.events()[-1]["outcome"] == "complete"
    assert (plain.path / "top.txt").exists()
    assert inner.git("show", "--name-only", "--format=").splitlines() == [
        "apps/web/work.txt",
        "top.txt",
    ]
    assert inner.git("status", "--porcelain") == ""


def test_work_that_failed_is_taken_out_by_git_in_the_sandbox(plain: Project) -> None:
    plain.agent(
        "rm README.md; echo x > new.txt; mkdir d; echo y > d/f; git add new.txt;"
        ' echo "<task-failed>$RALPH_TASK_ID</task-failed>"'
    )
    task = plain.add("a task")
    plain.events(code=5)
    assert plain.status(task) == "failed"
    assert plain.git("status", "--porcelain") == ""
    assert (plain.path / "README.md").exists()
    saved = plain.git("show", "--name-only", "--format=", f"refs/ralph/{task}/1").splitlines()
    assert saved == ["README.md", "d/f", "new.txt"]


DOCUMENTS = (
    "echo more >> .ralph/guardrails.md; mkdir -p .ralph/features/y;"
    " echo s > .ralph/features/y/spec.md; "
)


def _with_documents(plain: Project) -> None:
    plain.write(".ralph/guardrails.md", "# Guardrails\n")
    plain.git("add", "-A")
    plain.git("commit", "-q", "-m", "documents")


def test_documents_of_work_that_failed_are_taken_out_as_well(plain: Project) -> None:
    _with_documents(plain)
    failed = 'echo "<task-failed>$RALPH_TASK_ID</task-failed>"'
    plain.agent(f"{DOCUMENTS}{COMMIT}; echo again >> .ralph/guardrails.md; {failed}")
    task = plain.add("a task")
    events = plain.events(code=5)
    assert plain.status(task) == "failed"
    [warning] = [one["message"] for one in events if one["event"] == "warned"]
    assert warning.startswith("the commits made during the task are off main")
    # Ralph's own lesson from the failure is all that is left.
    assert plain.git("status", "--porcelain").strip() == "M .ralph/guardrails.md"
    left = (plain.path / ".ralph/guardrails.md").read_text()
    assert left.startswith("# Guardrails\n")
    assert "again" not in left
    assert "more" not in left
    assert "again" in plain.git("show", f"refs/ralph/{task}/1:.ralph/guardrails.md")


def test_work_is_taken_back_in_the_sandbox(plain: Project, outside: Path) -> None:
    """Git runs filters when it writes files: a person's own, or what somebody made of them."""
    _with_documents(plain)
    filter_ = plain.write("filter.sh", "#!/bin/sh\ncat\n")
    filter_.chmod(0o755)
    plain.write(".gitattributes", "*.txt filter=tidy\n")
    for which in ("clean", "smudge"):
        plain.git("config", f"filter.tidy.{which}", "./filter.sh")
    plain.agent(f"{DOCUMENTS}{COMMIT}; {DONE}", execution="verify = false")
    task = plain.add("a task")
    plain.events()
    # As if a session had got at it after all.
    filter_.write_text(f"#!/bin/sh\ntouch {outside}/caught .ralph/progress.db-journal\ncat\n")
    said = plain.ralph("undo", task, "--yes")
    assert "taken back by" in said
    assert (plain.path / ".ralph/guardrails.md").read_text() == "# Guardrails\n"
    assert not (plain.path / ".ralph/features/y/spec.md").exists()
    assert not (outside / "caught").exists()
    assert plain.git("worktree", "list").count("\n") == 0
    plain.ralph("doctor")


@pytest.fixture
def executor() -> Iterator[ProcessExecutor]:
    made = ProcessExecutor(SystemClock())
    yield made
    made.close()


def test_a_private_checkout_keeps_the_source_out_of_reach(
    plain: Project, outside: Path, executor: ProcessExecutor
) -> None:
    state = plain.path / ".ralph"
    ground = ProjectSandbox(project=load_config(str(plain.path), {}, {}))
    with open_checkout_sandbox(ground, executor) as checkout_sandbox:
        git = sandboxed_git(executor, checkout_sandbox, str(state))
        source = UserCheckout(git, str(plain.path))
        checkout = create_private_checkout(source, "HEAD", str(state / "checkouts/t-1"), "t-1")

        def inside(script: str) -> CommandOutput:
            command = Command(argv=("sh", "-c", script), cwd=checkout.path, env=dict(os.environ))
            with checkout_sandbox.sandboxed(command) as sandboxed:
                return executor.capture(sandboxed.command)

        done = inside(f"echo x > new.txt && {COMMIT} && git log --format=%s -1")
        assert done.stdout == b"by the agent\n", done.stderr
        for attempt in (
            f"echo x > {plain.path}/planted",
            f"echo x >> {plain.path}/.git/config",
            f"git -C {plain.path} branch -f main HEAD",
            f"echo x > {outside}/planted",
            "echo x >> .git/config",
            "echo x >> .ralph.toml",
        ):
            assert inside(attempt).code != 0, attempt
        assert not (plain.path / "planted").exists()
        checkout.save("refs/ralph/t-1/1", "Kept aside\n")
        checkout.close()
    assert plain.git("show", "--format=%s", "--no-patch", "refs/ralph/t-1/1^") == "by the agent"


def test_what_runs_in_our_git_finds_no_secrets_and_nobody_to_talk_to(
    plain: Project, executor: ProcessExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent may have planted it; without a sandbox around it, it would have everything."""
    monkeypatch.setenv("MY_API_KEY", "a-secret")
    monkeypatch.setenv("AWS_PROFILE", "a-secret")
    name = f"ralph-test-{os.getpid()}"
    connect = f"import socket; socket.socket(socket.AF_UNIX).connect('\\0' + {name!r})"
    ground = ProjectSandbox(project=load_config(str(plain.path), {}, {}))
    with (
        socket.socket(socket.AF_UNIX) as server,
        open_checkout_sandbox(ground, executor) as checkout_sandbox,
    ):
        server.bind(f"\0{name}")
        server.listen()
        git = sandboxed_git(executor, checkout_sandbox, str(plain.path / ".ralph"))
        command = Command(argv=("env",), cwd=str(plain.path), env=os.environ)
        assert b"a-secret" not in git.capture(command).stdout
        got = git.capture(replace(command, argv=("python3", "-c", connect)))
        assert b"ConnectionRefusedError" in got.stderr
        subprocess.run(["python3", "-c", connect], check=True)


def test_a_teams_branch_is_built_in_the_sandbox(
    plain: Project, outside: Path, executor: ProcessExecutor
) -> None:
    state, task = plain.path / ".ralph", TaskId("t-1")
    project_files = outside / "library"
    subprocess.run(("git", "init", "-q", "-b", "main", project_files), check=True)
    subprocess.run(
        ("git", "-C", project_files, "commit", "-q", "--allow-empty", "-m", "A library"), check=True
    )
    plain.git(
        "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(project_files), "lib"
    )
    plain.git("commit", "-q", "-a", "-m", "With a submodule")
    ground = ProjectSandbox(project=load_config(str(plain.path), {}, {}))
    with open_checkout_sandbox(ground, executor) as checkout_sandbox:
        git = sandboxed_git(executor, checkout_sandbox, str(state))
        preparation = CheckoutSetup(
            project=str(plain.path),
            include=(),
            setup=("echo ready > .git/setup-ran",),
            env=dict(os.environ),
            executor=executor,
            checkout_sandbox=checkout_sandbox,
        )
        merge_branch = GitMergeBranch(
            UserCheckout(git, str(plain.path)),
            branch="main",
            folder=str(state / "checkouts"),
            preparation=preparation,
        )

        def session(script: str) -> None:
            path = merge_branch.open_checkout(task).path
            command = Command(argv=("sh", "-ec", script), cwd=path, env=dict(os.environ))
            with checkout_sandbox.sandboxed(command) as sandboxed:
                done = executor.capture(sandboxed.command)
            assert done.code == 0, done.stderr

        better = "cd lib && echo better > better.txt && git add -A && git commit -q -m better"
        session(f"({better}); echo x > new.txt; {COMMIT}")
        plain.write("mine.txt", "mine")
        plain.git("add", "mine.txt")
        plain.git("commit", "-q", "-m", "Meanwhile")
        rebased = merge_branch.rebase(task)
        assert rebased.conflict is None
        merge_branch.fast_forward(task, rebased.head)
        merge_branch.remove_checkout(task)
        assert merge_branch.update_user_checkout() == ""
        # Made again at the same place, it is prepared for sessions again.
        session(f"test -e new.txt; echo y > new.txt; {COMMIT}")
        merge_branch.reset_checkout(task, "refs/ralph/t-1/1")
        merge_branch.remove_checkout(task)
    assert (plain.path / "new.txt").read_text() == "x\n"
    assert plain.git("status", "--porcelain", "--ignore-submodules=all") == ""
    assert plain.git("show", "refs/ralph/t-1/1:new.txt") == "y"
    plain.git("submodule", "update", "-q", "--no-fetch", "lib")
    assert (plain.path / "lib/better.txt").read_text() == "better\n"
