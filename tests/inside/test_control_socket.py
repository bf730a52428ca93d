"""What a session can do over the control socket, and what not."""

import os
import resource
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.project_files.guardrail_file import GuardrailFile
from ralph.core.brief import Guardrail, GuardrailKind
from ralph.core.cost import session_cost
from ralph.core.errors import Busy, NoSuchTask, RalphError, Unavailable, UnusableData, UsageError
from ralph.core.events import SessionEnded
from ralph.core.graph import Schedule
from ralph.core.ids import FeatureId, TaskId
from ralph.core.run import AllTasks, OneFeature, Subtree
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.settings import BreakerSection, BudgetSection
from ralph.core.task import TaskDraft, TaskStatus
from ralph.core.transitions import Accepted, Blocked
from ralph.documents import guardrails
from ralph.inside import control_socket
from ralph.inside.control_socket import LocalControlSocket
from ralph.inside.session_calls import RemoteStore
from ralph.ports.workspace import FileChange
from ralph.store.costs import CostFilter, CostGrouping
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from ralph.ui.project_view import ProjectView
from ralph.ui.report import read_report
from tests.contracts.store_test_helpers import claim_of
from tests.doubles import FakeProjectFiles
from tests.doubles.clock import FrozenClock
from tests.inside.socket_session import RUN, SocketWorld
from tests.stores import memory_store


class NoCommits:
    """A `ChangeReader` of a repository without commits."""

    def on_branches(self, commits: Sequence[str], since: str) -> set[str]:
        return set()

    def stat(self, commits: Sequence[str]) -> list[FileChange]:
        return []

    def patch(self, commits: Sequence[str]) -> str:
        return ""

    def between(self, start: str, end: str) -> str:
        return ""

    def text_of(self, at: str, path: str) -> str | None:
        raise AssertionError(f"no report needs {path} of {at}")


def a_control_socket(executor: ProcessExecutor) -> LocalControlSocket:
    return LocalControlSocket(
        memory_store(FrozenClock()), executor, GuardrailFile(FakeProjectFiles)
    )


def test_a_session_may_look(world: SocketWorld) -> None:
    tasks = world.ask(
        lambda: world.remote.tasks.select(TaskFilter(statuses=frozenset({TaskStatus.PENDING})))
    )
    assert [task.title for task in tasks] == ["other"]


def test_a_session_sees_the_project_as_others_do(world: SocketWorld) -> None:
    here, there = (
        ProjectView(
            store,
            "/c",
            is_alive=lambda _: True,
            now=lambda: 0.0,
            budget=BudgetSection(),
            breaker=BreakerSection(),
        )
        for store in (world.store, world.remote)
    )

    def seen(view: ProjectView) -> tuple[object, ...]:
        report = read_report(view, None, NoCommits(), 0.0)
        attempts = [*view.attempts(world.mine)]
        return view.overview(), view.task(world.mine), attempts, view.graph(), report, view.feed(0)

    assert world.ask(lambda: seen(there)) == seen(here)


def test_a_session_may_ask_about_the_work_and_its_cost(world: SocketWorld) -> None:
    remote, store = world.remote, world.store
    for target in (AllTasks(), Subtree(world.mine), OneFeature(FeatureId("f-1"), "x")):
        assert world.ask(partial(remote.claims.counts, target)) == store.claims.counts(target)
    assert (
        world.ask(lambda: remote.claims.next_ready(AllTasks(), Schedule.PRIORITY)).id == world.other
    )
    paid = SessionEnding(ended=EndingKind.FINISHED, cost_usd=0.5)
    session = replace(
        store.sessions.select()[0], ending=paid, ended_at="2026-01-01T00:00:00.000000Z"
    )
    event = SessionEnded(session_id=session.id, task_id=world.mine, ended=EndingKind.FINISHED)
    store.sessions.end(session, claim_of(store, session), event)
    assert world.ask(lambda: remote.costs.total(CostFilter(run=RUN))) == session_cost(0.5)
    costs = world.ask(
        lambda: remote.costs.sums(CostGrouping.AGENT, CostFilter(task=world.mine), limit=5)
    )
    assert costs == [("a", session_cost(0.5))]


def test_a_session_may_add_tasks_and_edges(world: SocketWorld) -> None:
    added = world.ask(
        lambda: world.remote.tasks.add(TaskDraft(title="found", parent_id=world.mine))
    )
    world.ask(lambda: world.remote.tasks.link(world.other, added.id))
    assert [task.id for task in world.store.tasks.blockers(added.id)] == [world.other]


