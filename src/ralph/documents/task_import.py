"""Tasks to import: JSON lines, which are the export as well; and the files of others: a PRD,
`prd.json`, `implementation_plan.json`, GitHub's issues. The names in them become ids."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from ralph.core.errors import NoSuchTask, UnusableData, UsageError
from ralph.core.ids import TaskId
from ralph.core.json_text import NOT_JSON
from ralph.core.safe_text import one_line
from ralph.core.task import (
    LARGEST_DOCUMENT,
    LONGEST_TITLE,
    Task,
    TaskDraft,
    TaskStatus,
    normalize_paths,
    task_flaw,
)
from ralph.documents.prd import Prd, read_prd, require_usable
from ralph.documents.text_encoding import decode_text

LARGEST: Final = 2**31 - 1
ISSUE: Final = re.compile(r"(?im)^[\s*_-]*(?:depends on|blocked by)[\s:*_]*(.*)$")
NUMBER: Final = re.compile(r"#([0-9]+)\b")
LISTS: Final = ("userStories", "stories", "tasks")
"""The names under which files have a list of stories."""
DONE: Final = frozenset({"done", "complete", "completed", "closed"})
Whole = Annotated[int, msgspec.Meta(ge=-LARGEST, le=LARGEST)]
Natural = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]


class TaskLine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One task. Only the title is required. Unknown fields are refused: they may be typos."""

    title: str
    id: str | None = None
    description: str = ""
    status: TaskStatus = TaskStatus.PENDING
    parent_id: str | None = None
    """The id or the alias of a task, like each of `blockers`."""
    feature: str | None = None
    """The feature's name; its id means nothing in another project."""
    feature_id: str | None = None
    priority: Whole = 0
    max_retries: Natural | None = None
    alias: str | None = None
    needs_change: bool = True
    blockers: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    reason: str | None = None

    # The history of the task where it comes from. It is exported, and not imported.
    task_type: Any = None
    retry_count: Any = None
    strikes: Any = None
    attempt: Any = None
    verification_status: Any = None
    review: Any = None
    claimed_by: Any = None
    created_at: Any = None
    updated_at: Any = None


class NumberedTask(NamedTuple):
    number: int
    task: TaskLine


_DECODE: Final = msgspec.json.Decoder(TaskLine).decode


def task_to_line(task: Task, blockers: Sequence[TaskId], feature: str | None) -> dict[str, Any]:
    return msgspec.structs.asdict(task) | {"feature": feature, "blockers": blockers}


def read_task_lines(lines: Iterable[bytes]) -> list[NumberedTask]:
    """The tasks of a file; UnusableData, with the line's number, for a line that is none."""
    found: list[NumberedTask] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
        if not text.strip():
            continue
        try:
            task = _DECODE(text)
        except NOT_JSON as error:
            raise UnusableData(f"line {number}: {_lower(str(error))}") from error
        if flaw := import_problem(task):
            raise UnusableData(f"line {number}: {flaw}")
        found.append(NumberedTask(number, _normalized(task, number)))
    for number, task in found:
        if task.id is not None and (first := seen.setdefault(task.id, number)) != number:
            raise UnusableData(f"line {number}: task {task.id} is on line {first} already")
    return found


def _normalized(task: TaskLine, number: int) -> TaskLine:
    try:
        files = normalize_paths(task.files)
    except UsageError as error:
        raise UnusableData(f"line {number}: {error}", hint=error.hint) from error
    # A claim is not imported.
    status = TaskStatus.PENDING if task.status is TaskStatus.IN_PROGRESS else task.status
    return replace(task, status=status, title=task.title.strip(), files=files)


def _lower(text: str) -> str:
    return text if text.startswith("JSON") else text[:1].lower() + text[1:]


def import_problem(task: TaskLine) -> str:
    """Why a task cannot be imported; empty if it can."""
    if flaw := task_flaw(task.title, task.description, task.id, task.alias):
        return flaw
    if task.feature is not None and not task.feature.strip():
        return "the feature's name is empty"
    return ""


