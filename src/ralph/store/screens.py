"""What screens ask for: narrow rows in pages, so that the size of the project does not matter."""

from collections.abc import Sequence, Set

import msgspec
from msgspec.structs import asdict, replace

from ralph.core.graph import derived_status
from ralph.core.ids import RunId, TaskId
from ralph.core.task import Task, TaskStatus
from ralph.store.claims import Counts
from ralph.store.database import Part
from ralph.store.rows import as_json, conjunction, value_of


class GraphNode(msgspec.Struct, frozen=True, kw_only=True):
    """A task of the graph, without its texts."""

    id: TaskId
    name: str
    title: str
    status: TaskStatus
    parent: str = ""
    attempt: int = 0
    children: int = 0
    """How many are below it, where that was asked for."""


class BranchFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks of one level of a tree, or those with a text in their title or name."""

    parent: TaskId | None = None
    """Only those directly below it; None: at the top."""
    text: str = ""
    open_only: bool = False
    without: tuple[TaskId, ...] = ()
    limit: int


class GraphCluster(msgspec.Struct, frozen=True, kw_only=True):
    """Tasks that are drawn as one node: those below a parent, or of a feature."""

    key: str
    """The id of the parent or the feature; empty for tasks that have neither."""
    name: str = ""
    counts: Counts = Counts()


class SessionBar(msgspec.Struct, frozen=True, kw_only=True):
    """When a session of a run was at work: a bar of its chart."""

    slot: str
    """The worker; empty for a run of its own."""
    task_id: TaskId
    name: str
    title: str
    attempt: int
    role: str
    """work, verify or review."""
    agent: str
    started_at: str
    ended_at: str | None = None
    result: str = ""
    """What Ralph judged; empty while that is open."""


class AgentEnding(msgspec.Struct, frozen=True, kw_only=True):
    """How a session of an agent ended."""

    agent: str
    ended: str
    detail: str
    at: str


class DisputedFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A finding that a session has dismissed with a reason."""

    task_id: TaskId
    name: str
    title: str
    finding: str
    reason: str
    by: str


class ScreenQueries(Part):
    file = "screens"

    def nodes(self, limit: int, within: str | None = None) -> list[GraphNode]:
        """The first tasks, or those of one cluster and the parent that it is named after."""
        sql = self.sql.nodes % ("true" if within is None else self.sql.in_cluster)
        return self.values(GraphNode, sql, {"key": within, "limit": limit})

    def branch(self, which: BranchFilter) -> list[GraphNode]:
        """Tasks in the order in which they were added; parents show what is below them."""
        conditions = conjunction(
            {
                self.sql.like_this: which.text,
                self.sql.at_the_top: not (which.text or which.parent),
                self.sql.below_parent: which.parent,
                self.sql.not_done: which.open_only,
                self.sql.without: which.without,
            }
        )
        escaped = which.text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
        values = asdict(which) | {"like": f"%{escaped}%", "without": as_json([*which.without])}
        rows = self.db.rows(self.sql.branch % conditions, values)
        found = [value_of(GraphNode, row) for row in rows]
        parents = [one for one in found if one.children and one.status is TaskStatus.PENDING]
        shown = {one.id: self._shown_below(one.id) for one in parents}
        return [replace(one, status=shown.get(one.id, one.status)) for one in found]

    def edges(self, tasks: Sequence[TaskId]) -> list[tuple[str, str]]:
        """The edges between these tasks, each as blocker and blocked."""
        rows = self.db.rows(self.sql.edges, {"ids": as_json(list(tasks))})
        return [(blocker, blocked) for blocker, blocked in rows]

    def clusters(self, limit: int) -> tuple[list[GraphCluster], list[tuple[str, str]]]:
        """The largest clusters and the edges between them: by parent, or by feature where there
        would be more than `limit` of them."""
        key, represented = self.sql.cluster, self.sql.represented
        rows = self.db.rows(self.sql.clusters % key, {"limit": limit + 1})
        if len(rows) > limit:
            key = represented = self.sql.by_feature
            rows = self.db.rows(self.sql.clusters % key, {"limit": limit})
        keys = [row[0] for row in rows]
        names: dict[str, str] = dict(self.db.rows(self.sql.names, {"ids": as_json(keys)}))
        found = [
            GraphCluster(key=key, name=names.get(key, ""), counts=value_of(Counts, counts))
            for key, *counts in rows
        ]
        edges = self.db.rows(self.sql.cluster_edges % represented, {"limit": limit * 10})
        known = set(keys)
        return found, [(one, other) for one, other in edges if {one, other} <= known]

    def bars(self, run: RunId, *, limit: int, offset: int = 0) -> list[SessionBar]:
        """The sessions of a run and the checks of their work, in the order of their beginnings."""
        values = {"run": run, "limit": limit, "offset": offset}
        return self.values(SessionBar, self.sql.bars, values)

    def run_tasks(self, run: RunId, statuses: Set[TaskStatus], limit: int) -> list[Task]:
        """The tasks that a run had sessions for and that have such a status now."""
        sql = self.sql.run_tasks % self.sql.has_status
        values = {"run": run, "statuses": as_json(sorted(statuses)), "limit": limit}
        return self.tasks_of(sql, values)

    def work_times(self, limit: int) -> list[float]:
        """The seconds of work that each of the newest accepted tasks took."""
        return [float(row[0]) for row in self.db.rows(self.sql.work_times, {"limit": limit})]

    def newest_endings(self, limit: int) -> dict[str, AgentEnding]:
        """How the newest session of each agent ended, among the newest sessions."""
        found: dict[str, AgentEnding] = {}
        for one in self.values(AgentEnding, self.sql.endings, {"limit": limit}):
            found.setdefault(one.agent, one)
        return found

    def disputes(self, limit: int) -> list[DisputedFinding]:
        """Findings that a session dismissed and no person has decided on: those of reviewers in
        open tasks, and all comments of people."""
        return self.values(DisputedFinding, self.sql.disputes, {"limit": limit})

    def shown_status(self, task: Task) -> TaskStatus:
        """A parent that is pending shows the work below it; see `derived_status`."""
        if task.status is not TaskStatus.PENDING:
            return task.status
        return self._shown_below(task.id)

    def _shown_below(self, task: TaskId) -> TaskStatus:
        rows = self.db.rows(self.sql.statuses_below, {"id": task})
        return derived_status(TaskStatus.PENDING, [TaskStatus(status) for (status,) in rows])

    def stuck(self, status: TaskStatus, limit: int) -> list[Task]:
        """Tasks of a status that is their own, the one that changed last first."""
        return self.tasks_of(self.sql.stuck, {"status": status.value, "limit": limit})
