"""What a command uses: counted, and compared with what it may."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ralph.adapters.executor import resource_usage
from ralph.adapters.executor.resource_usage import ControlGroup, ResourceWatcher
from ralph.core.resource_limits import ResourceLimits

LATER = 1000.0


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    """A command with two processes below it."""
    script = "sleep 60 & sleep 60 & echo; wait"
    process = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    process.stdout.readline()
    yield process
    os.killpg(process.pid, 9)
    process.communicate()


@pytest.fixture(autouse=True)
def no_groups(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on a machine that has none."""
    monkeypatch.setattr(resource_usage, "ROOT", str(tmp_path / "none"))
    monkeypatch.setattr(ControlGroup, "create_for", lambda *_: None)


def test_what_has_no_limits_is_not_watched() -> None:
    usage = ResourceWatcher(ResourceLimits(), os.getpid(), now=0.0)
    assert (usage.over(1e9), usage.close()) == ("", "")


@pytest.mark.parametrize(("most", "over"), [(3, False), (2, True)])
def test_processes_are_counted(
    sleeper: "subprocess.Popen[bytes]", most: int, *, over: bool
) -> None:
    usage = ResourceWatcher(ResourceLimits(processes=most), sleeper.pid, now=0.0)
    assert bool(usage.over(LATER)) is over


def test_what_the_kernel_ended_is_told_afterwards(
    sleeper: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    class Group:
        """A group that was over its limit."""

        def over(self) -> str:
            return "it used too much"

        def close(self) -> None:
            """Empty anyway."""

    monkeypatch.setattr(ControlGroup, "create_for", lambda *_: Group())
    assert (
        ResourceWatcher(ResourceLimits(memory=1), sleeper.pid, now=0.0).close()
        == "it used too much"
    )


def test_it_is_looked_at_only_now_and_then(sleeper: "subprocess.Popen[bytes]") -> None:
    usage = ResourceWatcher(ResourceLimits(processes=1), sleeper.pid, now=0.0)
    assert usage.over(0.1) == ""
    assert usage.over(0.5) == "it used more than 1 processes: [sandbox] processes raises it"
    assert usage.over(0.6) == ""


def test_memory_is_that_of_all_together(sleeper: "subprocess.Popen[bytes]") -> None:
    assert ResourceWatcher(ResourceLimits(memory=1 << 30), sleeper.pid, now=0.0).over(LATER) == ""
    said = ResourceWatcher(ResourceLimits(memory=1 << 14), sleeper.pid, now=0.0).over(LATER)
    assert said == "it used more than 16 KB of memory: [sandbox] memory raises it"


def test_what_others_write_to_the_disk_is_not_its_own(
    sleeper: "subprocess.Popen[bytes]", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = iter([(1 << 30, 0), (1 << 29, 0), (1 << 29, 0)])
    monkeypatch.setattr("ralph.adapters.executor.resource_usage._room", lambda _: next(room))
    limits = ResourceLimits(disk=1 << 20, folders=(str(tmp_path),))
    usage = ResourceWatcher(limits, sleeper.pid, now=0.0)
    assert usage.over(LATER) == ""
    (tmp_path / "big").write_bytes(os.urandom(2 << 20))
    said = usage.over(2 * LATER)
    assert said == "it added more than 1 MB to the disk: [sandbox] disk raises it"


@pytest.mark.parametrize("make", [Path.touch, Path.mkdir])
def test_many_empty_files_or_folders_are_too_many(
    sleeper: "subprocess.Popen[bytes]",
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], None],
) -> None:
    room = iter([(1 << 30, 100), (1 << 30, 60)])
    monkeypatch.setattr("ralph.adapters.executor.resource_usage._room", lambda _: next(room))
    usage = ResourceWatcher(
        ResourceLimits(disk_share=0.25, folders=(str(tmp_path),)), sleeper.pid, now=0.0
    )
    for number in range(30):
        make(tmp_path / str(number))
    assert usage.over(LATER) == "it made more than 25 files: [sandbox] disk raises it"
