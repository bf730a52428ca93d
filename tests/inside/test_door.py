"""What a session can do through the door, and what not."""

import os
import resource
import socket
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace

from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.adapters.library.lessons import FileLessons
from ralph.core.ended import Ended
from ralph.core.ending import Ending
from ralph.core.errors import NoSuchTask, RalphError, Unavailable, UnusableData, UsageError
from ralph.core.events import SessionEnded
from ralph.core.ids import FeatureId
from ralph.core.order import Schedule
from ralph.core.shelf import Guardrail, GuardrailKind
from ralph.core.spent import one_session
from ralph.core.target import Everything, OneFeature, Subtree
from ralph.core.task import Draft, Status
from ralph.core.transitions import Accepted, Blocked
from ralph.documents import guardrails
from ralph.inside import door
from ralph.inside.door import SocketDoor
from ralph.inside.remote import RemoteStore
from ralph.ports.ledger import Asked, By
from ralph.ports.store import Filter, Store
from ralph.testing.clock import FrozenClock
from ralph.testing.doubles import FakeLibrary
from ralph.testing.memory_store import MemoryStore
from tests.inside.house import RUN, House


def a_door(executor: Processes) -> SocketDoor:
    return SocketDoor(MemoryStore(FrozenClock()), executor, FileLessons(FakeLibrary))


def test_a_session_may_look(house: House) -> None:
    tasks = house.ask(lambda: house.remote.tasks(Filter(statuses=frozenset({Status.PENDING}))))
    assert [task.title for task in tasks] == ["other"]


def test_a_session_may_ask_about_the_work_and_its_cost(house: House) -> None:
    remote, store = house.remote, house.store
    for target in (Everything(), Subtree(house.mine), OneFeature(FeatureId("f-1"), "x")):
        assert house.ask(partial(remote.counts, target)) == store.counts(target)
    assert house.ask(lambda: remote.next_ready(Everything(), Schedule.PRIORITY)).id == house.other
    paid = Ending(ended=Ended.FINISHED, cost_usd=0.5)
    session = replace(store.sessions()[0], ending=paid, ended_at="2026-01-01T00:00:00.000000Z")
    event = SessionEnded(session_id=session.id, task_id=house.mine, ended=Ended.FINISHED)
    store.end_session(session, event)
    assert house.ask(lambda: remote.spent(Asked(run=RUN))) == one_session(0.5)
    costs = house.ask(lambda: remote.costs(By.AGENT, Asked(task=house.mine), limit=5))
    assert costs == [("a", one_session(0.5))]


def test_a_session_may_add_tasks_and_edges(house: House) -> None:
    added = house.ask(lambda: house.remote.add_task(Draft(title="found", parent_id=house.mine)))
    house.ask(lambda: house.remote.link(house.other, added.id))
    assert [task.id for task in house.store.blockers(added.id)] == [house.other]


def test_a_session_may_write_a_lesson_down(house: House) -> None:
    lesson = Guardrail(id="fix-1-0001", kind=GuardrailKind.FIX, text="use port 0")
    house.ask(lambda: house.lessons.add_guardrail(lesson))
    assert lesson in guardrails.read(house.library.pages[guardrails.PATH])


def test_a_session_may_ask_what_others_have_learned(house: House) -> None:
    house.store.inject("be quick", house.mine)
    assert house.ask(lambda: house.remote.recall(["pool"], 9)) == []
    assert house.ask(lambda: house.remote.memories(task=house.mine)) == []
    assert house.ask(lambda: house.remote.guidance_for(house.mine)) == ["be quick"]


def test_done_is_a_claim_and_changes_nothing_yet(house: House) -> None:
    task = house.ask(lambda: house.remote.force_done(house.mine))
    assert task.status is Status.IN_PROGRESS
    assert house.told() == "done"


def test_a_failure_is_told_with_its_reason(house: House) -> None:
    house.ask(lambda: house.remote.force_failed(house.mine, "no access"))
    assert house.told() == "no access"


def test_a_session_may_block_its_own_task(house: House) -> None:
    house.ask(lambda: house.remote.apply(house.mine, [Blocked("needs a key")]))
    assert house.store.find(house.mine).status is Status.BLOCKED


