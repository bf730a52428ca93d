"""Keep the state files and review files up to date that other programs read."""

from collections.abc import Callable, Iterator
from typing import Final

from msgspec.structs import replace

from ralph.core import events
from ralph.core.errors import RalphError
from ralph.core.session_events import CheckEnded, SessionHandedOver
from ralph.core.session_output import ContextUsage
from ralph.core.settings import Config
from ralph.core.task import Task
from ralph.documents import state_files
from ralph.documents.review_file import path_of, review_file_text
from ralph.documents.state_files import RunStateFile, TeamTally
from ralph.ports.clock import Clock
from ralph.ports.project_files import ProjectFiles
from ralph.store.costs import CostFilter
from ralph.store.sessions import Session
from ralph.store.store import Store


def review_file_path(store: Store, task: Task) -> str:
    return path_of(task, store.tasks.names_of([task.id]).get(task.id, task.id))


def write_review_file(store: Store, project_files: ProjectFiles, task: Task) -> str:
    """Write the review file from the store; return its path."""
    path = review_file_path(store, task)
    text = review_file_text(task, store.reviews.thread(task.id))
    project_files.write_view(path, [text.encode("utf-8", "surrogateescape")])
    return path


PAGE: Final = 1000
MIN_WRITE_RATIO: Final = 20.0
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
ARCHIVED: Final = (events.SessionEnded, SessionHandedOver)
SESSIONS: Final = (*ARCHIVED, events.SessionStarted, CheckEnded)
"""The events after which `state.json` is another."""
GRAPH: Final = (
    events.TaskAdded,
    events.TaskEdited,
    events.TaskDeleted,
    events.EdgeAdded,
    events.EdgeRemoved,
    *events.TaskMoved.__args__,
)


def team_tally_of(store: Store) -> TeamTally:
    """The results of the newest run, and of what teammates did since."""
    tally, number = TeamTally(), 0
    while page := store.events.select(number, PAGE, (STARTED,)):
        number = page[-1].seq
    number -= 1
    while page := store.events.select(number, PAGE, COUNTED):
        number = page[-1].seq
        for recorded in page:
            tally.fold(recorded)
    return tally


