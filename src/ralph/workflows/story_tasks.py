"""Stories in the store: each a task with its id as alias, below the feature of its document."""

from collections.abc import Iterable

import msgspec

from ralph.core.ids import TaskId
from ralph.core.task import Draft, Edit, Feature, Status, Task
from ralph.documents.stories.changes import Changes, Cleared, Known
from ralph.documents.stories.prd import Story
from ralph.ports.store import Filter, Store


class StoryTasks:
    """What the store knows of a document's stories, and how it is made to follow."""

    def __init__(self, store: Store, feature: Feature, path: str, max_retries: int) -> None:
        self.store = store
        self.feature = feature
        self.path = path
        self.max_retries = max_retries

    def _by_alias(self) -> dict[str, Task]:
        found = self.store.tasks(Filter(feature=self.feature.id))
        return {task.alias: task for task in found if task.alias is not None}

    def known(self) -> dict[str, Known]:
        """Every story that is or was there."""
        tasks = self._by_alias()
        names = {task.id: alias for alias, task in tasks.items()}
        blockers = self.store.blocker_ids(list(names))
        found = {
            task.alias: _known(task, (), archived=True)
            for task in self.store.archived(self.feature.id)
            if task.alias is not None
        }
        for alias, task in tasks.items():
            needs = (names[one] for one in blockers.get(task.id, ()) if one in names)
            found[alias] = _known(task, needs)
        return found

    def done(self) -> set[str]:
        """The ids of the stories that are done."""
        return {alias for alias, task in self._by_alias().items() if task.status is Status.DONE}

    def has(self, task: TaskId) -> bool:
        """Is it still in the graph?"""
        return self.alias(task) is not None

    def alias(self, task: TaskId) -> str | None:
        """The story of a task."""
        return next((name for name, one in self._by_alias().items() if one.id == task), None)

    def apply(self, changes: Changes) -> tuple[str, ...]:
        """Follow a document; what is worth a word is returned."""
        if changes.is_empty:
            return ()
        told = [*self._bring_back(changes.back), *self._remove(changes.removed)]
        self._add(changes)
        tasks = self._by_alias()
        for story in changes.edited:
            # What nobody names in the document may have been learned.
            files = story.files or msgspec.UNSET
            edit = Edit(title=story.title, description=story.body, files=files)
            self.store.edit_task(tasks[story.id].id, edit)
        for name in changes.moved:
            self.store.edit_task(tasks[name].id, Edit(priority=changes.places[name]))
        self._rewire(changes, tasks)
        for name in changes.ticked:
            self.store.force_done(tasks[name].id)
            self.store.log(tasks[name].id, f"ticked in {self.path}")
            told.append(f"{name} is ticked in {self.path}, so it is done")
        told += [self._cleared(one) for one in changes.cleared]
        return tuple(told)

    def _add(self, changes: Changes) -> None:
        """Blockers first, so that nobody gets a story before what it depends on is known."""
        ids = {alias: task.id for alias, task in self._by_alias().items()}
        for story in _blockers_first(changes.added):
            task = self.store.add_task(
                Draft(
                    title=story.title,
                    description=story.body,
                    alias=story.id,
                    feature_id=self.feature.id,
                    priority=changes.places[story.id],
                    max_retries=self.max_retries,
                    status=Status.DONE if story.is_ticked else Status.PENDING,
                    blocked_by=tuple(ids[name] for name in story.needs),
                    files=story.files,
                )
            )
            ids[story.id] = task.id

    def _remove(self, names: Iterable[str]) -> list[str]:
        tasks, told = self._by_alias(), []
        for name in names:
            self.store.archive(tasks[name].id)
            told.append(f"{name} is no longer in {self.path}, so it is archived")
        return told

    def _bring_back(self, names: Iterable[str]) -> list[str]:
        archived = {task.alias: task.id for task in self.store.archived(self.feature.id)}
        told = []
        for name in names:
            self.store.bring_back(archived[name])
            told.append(f"{name} is in {self.path} again")
        return told

    def _rewire(self, changes: Changes, tasks: dict[str, Task]) -> None:
        # What goes first: an edge that is turned round is no circle then.
        for one in changes.rewired:
            for name in one.fewer:
                self.store.unlink(tasks[name].id, tasks[one.id].id)
        for one in changes.rewired:
            for name in one.more:
                self.store.link(tasks[name].id, tasks[one.id].id)

    def open_again(self, name: str, why: str) -> None:
        """Somebody has found that it is not done, and its next session is to hear why."""
        task = self._by_alias()[name]
        self.store.reset(task.id)
        self.store.inject(why, task.id)

    def _cleared(self, one: Cleared) -> str:
        criteria = "; ".join(one.criteria)
        why = f"does not meet: {criteria}" if criteria else "is not done"
        self.open_again(one.id, f"A person has looked at this story again and finds: it {why}")
        return f"{one.id} is cleared in {self.path}, so it is open again"


def _known(task: Task, needs: Iterable[str], *, archived: bool = False) -> Known:
    return Known(
        title=task.title,
        body=task.description,
        place=task.priority,
        needs=frozenset(needs),
        is_done=task.status is Status.DONE,
        is_archived=archived,
    )


def _blockers_first(stories: Iterable[Story]) -> list[Story]:
    """Those that others depend on come before them; else in their own order."""
    waiting = {story.id: story for story in stories}
    ordered: list[Story] = []
    while waiting:
        ready = [one for one in waiting.values() if not waiting.keys() & {*one.needs}]
        ordered += ready
        for one in ready:
            del waiting[one.id]
    return ordered
