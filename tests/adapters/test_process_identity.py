"""Whether the owner of a claim is alive: yes, no, or not for us to say."""

import os
import subprocess
import sys

import msgspec
import pytest
from msgspec.structs import replace

from ralph.adapters.executor import own_process
from ralph.adapters.executor.own_process import is_alive, this_process

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux only")


def test_we_are_alive() -> None:
    me = this_process()
    assert me.pid == os.getpid()
    assert me.host
    assert me == this_process()
    assert is_alive(me) is True


def test_another_process_sees_us_alive() -> None:
    code = """
import sys, msgspec
from ralph.adapters.executor.own_process import is_alive
from ralph.store.runs import WorkerProcess
print(is_alive(msgspec.json.decode(sys.argv[1], type=WorkerProcess)))
"""
    me = msgspec.json.encode(this_process()).decode()
    done = subprocess.run((sys.executable, "-c", code, me), stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"True\n"


def test_a_process_that_has_ended_is_dead() -> None:
    gone = subprocess.Popen(("true",))
    gone.wait()
    assert is_alive(replace(this_process(), pid=gone.pid)) is False


@linux
def test_a_process_that_waits_to_be_buried_is_dead() -> None:
    with subprocess.Popen(("true",), stdout=subprocess.PIPE) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        assert is_alive(replace(this_process(), pid=ended.pid)) is False


@linux
def test_a_pid_that_now_is_someone_elses_means_death() -> None:
    assert is_alive(replace(this_process(), pid_start="1")) is False


def test_another_host_cannot_be_judged() -> None:
    assert is_alive(replace(this_process(), host="elsewhere", boot_id="another")) is None


def test_a_host_that_changed_its_name_is_still_this_one() -> None:
    assert is_alive(replace(this_process(), host="laptop.at-home")) is True


@linux
def test_another_pid_namespace_cannot_be_judged() -> None:
    assert is_alive(replace(this_process(), pid_namespace="pid:[1]")) is None


@linux
def test_before_the_last_boot_of_this_machine_means_death(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_process, "_machine_id", lambda: "0123")
    monkeypatch.setattr(own_process, "_pid_namespace", lambda: own_process.FIRST_PID_NAMESPACE)
    before = replace(this_process(), boot_id="the last one")
    assert is_alive(before) is False
    assert is_alive(replace(before, host="elsewhere/0123")) is None


@linux
def test_in_a_container_another_boot_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # Containers of one image may share name and machine id, on machines far apart.
    monkeypatch.setattr(own_process, "_machine_id", lambda: "0123")
    monkeypatch.setattr(own_process, "_pid_namespace", lambda: "pid:[4026532000]")
    assert is_alive(replace(this_process(), boot_id="another")) is None


def test_an_owner_without_a_start_cannot_be_judged() -> None:
    assert is_alive(replace(this_process(), pid_start="")) is None
