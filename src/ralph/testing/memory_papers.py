"""The memory store's documents, and what was taken out of them."""

from msgspec.structs import replace

from ralph.core import events
from ralph.core.errors import NoSuchTask
from ralph.core.graph import regrouped
from ralph.core.ids import FeatureId, TaskId
from ralph.core.task import Status, Task
from ralph.ports.papers import Paper
from ralph.testing.memory_graph import MemoryGraph
from ralph.testing.memory_state import Archived


class MemoryPapers(MemoryGraph):
    """`Papers` on plain dicts."""

    def paper(self, path: str) -> Paper | None:
        return self._state.papers.get(path)

    def keep_paper(self, paper: Paper) -> None:
        self._state.papers[paper.path] = paper

    def archive(self, task: TaskId) -> list[TaskId]:
        state = self._state
        with state.transaction():
            state.node(task)
            gone = state.below(task)
            for one in gone:
                state.archive[one] = Archived(
                    root=task,
                    task=state.tasks[one],
                    logs=tuple(entry for entry in state.logs if entry.task_id == one),
                    blockers=tuple(state.blockers(one)),
                )
            return self.delete_task(task)

    def archived(self, feature: FeatureId) -> list[Task]:
        kept = self._state.archive.items()
        return [
            one.task for name, one in kept if one.root == name and one.task.feature_id == feature
        ]

    def bring_back(self, task: TaskId) -> Task:
        state = self._state
        with state.transaction():
            found = {name: one for name, one in state.archive.items() if one.root == task}
            if not found:
                raise NoSuchTask(f"there is no archived task {task}")
            for name, one in found.items():
                del state.archive[name]
                running = one.task.status is Status.IN_PROGRESS
                state.tasks[name] = replace(
                    one.task,
                    status=Status.PENDING if running else one.task.status,
                    claimed_by=None,
                    review=None,
                    parent_id=None if name == task else one.task.parent_id,
                )
                self._place(name)
                state.logs += one.logs
                state.emit(events.TaskAdded(task=state.tasks[name]))
            for name, one in found.items():
                for blocker in one.blockers:
                    if blocker in found:
                        state.edges.add((blocker, name))
                        state.emit(events.EdgeAdded(blocker_id=blocker, blocked_id=name))
            for name in reversed(found):
                state.consider(regrouped, state.tasks[name].parent_id)
            return state.tasks[task]

    def delete_feature(self, feature: FeatureId) -> list[TaskId]:
        state = self._state
        with state.transaction():
            state.archive = {
                name: one for name, one in state.archive.items() if one.task.feature_id != feature
            }
            return super().delete_feature(feature)