class TaskNameIndex(msgspec.Struct):
    """Tasks by id and by alias. An alias is unique within its feature."""

    ids: set[str] = msgspec.field(default_factory=set)
    aliases: dict[str, dict[str | None, TaskId]] = msgspec.field(default_factory=dict)

    def add(self, task: TaskId, alias: str | None, feature: str | None) -> None:
        self.ids.add(task)
        if alias is not None:
            self.aliases.setdefault(alias, {})[feature] = task

    def find(self, name: str, feature: str | None) -> TaskId | None:
        """The task that a task of that feature means by a name."""
        if name in self.ids:
            return TaskId(name)
        known = self.aliases.get(name, {})
        if feature in known:
            return known[feature]
        if len(known) > 1:
            raise UnusableData(f"{one_line(name, 40)!r} is an alias in several features")
        return next(iter(known.values()), None)

    def has(self, task: TaskLine) -> bool:
        if task.id is not None:
            return task.id in self.ids
        return task.alias is not None and task.feature in self.aliases.get(task.alias, {})


def resolve_drafts(
    found: Sequence[NumberedTask],
    stored: TaskNameIndex,
    *,
    fresh: Callable[[], TaskId],
    max_retries: int,
) -> list[TaskDraft]:
    """The tasks of a file as drafts, with ids in place of names. They are in no feature yet."""
    ids, own = _own_names(found, fresh)
    made = []
    for (number, task), task_id in zip(found, ids, strict=True):
        parent, *blockers = [
            _resolve(name, number, task.feature, own, stored) if name is not None else None
            for name in (task.parent_id, *task.blockers)
        ]
        made.append(
            TaskDraft(
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
                reason=task.reason
                if task.status in (TaskStatus.BLOCKED, TaskStatus.FAILED)
                else None,
            )
        )
    return made


def _own_names(
    found: Sequence[NumberedTask], fresh: Callable[[], TaskId]
) -> tuple[list[TaskId | None], TaskNameIndex]:
    """An id for each task that has an id or an alias: others cannot be referred to."""
    own = TaskNameIndex()
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


def _resolve(
    name: str, number: int, feature: str | None, own: TaskNameIndex, stored: TaskNameIndex
) -> TaskId:
    try:
        found = own.find(name, feature) or stored.find(name, feature)
    except UnusableData as error:
        raise UnusableData(f"line {number}: {error}", hint="name it by its id") from error
    if found is None:
        raise NoSuchTask(
            f"line {number}: there is no task {one_line(name, 40)!r}, neither here nor in the file"
        )
    return found


# The files of others


def read_foreign_tasks(data: bytes, name: str, feature: str) -> list[NumberedTask] | None:
    """The tasks of a file of one of these kinds; None if it is of another kind. Tasks that belong
    together are put into `feature`."""
    # Standard input has no name that says what it is; no JSON begins with a heading.
    if name.lower().endswith((".md", ".markdown")) or data.lstrip().startswith(b"#"):
        return _read_prd(data, name, feature)
    whole = _decode_any(data, name)
    is_issues = isinstance(whole, list)
    entries = whole if is_issues else _stories_in(whole, name)
    if entries is None:
        return None
    found = []
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            raise UnusableData(f"{name}, entry {number}: it is not an object")
        # What is null is not there.
        given = {key: value for key, value in entry.items() if value is not None}
        try:
            if is_issues:
                task = msgspec.convert(given, Issue).task()
            else:
                task = msgspec.convert(given, ForeignStory).task(feature)
        except msgspec.ValidationError as error:
            raise UnusableData(f"{name}, entry {number}: {_lower(str(error))}") from error
        if flaw := import_problem(task):
            raise UnusableData(f"{name}, entry {number}: {flaw}")
        found.append(NumberedTask(number, task))
    return _with_known_blockers(found) if is_issues else found


def _decode_any(data: bytes, name: str) -> Any:
    try:
        return msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except RecursionError as error:
        raise UnusableData(f"{name}: it is nested too deeply") from error
    except NOT_JSON as error:
        if data.strip() and "truncated" in str(error):
            raise UnusableData(f"{name}: it is not whole, but ends in the middle") from error
        return None