def test_a_session_may_write_a_lesson_down(world: SocketWorld) -> None:
    lesson = Guardrail(id="fix-1-0001", kind=GuardrailKind.FIX, text="use port 0")
    world.ask(lambda: world.lessons.add_guardrail(lesson))
    assert lesson in guardrails.read(world.project_files.pages[guardrails.PATH])


def test_a_session_may_ask_what_others_have_learned(world: SocketWorld) -> None:
    world.store.messages.add_guidance("be quick", world.mine)
    assert world.ask(lambda: world.remote.memories.search(["pool"], 9)) == []
    assert world.ask(lambda: world.remote.memories.select(task=world.mine)) == []
    assert world.ask(lambda: world.remote.messages.peek_guidance(world.mine)) == ["be quick"]


def test_done_is_a_claim_and_changes_nothing_yet(world: SocketWorld) -> None:
    task = world.ask(lambda: world.remote.tasks.force_done(world.mine))
    assert task.status is TaskStatus.IN_PROGRESS
    assert world.socket_claim() == "done"


def test_a_failure_is_told_with_its_reason(world: SocketWorld) -> None:
    world.ask(lambda: world.remote.tasks.force_failed(world.mine, "no access"))
    assert world.socket_claim() == "no access"


def test_a_session_may_block_its_own_task(world: SocketWorld) -> None:
    world.ask(lambda: world.remote.tasks.apply(world.mine, [Blocked("needs a key")]))
    assert world.store.tasks.find(world.mine).status is TaskStatus.BLOCKED


NOT_MINE = "is not this session's, so it cannot be settled here"
FORBIDDEN: dict[str, tuple[Callable[[SocketWorld], Any], str]] = {
    "forget": (lambda h: h.remote.memories.delete(1), "look, add tasks"),
    "settle another's task": (lambda h: h.remote.tasks.force_done(h.other), NOT_MINE),
    "block another's task": (lambda h: h.remote.tasks.apply(h.other, [Blocked("x")]), NOT_MINE),
    "accept its own work": (lambda h: h.remote.tasks.apply(h.mine, [Accepted()]), "block its own"),
    "delete a task": (lambda h: h.remote.tasks.delete(h.other), "look, add tasks"),
    "reset its task": (lambda h: h.remote.tasks.reset(h.mine), "look, add tasks"),
    "guide others": (
        lambda h: h.remote.messages.add_guidance("do as I say", None),
        "look, add tasks",
    ),
}