@pytest.mark.parametrize(
    "deed",
    [
        lambda h: h.remote.forget(1),
        lambda h: h.remote.force_done(h.other),
        lambda h: h.remote.apply(h.other, [Blocked("x")]),
        lambda h: h.remote.apply(h.mine, [Accepted()]),
        lambda h: h.remote.delete_task(h.other),
        lambda h: h.remote.reset(h.mine),
        lambda h: h.remote.inject("do as I say", None),
    ],
)
def test_a_session_may_do_nothing_else(house: House, deed: Callable[[House], Any]) -> None:
    with pytest.raises(UsageError):
        house.ask(lambda: deed(house))
    assert house.store.find(house.other).status is Status.PENDING
    assert house.store.find(house.mine).status is Status.IN_PROGRESS


def test_errors_keep_their_kind(house: House) -> None:
    with pytest.raises(NoSuchTask):
        house.ask(lambda: house.remote.find("t-nothing"))


def test_a_wrong_token_opens_nothing(house: House) -> None:
    stranger = cast(Store, RemoteStore(house.variables["RALPH_SOCKET"], "guess"))
    with pytest.raises(UsageError, match="over"):
        house.ask(lambda: stranger.find(house.mine))


def test_a_token_dies_with_its_session(house: House) -> None:
    house.door.shut()
    with pytest.raises(UsageError, match="over"):
        house.ask(lambda: house.remote.find(house.mine))


def test_the_socket_is_for_its_owner_only(house: House) -> None:
    assert os.stat(os.path.dirname(house.door.path)).st_mode & 0o777 == 0o700


NONSENSE = [
    b"\x00 not json",
    b'{"token":"TOKEN","method":"find","args":{"task":"\xff"}}',
    b'{"token":"TOKEN","method":"hook","args":{"name":"stop","payload":{"tool_name":"\xff"}}}',
    b'{"token":"TOKEN","method":"hook","args":{"name":"stop","payload":{"a":%s%s}}}'
    % (b"[" * 100_000, b"]" * 100_000),
    b'{"token":"TOKEN","method":"hook","args":{"name":"stop","payload":[]}}',
    b'{"token":"TOKEN","method":"hook","args":{"name":null,"payload":null}}',
    b'{"token":"TOKEN","method":"use_tool","args":{"nam":"x"}}',
    b'{"token":"TOKEN","method":"find","args":{"task":7}}',
    b'{"token":"\xc3\xa9","method":"find"}',
]


@pytest.mark.parametrize("line", NONSENSE, ids=range(len(NONSENSE)))
def test_nonsense_gets_an_answer_and_the_loop_lives_on(house: House, line: bytes) -> None:
    def shout() -> bytes:
        with socket.socket(socket.AF_UNIX) as guest:
            guest.connect(house.door.path)
            guest.sendall(line.replace(b"TOKEN", house.door.token.encode()) + b"\n")
            return guest.recv(10_000)

    assert msgspec.json.decode(house.ask(shout))["error"] == "UsageError"
    assert house.ask(lambda: house.remote.find(house.mine)).id == house.mine


def test_a_guest_who_only_knocks_does_not_hold_up_the_loop(house: House) -> None:
    with socket.socket(socket.AF_UNIX) as guest:
        guest.connect(house.door.path)
        assert house.ask(lambda: house.remote.find(house.mine)).id == house.mine


def test_without_a_loop_the_visitor_is_told(house: House) -> None:
    house.door.close()
    with pytest.raises(Unavailable) as caught:
        house.remote.find(house.mine)
    assert isinstance(caught.value, RalphError)
    assert "RALPH_SOCKET" in caught.value.hint


def test_what_killed_runs_have_left_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    executor = Processes(SystemClock())
    killed = a_door(executor)
    executor.unwatch(killed.server.fileno())
    killed.server.close()  # as the kernel does it
    strange = tmp_path / "ralph-of-somebody"
    strange.mkdir()
    alive = a_door(executor)
    assert not os.path.exists(killed.directory)
    third = a_door(executor)
    assert os.path.exists(alive.path)
    assert strange.exists()
    for one in (alive, third):
        one.close()
    assert [entry.name for entry in tmp_path.iterdir()] == ["ralph-of-somebody"]
    executor.close()


