"""Nothing survives a session; nobody else is harmed."""

import contextlib
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from children import (
    FOR_EVER,
    Bench,
    RecordingListener,
    a_bench,
    an_environment,
    captured,
    lives,
    python,
    says,
    shell,
)

from ralph.adapters.executor.process_table import (
    LeftoverSweeper,
    ProcessTable,
    ProcFs,
    Psutil,
    ancestors,
    has_variable,
    this_table,
)

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="orphans are not adopted")

DAEMON = """
import os
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2): os.dup2(null, fd)
        os.write(writing, str(os.getpid()).encode())
        import signal
        while True: signal.pause()
    os._exit(0)
os.wait()
print(os.read(reading, 100).decode())
"""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with a_bench(tmp_path) as bench:
        yield bench


@pytest.fixture
def mark() -> str:
    """A session that no test running beside this one has."""
    return uuid.uuid4().hex


@contextlib.contextmanager
def a_process(
    program: str = "/bin/sh", *, session: str = "", new_session: bool = False
) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        (program, "-c", "echo up; read _"),
        env=an_environment(session),
        start_new_session=new_session,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        # Only then is its environment there to be seen.
        assert process.stdout.readline() == b"up\n"
        yield process
        process.kill()


@pytest.fixture(autouse=True)
def _no_dead_children() -> None:
    """Reap what other tests of this process have left dead: here it is counted."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


class TestLeftovers:
    """What a session leaves behind is ended before `run` returns."""

    def test_a_grandchild_that_holds_the_pipe_is_not_waited_for(self, bench: Bench) -> None:
        listener = RecordingListener()
        exit_ = bench.run(shell("sleep 1000 & echo $!"), listener)
        assert (exit_.code, exit_.stop, exit_.leftovers_ended) == (0, None, 1)
        assert not lives(int(listener.received))

    def test_its_last_words_are_heard(self, bench: Bench) -> None:
        listener = RecordingListener()
        script = "(trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.01; done) & exit 0"
        bench.run(shell(script), listener)
        assert listener.received == b"up\nbye\n"

    def test_a_daemon_that_left_session_group_and_pipes_is_ended(self, bench: Bench) -> None:
        listener = RecordingListener()
        exit_ = bench.run(python(DAEMON), listener)
        assert (exit_.code, exit_.stop, exit_.leftovers_ended) == (0, None, 1)
        assert not lives(int(listener.received))

    @linux
    def test_a_daemon_without_the_environment_is_ended_too(self, bench: Bench) -> None:
        listener = RecordingListener()
        script = 'env -i PATH="$PATH" setsid sleep 1000 >/dev/null 2>&1 & echo $!'
        exit_ = bench.run(shell(script), listener)
        assert exit_.leftovers_ended == 1
        assert not lives(int(listener.received))

    @linux
    def test_a_daemon_with_our_own_environment_is_ended_too(self, bench: Bench) -> None:
        """Whatever it says about itself."""
        names = "".join(f"{name}=x " for name in os.environ if name not in ("PATH", "HOME"))
        daemon = "echo $$ > part; mv part up; exec sleep 1000"
        script = f"env -u RALPH_SESSION {names} setsid sh -c '{daemon}' >/dev/null 2>&1 &"
        exit_ = bench.run(shell(f"{script} until [ -e up ]; do sleep 0.01; done"))
        assert exit_.leftovers_ended == 1
        assert not lives(int((bench.folder / "up").read_text()))

    @linux
    def test_without_a_marker_daemons_are_ended_all_the_same(self, bench: Bench) -> None:
        listener = RecordingListener()
        assert bench.run(python(DAEMON), listener, session="").leftovers_ended == 1
        assert not lives(int(listener.received))

    def test_a_daemon_that_ignores_sigterm_is_killed(self, tmp_path: Path) -> None:
        listener = RecordingListener()
        code = DAEMON.replace("os.setsid()", "import signal; signal.signal(15, signal.SIG_IGN)")
        with a_bench(tmp_path, sweep_grace_s=0.05) as bench:
            exit_ = bench.run(python(code), listener)
        assert exit_.leftovers_ended == 1
        assert not lives(int(listener.received))

    def test_a_stopped_daemon_is_ended(self, bench: Bench) -> None:
        listener = RecordingListener()
        bench.run(shell("sleep 1000 >/dev/null 2>&1 & kill -STOP $!; echo $!"), listener)
        assert not lives(int(listener.received))

    @linux
    def test_a_whole_family_is_ended(self, bench: Bench) -> None:
        listener = RecordingListener()
        script = "setsid sh -c 'sleep 1000 & sleep 1000 & wait' >/dev/null 2>&1 &"
        exit_ = bench.run(
            shell(script + " while [ $(pgrep -c -s $!) -lt 3 ]; do :; done"), listener
        )
        assert exit_.leftovers_ended == 3

    @linux
    def test_a_tool_in_a_session_of_its_own_goes_with_a_stopped_agent(self, bench: Bench) -> None:
        listener = RecordingListener(stop_when=says(b"\n"))
        exit_ = bench.run(shell("setsid sleep 1000 & echo $!; wait"), listener)
        assert exit_.leftovers_ended == 1
        assert not lives(int(listener.received))

    @linux
    def test_the_dead_are_buried(self, bench: Bench) -> None:
        bench.run(python(DAEMON))
        with pytest.raises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    @linux
    def test_orphans_that_die_during_a_session_are_buried_during_it(self, bench: Bench) -> None:
        me = os.getpid()
        seen: list[int] = []

        def count(listener: RecordingListener) -> None:
            seen.append(len(this_table().children(me)))

        # Its orphan is dead before it says so; from the next look on only it itself is there.
        script = "(setsid true &) ; sleep 0.01; echo ready; exec sleep 1000"
        listener = RecordingListener(
            on_tick=count,
            stop_when=lambda listener: listener.ticks >= 4 and b"ready" in listener.received,
        )
        bench.run(shell(script), listener)
        assert seen[-1] == 1

    @linux
    def test_what_short_commands_leave_dead_is_reaped(self, bench: Bench) -> None:
        bench.run(shell("true"))
        for _ in range(3):
            # A sandbox does that: it does not wait for its own child, which falls to us.
            captured(bench.processes, "sh", "-c", "true & exec sleep 0.05")
        with pytest.raises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)

    def test_nothing_is_swept_after_a_clean_session(self, bench: Bench) -> None:
        assert bench.run(shell("sleep 0.01 & wait")).leftovers_ended == 0


class TestOtherProcesses:
    """Other processes of this program are none of the session's business."""

    @pytest.mark.parametrize("new_session", [False, True])
    @pytest.mark.parametrize("session", ["run-1:t-1:1", ""])
    def test_a_child_from_before_is_not_harmed(
        self, bench: Bench, session: str, *, new_session: bool
    ) -> None:
        with a_process(new_session=new_session) as other:
            exit_ = bench.run(python(DAEMON), session=session)
            assert exit_.leftovers_ended == 1
            assert other.poll() is None

    def test_a_child_started_meanwhile_is_not_harmed(self, bench: Bench) -> None:
        with contextlib.ExitStack() as stack:
            others: list[subprocess.Popen[bytes]] = []

            def start_one(listener: RecordingListener) -> None:
                if not others:
                    others.append(stack.enter_context(a_process(new_session=False)))

            exit_ = bench.run(python(DAEMON), RecordingListener(on_tick=start_one))
            assert exit_.leftovers_ended == 1
            assert others[0].poll() is None

    @linux
    def test_a_bystander_keeps_its_exit_code(self, bench: Bench) -> None:
        other = subprocess.Popen(shell("exit 3"))
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        bench.run(python(DAEMON))
        assert other.wait() == 3

    def test_a_daemon_of_our_own_git_is_not_the_sessions(self, bench: Bench) -> None:
        pids: list[int] = []

        def capture(listener: RecordingListener) -> None:
            if not pids:
                argv = shell("sleep 1000 >/dev/null 2>&1 & echo $!")
                pids.append(int(captured(bench.processes, *argv).stdout))

        assert bench.run(python(DAEMON), RecordingListener(on_tick=capture)).leftovers_ended == 1
        assert lives(pids[0])
        os.kill(pids[0], 9)


