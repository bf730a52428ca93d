"""Keeps the files up to date that show the state to other programs.

Each is drawn by one small function and replaced whole, or grows at its end. Losing one loses
nothing: `ralph files rebuild` draws all of them again from the store.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from ralph.core import check_events, events
from ralph.core.breaker import Tolerance
from ralph.core.context import Filling, Room
from ralph.core.errors import RalphError
from ralph.core.handoff_events import SessionHandedOver
from ralph.core.ids import TaskId
from ralph.core.memory import MemoryKind
from ralph.documents import views
from ralph.documents.team_views import Tally
from ralph.documents.views import State
from ralph.engine.matter import write_file
from ralph.ports.clock import Clock
from ralph.ports.history import Session
from ralph.ports.ledger import Asked
from ralph.ports.library import Library
from ralph.ports.store import Store

PAGE: Final = 1000
SELDOM: Final = 20.0
"""Drawing the plan takes as long as the graph is large. So at most a twentieth of a run goes into
it: with a few hundred tasks it is drawn with every iteration, with a hundred thousand now and
then, and at the end."""
OFTEN_S: Final = 2.0
"""How long a state that changes all the time may be old."""
STARTED: Final = "run_started"
COUNTED: Final = (
    STARTED,
    "worker_joined",
    "task_claimed",
    "task_done",
    "task_rejected",
    "task_struck",
    "task_failed",
    "teammate_judged",
    "breaker_closed",
)
"""The events that the files about workers are made of."""
GRAPH: Final = (
    events.TaskAdded,
    events.TaskEdited,
    events.TaskDeleted,
    events.EdgeAdded,
    events.EdgeRemoved,
    *events.TaskMoved.__args__,
)


class Views:
    """The four of them."""

    def __init__(
        self,
        store: Store,
        library: Library,
        clock: Clock,
        *,
        seat: str = "teammate-1",
        tolerance: Tolerance = Tolerance(),  # noqa: B008 - a frozen value
        max_cost_usd: float = 0.0,
        room: Room = Room(),  # noqa: B008 - a frozen value
    ) -> None:
        self._store = store
        self._library = library
        self._clock = clock
        self._seat = seat
        self._room = room
        self._state = State(
            tolerance=tolerance, max_cost_usd=max_cost_usd, context=Filling(capacity=room.capacity)
        )
        self._drawn: State | None = None
        self._drawn_at = 0.0
        self._plan_is_old = self._has_archived = self._has_learned = False
        self._plan_at, self._plan_took = 0.0, 0.0
        self.troubles: list[str] = []
        """Why some could not be written; to be said, never to stop a run."""

    def begin(self) -> None:
        """At the start of a run: catch up with whatever happened without it."""
        self._count()
        self._has_archived = self._has_learned = True
        self._plan_is_old = not self._library.exists(views.PLAN)
        self.draw()

    def rebuild(self) -> tuple[str, ...]:
        """Draw all of them anew, and what was said in reviews; return their paths. Raises where one
        cannot be written."""
        self._state = replace(
            self._state, phase=views.phase_in(self._library.read(views.STATE).text or "")
        )
        self._count()
        self._draw_plan()
        self._library.draw(views.SESSIONS, self._archive(0))
        self._library.draw(views.PROGRESS, self._progress(0, is_fresh=True))
        self._draw_state()
        tallied = self._tallied()
        for path, content in tallied.items():
            self._library.draw(path, [content])
        store, library = self._store, self._library
        reviews = [write_file(store, library, task) for task in store.reviewed()]
        return (*views.PATHS, *tallied, *reviews)

    def _tallied(self) -> Mapping[str, bytes]:
        """How each worker of the last run fared."""
        tally, number = Tally(), 0
        while page := self._store.told_after(number, PAGE, (STARTED,)):
            number = page[-1].seq
        number -= 1
        while page := self._store.told_after(number, PAGE, COUNTED):
            number = page[-1].seq
            for recorded in page:
                tally.fold(recorded)
        return tally.files()

    def _count(self) -> None:
        sessions, spent = self._store.sessions(limit=1), self._store.spent(Asked())
        last = sessions[-1] if sessions else None
        self._state = replace(
            self._state,
            iterations=self._store.attempts(),
            cost_usd=spent.total_usd if spent.sessions else 0.0,
            session=last.id if last is not None else "",
            breaker=self._store.breaker(self._seat),
            context=self._left(last) if last is not None else self._state.context,
        )

    def _left_by(self, task: TaskId) -> Filling:
        """The last session of a task."""
        sessions = self._store.sessions(task=task, limit=1)
        return self._left(sessions[-1]) if sessions else self._state.context

    def _left(self, session: Session) -> Filling:
        """How full its context was in the end."""
        ending = session.ending
        if ending is None:
            return Filling(capacity=self._room.holds(session.model))
        return Filling(
            used=ending.context_tokens or 0,
            from_tools=ending.tool_tokens or 0,
            capacity=self._room.holds(ending.model, session.model),
        )

    def event(self, recorded: events.Recorded) -> None:
        """Fold one event in."""
        event = recorded.event
        match event:
            case events.SessionStarted(session_id=session):
                is_new = session != self._state.session
                self._state = replace(
                    self._state,
                    session=session,
                    iterations=self._state.iterations + is_new,
                    context=Filling(capacity=self._state.context.capacity),
                )
            case events.SessionEnded() | SessionHandedOver():
                self._pay(event.cost_usd)
                self._has_archived = True
                if event.session_id == self._state.session:
                    # Whoever leads a team hears of a context only now.
                    self._state = replace(self._state, context=self._left_by(event.task_id))
            case (
                check_events.VerificationEnded(cost_usd=cost)
                | check_events.ReviewEnded(cost_usd=cost)
            ):
                self._pay(cost)
            case events.MemoryKept(kind=MemoryKind.KNOWLEDGE):
                self._has_learned = True
            case _:
                self._plan_is_old |= isinstance(event, GRAPH)

    def _pay(self, cost_usd: float | None) -> None:
        before = self._state.cost_usd
        total = None if before is None or cost_usd is None else before + cost_usd
        self._state = replace(self._state, cost_usd=total)

    def fill(self, context: Filling) -> None:
        """How full the context of the session at work is."""
        self._state = replace(self._state, context=context)
        if self._clock.monotonic() - self._drawn_at >= OFTEN_S:
            self._safely(self._draw_state)

    def draw(self, phase: str = "", *, is_last: bool = False) -> None:
        """At the usual points: what has changed."""
        self._state = replace(
            self._state,
            breaker=self._store.breaker(self._seat),
            phase=phase or self._state.phase,
        )
        self._safely(self._draw_state)
        if self._has_archived:
            self._has_archived = False
            self._safely(self._extend_archive)
        if self._has_learned:
            self._has_learned = False
            self._safely(self._extend_progress)
        since = self._clock.monotonic() - self._plan_at
        if self._plan_is_old and (is_last or since >= SELDOM * self._plan_took):
            self._safely(self._draw_plan)

    def _safely(self, draw: Callable[[], None]) -> None:
        try:
            draw()
        except RalphError as error:
            self.troubles.append(str(error))

    def _draw_state(self) -> None:
        if self._state != self._drawn:
            self._library.draw(views.STATE, [views.state_file(self._state)])
            self._drawn = self._state
        self._drawn_at = self._clock.monotonic()

    def _draw_plan(self) -> None:
        began = self._clock.monotonic()
        self._library.draw(views.PLAN, views.plan_file(self._entries()))
        self._plan_is_old = False
        self._plan_at = self._clock.monotonic()
        self._plan_took = self._plan_at - began

    def _entries(self) -> Iterator[bytes]:
        number = 0
        while page := self._store.tasks_after(number, PAGE):
            number = page[-1][0]
            blockers = self._store.blocker_ids([task.id for _, task in page])
            met = {task.id for _, task in page}.union(*blockers.values())
            names = self._store.names_of(sorted(met))
            for _, task in page:
                # One that was deleted since has no name any more.
                named = (names[one] for one in blockers[task.id] if one in names)
                yield views.plan_entry(task, names.get(task.id, task.id), named)

    def _extend_archive(self) -> None:
        self._library.extend(views.SESSIONS, lambda tail: self._archive(views.last_archived(tail)))

    def _archive(self, number: int) -> Iterator[bytes]:
        while page := self._store.told_after(number, PAGE, views.ARCHIVED):
            number = page[-1].seq
            yield b"".join(map(views.archive_line, page))

    def _extend_progress(self) -> None:
        self._library.extend(
            views.PROGRESS,
            lambda tail: self._progress(views.last_learned(tail), is_fresh=not tail),
        )

    def _progress(self, number: int, *, is_fresh: bool) -> Iterator[bytes]:
        if is_fresh:
            yield views.FRESH_PROGRESS.encode()
        while page := self._store.learned_after(number, PAGE):
            number = page[-1].id
            yield b"".join(map(views.learned_entry, page))
