"""Checkouts to look at and throw away, of the person's checkout or of a task's own."""

import os
from pathlib import Path

import pytest

from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.adapters.sandbox.wall import NoWall
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.layout import borrowed
from ralph.adapters.workspace.preparing import Preparation
from ralph.adapters.workspace.private import clone
from ralph.adapters.workspace.throw_away import ThrowAway
from ralph.testing.hands import Hands, a_project


@pytest.fixture
def source(tmp_path: Path) -> Hands:
    return a_project(tmp_path / "source")


@pytest.fixture
def checkouts(source: Hands, tmp_path: Path) -> ThrowAway:
    return some_of(source, tmp_path)


def some_of(source: Hands, tmp_path: Path) -> ThrowAway:
    executor = Processes(SystemClock())
    workspace = InPlace(executor, str(source.top))
    preparation = Preparation(
        str(source.top),
        include=(".env",),
        setup=("echo ready > setup.log",),
        env=os.environ,
        executor=executor,
        wall=NoWall(),
    )
    return ThrowAway(
        executor, workspace, folder=str(tmp_path / "checkouts"), preparation=preparation
    )


def test_a_tasks_own_checkout_can_be_looked_at(
    source: Hands, checkouts: ThrowAway, tmp_path: Path
) -> None:
    source.write(".env", "KEY=1")
    private = clone(
        Processes(SystemClock()),
        source_top=str(source.top),
        project_subdir="",
        commit="HEAD",
        top=str(tmp_path / "checkouts/t-1"),
        name="t-1",
    )
    inside = Hands(private.path)
    inside.write("committed", "committed")
    inside.commit()
    inside.write("loose", "loose")
    before = inside.state()
    with checkouts.of(private, private.snapshot(), "verify-t-1") as path:
        found = Hands(path).files()
        assert {"README.md", "committed", "loose"} <= found.keys()
        assert Path(path, ".env").read_text() == "KEY=1"
        assert Path(path, "setup.log").read_text() == "ready\n"
        Hands(path).write("README.md", "what a verifier tried out")
        assert borrowed(path) == str(tmp_path / "checkouts/t-1/.git/objects")
    assert inside.state() == before
    assert not os.path.exists(path)
    assert "refs/ralph" not in inside.git("for-each-ref")


def test_what_another_worker_looks_at_is_not_tidied_away(
    source: Hands, checkouts: ThrowAway, tmp_path: Path
) -> None:
    workspace = InPlace(Processes(SystemClock()), str(source.top))
    abandoned = tmp_path / "checkouts/throw-away-verify-t-2-abcdefgh"
    with checkouts.of(workspace, workspace.snapshot(), "verify-t-1") as path:
        abandoned.mkdir()
        source.git("update-ref", "refs/ralph/base/verify-t-2", "HEAD")
        some_of(source, tmp_path).tidy()
        assert os.path.exists(os.path.join(path, "README.md"))
        assert not abandoned.exists()
        assert "verify-t-2" not in source.git("for-each-ref")


def test_what_a_link_leads_to_is_not_borrowed(source: Hands, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    alternates = source.top / ".git/objects/info/alternates"
    assert borrowed(str(source.top)) == ""
    alternates.write_text(f"{tmp_path}/link\n")
    assert borrowed(str(source.top)) == ""
    alternates.write_text(f"{tmp_path}/elsewhere\n")
    assert borrowed(str(source.top)) == str(tmp_path / "elsewhere")
