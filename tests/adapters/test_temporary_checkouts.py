"""Checkouts to look at and throw away, of the person's checkout or of a task's own."""

import os
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.sandbox.checkout_sandbox import NoSandbox
from ralph.adapters.workspace.checkout_setup import CheckoutSetup
from ralph.adapters.workspace.private_checkout import create_private_checkout
from ralph.adapters.workspace.task_checkouts import TemporaryClones
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.git_layout import borrowed_objects
from tests.git_user import GitUser, a_project


@pytest.fixture
def source(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "source")


@pytest.fixture
def checkouts(source: GitUser, tmp_path: Path) -> TemporaryClones:
    return some_of(source, tmp_path)


def some_of(source: GitUser, tmp_path: Path, include: str = ".env") -> TemporaryClones:
    executor = ProcessExecutor(SystemClock())
    workspace = UserCheckout(executor, str(source.top))
    preparation = CheckoutSetup(
        project=str(source.top),
        include=(include,),
        setup=("echo ready > setup.log",),
        env=os.environ,
        executor=executor,
        checkout_sandbox=NoSandbox(),
    )
    return TemporaryClones(workspace, str(tmp_path / "checkouts"), preparation)


def test_a_tasks_own_checkout_can_be_looked_at(
    source: GitUser, checkouts: TemporaryClones, tmp_path: Path
) -> None:
    source.write(".env", "KEY=1")
    private = create_private_checkout(
        UserCheckout(ProcessExecutor(SystemClock()), str(source.top)),
        "HEAD",
        str(tmp_path / "checkouts/t-1"),
        "t-1",
    )
    inside = GitUser(private.path)
    inside.write("committed", "committed")
    inside.commit()
    inside.write("loose", "loose")
    before = inside.state()
    with checkouts.checkout_of(private, private.snapshot(), "verify-t-1") as path:
        found = GitUser(path).files()
        assert {"README.md", "committed", "loose"} <= found.keys()
        assert Path(path, ".env").read_text() == "KEY=1"
        assert Path(path, "setup.log").read_text() == "ready\n"
        GitUser(path).write("README.md", "what a verifier tried out")
        assert borrowed_objects(path) == str(tmp_path / "checkouts/t-1/.git/objects")
    assert inside.state() == before
    assert not os.path.exists(path)
    assert "refs/ralph" not in inside.git("for-each-ref")


def test_what_another_worker_looks_at_is_not_tidied_away(
    source: GitUser, checkouts: TemporaryClones, tmp_path: Path
) -> None:
    workspace = UserCheckout(ProcessExecutor(SystemClock()), str(source.top))
    abandoned = tmp_path / "checkouts/throw-away-verify-t-2-abcdefgh"
    with checkouts.checkout_of(workspace, workspace.snapshot(), "verify-t-1") as path:
        abandoned.mkdir()
        source.git("update-ref", "refs/ralph/base/verify-t-2", "HEAD")
        some_of(source, tmp_path).remove_leftovers()
        assert os.path.exists(os.path.join(path, "README.md"))
        assert not abandoned.exists()
        assert "verify-t-2" not in source.git("for-each-ref")


def test_what_a_link_leads_to_is_not_borrowed(source: GitUser, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    alternates = source.top / ".git/objects/info/alternates"
    assert borrowed_objects(str(source.top)) == ""
    alternates.write_text(f"{tmp_path}/link\n")
    assert borrowed_objects(str(source.top)) == ""
    alternates.write_text(f"{tmp_path}/elsewhere\n")
    assert borrowed_objects(str(source.top)) == str(tmp_path / "elsewhere")


def test_links_that_lead_back_do_not_hold_up_what_is_copied(
    source: GitUser, tmp_path: Path
) -> None:
    """Each more would double the time."""
    workspace = UserCheckout(ProcessExecutor(SystemClock()), str(source.top))
    now = workspace.snapshot()
    source.write("part/deep/.env", "KEY=1")
    source.write("part/.hidden/.env", "not looked for")
    for name in "abcd":
        (source.top / name).symlink_to(".")
        (source.top / "part" / name).symlink_to("..")
    checkouts = some_of(source, tmp_path, "**/.env")
    with checkouts.checkout_of(workspace, now, "verify-t-1") as path:
        found = {str(one.relative_to(path)) for one in Path(path).rglob(".env")}
    assert found == {"part/deep/.env"}
