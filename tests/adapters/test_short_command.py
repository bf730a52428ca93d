"""Short commands of our own."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from children import captured, lives, python, shell

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.core.errors import Unavailable
from ralph.ports.executor import Command, Interrupted


def _no_pidfd(*_: object) -> int:
    raise OSError(errno.ENODEV, "No such device")


@pytest.fixture(params=["pidfd", "no pidfd"])
def processes(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ProcessExecutor]:
    if request.param != "pidfd":
        # psutil has decided at its import whether to use it, and falls back for this error.
        monkeypatch.setattr(os, "pidfd_open", _no_pidfd, raising=False)
    processes = ProcessExecutor(SystemClock())
    yield processes
    processes.close()


def test_what_it_printed_and_how_it_ended(processes: ProcessExecutor) -> None:
    done = captured(processes, *shell("echo out; echo err >&2; exit 3"))
    assert (done.code, done.stdout, done.stderr) == (3, b"out\n", b"err\n")


def test_it_runs_where_it_is_told_with_the_environment_it_is_given(
    processes: ProcessExecutor, tmp_path: Path
) -> None:
    done = captured(processes, "/bin/sh", "-c", 'pwd; echo "$A"', cwd=str(tmp_path), env={"A": "b"})
    assert done.stdout.decode() == f"{os.path.realpath(tmp_path)}\nb\n"


def test_a_lot_of_input_and_output(processes: ProcessExecutor) -> None:
    data = os.urandom(5_000_000)
    assert captured(processes, "cat", stdin=data).stdout == data


def test_input_that_nobody_reads_does_no_harm(processes: ProcessExecutor) -> None:
    done = captured(processes, *shell("exec <&-; echo fine"), stdin=b"x" * 5_000_000)
    assert done.stdout == b"fine\n"


def test_a_missing_program_is_named(processes: ProcessExecutor) -> None:
    with pytest.raises(Unavailable, match="no-such-git is not installed"):
        captured(processes, "no-such-git")


def test_a_missing_directory_is_named(processes: ProcessExecutor) -> None:
    with pytest.raises(Unavailable, match="true cannot start in /no/such/place"):
        captured(processes, "true", cwd="/no/such/place")


def test_a_command_that_is_attended_leaves_no_daemon(
    processes: ProcessExecutor, tmp_path: Path
) -> None:
    script = "setsid sh -c 'echo $$ > part; mv part up; exec sleep 1000' >/dev/null 2>&1 &"
    script += " until [ -e up ]; do sleep 0.01; done"
    command = Command(argv=shell(script), cwd=str(tmp_path), env=os.environ)
    processes.run_long(command, timeout_s=100, tick=lambda: False)
    assert not lives(int((tmp_path / "up").read_text()))


def test_one_that_takes_too_long_is_ended(processes: ProcessExecutor) -> None:
    done = captured(processes, *shell("echo $$; exec sleep 1000"), timeout_s=0.2)
    assert done.code == 124
    assert b"took more than 0.2 s" in done.stderr
    assert not done.stdout or not lives(int(done.stdout))


def read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def test_one_that_may_take_long_is_ended_when_nobody_wants_it_any_more(
    processes: ProcessExecutor, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    command = Command(argv=shell(f"echo $$ > {pid}; exec sleep 1000"), cwd="/", env=os.environ)
    with pytest.raises(Interrupted):
        processes.run_long(command, timeout_s=1000, tick=lambda: b"\n" in read(pid))
    assert not lives(int(pid.read_text()))


def test_a_daemon_that_holds_its_output_is_not_waited_for(processes: ProcessExecutor) -> None:
    # As a hook in the background does.
    done = captured(processes, *shell("sleep 1000 & echo $!"))
    assert done.code == 0
    os.kill(int(done.stdout), 9)


def test_files_are_given_back(processes: ProcessExecutor) -> None:
    before = len(os.listdir("/dev/fd"))
    captured(processes, *python("print()"), stdin=b"x")
    assert len(os.listdir("/dev/fd")) == before


def test_a_signal_leaves_it_a_moment_and_then_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ralph.adapters.executor.process_executor.LAST_MOMENT_S", 0.2)
    processes = ProcessExecutor(SystemClock())
    processes.interrupt()
    assert captured(processes, *shell("echo done")).stdout == b"done\n"
    with pytest.raises(Interrupted):
        captured(processes, *shell("trap '' TERM; exec sleep 1000"))
    processes.clear_interrupt()
    assert captured(processes, *shell("sleep 0.3; echo done")).stdout == b"done\n"
    processes.close()


def test_a_git_that_is_ended_takes_its_lock_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph.adapters.executor.process_executor.LAST_MOMENT_S", 0.5)
    processes = ProcessExecutor(SystemClock())
    captured(processes, "git", "init", "-q", cwd=str(tmp_path))
    os.mkfifo(tmp_path / ".gitattributes")
    (tmp_path / "file").write_text("x")
    processes.interrupt()
    with pytest.raises(Interrupted):
        captured(processes, "git", "add", "file", cwd=str(tmp_path))
    assert not (tmp_path / ".git" / "index.lock").exists()
    processes.close()