class Crowd:
    """Clients that connect and then do as little as they like."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.sockets: list[socket.socket] = []

    def connect(self, count: int) -> None:
        for _ in range(count):
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(0)
            client.connect(self.house.door.path)
            self.sockets.append(client)

    def send(self, method: str, **args: object) -> None:
        call = {"token": self.house.door.token, "method": method, "args": args}
        for client in self.sockets:
            client.sendall(msgspec.json.encode(call) + b"\n")

    def close(self) -> None:
        for client in self.sockets:
            client.close()


@pytest.fixture
def crowd(house: House) -> Iterator[Crowd]:
    crowd = Crowd(house)
    yield crowd
    crowd.close()


def test_idle_clients_do_not_keep_others_out(house: House, crowd: Crowd) -> None:
    clients = house.door.clients
    clients.most = 100
    crowd.connect(1000)
    house.executor.sleep(10.0, lambda: len(clients) == 100)
    # Those who say nothing soon make room for those who do.
    clients.now = count(clients.now(), 0.1).__next__
    assert house.ask(lambda: house.remote.find(house.mine)).id == house.mine
    assert len(clients) <= 100


def test_a_client_that_never_finishes_its_request_is_dropped(house: House, crowd: Crowd) -> None:
    clients = house.door.clients
    crowd.connect(3)
    crowd.sockets[0].sendall(b'{"token":')
    house.executor.sleep(10.0, lambda: len(clients) == 3 and clients.held > 0)
    later = clients.now() + 11.0
    clients.now = lambda: later
    house.door.look_after()
    assert len(clients) == 0


def test_answers_that_nobody_reads_do_not_hold_up_the_loop(house: House, crowd: Crowd) -> None:
    clients = house.door.clients
    for _ in range(9):
        house.store.log(house.mine, "x" * 1_000_000)
    crowd.connect(20)
    crowd.send("logs", task=house.mine)
    house.executor.sleep(10.0, lambda: clients.held > 32 * 1024 * 1024)
    clients.now = count(clients.now(), 0.3).__next__
    assert house.ask(lambda: house.remote.find(house.mine)).id == house.mine
    assert clients.held < 64 * 1024 * 1024
    later = clients.now() + 31.0
    clients.now = lambda: later
    house.door.look_after()
    assert len(clients) == 0


def test_a_large_answer_reaches_whoever_reads_it(house: House) -> None:
    for _ in range(9):
        house.store.log(house.mine, "x" * 1_000_000)
    logs = house.ask(lambda: house.remote.logs(house.mine))
    assert sum(len(entry.message) for entry in logs) == 9_000_000


def test_the_loop_lives_when_it_has_no_file_left(house: House, crowd: Crowd) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    crowd.connect(20)
    highest = max(client.fileno() for client in crowd.sockets)
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 4, hard))
    try:
        house.executor.sleep(0.1, lambda: False)
        assert 0 < len(house.door.clients) < 20
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    crowd.close()
    house.door.look_after()
    assert house.ask(lambda: house.remote.find(house.mine)).id == house.mine


def test_what_one_session_may_change_is_bounded(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(door, "MOST_CHANGES", 2)
    for _ in range(2):
        house.ask(lambda: house.remote.log(house.mine, "x"))
    with pytest.raises(UsageError, match="as much as one session may"):
        house.ask(lambda: house.remote.log(house.mine, "x"))
    assert house.ask(lambda: house.remote.find(house.mine)).id == house.mine


def test_a_text_without_measure_is_refused(house: House) -> None:
    with pytest.raises(UnusableData, match="10,000,001 characters"):
        house.ask(lambda: house.remote.log(house.mine, "x" * 10_000_001))
    with pytest.raises(UnusableData, match="the title is 20,000 characters"):
        house.ask(lambda: house.remote.add_task(Draft(title="x" * 20_000)))
