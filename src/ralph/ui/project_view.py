"""What every screen shows of a project: one set of facts, read from the store when asked for.

`ProjectView` answers a command that runs once, a page that is loaded again, and a view that
follows the feed. Nothing here draws, and no method reads all of a long table.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from ralph.core.breaker import Breaker, current_breaker
from ralph.core.cost import CostSummary
from ralph.core.events import Event, RecordedEvent, TaskLogged
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.review_thread import LineComment, ReviewThread
from ralph.core.run import AllTasks
from ralph.core.settings import BreakerSection, BudgetSection
from ralph.core.task import Feature, Task, TaskStatus
from ralph.core.time_estimate import TimeLeft, time_left
from ralph.core.times import to_iso
from ralph.ports.merge_branch import BranchBehind
from ralph.store.claims import Counts
from ralph.store.costs import CostFilter
from ralph.store.runs import Run, WorkerProcess
from ralph.store.screens import BranchFilter, GraphCluster, GraphNode, SessionBar
from ralph.store.store import Store
from ralph.store.tasks import LogEntry, TaskFilter
from ralph.ui.attempt_view import Attempt, attempts_of
from ralph.ui.event_text import MessageTone, message_for, message_text
from ralph.ui.formatting import first_line, parse_time
from ralph.ui.needs import Need, WaitingPlan, needs_of
from ralph.ui.run_view import RunView, RunWait
from ralph.ui.team_overview import TeamOverview, read_team

SHOWN: Final = 5
"""Tasks of each status in the overview."""
MOST_NODES: Final = 200
"""A graph of more tasks is drawn as clusters."""
LOOKED_AT: Final = 10_000
"""Events, the newest, from which the state of a run is read: all of a long run would take too
long."""
JUDGED_BY: Final = 50
"""Done tasks by which the time of the others is judged."""


class TaskInProgress(msgspec.Struct, frozen=True, kw_only=True):
    task: Task
    attempt: int
    elapsed_s: float | None
    log: str
    is_stale: bool
    """No living run holds it."""
    slot: str = ""
    """The worker, where a team is at work."""


class Spending(msgspec.Struct, frozen=True, kw_only=True):
    """Costs against the limits of the settings; a limit of 0 is none."""

    run: CostSummary = CostSummary()
    """Of the newest run."""
    project: CostSummary = CostSummary()
    run_limit_usd: float = 0.0
    project_limit_usd: float = 0.0
    hard: str = "billed"
    """When a limit stops the work: `billed`, `always` or `never`."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a project at one moment."""

    seq: int = 0
    """The last event that is in it: where the feed goes on."""
    counts: Counts
    runs: list[Run]
    """Those that are alive."""
    state: str = ""
    """What the run that is alive does: working, pausing, paused, stopping, offline, waiting…"""
    wait: RunWait | None = None
    """Why it waits, and until when."""
    working: list[TaskInProgress]
    ready: list[Task]
    """The task that would be claimed next."""
    failed: list[Task]
    kept: dict[TaskId, list[str]]
    """The refs under which the work of failed tasks is kept."""
    blocked: list[Task]
    last_run: Run | None
    spent: dict[RunId, CostSummary]
    """What these runs have cost."""
    spending: Spending = Spending()
    limited: dict[str, str]
    """Their agents that are out of quota, and until when."""
    breakers: dict[str, Breaker]
    """By worker, those that are not closed."""
    team: TeamOverview | None = None
    """Of the run that is alive, or of the last one, where it has several workers."""
    needs: tuple[Need, ...] = ()
    """What needs a person."""
    time_left: TimeLeft | None = None
    """None where too few tasks are done to say."""


class FollowedRun(NamedTuple):
    run: RunId
    run_view: RunView


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    run: Run
    is_alive: bool
    """A run without an outcome that is not alive has died."""
    spent: CostSummary


