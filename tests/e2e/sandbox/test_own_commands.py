"""Ralph's own git in the sandbox: one process runs all of it, and no command changes the next."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.adapters.executor import process_executor
from ralph.adapters.executor.command_server import CommandServerProcess
from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.sandbox.own_commands import ServedRunner
from ralph.config.load import load_config
from ralph.ports.executor import Command, CommandOutput, CommandRunner, Interrupted, Tick
from ralph.wiring.project_sandbox import ProjectSandbox
from ralph.wiring.sandbox import open_checkout_sandbox, sandboxed_git
from tests.e2e.conftest import Project

FOREVER = "tail -f /dev/null"


class OwnCommands:
    """What Ralph runs in the sandbox of a project."""

    def __init__(self, runner: CommandRunner, folder: Path) -> None:
        assert isinstance(runner, ServedRunner)
        self._runner = runner
        self._folder = str(folder)

    def sh(
        self,
        script: str,
        *,
        timeout_s: float = 120.0,
        stdin: bytes = b"",
        tick: Tick | None = None,
    ) -> CommandOutput:
        """Run a script."""
        argv = ("sh", "-c", script)
        env = {**os.environ, "MARK": "here"}
        command = Command(argv=argv, cwd=self._folder, env=env, stdin=stdin)
        return self._runner.capture(command, timeout_s=timeout_s, tick=tick)

    @property
    def server(self) -> int:
        """The number of the process that runs them all."""
        server = self._runner._server
        assert isinstance(server, CommandServerProcess)
        return server.pid


@pytest.fixture
def own(plain: Project) -> Iterator[OwnCommands]:
    executor = ProcessExecutor(SystemClock())
    ground = ProjectSandbox(project=load_config(str(plain.path), {}, {}))
    with open_checkout_sandbox(ground, executor) as checkout_sandbox:
        runner = sandboxed_git(executor, checkout_sandbox, str(plain.path / ".ralph"))
        yield OwnCommands(runner, plain.path)
    executor.close()


def test_one_process_runs_all_of_them(own: OwnCommands, plain: Project) -> None:
    done = own.sh("pwd; echo $MARK; cat; echo oh >&2; exit 3", stdin=b"given\n")
    assert done == CommandOutput(
        code=3, stdout=f"{plain.path}\nhere\ngiven\n".encode(), stderr=b"oh\n"
    )
    first = own.server
    assert own.sh("kill -9 $$").code == 128 + signal.SIGKILL
    much = own.sh("head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2")
    assert (len(much.stdout), len(much.stderr)) == (3_000_000, 300_000)
    assert own.sh("git status --porcelain").code == 0
    assert own.server == first


def test_nothing_that_a_command_starts_goes_on(own: OwnCommands, plain: Project) -> None:
    assert own.sh(f"setsid {FOREVER} > /dev/null 2>&1 &").code == 0
    assert own.sh("grep -al '^tail' /proc/[0-9]*/cmdline").stdout == b""


@pytest.mark.parametrize(
    "script",
    [
        f"{FOREVER} > /dev/null 2>&1 &",
        "echo x > /dev/shm/left",
        "echo x > /dev/left",
        "prlimit --pid 1 --nofile=100",
        "prlimit --pid 1 --fsize=1",
        "taskset -p 1 1 && test $(nproc --all) != 1",
        "renice 19 1",
    ],
)
def test_what_a_command_changes_for_others_ends_its_sandbox(own: OwnCommands, script: str) -> None:
    own.sh("true")
    first = own.server
    if own.sh(script).code == 0:
        own.sh("true")
        assert own.server != first
    left = "test ! -e /dev/shm/left -a ! -e /dev/left && ulimit -n && ulimit -f"
    assert own.sh(left) == own.sh(left)
    assert own.sh(left).code == 0


def test_the_process_that_runs_them_cannot_be_ended_or_looked_into(own: OwnCommands) -> None:
    own.sh("true")
    first = own.server
    assert own.sh("kill -9 1; kill -TERM 1; kill -STOP 1; echo alive").stdout == b"alive\n"
    for attempt in (
        "cat /proc/1/environ",
        "cat /proc/1/maps",
        "head -c 1 /proc/1/mem",
        "echo x > /proc/1/fd/0",
        "ls /proc/1/cwd/",
    ):
        assert own.sh(f"{attempt} 2>/dev/null").code != 0, attempt
    assert own.server == first


def test_a_command_that_hangs_is_asked_to_end(
    own: OwnCommands, plain: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_executor, "END_WAIT_S", 60.0)
    own.sh("true")
    first, begun = own.server, plain.path / "begun"
    script = f'trap "echo asked > asked.txt; exit" TERM; setsid {FOREVER} & echo > begun; wait'
    with pytest.raises(Interrupted):
        own.sh(script, tick=begun.exists)
    assert plain.path.joinpath("asked.txt").read_text() == "asked\n"
    assert own.sh("echo again").stdout == b"again\n"
    assert own.server != first  # it had left something running


def test_one_that_does_not_listen_is_killed_with_its_sandbox(own: OwnCommands) -> None:
    own.sh("true")
    first = own.server
    assert own.sh(f"trap '' TERM; {FOREVER}", timeout_s=0.2).code == 124
    assert own.sh("echo again").stdout == b"again\n"
    assert own.server != first


def test_a_protected_file_that_was_replaced_is_protected_again(
    own: OwnCommands, plain: Project
) -> None:
    settings = plain.path / ".ralph.toml"
    assert own.sh("echo x >> .ralph.toml").code != 0
    new = plain.path / "new.toml"
    new.write_text("[agent]\n")
    new.rename(settings)
    assert own.sh("echo x >> .ralph.toml").code != 0
    assert settings.read_text() == "[agent]\n"


def test_another_takes_its_place_when_it_was_killed(own: OwnCommands) -> None:
    own.sh("true")
    first = own.server
    end = os.pidfd_open(first)
    os.kill(first, signal.SIGKILL)
    os.waitid(os.P_PIDFD, end, os.WEXITED | os.WNOWAIT)
    os.close(end)
    assert own.sh("echo again").stdout == b"again\n"
    assert own.server != first


def test_it_ends_with_the_checkout_and_with_ralph(plain: Project) -> None:
    script = f"""
import os, sys
sys.path.insert(0, {os.getcwd()!r})
from tests.e2e.sandbox.test_own_commands import *
from pathlib import Path
executor = ProcessExecutor(SystemClock())
ground = ProjectSandbox(project=load_config({str(plain.path)!r}, {{}}, {{}}))
with open_checkout_sandbox(ground, executor) as sandbox:
    runner = sandboxed_git(executor, sandbox, {str(plain.path / ".ralph")!r})
    own = OwnCommands(runner, Path({str(plain.path)!r}))
    own.sh("true")
    print(own.server, flush=True)
    sys.stdin.read(1)
print("closed", os.path.exists(f"/proc/{{own.server}}") if runner._server else False, flush=True)
"""
    for is_killed in (True, False):
        ralph = subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert ralph.stdout is not None
        server = int(ralph.stdout.readline())
        end = os.pidfd_open(server)
        if is_killed:
            ralph.kill()
        rest, _ = ralph.communicate("x")
        assert rest == ("" if is_killed else "closed False\n")
        poller = select.poll()
        poller.register(end)
        assert poller.poll(60_000), "it goes on"
        os.close(end)
