"""Stopping a child: by the clock, by request, in order, and for certain."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from children import FOR_EVER, Bench, RecordingListener, a_bench, lives, python, says, shell

from ralph.adapters.executor.child_process import SessionTimers
from ralph.adapters.executor.process_control import GradualStop
from ralph.core.session_ending import EndingKind
from ralph.ports.executor import Timeouts


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with a_bench(tmp_path) as bench:
        yield bench


@pytest.fixture
def hasty(tmp_path: Path) -> Iterator[Bench]:
    """Waits next to nothing between the signals."""
    with a_bench(tmp_path, stop_grace_s=0.05) as bench:
        yield bench


def ignoring(*names: str) -> str:
    lines = ["import signal", *(f"signal.signal(signal.{n}, signal.SIG_IGN)" for n in names)]
    return "\n".join([*lines, "print('ready')", FOR_EVER])


class TestTimeouts:
    """With real children, and times so short that only their order matters."""

    def test_the_hard_timeout_ends_a_child_that_keeps_talking(self, hasty: Bench) -> None:
        exit_ = hasty.run(shell("while :; do echo on; done"), timeouts=Timeouts(hard_s=0.2))
        assert exit_.stop is EndingKind.TIMED_OUT

    def test_the_hard_timeout_ends_a_silent_child(self, hasty: Bench) -> None:
        exit_ = hasty.run(("sleep", "1000"), timeouts=Timeouts(hard_s=0.1))
        assert exit_.stop is EndingKind.TIMED_OUT

    def test_the_idle_timeout_ends_a_child_that_fell_silent(self, hasty: Bench) -> None:
        listener = RecordingListener()
        timeouts = Timeouts(hard_s=1000, idle_s=0.2)
        exit_ = hasty.run(shell("echo once; sleep 1000"), listener, timeouts=timeouts)
        assert exit_.stop is EndingKind.IDLE

    def test_standard_error_is_a_sign_of_life(self, hasty: Bench) -> None:
        script = "while :; do echo on >&2; done"
        # Close together: whoever received nothing would call it idle, however slowly it starts.
        exit_ = hasty.run(shell(script), timeouts=Timeouts(hard_s=3.0, idle_s=2.9))
        assert exit_.stop is EndingKind.TIMED_OUT

    def test_silence_is_not_idleness_while_a_tool_call_is_open(self, hasty: Bench) -> None:
        listener = RecordingListener(busy_when=lambda listener: listener.ticks < 3)
        exit_ = hasty.run(("sleep", "1000"), listener, timeouts=Timeouts(idle_s=0.01))
        assert exit_.stop is EndingKind.IDLE
        # It outlived ticks that are many timeouts apart.
        assert listener.ticks >= 3

    def test_a_child_that_lives_on_after_its_result_is_ended(self, hasty: Bench) -> None:
        listener = RecordingListener(result_when=says(b"result"))
        timeouts = Timeouts(hard_s=1000, idle_s=1000, after_result_s=0.05)
        exit_ = hasty.run(shell("echo result; sleep 1000"), listener, timeouts=timeouts)
        assert exit_.stop is EndingKind.FINISHED

    def test_a_child_that_ends_after_its_result_ended_by_itself(self, bench: Bench) -> None:
        listener = RecordingListener(result_when=says(b"result"))
        exit_ = bench.run(shell("echo result"), listener, timeouts=Timeouts(after_result_s=1000))
        assert (exit_.code, exit_.stop) == (0, None)


class TestTimers:
    """The arithmetic, without a clock."""

    def test_zero_means_no_limit(self) -> None:
        timers = SessionTimers(Timeouts(), 0.0)
        assert timers.due(1e9, RecordingListener()) is None

    def test_hard_counts_from_the_start(self) -> None:
        timers = SessionTimers(Timeouts(hard_s=10, idle_s=100), 5.0)
        timers.quiet_since = 14.9
        assert timers.due(14.9, RecordingListener()) is None
        assert timers.due(15.0, RecordingListener()) is EndingKind.TIMED_OUT

    def test_idle_counts_from_the_last_output(self) -> None:
        timers = SessionTimers(Timeouts(idle_s=10), 0.0)
        timers.quiet_since = 5.0
        assert timers.next_at() == 15.0
        assert timers.due(14.9, RecordingListener()) is None
        assert timers.due(15.0, RecordingListener()) is EndingKind.IDLE

    def test_idle_counts_from_the_end_of_a_tool_call(self) -> None:
        timers = SessionTimers(Timeouts(idle_s=10), 0.0)
        assert timers.due(100.0, RecordingListener(busy_when=lambda _: True)) is None
        assert timers.due(109.9, RecordingListener()) is None
        assert timers.due(110.0, RecordingListener()) is EndingKind.IDLE

    def test_after_the_result_only_its_own_timeout_counts(self) -> None:
        timers = SessionTimers(Timeouts(hard_s=10, idle_s=5, after_result_s=30), 0.0)
        done = RecordingListener(result_when=lambda _: True)
        assert timers.due(4.0, done) is None
        assert timers.next_at() == 34.0
        assert timers.due(33.9, done) is None
        assert timers.due(34.0, done) is EndingKind.FINISHED

    def test_without_an_after_result_timeout_the_others_stay(self) -> None:
        timers = SessionTimers(Timeouts(hard_s=10), 0.0)
        assert (
            timers.due(10.0, RecordingListener(result_when=lambda _: True)) is EndingKind.TIMED_OUT
        )


class TestOrder:
    """SIGINT, SIGTERM, SIGKILL."""

    def test_a_tick_stops_the_child(self, bench: Bench) -> None:
        listener = RecordingListener(stop_when=says(b"ready"))
        exit_ = bench.run(shell("echo ready; exec sleep 1000"), listener)
        assert exit_.stop is EndingKind.INTERRUPTED
        assert exit_.code is not None
        assert exit_.code < 0

    def test_what_it_says_on_the_way_out_is_still_heard(self, bench: Bench) -> None:
        code = """
