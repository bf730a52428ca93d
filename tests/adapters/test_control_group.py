"""Control groups of version 2, in a folder that looks like the kernel's."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from ralph.adapters.executor import resource_usage
from ralph.adapters.executor.resource_usage import ControlGroup
from ralph.core.resource_limits import ResourceLimits

LIMITS = ResourceLimits(memory=1 << 20, processes=50)
FILES = (
    *("memory.max", "memory.oom.group", "pids.max", "cgroup.procs", "cgroup.kill"),
    *("pids.events", "memory.events"),
)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Our own group is `slice/own`; whatever is made has the kernel's files in it."""
    own = tmp_path / "slice" / "own"
    own.mkdir(parents=True)
    for folder in (own, own.parent):
        (folder / "cgroup.controllers").write_text("cpu memory pids\n")
        (folder / "cgroup.subtree_control").write_text("")
    (own.parent / "cgroup.subtree_control").write_text("memory pids\n")
    monkeypatch.setattr(resource_usage, "own_group", lambda: "/slice/own")
    make = os.mkdir

    def mkdir(path: str) -> None:
        make(path)
        for name in FILES:
            Path(path, name).write_text("")

    monkeypatch.setattr(resource_usage.os, "mkdir", mkdir)  # type: ignore[attr-defined]
    return tmp_path


def _made(folder: Path) -> list[Path]:
    return sorted(folder.glob("ralph-*"))


def _close_all_but(monkeypatch: pytest.MonkeyPatch, writable: Path) -> None:
    """The kernel refuses controllers in a group that holds processes."""
    enable = resource_usage._enable

    def refused(parent: str) -> None:
        if Path(parent) != writable:
            raise OSError(16, "busy")
        enable(parent)

    monkeypatch.setattr(resource_usage, "_enable", refused)


def test_a_group_is_made_beside_our_own_and_holds_the_command(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _close_all_but(monkeypatch, root / "slice")
    group = ControlGroup.create_for(4711, LIMITS, str(root))
    assert group is not None
    (made,) = _made(root / "slice")
    assert (made / "memory.max").read_text() == str(1 << 20)
    assert (made / "memory.oom.group").read_text() == "1"
    assert (made / "pids.max").read_text() == "50"
    assert (made / "cgroup.procs").read_text() == "4711\n"
    assert group.over() == ""
    (made / "pids.events").write_text("max 3\n")
    assert "more than 50 processes" in group.over()
    (made / "pids.events").write_text("max 0\n")
    (made / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 1\noom_kill 4\n")
    assert "more than 1 MB of memory" in group.over()
    group.close()
    assert (made / "cgroup.kill").read_text() == "1"


def test_what_the_command_has_started_already_is_in_the_group_too(root: Path) -> None:
    script = "sh -c 'echo; sleep 100; :' & echo; wait"
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, process_group=0) as child:
        assert child.stdout is not None
        assert child.stdout.read(2) == b"\n\n"
        group = ControlGroup.create_for(child.pid, LIMITS, str(root))
        assert group is not None
        (made,) = _made(root / "slice" / "own")
        found = {int(line) for line in (made / "cgroup.procs").read_text().split()}
        os.killpg(child.pid, signal.SIGKILL)
    assert len(found) in (2, 3)
    assert child.pid in found


def test_controllers_are_switched_on_where_that_is_allowed(root: Path) -> None:
    group = ControlGroup.create_for(1, LIMITS, str(root))
    assert group is not None
    own = root / "slice" / "own"
    assert (own / "cgroup.subtree_control").read_text() == "+memory +pids"
    assert len(_made(own)) == 1


def test_where_no_group_can_be_made_there_is_none(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _close_all_but(monkeypatch, root)
    assert ControlGroup.create_for(1, LIMITS, str(root)) is None
    assert ControlGroup.create_for(1, ResourceLimits(disk=1), str(root)) is None
    monkeypatch.setattr(resource_usage, "own_group", lambda: "")
    assert ControlGroup.create_for(1, LIMITS, str(root)) is None


def test_a_machine_with_older_groups_has_none(tmp_path: Path) -> None:
    assert ControlGroup.create_for(1, LIMITS, str(tmp_path)) is None