@pytest.fixture(params=[ProcFs, Psutil])
def table(request: pytest.FixtureRequest) -> ProcessTable:
    if request.param is ProcFs and not sys.platform.startswith("linux"):
        pytest.skip("no /proc")
    chosen: ProcessTable = request.param()
    return chosen


class TestTable:
    """Both ways to see the machine's processes."""

    def test_we_see_ourselves(self, table: ProcessTable) -> None:
        me = table.look(os.getpid())
        assert me is not None
        assert (me.parent, me.group, me.session) == (os.getppid(), os.getpgid(0), os.getsid(0))
        assert not me.zombie
        assert me == table.look(os.getpid())
        assert os.getpid() in table.pids()

    def test_we_see_a_child_and_its_environment(self, table: ProcessTable) -> None:
        with a_process(session="seen") as child:
            assert child.pid in table.children(os.getpid())
            assert has_variable(table.environ(child.pid), b"RALPH_SESSION=seen")
            assert not has_variable(table.environ(child.pid), b"RALPH_SESSION=see")
            assert not has_variable(table.environ(child.pid), b"SESSION=seen")

    def test_what_is_not_there_is_nothing(self, table: ProcessTable) -> None:
        gone = subprocess.Popen(("true",))
        gone.wait()
        assert table.look(gone.pid) is None
        assert table.children(gone.pid) == []
        assert table.environ(gone.pid) == b""

    def test_a_name_with_parentheses_and_blanks_confuses_nobody(
        self, table: ProcessTable, tmp_path: Path
    ) -> None:
        odd = tmp_path / ") R 1 (x"
        odd.symlink_to("/bin/sh")
        with a_process(str(odd)) as child:
            seen = table.look(child.pid)
            assert seen is not None
            assert seen.parent == os.getpid()

    def test_our_ancestors_are_known(self, table: ProcessTable) -> None:
        assert {os.getpid(), os.getppid()} <= ancestors(table)