class TaskFacts(msgspec.Struct, frozen=True, kw_only=True):
    """All about one task, without its attempts."""

    task: Task
    status: TaskStatus
    """A parent shows the work below it."""
    feature: Feature | None
    parent: Task | None
    blockers: list[Task]
    dependents: list[Task]
    children: list[Task]
    spent: CostSummary
    kept: list[str]
    """The refs under which work of it is kept."""
    guidance: list[str]
    """The guidance of people for its sessions."""
    review: ReviewThread
    comments: list[LineComment]
    """On lines of its change, and those that its sessions answer."""
    log: list[LogEntry]


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks and the edges between them; or clusters, where there are too many tasks."""

    nodes: list[GraphNode] = []
    clusters: list[GraphCluster] = []
    edges: list[tuple[str, str]] = []
    """Each as blocker and blocked: ids of tasks or keys of clusters."""
    total: int = 0
    """Tasks that it is about; more than are in it where clusters were left out."""
    is_cut: bool = False
    """The cluster has more tasks than are drawn."""


class FeedItem(msgspec.Struct, frozen=True, kw_only=True):
    """One event, and what it says in words."""

    seq: int
    time: str
    run_id: RunId | None
    event: Event
    task: str = ""
    """The task's name, if it is about one."""
    tone: MessageTone | None = None
    """None: it has no message; screens draw it or leave it out."""
    text: str = ""

    @property
    def recorded(self) -> RecordedEvent:
        """The event as it is stored, for a `RunView` that follows the feed."""
        return RecordedEvent(seq=self.seq, time=self.time, run_id=self.run_id, event=self.event)


class FeedPage(msgspec.Struct, frozen=True, kw_only=True):
    items: tuple[FeedItem, ...]
    seq: int
    """Where the next page begins."""
    is_last: bool
    """Nothing more has happened yet."""