class StateFiles:
    def __init__(
        self,
        store: Store,
        project_files: ProjectFiles,
        clock: Clock,
        *,
        slot: str = "teammate-1",
        config: Config = Config(),  # noqa: B008 - a frozen value
    ) -> None:
        self._store = store
        self._project_files = project_files
        self._clock = clock
        self._slot = slot
        self._context_limits = config.context
        self._state = RunStateFile(
            limits=config.breaker,
            max_cost_usd=config.budget.project_usd,
            context=ContextUsage(capacity=self._context_limits.capacity_tokens),
        )
        self._drawn: RunStateFile | None = None
        self._drawn_at = 0.0
        self._tally = TeamTally()
        self._is_outdated = self._has_archived = self._has_learned = True
        self._plan_is_old = self._tally_is_old = False
        self._plan_at, self._plan_took = 0.0, 0.0
        self.troubles: list[str] = []
        """Why some could not be written; to be said, never to stop a run."""

    def begin(self) -> None:
        """At the start of a run: update the files to the current state."""
        self._plan_is_old = not self._project_files.exists(state_files.PLAN)
        self.write()

    def rebuild(self) -> tuple[str, ...]:
        """Write all files and the review files again; return their paths. Raises an error if one
        cannot be written."""
        self._state = replace(
            self._state,
            phase=state_files.phase_in(self._project_files.read(state_files.STATE).text or ""),
        )
        self._count()
        self._draw_plan()
        self._project_files.write_view(state_files.SESSIONS, self._archive(0))
        self._project_files.write_view(state_files.PROGRESS, self._progress(0, is_fresh=True))
        self._draw_state()
        self._draw_tally(team_tally_of(self._store))
        store, project_files = self._store, self._project_files
        reviews = [
            write_review_file(store, project_files, task) for task in store.checks.reviewed_tasks()
        ]
        return (*state_files.PATHS, *reviews)

    def _count(self) -> None:
        last = next(iter(self._store.sessions.select(limit=1)), None)
        spent = self._store.costs.total(CostFilter())
        self._state = replace(
            self._state,
            iterations=self._store.sessions.count(),
            cost_usd=spent.total_usd if spent.sessions else 0.0,
            session=last.id if last is not None else "",
            breaker=self._store.breakers.get(self._slot),
            context=self._context_left(last) if last is not None else self._state.context,
        )

    def _context_left(self, session: Session) -> ContextUsage:
        """How full its context was in the end."""
        ending = session.ending
        if ending is None:
            return ContextUsage(capacity=self._context_limits.capacity_of(session.model))
        return ContextUsage(
            used=ending.context_tokens or 0,
            from_tools=ending.tool_tokens or 0,
            capacity=self._context_limits.capacity_of(ending.model, session.model),
        )

    def event(self, recorded: events.RecordedEvent, *, is_ours: bool = True) -> None:
        """Note which files it makes outdated. `is_ours`: it is not of another run."""
        event = recorded.event
        self._tally_is_old |= is_ours and self._tally.fold(recorded)
        self._is_outdated |= isinstance(event, SESSIONS)
        self._has_archived |= isinstance(event, ARCHIVED)
        self._has_learned |= isinstance(event, events.MemoryKept)
        self._plan_is_old |= isinstance(event, GRAPH)

    def set_context_usage(self, context: ContextUsage) -> None:
        """How full the context of the session at work is."""
        self._state = replace(self._state, context=context)
        if self._clock.monotonic() - self._drawn_at >= OFTEN_S:
            self._safely(self._draw_state)

    def write(self, phase: str = "", *, is_last: bool = False) -> None:
        if self._is_outdated:
            self._is_outdated = False
            self._count()
        breaker = self._store.breakers.get(self._slot)
        self._state = replace(self._state, breaker=breaker, phase=phase or self._state.phase)
        self._safely(self._draw_state)
        if self._tally_is_old:
            self._tally_is_old = False
            self._safely(lambda: self._draw_tally(self._tally))
        if self._has_archived:
            self._has_archived = False
            self._safely(self._extend_archive)
        if self._has_learned:
            self._has_learned = False
            self._safely(self._extend_progress)
        since = self._clock.monotonic() - self._plan_at
        if self._plan_is_old and (is_last or since >= MIN_WRITE_RATIO * self._plan_took):
            self._safely(self._draw_plan)

    def _safely(self, draw: Callable[[], None]) -> None:
        try:
            draw()
        except RalphError as error:
            self.troubles.append(str(error))

    def _draw_state(self) -> None:
        if self._state != self._drawn:
            self._project_files.write_view(state_files.STATE, [state_files.state_file(self._state)])
            self._drawn = self._state
        self._drawn_at = self._clock.monotonic()

    def _draw_tally(self, tally: TeamTally) -> None:
        for path, content in tally.files(self._store.breakers.all()).items():
            self._project_files.write_view(path, [content])

    def _draw_plan(self) -> None:
        began = self._clock.monotonic()
        self._project_files.write_view(state_files.PLAN, state_files.plan_file(self._entries()))
        self._plan_is_old = False
        self._plan_at = self._clock.monotonic()
        self._plan_took = self._plan_at - began

    def _entries(self) -> Iterator[bytes]:
        number = 0
        while page := self._store.tasks.after(number, PAGE):
            number = page[-1][0]
            blockers = self._store.tasks.blocker_ids([task.id for _, task in page])
            met = {task.id for _, task in page}.union(*blockers.values())
            names = self._store.tasks.names_of(sorted(met))
            for _, task in page:
                # One that was deleted since has no name any more.
                named = (names[one] for one in blockers[task.id] if one in names)
                yield state_files.plan_entry(task, names.get(task.id, task.id), named)

    def _extend_archive(self) -> None:
        self._project_files.append_after(
            state_files.SESSIONS, lambda tail: self._archive(state_files.last_archived(tail))
        )

    def _archive(self, number: int) -> Iterator[bytes]:
        while page := self._store.events.select(number, PAGE, state_files.ARCHIVED):
            number = page[-1].seq
            yield b"".join(map(state_files.archive_line, page))

    def _extend_progress(self) -> None:
        self._project_files.append_after(
            state_files.PROGRESS,
            lambda tail: self._progress(state_files.last_learned(tail), is_fresh=not tail),
        )

    def _progress(self, number: int, *, is_fresh: bool) -> Iterator[bytes]:
        if is_fresh:
            yield state_files.FRESH_PROGRESS.encode()
        while page := self._store.memories.after(number, PAGE):
            number = page[-1].id
            yield b"".join(map(state_files.learned_entry, page))