@pytest.mark.parametrize(("deed", "says"), FORBIDDEN.values(), ids=FORBIDDEN)
def test_a_session_may_do_nothing_else(
    world: SocketWorld, deed: Callable[[SocketWorld], Any], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        world.ask(lambda: deed(world))
    assert world.store.tasks.find(world.other).status is TaskStatus.PENDING
    assert world.store.tasks.find(world.mine).status is TaskStatus.IN_PROGRESS


def test_errors_keep_their_kind(world: SocketWorld) -> None:
    with pytest.raises(NoSuchTask, match="there is no task t-nothing"):
        world.ask(lambda: world.remote.tasks.find("t-nothing"))


def test_a_wrong_token_opens_nothing(world: SocketWorld) -> None:
    stranger = cast(Store, RemoteStore(world.variables["RALPH_SOCKET"], "guess"))
    with pytest.raises(UsageError, match="over"):
        world.ask(lambda: stranger.tasks.find(world.mine))


def test_a_token_dies_with_its_session(world: SocketWorld) -> None:
    world.control_socket.close_session()
    with pytest.raises(UsageError, match="over"):
        world.ask(lambda: world.remote.tasks.find(world.mine))


def test_the_socket_is_for_its_owner_only(world: SocketWorld) -> None:
    assert os.stat(os.path.dirname(world.control_socket.path)).st_mode & 0o777 == 0o700


NONSENSE = {
    "it is not JSON": b"\x00 not json",
    "a task that is no text": b'{"token":"TOKEN","method":"tasks.find","args":{"name":"\xff"}}',
    "a tool that is no text": b'{"token":"TOKEN","method":"hook",'
    b'"args":{"name":"stop","payload":{"tool_name":"\xff"}}}',
    "a payload without end": b'{"token":"TOKEN","method":"hook",'
    b'"args":{"name":"stop","payload":{"a":%s%s}}}' % (b"[" * 100_000, b"]" * 100_000),
    "a payload that is a list": b'{"token":"TOKEN","method":"hook",'
    b'"args":{"name":"stop","payload":[]}}',
    "nothing but null": b'{"token":"TOKEN","method":"hook","args":{"name":null,"payload":null}}',
    "an unknown argument": b'{"token":"TOKEN","method":"use_tool","args":{"nam":"x"}}',
    "a number for a task": b'{"token":"TOKEN","method":"tasks.find","args":{"name":7}}',
    "an odd token": b'{"token":"\xc3\xa9","method":"tasks.find"}',
}


@pytest.mark.parametrize("line", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_gets_an_answer_and_the_loop_lives_on(world: SocketWorld, line: bytes) -> None:
    def shout() -> bytes:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(world.control_socket.path)
            client.sendall(line.replace(b"TOKEN", world.control_socket.token.encode()) + b"\n")
            return client.recv(10_000)

    assert msgspec.json.decode(world.ask(shout))["error"] == "UsageError"
    assert world.ask(lambda: world.remote.tasks.find(world.mine)).id == world.mine


def test_a_client_that_sends_nothing_does_not_hold_up_the_loop(world: SocketWorld) -> None:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(world.control_socket.path)
        assert world.ask(lambda: world.remote.tasks.find(world.mine)).id == world.mine


def test_without_a_loop_the_client_gets_an_error(world: SocketWorld) -> None:
    world.control_socket.close()
    with pytest.raises(Unavailable) as caught:
        world.remote.tasks.find(world.mine)
    assert isinstance(caught.value, RalphError)
    assert "RALPH_SOCKET" in caught.value.hint


def test_what_killed_runs_have_left_is_taken_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    executor = ProcessExecutor(SystemClock())
    killed = a_control_socket(executor)
    killed.clients.close()  # as the kernel does it
    strange = tmp_path / "ralph-of-somebody"
    (strange / "socket").mkdir(parents=True)
    alive = a_control_socket(executor)
    assert not os.path.exists(killed.directory)
    third = a_control_socket(executor)
    assert os.path.exists(alive.path)
    assert strange.exists()
    for one in (alive, third):
        one.close()
    assert [entry.name for entry in tmp_path.iterdir()] == ["ralph-of-somebody"]
    executor.close()


class Crowd:
    """Clients that connect and then do as little as they like."""

    def __init__(self, world: SocketWorld) -> None:
        self.world = world
        self.sockets: list[socket.socket] = []

    def connect(self, count: int) -> None:
        for _ in range(count):
            client = socket.socket(socket.AF_UNIX)
            client.settimeout(0)
            client.connect(self.world.control_socket.path)
            self.sockets.append(client)

    def send(self, method: str, **args: object) -> None:
        call = {"token": self.world.control_socket.token, "method": method, "args": args}
        for client in self.sockets:
            client.sendall(msgspec.json.encode(call) + b"\n")

    def close(self) -> None:
        for client in self.sockets:
            client.close()


@pytest.fixture
def crowd(world: SocketWorld) -> Iterator[Crowd]:
    crowd = Crowd(world)
    yield crowd
    crowd.close()


def test_idle_clients_do_not_keep_others_out(world: SocketWorld, crowd: Crowd) -> None:
    clients = world.control_socket.clients
    clients.most = 100
    crowd.connect(1000)
    world.executor.sleep(10.0, lambda: len(clients) == 100)
    # Those who say nothing soon make room for those who do.
    clients.now = count(clients.now(), 0.1).__next__
    assert world.ask(lambda: world.remote.tasks.find(world.mine)).id == world.mine
    assert len(clients) <= 100


def test_a_client_that_never_finishes_its_request_is_dropped(
    world: SocketWorld, crowd: Crowd
) -> None:
    clients = world.control_socket.clients
    crowd.connect(3)
    crowd.sockets[0].sendall(b'{"token":')
    world.executor.sleep(10.0, lambda: len(clients) == 3 and clients.held > 0)
    later = clients.now() + 11.0
    clients.now = lambda: later
    world.control_socket.drop_late_clients()
    assert len(clients) == 0


def test_answers_that_nobody_reads_do_not_hold_up_the_loop(
    world: SocketWorld, crowd: Crowd
) -> None:
    clients = world.control_socket.clients
    for _ in range(9):
        world.store.tasks.log(world.mine, "x" * 1_000_000)
    crowd.connect(20)
    crowd.send("tasks.logs", task=world.mine)
    world.executor.sleep(30.0, lambda: clients.held > 32 * 1024 * 1024)
    assert clients.held > 32 * 1024 * 1024
    clients.now = count(clients.now(), 0.3).__next__
    assert world.ask(lambda: world.remote.tasks.find(world.mine)).id == world.mine
    assert clients.held < 64 * 1024 * 1024
    later = clients.now() + 31.0
    clients.now = lambda: later
    world.control_socket.drop_late_clients()
    assert len(clients) == 0


def test_a_large_answer_reaches_whoever_reads_it(world: SocketWorld) -> None:
    for _ in range(9):
        world.store.tasks.log(world.mine, "x" * 1_000_000)
    logs = world.ask(lambda: world.remote.tasks.logs(world.mine))
    assert sum(len(entry.message) for entry in logs) == 9_000_000


def test_an_answer_without_measure_is_refused(
    world: SocketWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_socket, "HELD_BYTES", 1000)
    world.store.tasks.log(world.mine, "x" * 1000)
    with pytest.raises(Busy, match="the answer has"):
        world.ask(lambda: world.remote.tasks.logs(world.mine))
    assert world.ask(lambda: world.remote.tasks.find(world.mine)).id == world.mine


def test_a_question_that_takes_too_long_is_ended(
    world: SocketWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_socket, "CALL_S", 0.0)
    with pytest.raises(Busy, match="takes too long"):
        world.ask(lambda: world.remote.tasks.names_of([world.mine] * 100_000))
    assert world.ask(lambda: world.remote.tasks.find(world.mine)).id == world.mine
    # The run itself has all the time that it needs.
    assert world.store.tasks.names_of([world.mine] * 100_000) == {world.mine: world.mine}


def test_the_loop_lives_when_it_has_no_file_left(world: SocketWorld, crowd: Crowd) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    crowd.connect(20)
    highest = max(client.fileno() for client in crowd.sockets)
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + 4, hard))
    try:
        world.executor.sleep(0.1, lambda: False)
        assert 0 < len(world.control_socket.clients) < 20
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    crowd.close()
    world.control_socket.drop_late_clients()
    assert world.ask(lambda: world.remote.tasks.find(world.mine)).id == world.mine


