"""The promises that hold whatever happens, in any order: one story, told to a store and a model.

The model computes everything plainly; the store keeps counters. They must never disagree.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)
from msgspec.structs import replace

from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.errors import RalphError
from ralph.core.events import Warned
from ralph.core.graph import Schedule, can_still_run
from ralph.core.ids import TaskId, WorkerId
from ralph.core.run import AllTasks, Subtree
from ralph.core.snapshot import Snapshot
from ralph.core.task import OPEN, Task, TaskDraft, TaskEdit, TaskStatus
from ralph.core.transitions import (
    STRIKES_PER_RETRY,
    Accepted,
    Blocked,
    GaveUp,
    Released,
    Transition,
    Unblocked,
)
from ralph.store.claims import Claim, StaleClaim
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter
from tests.contracts.store_test_helpers import (
    LEASE_S,
    OTHER,
    a_session,
    begin,
    join,
    start,
)
from tests.core.model import Model
from tests.core.promise_strategies import (
    DEEDS,
    FILES,
    PLACES,
    SETTLEMENTS,
    SHAPES,
    WHICH,
    WORKERS,
    in_a_feature,
    timeless,
)
from tests.core.replay import replay
from tests.core.small_graph import Forest
from tests.doubles.clock import FrozenClock

ALL = AllTasks()


class Promises(RuleBasedStateMachine):
    """Everything that people, workers and accidents can do to a graph."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FrozenClock()
        self.folder = Path(tempfile.mkdtemp(prefix="ralph-promises-"))
        self.model = Model(self.clock)
        self.real = self.opened()
        self.made = 0
        self.claims: list[tuple[Claim, Claim]] = []
        self.stale: list[tuple[StaleClaim, StaleClaim]] = []
        """What was seen of claims that may be dead, the newest last; others move meanwhile."""
        self.settled: dict[TaskId, TaskStatus] = {}
        self.by_hand = False
        """A person has just done something, so that what was settled may be open again."""
        self.fail_fast = False
        self.seen: dict[int, list[Task]] = {}
        self.last = TaskId("t-000")

    def opened(self) -> Store:
        path = str(self.folder / "progress.db")
        return open_sqlite_store(path, self.clock.now, relaxed=True)

    def teardown(self) -> None:
        try:
            self.replaying_the_events_gives_the_stored_state()
            assert self.real.check() == [], "the counters did not keep up"
        finally:
            self.real.close()
            shutil.rmtree(self.folder)

    def replaying_the_events_gives_the_stored_state(self) -> None:
        store = self.real
        replayed = replay(recorded.event for recorded in store.events.select(limit=0))
        stored = {
            task.id: replace(task, updated_at="") for task in store.tasks.select(TaskFilter())
        }
        assert {i: replace(task, updated_at="") for i, task in replayed.tasks.items()} == stored
        blockers = store.tasks.blocker_ids(list(stored))
        assert replayed.edges == {(one, task) for task in stored for one in blockers[task]}
        assert list(replayed.features.values()) == store.features.all()

    def both(self, act: Callable[[Any], Any]) -> Any:
        """Do the same to both; they must answer alike, errors included."""
        self.seen.clear()
        answers = [self._answer(act, store) for store in (self.model, self.real)]
        assert answers[0][0] == answers[1][0]
        return answers[0][1], answers[1][1]

    def _answer(self, act: Callable[[Any], Any], store: Store | Model) -> tuple[Any, Any]:
        try:
            value = act(store)
        except RalphError as error:
            return type(error), None
        match value:
            case Task():
                return timeless(value), value
            case Claim():
                return (timeless(value.task), value.worker, value.attempt), value
            case [StaleClaim(), *_]:
                return [replace(one, task=timeless(one.task)) for one in value], value
            case list():
                return set(value), value
            case _:
                return value, value

    def stored(self, store: Store | Model) -> list[Task]:
        """Every task, read once after each step."""
        if id(store) not in self.seen:
            self.seen[id(store)] = store.tasks.select(TaskFilter())
        return self.seen[id(store)]

    def at(self, place: int | str) -> TaskId:
        """The task at a place; any other name is nobody's."""
        known = {task.id: task for task in self.stored(self.model)}
        here = known.get(self.last)
        near: list[TaskId] = []
        if isinstance(place, int):
            near = sorted(known)[place % max(len(known), 1) :]
        elif here is not None:
            siblings = [one.id for one in known.values() if one.parent_id == here.parent_id]
            near = {
                "same": [here.id],
                "parent": [here.parent_id] if here.parent_id else [],
                "child": self.model.tasks.children(here.id),
                "sibling": [one for one in siblings if one != here.id],
                "blocker": self.model.tasks.blockers(here.id),
                "dependent": self.model.tasks.dependents(here.id),
            }.get(place, [])
        self.last = near[0] if near else TaskId("t-nobody")
        return self.last

    @initialize(shape=SHAPES, fail_fast=st.booleans())
    def somebody_comes_to_work(
        self, shape: list[tuple[int, frozenset[int]]], *, fail_fast: bool
    ) -> None:
        """Begin with a few tasks: from nothing, most stories would end before they are one."""
        self.fail_fast = fail_fast
        self.both(lambda store: begin(store) and None)
        self.both(lambda store: join(store, OTHER, pid=2))
        names = [TaskId(f"t-{number:03}") for number in range(len(shape))]

        def parent(number: int) -> TaskId | None:
            above = shape[number][0]
            return names[above] if above < number else None

        drafts = [
            TaskDraft(title=str(name), id=name, parent_id=parent(number), max_retries=number % 2)
            for number, name in enumerate(names)
        ]
        self.both(lambda store: store.features.add("a") and store.features.add("b") and None)
        self.both(lambda store: store.tasks.add_many([in_a_feature(store, one) for one in drafts]))
        for number, (_, before) in enumerate(shape):
            for one in before:
                # Some are refused, since they would close a circle; then by both.
                self.both(lambda store, n=number, o=one: store.tasks.link(names[o], names[n]))  # type: ignore[misc]
        self.made = len(shape)

    # The graph

    @rule(
        under=st.none() | PLACES,
        after=st.lists(PLACES, max_size=2),
        priority=st.integers(0, 2),
        max_retries=st.integers(0, 1),
        status=st.sampled_from([TaskStatus.PENDING] * 12 + list(TaskStatus)),
        files=FILES,
    )
    def add(
        self,
        under: int | str | None,
        after: list[int | str],
        *,
        priority: int,
        max_retries: int,
        status: TaskStatus,
        files: tuple[str, ...] = (),
    ) -> None:
        blockers = {self.at(place) for place in after}
        parent = None if under is None else self.at(under)
        self.made += 1
        draft = TaskDraft(
            title=f"task {self.made}",
            id=TaskId(f"t-{self.made:03}"),
            parent_id=parent,
            blocked_by=tuple(sorted(blockers)),
            priority=priority,
            max_retries=max_retries,
            status=status,
            files=files,
        )
        self.by_hand = True
        self.both(lambda store: store.tasks.add(in_a_feature(store, draft)))

    @rule(first=PLACES, then=PLACES, cut=st.booleans())
    def rewire(self, first: int | str, then: int | str, *, cut: bool) -> None:
        blocker, blocked = self.at(first), self.at(then)
        self.by_hand = True
        if cut:
            self.both(lambda store: store.tasks.unlink(blocker, blocked))
        else:
            self.both(lambda store: store.tasks.link(blocker, blocked))

    @rule(place=PLACES, under=st.none() | PLACES)
    def move(self, place: int | str, under: int | str | None) -> None:
        task = self.at(place)
        parent = None if under is None else self.at(under)
        self.by_hand = True
        self.both(lambda store: store.tasks.edit(task, TaskEdit(parent_id=parent)))

    @rule(place=PLACES, files=FILES, learn=st.booleans())
    def name_files(self, place: int | str, files: tuple[str, ...], *, learn: bool) -> None:
        task = self.at(place)
        if learn:
            self.both(lambda store: store.tasks.learn_files(task, files))
        else:
            self.both(lambda store: store.tasks.edit(task, TaskEdit(files=files)))

    # Workers

    @rule(
        worker=WORKERS,
        below=st.none() | PLACES,
        schedule=st.sampled_from(Schedule),
        begins=st.booleans(),
    )
    def claim(
        self,
        worker: WorkerId,
        below: int | str | None,
        schedule: Schedule,
        *,
        begins: bool = False,
    ) -> None:
        within = ALL if below is None else Subtree(self.at(below))
        if schedule is Schedule.CRITICAL_PATH:
            self.both(lambda store: store.claims.rank_chains())
        promised, _ = self.both(lambda store: store.claims.next_ready(within, schedule))
        taken = self.both(lambda store: store.claims.claim(worker, None, within, schedule))
        if any(one == taken for one in self.claims):
            return  # its answer was lost, so to speak
        assert (taken[0] is None) == (promised is None)
        if taken[0] is not None:
            assert taken[0].task.id == promised.id
            self._assert_nothing_was_open_before(taken[0].task)
            self._assert_nobody_else_has_its_files(taken[0].task)
            self.claims.append(taken)
            self.last = promised.id
            if begins:
                self.begin_session(0)

    def _assert_nothing_was_open_before(self, task: Task | None) -> None:
        assert task is not None
        assert self.real.tasks.children(task.id) == []
        while task is not None:
            for blocker in self.real.tasks.blockers(task.id):
                assert blocker.status is TaskStatus.DONE
            task = self.real.tasks.find(task.parent_id) if task.parent_id else None

    def _assert_nobody_else_has_its_files(self, task: Task) -> None:
        for other in self.real.tasks.select(
            TaskFilter(statuses=frozenset({TaskStatus.IN_PROGRESS}))
        ):
            assert other.id == task.id or set(task.files).isdisjoint(other.files)

    @rule(which=WHICH, transition=SETTLEMENTS)
    def settle(self, which: int, transition: Transition) -> None:
        if which < len(self.claims):
            taken = dict(zip((self.model, self.real), self.claims[-1 - which], strict=True))
            held = self.model.claims.holds(taken[self.model])
            settled, _ = self.both(
                lambda store: store.claims.settle(
                    taken[store], transition, message="so it went", fail_fast=self.fail_fast
                )
            )
            assert (settled is not None) == held

    @rule(worker=WORKERS, transition=SETTLEMENTS)
    def work(self, worker: WorkerId, transition: Transition) -> None:
        before = len(self.claims)
        self.claim(worker, None, Schedule.PRIORITY)
        if len(self.claims) > before:
            self.settle(0, transition)

    @rule(worker=WORKERS)
    def do_well(self, worker: WorkerId) -> None:
        self.work(worker, Accepted())

    @rule(worker=WORKERS)
    def fail(self, worker: WorkerId) -> None:
        self.work(worker, GaveUp("impossible"))

    @rule(which=WHICH)
    def split_up(self, which: int) -> None:
        """A session adds tasks below its own."""
        if which < len(self.claims):
            self.last = self.claims[-1 - which][0].task.id
            self.add("same", [], priority=0, max_retries=0, status=TaskStatus.PENDING)

    @rule(which=WHICH)
    def begin_session(self, which: int) -> None:
        if which < len(self.claims):
            taken = dict(zip((self.model, self.real), self.claims[-1 - which], strict=True))
            self.both(lambda store: start(store, taken[store]) and None)

    @rule(which=WHICH, what=st.sampled_from(["end", "move", "forget", "move idle", "forget idle"]))
    def write_about_it(self, which: int, what: str) -> None:
        """Under a claim that may be lost, or without one."""
        if which < len(self.claims):
            taken = dict(zip((self.model, self.real), self.claims[-1 - which], strict=True))

            def write(store: Any) -> None:
                held = taken[store]
                task, shown = held.task.id, None if "idle" in what else held
                if what == "end":
                    session = a_session(held)
                    store.sessions.end(session, held, Warned(message="it ended"))
                elif "move" in what:
                    store.claims.move_base(task, Snapshot(head="c1"), shown)
                else:
                    store.claims.forget_base(task, shown)

            self.both(write)

    @rule(seconds=st.sampled_from([1.0, LEASE_S / 2, LEASE_S + 1]), alive=st.none() | WORKERS)
    def let_time_pass(self, seconds: float, alive: WorkerId | None) -> None:
        if alive:
            self.both(lambda store: store.claims.heartbeat(alive, LEASE_S))
        self.clock.advance(seconds)

    @rule(worker=WORKERS, host=st.sampled_from(["here", "there"]))
    def look_for_the_dead(self, worker: WorkerId, host: str) -> None:
        both = self.both(lambda store: store.claims.stale(worker, host, LEASE_S))
        self.stale += zip(*both, strict=True)

    @rule(worker=WORKERS, which=WHICH, release=st.booleans())
    def take_over(self, worker: WorkerId, which: int, *, release: bool) -> None:
        if which < len(self.stale):
            seen = dict(zip((self.model, self.real), self.stale[-1 - which], strict=True))
            taken = self.both(lambda store: store.claims.take_over(seen[store], worker))
            if taken[0] is not None:
                self.claims.append(taken)
                if release:
                    self.settle(0, Released("its worker died"))

    # People

    @rule(place=PLACES, back=st.booleans())
    def hold(self, place: int | str, *, back: bool) -> None:
        task = self.at(place)
        step = Blocked("ask Ada") if back else Unblocked()
        held, _ = self.both(lambda store: store.tasks.apply(task, [step]))
        # Blocking asks for an open task; unblocking for a blocked one.
        assert held is None or held.status is not TaskStatus.IN_PROGRESS

    @rule(place=PLACES, deed=st.sampled_from(DEEDS))
    def force(self, place: int | str, deed: str) -> None:
        task = self.at(place)
        known = {one.id: one for one in self.stored(self.model)}
        self.by_hand = True
        match deed:
            case "done":
                after, _ = self.both(lambda store: store.tasks.force_done(task))
                assert (after is None) == (task not in known)
                assert after is None or after.status is TaskStatus.DONE
            case "failed":
                after, _ = self.both(lambda store: store.tasks.force_failed(task, "dropped"))
                assert after is None or after.status is TaskStatus.FAILED
            case "reset":
                after, _ = self.both(lambda store: store.tasks.reset(task))
                assert (after is None) == (task not in known)
                assert after is None or after.status is TaskStatus.PENDING
            case "retry":
                after, _ = self.both(lambda store: store.tasks.retry(task))
                is_over = task in known and known[task].status in (
                    TaskStatus.FAILED,
                    TaskStatus.BLOCKED,
                )
                assert (after is not None) == is_over
            case "delete":
                gone, _ = self.both(lambda store: store.tasks.delete(task))
                assert (task in known) == (gone is not None and task in gone)

    # What always holds

    @invariant()
    def both_agree_on_every_task(self) -> None:
        model, real = self.stored(self.model), self.stored(self.real)
        assert [timeless(task) for task in real] == [timeless(task) for task in model]
        ids = [task.id for task in model]
        assert self.real.tasks.blocker_ids(ids) == self.model.tasks.blocker_ids(ids)
        for task in ids:
            assert self.real.claims.base(task) == self.model.claims.base(task)

    @invariant()
    def both_agree_on_what_is_ready(self) -> None:
        ready = TaskFilter(ready=True)
        model, real = self.model.tasks.select(ready), self.real.tasks.select(ready)
        assert [task.id for task in real] == [task.id for task in model]
        free, first = (
            one.claims.next_ready(ALL, Schedule.PRIORITY) for one in (self.model, self.real)
        )
        assert (first.id if first else None) == (free.id if free else None)
        assert self.real.claims.counts(ALL) == self.model.claims.counts(ALL)
        assert self.real.claims.has_open(ALL) == self.model.claims.has_open(ALL)

    @invariant()
    def both_agree_on_how_far_features_have_come(self) -> None:
        model, real = self.model.features.all(), self.real.features.all()
        assert [(one.name, one.status) for one in real] == [(one.name, one.status) for one in model]

    @invariant()
    def a_task_has_one_holder(self) -> None:
        holders: dict[TaskId, set[WorkerId]] = {}
        for _, claim in self.claims:
            if self.real.claims.holds(claim):
                holders.setdefault(claim.task.id, set()).add(claim.worker)
        assert all(len(workers) == 1 for workers in holders.values())
        running = [one for one in self.stored(self.real) if one.status is TaskStatus.IN_PROGRESS]
        assert {task.id: {task.claimed_by} for task in running} == holders

    @invariant()
    def what_is_settled_stays_settled_unless_a_person_reopens_it(self) -> None:
        now = {task.id: task.status for task in self.stored(self.real)}
        if not self.by_hand:
            assert all(now[task] is status for task, status in self.settled.items())
        self.by_hand = False
        self.settled = {task: one for task, one in now.items() if one not in OPEN}

    @invariant()
    def retries_stay_in_bounds(self) -> None:
        for task in self.stored(self.real):
            assert 0 <= task.retry_count <= task.max_retries
            assert 0 <= task.strikes < STRIKES_PER_RETRY

    @invariant()
    def a_parents_status_follows_from_its_children(self) -> None:
        if self.fail_fast:
            return
        forest = Forest()
        tasks = self.stored(self.model)
        forest.take(tasks, self.model.tasks.blocker_ids([task.id for task in tasks]))
        for task in tasks:
            below = [forest.node(child).status for child in forest.children(task.id)]
            # One that was in somebody's hands may have been settled by them.
            if not below or task.attempt or task.status is TaskStatus.BLOCKED:
                continue
            hopeless = TaskStatus.FAILED in below and not any(
                can_still_run(forest, child) for child in forest.children(task.id)
            )
            all_done = set(below) == {TaskStatus.DONE}
            expected = (
                TaskStatus.DONE
                if all_done
                else TaskStatus.FAILED
                if hopeless
                else TaskStatus.PENDING
            )
            assert task.status is expected, f"{task.id} has {below} below it"


TestPromises = Promises.TestCase
TestPromises.settings = settings(
    settings.get_profile("ralph"),
    max_examples=int(os.environ.get("RALPH_TEST_EXAMPLES", "250")),
    stateful_step_count=20,
    suppress_health_check=list(HealthCheck),
)
