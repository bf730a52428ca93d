"""Running one child: its input, its output, its end."""

import os
import signal
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from children import Bench, RecordingListener, a_bench, python, shell

from ralph.core.session_ending import EndingKind
from ralph.ports.executor import Command, Timeouts


@pytest.fixture(params=["pidfd", "SIGCHLD"])
def bench(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Bench]:
    if request.param == "SIGCHLD":
        # As on macOS, and in containers that forbid it.
        monkeypatch.delattr(os, "pidfd_open", raising=False)
    with a_bench(tmp_path) as bench:
        yield bench


def test_a_child_runs_and_its_output_is_heard_and_logged(bench: Bench) -> None:
    listener = RecordingListener()
    exit_ = bench.run(shell("echo one; echo two"), listener)
    assert (exit_.code, exit_.stop, exit_.leftovers_ended, exit_.error) == (0, None, 0, "")
    assert listener.received == b"one\ntwo\n"
    assert bench.log.read_bytes() == b"one\ntwo\n"


def test_the_log_is_appended_to(bench: Bench) -> None:
    bench.run(shell("echo one"))
    bench.run(shell("echo two"))
    assert bench.log.read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize("code", [1, 42, 130, 255])
def test_an_exit_code_is_reported(bench: Bench, code: int) -> None:
    assert bench.run(shell(f"exit {code}")).code == code


def test_a_child_killed_by_a_signal_has_a_negative_code(bench: Bench) -> None:
    exit_ = bench.run(shell("kill -KILL $$"))
    assert (exit_.code, exit_.stop) == (-signal.SIGKILL, None)


def test_a_parent_that_ignored_the_end_of_children_does_not_spoil_the_code(bench: Bench) -> None:
    old = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert bench.run(shell("exit 3")).code == 3
    finally:
        signal.signal(signal.SIGCHLD, old)


def test_a_long_prompt_goes_in_while_output_comes_out(bench: Bench) -> None:
    prompt = b"a line of the prompt\n" * 250_000
    listener = RecordingListener()
    # `cat` prints while it reads: writing all before reading would wait for ever.
    exit_ = bench.run(("cat",), listener, stdin=prompt)
    assert exit_.code == 0
    assert listener.received == prompt


def test_a_prompt_that_nobody_reads_does_no_harm(bench: Bench) -> None:
    listener = RecordingListener()
    exit_ = bench.run(shell("exec <&-; echo fine"), listener, stdin=b"x" * 5_000_000)
    assert exit_.code == 0
    assert listener.received == b"fine\n"


def test_a_child_that_ends_without_reading_is_not_waited_for(bench: Bench) -> None:
    assert bench.run(("true",), stdin=b"x" * 5_000_000).code == 0


def test_standard_input_is_closed_after_the_prompt(bench: Bench) -> None:
    listener = RecordingListener()
    bench.run(python("import sys; print(len(sys.stdin.read()))"), listener, stdin=b"prompt")
    assert listener.received == b"6\n"


def test_without_a_prompt_standard_input_is_empty(bench: Bench) -> None:
    assert bench.run(("cat",)).code == 0


def test_standard_error_is_logged_and_remembered_but_not_heard(bench: Bench) -> None:
    listener = RecordingListener()
    exit_ = bench.run(shell("echo out; echo err >&2"), listener)
    assert exit_.stderr == "err\n"
    assert listener.received == b"out\n"
    assert sorted(bench.log.read_bytes().splitlines()) == [b"err", b"out"]


def test_only_the_end_of_a_long_standard_error_is_remembered(bench: Bench) -> None:
    code = "import sys; sys.stderr.write('x' * 100_000 + 'the end')"
    exit_ = bench.run(python(code))
    assert len(exit_.stderr) == 16 * 1024
    assert exit_.stderr.endswith("the end")
    assert bench.log.stat().st_size == 100_007


AWAITING_ITS_OWN_WORDS = """
import sys
def await_in_log(word):
    while word not in open(sys.argv[1]).read(): pass
print("one"); await_in_log("one")
print("two", file=sys.stderr); await_in_log("two")
print("thr", end=""); await_in_log("thr")
print("ee")
"""


def test_the_log_has_every_byte_at_once_and_in_order(bench: Bench) -> None:
    listener = RecordingListener()
    # The child goes on only when it finds its words in the log, the unfinished line too.
    exit_ = bench.run(python(AWAITING_ITS_OWN_WORDS, str(bench.log)), listener)
    assert exit_.code == 0
    assert bench.log.read_bytes() == b"one\ntwo\nthree\n"
    assert listener.blocks == [b"one\n", b"three\n"]