def _stories_in(whole: Any, name: str) -> list[Any] | None:
    if not isinstance(whole, dict):
        return None
    for key in LISTS:
        if isinstance(whole.get(key), list):
            return list(whole[key])
    if "title" not in whole and name.lower().endswith(".json"):
        raise UnusableData(f"{name}: there is not a list of {' or '.join(LISTS)} in it")
    return None


def _read_prd(data: bytes, name: str, feature: str) -> list[NumberedTask]:
    if len(data) > LARGEST_DOCUMENT:
        raise UnusableData(f"{name} is larger than {LARGEST_DOCUMENT // 1024} KiB")
    prd = read_prd(decode_text(data).text)
    require_usable(prd, name)
    return story_lines(prd, feature)


def story_lines(prd: Prd, feature: str) -> list[NumberedTask]:
    return [
        NumberedTask(
            story.line or place,
            TaskLine(
                title=story.title,
                description=story.body,
                alias=story.id,
                feature=feature,
                priority=place,
                status=TaskStatus.DONE if story.is_ticked else TaskStatus.PENDING,
                blockers=story.needs,
                files=story.files,
            ),
        )
        for place, story in enumerate(prd.stories, 1)
    ]


class ForeignStory(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An entry of `userStories`, `stories` or `tasks`."""

    id: str | int
    title: str = ""
    description: str = ""
    acceptance_criteria: tuple[str, ...] = ()
    acceptance_criteria_: tuple[str, ...] = msgspec.field(name="acceptance_criteria", default=())
    verification_criteria: tuple[str, ...] = msgspec.field(name="verification_criteria", default=())
    depends_on: tuple[str | int, ...] = ()
    dependencies: tuple[str | int, ...] = ()
    priority: Whole = 0
    status: str = ""
    passes: bool = False
    reason: str = ""
    notes: str = ""

    def task(self, feature: str) -> TaskLine:
        body = self.description.strip()
        criteria = (
            self.acceptance_criteria or self.verification_criteria or self.acceptance_criteria_
        )
        boxes = "\n".join(f"- [ ] {one_line(one)}" for one in criteria)
        status, reason = TaskStatus.PENDING, None
        if self.passes or self.status in DONE:
            status = TaskStatus.DONE
        elif self.status == "blocked":
            status = TaskStatus.BLOCKED
            reason = one_line(self.reason or self.notes or "it came so", 500)
        return TaskLine(
            title=_title(self.title or body.partition("\n")[0]),
            description="\n\n".join(filter(None, (body, boxes))),
            alias=str(self.id).strip(),
            feature=feature,
            priority=self.priority,
            status=status,
            reason=reason,
            blockers=tuple(dict.fromkeys(map(str, self.depends_on or self.dependencies))),
        )


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    """An issue as `gh issue list --json` prints it."""

    number: int
    title: str
    body: str = ""
    labels: tuple[dict[str, Any], ...] = ()
    state: str = ""
    url: str = ""

    def task(self) -> TaskLine:
        body = self.body.strip()
        named = [n for line in ISSUE.findall(body) for n in NUMBER.findall(line)]
        labels = ", ".join(str(one.get("name")) for one in self.labels)
        about = f"Labels: {labels}" if labels else ""
        return TaskLine(
            title=_title(self.title),
            description="\n\n".join(filter(None, (body, about, self.url))),
            alias=f"GH-{self.number}",
            feature="issues",
            status=TaskStatus.DONE if self.state.lower() in DONE else TaskStatus.PENDING,
            blockers=tuple(dict.fromkeys(f"GH-{n}" for n in named)),
        )


def _title(title: str) -> str:
    # One that is too long is refused as it is.
    return title if len(title) > LONGEST_TITLE else one_line(title, 200).strip()


def _with_known_blockers(issues: list[NumberedTask]) -> list[NumberedTask]:
    """Issues may name closed ones, which are not in the list."""
    known = {one.task.alias for one in issues}
    found = []
    for number, task in issues:
        names = tuple(name for name in task.blockers if name in known and name != task.alias)
        found.append(NumberedTask(number, replace(task, blockers=names)))
    return found