class ProjectView:
    """Reads the facts of one project. It keeps nothing between two calls."""

    def __init__(
        self,
        store: Store,
        root: str,
        *,
        is_alive: Callable[[WorkerProcess], bool],
        now: Callable[[], float] = time.time,
        budget: BudgetSection,
        breaker: BreakerSection,
        plans: Callable[[], Sequence[WaitingPlan]] = tuple,
        behind: Callable[[], Sequence[BranchBehind]] = tuple,
    ) -> None:
        self.store = store
        self.root = root
        self._is_alive = is_alive
        self._now = now
        self._budget = budget
        self._breaker = breaker
        self._plans = plans
        self._behind = behind

    # The project

    def overview(self, most_needs: int = 20, followed: FollowedRun | None = None) -> Overview:
        """The state of the project; `most_needs` of each kind. `followed`: the state of a run, from
        a caller that keeps it up to date by the feed."""
        store, now, seq = self.store, self._now(), self.store.events.last_seq()
        runs, newest = self.live_runs(), store.runs.newest(limit=1)
        run = next(iter((*runs, *newest)), None)
        members = [one for each in runs for one in store.workers.of_run(each.id)]
        slots: dict[WorkerId | None, str] = {one.worker: one.slot for one in members}
        in_team = len({slot for slot in slots.values() if slot})
        has_team = run is not None and any(one.slot for one in store.workers.of_run(run.id))
        run_view = None
        if run is not None and followed is not None and followed.run == run.id:
            run_view = followed.run_view
            self._keep_present(run_view, run.id)
        elif run is not None and (runs or has_team):
            run_view = self.replay(run.id, seq)
        wait = run_view.wait if run_view is not None and runs else None
        counts, breakers = store.claims.user_counts(AllTasks()), self._open_breakers(now)
        failed = self.tasks(TaskStatus.FAILED, SHOWN)
        planning = frozenset(store.tasks.planning())
        spent = {one.id: store.costs.total(CostFilter(run=one.id)) for one in (*runs, *newest)}
        working = [
            self._in_progress(task, now, slots)
            for task in self.tasks(TaskStatus.IN_PROGRESS, max(SHOWN, in_team))
        ]
        return Overview(
            seq=seq,
            counts=counts,
            runs=runs,
            state=run_view.state if run_view is not None and runs else "",
            wait=wait,
            working=working,
            ready=store.tasks.select(TaskFilter(ready=True, without=planning, limit=1)),
            failed=failed,
            kept={one.id: kept for one in failed if (kept := store.events.kept_work(one.id))},
            blocked=self.tasks(TaskStatus.BLOCKED, SHOWN),
            last_run=newest[0] if newest else None,
            spent=spent,
            spending=self._spending(spent.get(run.id) if run else None),
            limited={
                one.agent: to_iso(until)
                for one in (*runs, *newest)
                if (until := store.sessions.usage_limit_until(one.agent)) is not None
            },
            breakers=breakers,
            team=read_team(store, self.root, run, run_view, now)
            if has_team and run and run_view
            else None,
            needs=needs_of(
                store,
                breakers=breakers,
                plans=self._plans(),
                # While a run works, branches follow it all the time.
                behind=self._behind() if not runs else (),
                live=runs,
                wait=wait,
                limit=most_needs,
            ),
            time_left=self._time_left(counts, in_team, working),
        )

    def _time_left(
        self, counts: Counts, in_team: int, working: Sequence[TaskInProgress]
    ) -> TimeLeft | None:
        to_do = counts.pending + counts.in_progress
        times = self.store.screens.work_times(JUDGED_BY) if to_do else ()
        at_work = [one.elapsed_s for one in working if one.elapsed_s is not None]
        return time_left(to_do, max(1, in_team), times, at_work)

    def plans(self) -> Sequence[WaitingPlan]:
        """The plans that wait for approval."""
        return self._plans()

    def _open_breakers(self, now: float) -> dict[str, Breaker]:
        """What a run would not count any more is left out."""
        found = self.store.breakers.all().items()
        return {
            slot: one
            for slot, one in found
            if not current_breaker(one, self._breaker, now).is_closed
        }

    def _spending(self, run: CostSummary | None) -> Spending:
        return Spending(
            run=run or CostSummary(),
            project=self.store.costs.total(CostFilter()),
            run_limit_usd=self._budget.run_usd,
            project_limit_usd=self._budget.project_usd,
            hard=self._budget.hard,
        )

    def _in_progress(
        self, task: Task, now: float, slots: Mapping[WorkerId | None, str]
    ) -> TaskInProgress:
        session = self.store.sessions.get(task.id, task.attempt)
        since = parse_time(session.started_at) if session else None
        return TaskInProgress(
            task=task,
            attempt=task.attempt,
            # Clocks may be set back.
            elapsed_s=None if since is None else max(0.0, now - since),
            log=session.log if session else "",
            is_stale=task.claimed_by not in slots,
            slot=slots.get(task.claimed_by, ""),
        )

    # Runs

    def live_runs(self) -> list[Run]:
        return [run for run, owner in self.store.runs.live() if self._is_alive(owner)]

    def runs(self, limit: int = 50) -> list[RunFacts]:
        """The newest runs, newest first."""
        live = {run.id for run in self.live_runs()}
        return [
            RunFacts(
                run=run,
                is_alive=run.id in live,
                spent=self.store.costs.total(CostFilter(run=run.id)),
            )
            for run in self.store.runs.newest(limit)
        ]

    def bars(self, run: RunId, *, limit: int = 500, offset: int = 0) -> list[SessionBar]:
        """The chart of a run, in pages: when which worker's sessions were at work."""
        return self.store.screens.bars(run, limit=limit, offset=offset)

    def replay(self, run: RunId, until: int) -> RunView:
        """The state of a run after an event; tasks of workers that are gone are left out."""
        run_view = RunView()
        for member in self.store.workers.of_run(run):
            if member.slot:
                run_view.team.add_worker(member.worker, member.slot)
        has_begun = False
        for recorded in self.store.events.select(after=max(0, until - LOOKED_AT), limit=LOOKED_AT):
            has_begun = has_begun or recorded.run_id == run
            # What a person does belongs to no run.
            if recorded.run_id in (None, run) and has_begun and recorded.seq <= until:
                run_view.add(recorded)
        self._keep_present(run_view, run)
        return run_view

    def _keep_present(self, run_view: RunView, run: RunId) -> None:
        members = self.store.workers.of_run(run)
        present = {one.worker for one in members if self._is_alive(one.owner)}
        run_view.team.keep_present(present)

    # Tasks

    def tasks(self, status: TaskStatus, limit: int, offset: int = 0) -> list[Task]:
        """A page of the tasks of a status, by priority, then age."""
        which = TaskFilter(statuses=frozenset({status}), limit=limit, offset=offset)
        return self.store.tasks.select(which)

    def branch(
        self,
        parent: TaskId | None = None,
        *,
        text: str = "",
        open_only: bool = False,
        limit: int = 200,
    ) -> list[GraphNode]:
        """One level of the tree of tasks, or the tasks with a text in their title or name."""
        without = tuple(self.store.tasks.planning())
        return self.store.screens.branch(
            BranchFilter(
                parent=parent, text=text, open_only=open_only, without=without, limit=limit
            )
        )

    def task(self, name: str, *, log_lines: int = 20, related: int = 0) -> TaskFacts:
        """All about the task of an id or alias; NoSuchTask if there is none. `related`: at most so
        many tasks of each kind, or all."""
        store = self.store
        task = store.tasks.find(name)
        return TaskFacts(
            task=task,
            status=store.screens.shown_status(task),
            feature=store.features.get(task.feature_id) if task.feature_id else None,
            parent=store.tasks.find(task.parent_id) if task.parent_id else None,
            blockers=store.tasks.blockers(task.id, related),
            dependents=store.tasks.dependents(task.id, related),
            children=store.tasks.children(task.id, related),
            spent=store.costs.total(CostFilter(task=task.id)),
            kept=store.events.kept_work(task.id),
            guidance=store.messages.peek_guidance(task.id),
            review=store.reviews.thread(task.id),
            comments=store.reviews.comments_about(task.id),
            log=store.tasks.logs(task.id, log_lines),
        )

    def attempts(self, task: TaskId, limit: int = 0) -> Iterator[Attempt]:
        """The attempts at a task with their evidence, oldest first; with a limit the newest."""
        return attempts_of(self.store, self.store.sessions.select(task=task, limit=limit))

    def graph(self, within: str | None = None) -> Graph:
        """The graph, or the tasks of one of its clusters. Too many tasks are clusters."""
        screens = self.store.screens
        total = self.store.claims.counts(AllTasks()).total
        if within is None and total > MOST_NODES:
            clusters, edges = screens.clusters(MOST_NODES)
            return Graph(clusters=clusters, edges=edges, total=total)
        found = screens.nodes(MOST_NODES + 1, within)
        nodes = found[:MOST_NODES]
        return Graph(
            nodes=nodes,
            edges=screens.edges([one.id for one in nodes]),
            total=len(nodes) if within is not None else total,
            is_cut=len(found) > len(nodes),
        )

    # What happens

    def feed(self, after: int, limit: int = 500) -> FeedPage:
        """The events after a number, a page of them. A client that gives the number of the last
        event that it has seen misses nothing and gets nothing twice."""
        found = self.store.events.select(after=after, limit=limit)
        tasks = {getattr(one.event, "task_id", None) for one in found} - {None}
        names = self.store.tasks.names_of([one for one in tasks if one])
        items = tuple(_item(one, names) for one in found)
        seq = found[-1].seq if found else after
        return FeedPage(items=items, seq=seq, is_last=len(found) < limit)

    def timeline(self, task: TaskId, limit: int, before: int = 0) -> FeedPage:
        """What happened to a task, the newest first; with a number, what happened before it."""
        found = self.store.events.of_task(task, limit, before)
        items = tuple(item for one in found if (item := _item(one, {}, has_title=False)).text)
        seq = found[-1].seq if found else before
        return FeedPage(items=items, seq=seq, is_last=len(found) < limit)


def _item(
    recorded: RecordedEvent, names: Mapping[TaskId, str], *, has_title: bool = True
) -> FeedItem:
    # A view for each: an event reads the same on whichever page it is.
    run_view = RunView()
    run_view.aliases.update(names)
    run_view.add(recorded)
    message = message_for(recorded.event, run_view)
    text = recorded.event.message if isinstance(recorded.event, TaskLogged) else ""
    item = FeedItem(
        seq=recorded.seq,
        time=recorded.time,
        run_id=recorded.run_id,
        event=recorded.event,
        text=first_line(text),
    )
    if message is None:
        return item
    if not has_title:
        message = replace(message, title="")
    return replace(item, task=message.task, tone=message.tone, text=message_text(message))