import signal, sys
def leave(*_):
    print("result"); sys.exit(3)
signal.signal(signal.SIGINT, leave)
print("ready")
"""
        listener = RecordingListener(stop_when=says(b"ready"))
        exit_ = bench.run(python(code + FOR_EVER), listener)
        assert (exit_.code, exit_.stop) == (3, EndingKind.INTERRUPTED)
        assert listener.received == b"ready\nresult\n"

    def test_sigint_comes_first_and_sigterm_next(self, tmp_path: Path) -> None:
        code = """
import signal, sys
def leave(*_):
    print("term"); sys.exit(7)
signal.signal(signal.SIGINT, lambda *_: print("int"))
signal.signal(signal.SIGTERM, leave)
print("ready")
"""
        listener = RecordingListener(stop_when=says(b"ready"))
        with a_bench(tmp_path, stop_grace_s=0.5) as bench:
            exit_ = bench.run(python(code + FOR_EVER), listener)
        assert exit_.code == 7
        assert listener.received == b"ready\nint\nterm\n"

    def test_a_child_that_ignores_both_is_killed(self, hasty: Bench) -> None:
        listener = RecordingListener(stop_when=says(b"ready"))
        exit_ = hasty.run(python(ignoring("SIGINT", "SIGTERM")), listener)
        assert (exit_.code, exit_.stop) == (-signal.SIGKILL, EndingKind.INTERRUPTED)

    def test_a_stopped_child_is_woken_to_hear_it(self, bench: Bench) -> None:
        def is_stopped(listener: RecordingListener) -> bool:
            pid = listener.received.partition(b"\n")[0]
            return bool(pid) and psutil.Process(int(pid)).status() == psutil.STATUS_STOPPED

        listener = RecordingListener(stop_when=is_stopped)
        script = "trap 'echo woken; exit 5' INT; echo $$; kill -STOP $$; sleep 1000"
        exit_ = bench.run(shell(script), listener)
        assert (exit_.code, exit_.stop) == (5, EndingKind.INTERRUPTED)
        assert listener.received.endswith(b"\nwoken\n")

    def test_the_whole_group_is_stopped(self, bench: Bench) -> None:
        listener = RecordingListener(stop_when=says(b"\n"))
        bench.run(shell("sleep 1000 & echo $!; wait"), listener)
        assert not lives(int(listener.received))

    def test_the_first_reason_is_the_one_that_counts(self, hasty: Bench) -> None:
        # From the hard timeout on, the listener too wants it stopped.
        listener = RecordingListener(stop_when=lambda listener: listener.ticks > 1)
        exit_ = hasty.run(python(ignoring("SIGINT")), listener, timeouts=Timeouts(hard_s=0.1))
        assert exit_.stop is EndingKind.TIMED_OUT

    def test_nobody_is_asked_to_stop_what_has_ended(self, tmp_path: Path) -> None:
        # A grandchild holds the pipe, so ticks go on for a while after the end.
        listener = RecordingListener(stop_when=lambda listener: listener.ticks > 1)
        with a_bench(tmp_path, drain_s=2.0) as bench:
            exit_ = bench.run(shell("sleep 1000 & exit 0"), listener)
        assert listener.ticks > 1
        assert (exit_.code, exit_.stop) == (0, None)


def test_after_the_last_signal_we_give_up(tmp_path: Path) -> None:
    # As with a child that runs as another user: here a dead one, which no signal reaches.
    child = subprocess.Popen(("true",), start_new_session=True, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read()
    stopping = GradualStop(child.pid, 1.0, 0.0)
    for now in (0.0, 0.5, 1.0, 2.0):
        stopping.step(now)
        assert not stopping.given_up
    stopping.step(3.0)
    assert stopping.given_up
    child.communicate()
