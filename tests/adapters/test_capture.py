"""Short commands of our own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from children import lives, python, shell

from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.core.errors import Unavailable
from ralph.ports.executor import Command, Interrupted


@pytest.fixture(params=["pidfd", "no pidfd"])
def processes(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Processes]:
    if request.param != "pidfd":
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    processes = Processes(SystemClock())
    yield processes
    processes.close()


def test_what_it_printed_and_how_it_ended(processes: Processes) -> None:
    done = processes.capture(shell("echo out; echo err >&2; exit 3"), cwd="/")
    assert (done.code, done.stdout, done.stderr) == (3, b"out\n", b"err\n")


def test_it_runs_where_it_is_told_with_the_environment_it_is_given(
    processes: Processes, tmp_path: Path
) -> None:
    done = processes.capture(("/bin/sh", "-c", 'pwd; echo "$A"'), cwd=str(tmp_path), env={"A": "b"})
    assert done.stdout.decode() == f"{os.path.realpath(tmp_path)}\nb\n"


def test_a_lot_of_input_and_output(processes: Processes) -> None:
    data = os.urandom(5_000_000)
    assert processes.capture(("cat",), cwd="/", stdin=data).stdout == data


def test_input_that_nobody_reads_does_no_harm(processes: Processes) -> None:
    done = processes.capture(shell("exec <&-; echo fine"), cwd="/", stdin=b"x" * 5_000_000)
    assert done.stdout == b"fine\n"


def test_a_missing_program_is_named(processes: Processes) -> None:
    with pytest.raises(Unavailable, match="no-such-git is not installed"):
        processes.capture(("no-such-git",), cwd="/")


def test_a_missing_directory_is_named(processes: Processes) -> None:
    with pytest.raises(Unavailable, match="true cannot start in /no/such/place"):
        processes.capture(("true",), cwd="/no/such/place")


def test_one_that_takes_too_long_is_ended(processes: Processes) -> None:
    done = processes.capture(shell("echo $$; exec sleep 1000"), cwd="/", timeout_s=0.2)
    assert done.code == 124
    assert b"took more than 0.2 s" in done.stderr
    assert not done.stdout or not lives(int(done.stdout))


def read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def test_one_that_may_take_long_is_ended_when_nobody_wants_it_any_more(
    processes: Processes, tmp_path: Path
) -> None:
    pid = tmp_path / "pid"
    command = Command(argv=shell(f"echo $$ > {pid}; exec sleep 1000"), cwd="/", env=os.environ)
    with pytest.raises(Interrupted):
        processes.attend(command, timeout_s=1000, tick=lambda: b"\n" in read(pid))
    assert not lives(int(pid.read_text()))


def test_a_daemon_that_holds_its_output_is_not_waited_for(processes: Processes) -> None:
    # As a hook in the background does.
    done = processes.capture(shell("sleep 1000 & echo $!"), cwd="/")
    assert done.code == 0
    os.kill(int(done.stdout), 9)


def test_files_are_given_back(processes: Processes) -> None:
    before = len(os.listdir("/dev/fd"))
    processes.capture(python("print()"), cwd="/", stdin=b"x")
    assert len(os.listdir("/dev/fd")) == before


def test_a_signal_leaves_it_a_moment_and_then_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ralph.adapters.executor.processes.LAST_MOMENT_S", 0.2)
    processes = Processes(SystemClock())
    processes.interrupt()
    assert processes.capture(shell("echo done"), cwd="/").stdout == b"done\n"
    with pytest.raises(Interrupted):
        processes.capture(shell("trap '' TERM; exec sleep 1000"), cwd="/")
    processes.forgive()
    assert processes.capture(shell("sleep 0.3; echo done"), cwd="/").stdout == b"done\n"
    processes.close()


def test_a_git_that_is_ended_takes_its_lock_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph.adapters.executor.processes.LAST_MOMENT_S", 0.5)
    processes = Processes(SystemClock())
    processes.capture(("git", "init", "-q"), cwd=str(tmp_path))
    os.mkfifo(tmp_path / ".gitattributes")
    (tmp_path / "file").write_text("x")
    processes.interrupt()
    with pytest.raises(Interrupted):
        processes.capture(("git", "add", "file"), cwd=str(tmp_path))
    assert not (tmp_path / ".git" / "index.lock").exists()
    processes.close()
