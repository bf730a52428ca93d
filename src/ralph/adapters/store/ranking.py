"""The critical path: how long a chain still hangs on each open task."""

from collections.abc import Callable, Mapping

from ralph.adapters.store.claims import ClaimsPart
from ralph.adapters.store.part import reading, whole
from ralph.adapters.store.queries import Queries
from ralph.core.ids import TaskId
from ralph.core.order import chain_lengths

SQL = Queries("claims")

Ranks = list[tuple[int, TaskId]]


class RankingPart(ClaimsPart):
    """Keeps `tasks.chain`, by which the critical-path schedule goes."""

    def rank_chains(self) -> None:
        """Bring the critical-path order up to date, if the graph has changed.

        Worked out between two transactions: nobody has to wait for it.
        """
        ranked, graph = self._versions()
        if ranked != graph:
            self._save(self._moved_ranks(), graph)

    @reading
    def _versions(self) -> tuple[int, int]:
        ((ranked, graph),) = self.db.rows(SQL.ranked)
        return ranked, graph

    @reading
    def _moved_ranks(self) -> Ranks:
        """The tasks whose place has changed, with their new one."""
        left = self.db.rows(SQL.tasks_left)
        known = {task: chain for task, _, chain, is_open in left if is_open}
        parents = {task: parent for task, parent, _, _ in left if parent is not None}
        later: dict[TaskId, list[TaskId]] = {
            task: [parent] for task, parent in parents.items() if parent in known and task in known
        }
        below = _families(parents)
        for blocker, blocked in self.db.rows(SQL.edges_left):
            if blocker in known:
                waiting = (task for task in below(blocked) if task in known)
                later.setdefault(blocker, []).extend(waiting)
        lengths = chain_lengths(known, later)
        return [(length, task) for task, length in lengths.items() if length != known[task]]

    @whole
    def _save(self, ranks: Ranks, graph: int) -> None:
        self.db.execute_many(SQL.rank, ranks)
        self.db.execute(SQL.set_ranked, {"version": graph})


def _families(parents: Mapping[TaskId, TaskId]) -> Callable[[TaskId], list[TaskId]]:
    """A function from a task to itself and everything below it."""
    children: dict[TaskId, list[TaskId]] = {}
    for task, parent in parents.items():
        children.setdefault(parent, []).append(task)

    def below(task: TaskId) -> list[TaskId]:
        found = [task]
        for one in found:
            found.extend(children.get(one, ()))
        return found

    return below