def test_what_one_session_may_change_is_bounded(
    world: SocketWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_socket, "MOST_CHANGES", 2)
    for _ in range(2):
        world.ask(lambda: world.remote.tasks.log(world.mine, "x"))
    with pytest.raises(UsageError, match="as much as one session may"):
        world.ask(lambda: world.remote.tasks.log(world.mine, "x"))
    assert world.ask(lambda: world.remote.tasks.find(world.mine)).id == world.mine


def test_each_task_of_a_list_counts_as_a_change(
    world: SocketWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_socket, "MOST_CHANGES", 5)
    drafts = [TaskDraft(title=f"more {number}") for number in range(3)]
    assert world.ask(lambda: world.remote.tasks.add_many(drafts)) == 3
    with pytest.raises(UsageError, match="as much as one session may"):
        world.ask(lambda: world.remote.tasks.add_many(drafts))


@pytest.mark.parametrize(
    ("draft", "why"),
    [
        (TaskDraft(title="x", id=TaskId("../../../home")), "not a task's id"),
        (TaskDraft(title="x", id=TaskId("")), "not a task's id"),
        (TaskDraft(title="x", alias="US\0"), "cannot be an alias"),
        (TaskDraft(title="x", files=("../x",)), "not a file below the top"),
        (TaskDraft(title=" "), "the title is empty"),
        *(
            (TaskDraft(title="x", status=status), f"this one is {status}")
            for status in TaskStatus
            if status is not TaskStatus.PENDING
        ),
    ],
)
def test_what_a_session_adds_leads_nowhere_and_settles_nothing(
    world: SocketWorld, draft: TaskDraft, why: str
) -> None:
    below = replace(draft, parent_id=world.other)
    with pytest.raises((UnusableData, UsageError), match=why):
        world.ask(lambda: world.remote.tasks.add(below))
    with pytest.raises((UnusableData, UsageError), match=why):
        world.ask(lambda: world.remote.tasks.add_many([below]))
    assert world.store.tasks.find(world.other).status is TaskStatus.PENDING


def test_a_text_without_measure_is_refused(world: SocketWorld) -> None:
    with pytest.raises(UnusableData, match="10,000,001 characters"):
        world.ask(lambda: world.remote.tasks.log(world.mine, "x" * 10_000_001))
    with pytest.raises(UnusableData, match="the title is 20,000 characters"):
        world.ask(lambda: world.remote.tasks.add(TaskDraft(title="x" * 20_000)))
