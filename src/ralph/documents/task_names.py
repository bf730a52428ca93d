"""Who is meant by a name in an imported file, and whether anyone would wait for himself."""

from collections.abc import Callable, Sequence

import msgspec

from ralph.core.circles import a_circle
from ralph.core.errors import CycleRefused, NoSuchTask, UnusableData
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.core.task import Draft, Status
from ralph.documents.task_lines import Numbered, TaskLine


class Names(msgspec.Struct):
    """Tasks by id and by alias. An alias is unique within its feature only."""

    ids: set[str] = msgspec.field(default_factory=set)
    aliases: dict[str, dict[str | None, TaskId]] = msgspec.field(default_factory=dict)

    def add(self, task: TaskId, alias: str | None, feature: str | None) -> None:
        """Remember a task; `feature` is the feature's name."""
        self.ids.add(task)
        if alias is not None:
            self.aliases.setdefault(alias, {})[feature] = task

    def find(self, name: str, feature: str | None) -> TaskId | None:
        """Whom a task of that feature means by the name."""
        if name in self.ids:
            return TaskId(name)
        known = self.aliases.get(name, {})
        if feature in known:
            return known[feature]
        if len(known) > 1:
            raise UnusableData(f"{one_line(name, 40)!r} is an alias in several features")
        return next(iter(known.values()), None)

    def has(self, task: TaskLine) -> bool:
        """Is this very task known?"""
        if task.id is not None:
            return task.id in self.ids
        return task.alias is not None and task.feature in self.aliases.get(task.alias, {})


def drafts(
    found: Sequence[Numbered],
    stored: Names,
    *,
    fresh: Callable[[], TaskId],
    max_retries: int,
) -> list[Draft]:
    """The tasks of a file as drafts, every reference an id; they are in no feature yet."""
    ids, own = _own_names(found, fresh)
    made = []
    for (number, task), task_id in zip(found, ids, strict=True):
        parent, *blockers = [
            _resolve(name, number, task.feature, own, stored) if name is not None else None
            for name in (task.parent_id, *task.blockers)
        ]
        made.append(
            Draft(
                title=task.title,
                description=task.description,
                id=task_id,
                parent_id=parent,
                priority=task.priority,
                max_retries=max_retries if task.max_retries is None else task.max_retries,
                alias=task.alias,
                needs_change=task.needs_change,
                blocked_by=tuple(dict.fromkeys(filter(None, blockers))),
                files=task.files,
                status=task.status,
                reason=task.reason if task.status in (Status.BLOCKED, Status.FAILED) else None,
            )
        )
    _refuse_circles(found, made)
    return made


def _own_names(
    found: Sequence[Numbered], fresh: Callable[[], TaskId]
) -> tuple[list[TaskId | None], Names]:
    """Ids for all who can be referred to; who has neither id nor alias cannot be."""
    own = Names()
    ids: list[TaskId | None] = []
    for number, task in found:
        if task.alias is not None and task.feature in own.aliases.get(task.alias, {}):
            raise UnusableData(
                f"line {number}: alias {one_line(task.alias, 40)} is on an earlier line already"
            )
        task_id = TaskId(task.id) if task.id is not None else fresh() if task.alias else None
        if task_id is not None:
            own.add(task_id, task.alias, task.feature)
        ids.append(task_id)
    return ids, own


def _resolve(name: str, number: int, feature: str | None, own: Names, stored: Names) -> TaskId:
    try:
        found = own.find(name, feature) or stored.find(name, feature)
    except UnusableData as error:
        raise UnusableData(f"line {number}: {error}", hint="name it by its id") from error
    if found is None:
        raise NoSuchTask(
            f"line {number}: there is no task {one_line(name, 40)!r}, neither here nor in the file"
        )
    return found


def _refuse_circles(found: Sequence[Numbered], made: Sequence[Draft]) -> None:
    """Within the file; a circle that runs through stored tasks is the store's to find.

    As in `core.graph`: a task has a start and a finish, a parent encloses its children, and a
    blocker finishes before what it blocks starts. Moment 2i is the start of task i, 2i + 1 its
    finish.
    """
    index = {draft.id: i for i, draft in enumerate(made) if draft.id is not None}
    after: list[list[int]] = [[] for _ in range(2 * len(made))]
    for i, draft in enumerate(made):
        after[2 * i].append(2 * i + 1)
        parent = index.get(draft.parent_id) if draft.parent_id else None
        if parent is not None:
            after[2 * parent].append(2 * i)
            after[2 * i + 1].append(2 * parent + 1)
        for blocker in draft.blocked_by:
            if (before := index.get(blocker)) is not None:
                after[2 * before + 1].append(2 * i)
    circle = a_circle(after)
    if circle:
        members = list(dict.fromkeys(moment // 2 for moment in circle))
        names = ", ".join(
            f"{one_line(made[i].alias or '', 40) or made[i].id} (line {found[i].number})"
            for i in members[:10]
        )
        more = f" and {len(members) - 10} more" if len(members) > 10 else ""
        raise CycleRefused(
            f"line {found[members[0]].number}: these would wait for each other: {names}{more}"
        )