def test_binary_output_passes_unchanged(bench: Bench) -> None:
    listener = RecordingListener()
    bench.run(python("import os; os.write(1, bytes(range(256)) * 100)"), listener)
    assert listener.received == bytes(range(256)) * 100
    assert bench.log.read_bytes() == listener.received


def test_an_overlong_line_is_delivered_in_pieces(bench: Bench) -> None:
    listener = RecordingListener()
    bench.run(python("print('x' * 5_000_000)"), listener, line_limit=300)
    assert listener.received == b"x" * 5_000_000 + b"\n"
    assert len(listener.blocks) > 1


def test_the_child_gets_this_environment_and_no_other(bench: Bench) -> None:
    listener = RecordingListener()
    bench.processes.run(
        Command(argv=("/usr/bin/env",), cwd="/", env={"ONLY": "this"}),
        log=str(bench.log),
        timeouts=Timeouts(),
        listener=listener,
    )
    assert listener.received == b"ONLY=this\n"


def test_the_child_leads_a_session_and_a_group_of_its_own(bench: Bench) -> None:
    listener = RecordingListener()
    code = "import os; print(os.getsid(0) == os.getpgid(0) == os.getpid())"
    bench.run(python(code), listener)
    assert listener.received == b"True\n"


def test_no_file_of_ours_leaks_into_the_child_or_stays_open(bench: Bench) -> None:
    bench.run(("true",))
    listener = RecordingListener()
    before = os.listdir("/dev/fd")
    exit_ = bench.run(python("import os; print(*os.listdir('/dev/fd'))"), listener, stdin=b"x")
    # The fourth is the listing's own.
    assert len(listener.received.split()) == 4
    assert exit_.code == 0
    assert len(os.listdir("/dev/fd")) == len(before)


class TestNotStarted:
    """What cannot be started says why in one line."""

    def test_a_missing_program(self, bench: Bench) -> None:
        exit_ = bench.run(("no-such-agent",))
        assert exit_.code is None
        assert exit_.error == "no-such-agent is not installed, or not on PATH"
        assert bench.log.read_text() == f"ralph: {exit_.error}\n"

    def test_a_file_that_is_not_executable(self, bench: Bench) -> None:
        file = bench.folder / "agent"
        file.write_text("#!/bin/sh\n")
        exit_ = bench.run((str(file),))
        assert exit_.code is None
        assert exit_.error == f"{file} is not executable"

    def test_a_missing_interpreter(self, bench: Bench) -> None:
        file = an_executable(bench.folder / "agent", "#!/no/such/interpreter\n")
        exit_ = bench.run((str(file),))
        assert exit_.code is None
        assert exit_.error == f"{file} names an interpreter that does not exist"

    def test_a_file_that_is_no_program(self, bench: Bench) -> None:
        file = an_executable(bench.folder / "agent", "just words\n")
        exit_ = bench.run((str(file),))
        assert exit_.code is None
        assert "#! line" in exit_.error

    def test_an_argument_that_is_too_long(self, bench: Bench) -> None:
        exit_ = bench.run(("true", *["x" * 100_000] * 400))
        assert exit_.code is None
        assert exit_.error == "the arguments and environment of true are too long"

    def test_an_argument_with_a_nul_byte(self, bench: Bench) -> None:
        exit_ = bench.run(("true", "a\0b"))
        assert exit_.code is None
        assert "null byte" in exit_.error

    def test_a_directory_that_is_gone(self, bench: Bench) -> None:
        bench.folder = bench.folder / "gone"
        exit_ = bench.run(("true",))
        assert exit_.code is None
        assert exit_.error == f"true cannot start in {bench.folder}: No such file or directory"

    def test_no_program_at_all(self, bench: Bench) -> None:
        assert bench.run(()).error == "no program is named"


def an_executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


