"""A document (a PRD, or a goal's code tasks) whose tasks are in the store."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from posixpath import basename, splitext
from typing import Final, Generic, TypeVar

import msgspec

from ralph.core.errors import RalphError
from ralph.core.ids import TaskId
from ralph.core.task import Feature, Task, TaskDraft, TaskEdit, TaskStatus
from ralph.documents.code_task_file import SUFFIX
from ralph.documents.prd import NO_STORY, Prd, Story, moved_criteria
from ralph.documents.prd_changes import wanted_state
from ralph.ports.project_files import ProjectFiles
from ralph.ports.task_document import TaskDocument
from ralph.store.documents import DocumentSnapshot
from ralph.store.sessions import Checkpoint
from ralph.store.store import Store
from ralph.store.tasks import TaskFilter

Parsed = TypeVar("Parsed")
COPIES: Final = ".ralph/runs"
"""The folder of versions that were replaced."""
PENDING_VERDICT: Final = frozenset({Checkpoint.ENDED, Checkpoint.GATED, Checkpoint.ACCEPTED})


class DocumentTasks:
    """The tasks of one document. Their aliases are the names that the document gives them."""

    def __init__(self, store: Store, feature: Feature, path: str, max_retries: int) -> None:
        self.store = store
        self.feature = feature
        self.path = path
        self.max_retries = max_retries

    def by_name(self) -> dict[str, Task]:
        found = self.store.tasks.select(TaskFilter(feature=self.feature.id))
        return {task.alias: task for task in found if task.alias is not None}

    def done(self) -> set[str]:
        return {name for name, task in self.by_name().items() if task.status is TaskStatus.DONE}

    def name_of(self, task: TaskId) -> str | None:
        return next((name for name, one in self.by_name().items() if one.id == task), None)

    def awaits_verdict(self, task: TaskId) -> bool:
        """Whether a session on this task has ended and its claims are still to be judged."""
        last = next(iter(self.store.sessions.select(task=task, limit=1)), None)
        is_pending = last is not None and last.checkpoint in PENDING_VERDICT
        return is_pending and self.name_of(task) is not None

    def update(self, now: Prd, last: Prd | None, *, with_boxes: bool = True) -> list[str]:
        """Apply what has changed in the document since its last version. Returns lines for the
        user. A change by a command, which only the store has, stays."""
        tasks = self.by_name()
        archive = self.store.archive
        archived = {
            task.alias: task
            for task in archive.of_feature(self.feature.id)
            if task.alias is not None and task.alias not in tasks
        }
        known, before = archived | tasks, last.by_id() if last is not None else {}
        places = {story.id: place for place, story in enumerate(now.stories, 1)}
        warnings = []
        for name in [name for name in places if name in archived]:
            archive.restore(archived[name].id)
            warnings.append(f"{name} is in {self.path} again")
        # Only stories of the last version: a session may have added other tasks.
        for name in [name for name in before if name in tasks and name not in places]:
            archive.add(tasks[name].id)
            warnings.append(f"{name} is no longer in {self.path}, so it is archived")
        ids = {name: task.id for name, task in known.items()}
        self._add([story for story in now.stories if story.id not in known], ids, places)
        both = [
            (story, before.get(story.id, NO_STORY)) for story in now.stories if story.id in known
        ]
        earlier = {name: place for place, name in enumerate(before, 1)}
        for story, then in both:
            task, place = known[story.id], places[story.id]
            texts = ((then.title, then.body), (task.title, task.description))
            if (story.title, story.body) not in texts:
                # Files that the document does not name may have been learned.
                files = story.files or msgspec.UNSET
                edit = TaskEdit(title=story.title, description=story.body, files=files)
                self.store.tasks.edit(task.id, edit)
            if place not in (earlier.get(story.id), task.priority):
                self.store.tasks.edit(task.id, TaskEdit(priority=place))
        self._rewire(both, tasks, ids)
        for story, then in both if with_boxes else ():
            is_wanted = wanted_state(story, then, is_archived=story.id in archived)
            if is_wanted is not None and is_wanted != (known[story.id].status is TaskStatus.DONE):
                warnings.append(self._settle(story, then, done=is_wanted))
        return warnings

    def _add(
        self, stories: Iterable[Story], ids: dict[str, TaskId], places: Mapping[str, int]
    ) -> None:
        for story in _blockers_first(stories):
            task = self.store.tasks.add(
                TaskDraft(
                    title=story.title,
                    description=story.body,
                    alias=story.id,
                    feature_id=self.feature.id,
                    priority=places[story.id],
                    max_retries=self.max_retries,
                    status=TaskStatus.DONE if story.is_ticked else TaskStatus.PENDING,
                    blocked_by=tuple(ids[name] for name in story.needs),
                    files=story.files,
                )
            )
            ids[story.id] = task.id

    def _rewire(
        self,
        stories: Iterable[tuple[Story, Story]],
        tasks: Mapping[str, Task],
        ids: Mapping[str, TaskId],
    ) -> None:
        """Apply changed dependencies. Edges that the document never had stay."""
        names = {task.id: name for name, task in tasks.items()}
        blockers = self.store.tasks.blocker_ids(list(names))
        more, fewer = [], []
        for now, before in stories:
            needs, then = {*now.needs}, {*before.needs}
            stored = {names[one] for one in blockers.get(ids[now.id], ()) if one in names}
            more += [(ids[name], ids[now.id]) for name in sorted(needs - stored - then)]
            fewer += [(ids[name], ids[now.id]) for name in sorted((then - needs) & stored)]
        # Remove edges before adding others: a reversed edge would close a circle.
        for blocker, blocked in fewer:
            self.store.tasks.unlink(blocker, blocked)
        for blocker, blocked in more:
            self.store.tasks.link(blocker, blocked)

    def _settle(self, now: Story, before: Story, *, done: bool) -> str:
        if done:
            task = self.by_name()[now.id].id
            self.store.tasks.force_done(task)
            self.store.tasks.log(task, f"ticked in {self.path}")
            return f"{now.id} is ticked in {self.path}, so it is done"
        criteria = moved_criteria(before, now, ticked=False) if now.is_ticked else ()
        listed = "; ".join(one.text for one in criteria)
        why = f"does not meet: {listed}" if listed else "is not done"
        self.reopen(now.id, f"A person has looked at this story again and finds: it {why}")
        return f"{now.id} is cleared in {self.path}, so it is open again"

    def reopen(self, name: str, why: str) -> None:
        """Open a story that turned out not to be done; its next session reads why."""
        self.store.tasks.reset(self.by_name()[name].id, why)


class StoredDocument(TaskDocument, Generic[Parsed]):
    """A document that is kept in sync with the store. What differs from Ralph's last version was
    changed by the user, or by the session that is running."""

    called = "tasks"

    def __init__(
        self, tasks: DocumentTasks, project_files: ProjectFiles, *, is_needed: bool = True
    ) -> None:
        self.tasks = tasks
        self.store = tasks.store
        self.path = tasks.path
        self.project_files = project_files
        self._is_needed = is_needed
        """Whether a sync fails if the document cannot be used: a run about it does not begin."""
        self._warnings: tuple[str, ...] = ()
        """Lines about the last session that the user has not read yet."""

    def sync(self) -> tuple[str, ...]:
        last = self._last()
        if last is not None and last.in_session_of is not None:
            if self.tasks.awaits_verdict(last.in_session_of):
                return ()
            self._close_session(last, last.in_session_of)
            last = self._last()
        try:
            found = self._usable(last)
        except RalphError as error:
            if self._is_needed:
                raise
            # A person is editing it: their text stays.
            return (f"{error}; going on with the {self.called} as they were",)
        self._is_needed = False
        remarks, warnings = self._apply(found, last)
        earlier, self._warnings = self._warnings, ()
        return (*remarks, *earlier, *warnings)

    def _close_session(self, last: DocumentSnapshot, task: TaskId) -> None:
        """Finish for a session that ended without a verdict."""
        raise NotImplementedError

    def _usable(self, last: DocumentSnapshot | None) -> Parsed:
        """The document on disk. Raises RalphError if it cannot be used."""
        raise NotImplementedError

    def _apply(
        self, found: Parsed, last: DocumentSnapshot | None
    ) -> tuple[Sequence[str], Sequence[str]]:
        """Update the store. Returns remarks about the document, and warnings about changes."""
        raise NotImplementedError

    def _last(self, task: Task | None = None) -> DocumentSnapshot | None:
        """The version that Ralph was done with last; of a task, while its session is open."""
        last = self.store.documents.get(self.path)
        if last is None or (task is not None and last.in_session_of != task.id):
            return None
        return last

    def _save(self, content: bytes, in_session_of: TaskId | None = None) -> None:
        now = DocumentSnapshot(path=self.path, content=content, in_session_of=in_session_of)
        if now != self._last():
            self.store.documents.save(now)


def _blockers_first(stories: Iterable[Story]) -> list[Story]:
    waiting = {story.id: story for story in stories}
    ordered: list[Story] = []
    while waiting:
        ready = [one for one in waiting.values() if not waiting.keys() & {*one.needs}]
        ordered += ready
        for one in ready:
            del waiting[one.id]
    return ordered


def read_if_possible(project_files: ProjectFiles, path: str) -> bytes | None:
    """The content of a file, empty if there is none; None if it cannot be read."""
    try:
        return project_files.read_bytes(path) or b""
    except RalphError:
        return None


def keep_copy(project_files: ProjectFiles, path: str, content: bytes, *words: str) -> str:
    """Keep a version of a file that is about to be replaced, since a person may have written it.
    Returns the end of a sentence about it."""
    if not content.strip():
        return ""
    suffix = SUFFIX if path.endswith(SUFFIX) else splitext(path)[1]
    # Named after its content: doing this twice makes one copy.
    digest = sha256(content).hexdigest()[:8]
    name = "-".join((basename(path).removesuffix(suffix), *words, digest))
    project_files.write(f"{COPIES}/{name}{suffix}", content)
    return f"; what it was changed to is in {COPIES}/{name}{suffix}"