class TestProcessesWithTheMarker:
    """What a Ralph that was killed has left behind is found by its variable."""

    def test_those_with_the_marker_are_ended_and_no_others(
        self, table: ProcessTable, mark: str
    ) -> None:
        sweeper = LeftoverSweeper(0.5, table)
        with (
            a_process(session=mark, new_session=True) as left,
            a_process(session=mark + "er") as other,
            a_process() as another,
        ):
            assert sweeper.marked(f"RALPH_SESSION={mark}") == 1
            assert not lives(left.pid)
            assert other.poll() is None
            assert another.poll() is None

    def test_none_are_found_where_none_are(self, table: ProcessTable, mark: str) -> None:
        assert LeftoverSweeper(0.5, table).marked(f"RALPH_SESSION={mark}") == 0

    def test_what_they_started_goes_with_them(self, bench: Bench, mark: str) -> None:
        code = "import subprocess\nprint(subprocess.Popen(['sleep', '1000'], env={}).pid)\n"
        env = an_environment(mark)
        with subprocess.Popen(python(code + FOR_EVER), env=env, stdout=subprocess.PIPE) as left:
            assert left.stdout is not None
            below = int(left.stdout.readline())
            assert bench.processes.end_marked(f"RALPH_SESSION={mark}") == 2
        assert not lives(below)

    def test_we_and_our_ancestors_are_spared(self, mark: str) -> None:
        code = """
import sys
from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
print(ProcessExecutor(SystemClock()).end_marked("RALPH_SESSION=" + sys.argv[1]))
"""
        # A shell with the marker above, and the sweeping process itself with it.
        argv = shell(f'"{sys.executable}" -c "$1" "$2"; exit $?', code, mark)
        done = subprocess.run(argv, env=an_environment(mark), stdout=subprocess.PIPE, check=True)
        assert done.stdout == b"0\n"


class TestWithoutAdoption:
    """As on macOS: leftovers are found by their group and their variable."""

    def test_group_and_marked_are_ended(self, table: ProcessTable, mark: str) -> None:
        sweeper = LeftoverSweeper(0.5, table, adopting=False)
        traces = sweeper.before(f"RALPH_SESSION={mark}")
        with (
            a_process(session=mark, new_session=True) as far,
            a_process(new_session=True) as near,
            a_process(session=mark + "er", new_session=True) as other,
        ):
            assert sweeper.after(near.pid, traces) == 2
            assert not lives(far.pid)
            assert not lives(near.pid)
            assert other.poll() is None