class TestLogTrouble:
    """The child is worth more than its log."""

    def test_a_log_that_is_removed_is_written_again(self, bench: Bench) -> None:
        listener = RecordingListener()
        script = 'echo one; until grep -q one "$1/session.log"; do :; done; rm -r "$1"; echo two'
        exit_ = bench.run(shell(script, str(bench.log.parent)), listener)
        assert exit_.code == 0
        assert exit_.stderr == ""
        assert listener.received == b"one\ntwo\n"
        assert bench.log.read_bytes() == b"one\ntwo\n"

    def test_a_link_in_its_place_is_not_followed(self, bench: Bench) -> None:
        victim = bench.folder / "victim"
        victim.write_text("mine")
        script = 'until [ -e "$1" ]; do :; done; ln -s "$2" "$1.x"; mv "$1.x" "$1"; echo one'
        exit_ = bench.run(shell(script, str(bench.log), str(victim)))
        assert victim.read_text() == "mine"
        assert "is incomplete" in exit_.stderr

    def test_a_full_disk_is_noted_and_the_child_goes_on(self, bench: Bench) -> None:
        if not os.path.exists("/dev/full"):
            pytest.skip("no /dev/full here")
        listener = RecordingListener()
        exit_ = bench.run(shell("echo one; echo two >&2"), listener, log="/dev/full")
        assert exit_.code == 0
        assert listener.received == b"one\n"
        assert exit_.stderr.startswith("two\n")
        assert "ralph: log /dev/full is incomplete: No space left on device" in exit_.stderr

    def test_a_log_that_cannot_be_opened_is_noted(self, bench: Bench) -> None:
        (bench.folder / "file").touch()
        listener = RecordingListener()
        exit_ = bench.run(shell("echo one"), listener, log=str(bench.folder / "file" / "log"))
        assert exit_.code == 0
        assert listener.received == b"one\n"
        assert "Not a directory" in exit_.stderr


class TestOurOwnMistakes:
    """An error in a listener ends the child, and is seen."""

    def test_a_listener_that_raises_leaves_no_child_behind(self, bench: Bench) -> None:
        pids: list[int] = []

        def fail(listener: RecordingListener) -> None:
            if listener.received:
                pids.append(int(listener.received))
                raise LookupError("a bug")

        with pytest.raises(LookupError, match="a bug"):
            bench.run(shell("echo $$; exec sleep 1000"), RecordingListener(on_tick=fail))
        with pytest.raises(ProcessLookupError):
            os.kill(pids[0], 0)

    def test_the_next_child_runs_as_if_nothing_had_been(self, bench: Bench) -> None:
        def fail(listener: RecordingListener) -> None:
            raise LookupError("a bug")

        with pytest.raises(LookupError, match="a bug"):
            bench.run(("sleep", "1000"), RecordingListener(on_tick=fail))
        assert bench.run(("true",)).code == 0


class TestWaiting:
    """Watched files and sleeping."""

    def test_watched_files_are_served_while_a_child_runs(self, bench: Bench) -> None:
        reading, writing = os.pipe()
        sign = bench.folder / "sign"
        code = "import os, sys\nprint('go')\nwhile not os.path.exists(sys.argv[1]): pass"

        class Writer(RecordingListener):  # type: ignore[misc]
            def output(self, block: bytes) -> None:
                os.write(writing, block)

        def ready() -> None:
            sign.write_bytes(os.read(reading, 100))

        bench.processes.watch(reading, ready)
        exit_ = bench.run(python(code, str(sign)), Writer())
        bench.processes.unwatch(reading)
        os.close(reading)
        os.close(writing)
        assert exit_.code == 0
        assert sign.read_bytes() == b"go\n"

    def test_sleep_ends_when_tick_says_so(self, bench: Bench) -> None:
        ticks: list[int] = []

        def tick() -> bool:
            ticks.append(1)
            return len(ticks) == 2

        bench.processes.sleep(1000, tick)
        assert len(ticks) == 2

    def test_sleep_ends_by_itself(self, bench: Bench) -> None:
        bench.processes.sleep(0.001, lambda: False)

    def test_watched_files_are_served_while_sleeping(self, bench: Bench) -> None:
        reading, writing = os.pipe()
        os.write(writing, b"hello")
        got: list[bytes] = []
        bench.processes.watch(reading, lambda: got.append(os.read(reading, 100)))
        bench.processes.sleep(1000, lambda: bool(got))
        bench.processes.unwatch(reading)
        os.close(reading)
        os.close(writing)
        assert got == [b"hello"]

    def test_a_forgotten_file_is_not_served(self, bench: Bench) -> None:
        reading, writing = os.pipe()
        os.write(writing, b"hello")
        got: list[int] = []
        bench.processes.watch(reading, lambda: got.append(1))
        bench.processes.unwatch(reading)
        bench.processes.unwatch(reading)
        bench.processes.sleep(0.01, lambda: False)
        os.close(reading)
        os.close(writing)
        assert not got


def test_the_listener_is_asked_even_of_a_child_that_never_rests(bench: Bench) -> None:
    listener = RecordingListener(stop_when=lambda listener: listener.ticks >= 3)
    code = "while True: print('x' * 1000)"
    exit_ = bench.run((sys.executable, "-c", code), listener)
    assert exit_.stop is EndingKind.INTERRUPTED
    assert listener.ticks >= 3
