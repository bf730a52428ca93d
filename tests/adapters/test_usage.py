"""What a command uses: counted, and compared with what it may."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.adapters.executor import control_group
from ralph.adapters.executor.control_group import ControlGroup
from ralph.adapters.executor.usage import Unlimited, Usage, watch_usage
from ralph.core.resources import Resources

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
    monkeypatch.setattr(control_group, "ROOT", str(tmp_path / "none"))
    monkeypatch.setattr(ControlGroup, "around", lambda *_: None)


def test_what_has_no_limits_is_not_watched() -> None:
    assert isinstance(watch_usage(Resources(), 1, now=0.0), Unlimited)


@pytest.mark.parametrize(("most", "over"), [(3, False), (2, True)])
def test_processes_are_counted(
    sleeper: "subprocess.Popen[bytes]", most: int, *, over: bool
) -> None:
    usage = Usage(Resources(processes=most), sleeper.pid, now=0.0)
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

    monkeypatch.setattr(ControlGroup, "around", lambda *_: Group())
    assert Usage(Resources(memory=1), sleeper.pid, now=0.0).close() == "it used too much"


def test_it_is_looked_at_only_now_and_then(sleeper: "subprocess.Popen[bytes]") -> None:
    usage = Usage(Resources(processes=1), sleeper.pid, now=0.0)
    assert usage.over(0.1) == ""
    assert usage.over(0.5) == "it used more than 1 processes: [sandbox] processes raises it"
    assert usage.over(0.6) == ""


def test_memory_is_that_of_all_together(sleeper: "subprocess.Popen[bytes]") -> None:
    assert Usage(Resources(memory=1 << 30), sleeper.pid, now=0.0).over(LATER) == ""
    said = Usage(Resources(memory=1 << 14), sleeper.pid, now=0.0).over(LATER)
    assert said == "it used more than 16 KB of memory: [sandbox] memory raises it"


def test_what_others_write_to_the_disk_is_not_its_own(
    sleeper: "subprocess.Popen[bytes]", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = iter([(1 << 30, 0), (1 << 29, 0), (1 << 29, 0)])
    monkeypatch.setattr("ralph.adapters.executor.usage._room", lambda _: next(room))
    limits = Resources(disk=1 << 20, folders=(str(tmp_path),))
    usage = Usage(limits, sleeper.pid, now=0.0)
    assert usage.over(LATER) == ""
    (tmp_path / "big").write_bytes(os.urandom(2 << 20))
    said = usage.over(2 * LATER)
    assert said == "it added more than 1 MB to the disk: [sandbox] disk raises it"


def test_many_empty_files_are_too_many(
    sleeper: "subprocess.Popen[bytes]", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = iter([(1 << 30, 100), (1 << 30, 60)])
    monkeypatch.setattr("ralph.adapters.executor.usage._room", lambda _: next(room))
    usage = Usage(Resources(disk_share=0.25, folders=(str(tmp_path),)), sleeper.pid, now=0.0)
    for number in range(30):
        (tmp_path / str(number)).touch()
    assert usage.over(LATER) == "it made more than 25 files: [sandbox] disk raises it"
