"""The code tasks of a goal as a task document: the files are synced with the store before each
iteration, and their status blocks written after it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from posixpath import basename
from typing import Final, NamedTuple

import msgspec

from ralph.core.errors import Missing, RalphError
from ralph.core.ids import TaskId
from ralph.core.task import OPEN_REVIEW, Task, TaskStatus
from ralph.core.times import to_iso, without_fraction
from ralph.core.transitions import Blocked, Unblocked
from ralph.documents.code_task_file import (
    SUFFIX,
    CodeTask,
    CodeTaskStatus,
    StatusBlock,
    as_prd,
    code_task_status,
    name_of,
    order_code_tasks,
    order_usable_tasks,
    read_code_task,
    read_status,
    with_status_block,
    without_status_block,
)
from ralph.documents.prd import Prd
from ralph.documents.text_encoding import EncodedText, decode_text
from ralph.ports.clock import Clock
from ralph.ports.project_files import ProjectFiles
from ralph.ports.task_document import DocumentClaim
from ralph.store.documents import DocumentSnapshot
from ralph.workflows.document_tasks import (
    DocumentTasks,
    StoredDocument,
    keep_copy,
    read_if_possible,
)

DEEPEST: Final = 4
"""Levels of folders that are searched."""
CLAIMED: Final = frozenset({CodeTaskStatus.IN_REVIEW, CodeTaskStatus.COMPLETED})
"""The status that a session writes into its file to claim its task."""
SETTLED: Final = frozenset({TaskStatus.DONE, TaskStatus.FAILED, TaskStatus.BLOCKED})
STUCK: Final = frozenset({TaskStatus.BLOCKED, TaskStatus.FAILED})


class CodeTaskFile(msgspec.Struct, frozen=True, kw_only=True):
    content: bytes
    encoded: EncodedText
    task: CodeTask


class UsableCodeTasks(NamedTuple):
    files: list[CodeTaskFile]
    ordered: tuple[CodeTask, ...]
    left_out: tuple[str, ...]
    """A line about each of the others."""


class CodeTasks(StoredDocument[UsableCodeTasks]):
    def __init__(
        self,
        tasks: DocumentTasks,
        project_files: ProjectFiles,
        clock: Clock,
        *,
        worker_name: Callable[[Task], str] = lambda _: "teammate-1",
        beside: tuple[str, ...] = (),
        read_only: tuple[str, ...] = (),
        writes: bool = True,
    ) -> None:
        super().__init__(tasks, project_files)
        self.clock = clock
        self.folder = self.path
        self.worker_name = worker_name
        """Who works on a task, for its status block."""
        self.beside = beside
        self.read_only = read_only
        self._read_only_before: dict[str, bytes] = {}
        self.writes = writes
        """False: sync changes only the store."""

    @property
    def paths(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*code_task_paths(self.project_files, self.folder), *self.beside)

    # Before an iteration

    def _usable(self, last: DocumentSnapshot | None) -> UsableCodeTasks:
        known = {name_of(path, self.folder): path for path in _contents(last)}
        files, left_out = self._readable_files(known)
        ordered, more = order_usable_tasks([one.task for one in files], known)
        if not ordered:
            raise Missing(f"there are no code tasks in {self.folder}", hint="ralph team plan")
        paths = {one.path for one in ordered}
        files = [one for one in files if one.task.path in paths]
        return UsableCodeTasks(files, ordered, (*left_out, *more))

    def _apply(
        self, found: UsableCodeTasks, last: DocumentSnapshot | None
    ) -> tuple[Sequence[str], Sequence[str]]:
        before = [self._parse(path, content).task for path, content in _contents(last).items()]
        warnings = self.tasks.update(as_prd(found.ordered), _prd_before(before))
        warnings += self._apply_status(found.files, {one.name: one.status for one in before})
        self._write_status_blocks(found.files)
        unknown = [
            f"{one.path}: there is no status {one.unknown_status}"
            for one in found.ordered
            if one.unknown_status
        ]
        return [*unknown, *found.left_out], warnings

    def _readable_files(
        self, known: Mapping[str, str]
    ) -> tuple[list[CodeTaskFile], tuple[str, ...]]:
        """All files that can be read, and a line about each new one that cannot."""
        found, warnings = [], []
        for path in code_task_paths(self.project_files, self.folder):
            try:
                found.append(self._read(path))
            except RalphError as error:
                if not known or name_of(path, self.folder) in known:
                    raise
                warnings.append(f"{error}; {basename(path)} is left out")
        return found, tuple(warnings)

    def _apply_status(
        self, files: Sequence[CodeTaskFile], before: Mapping[str, CodeTaskStatus | None]
    ) -> list[str]:
        warnings, tasks = [], self.tasks.by_name()
        for one in files:
            name, now = one.task.name, one.task.status
            task, then = tasks[name], before.get(name)
            if now is then:
                continue
            if now is CodeTaskStatus.BLOCKED and task.status is TaskStatus.PENDING:
                self.store.tasks.apply(task.id, [Blocked(f"{one.task.path} says so")])
                warnings.append(f"{name} is blocked, since {one.task.path} says so")
            elif (
                then is CodeTaskStatus.BLOCKED
                and now is CodeTaskStatus.PENDING
                and task.status in STUCK
            ):
                if task.status is TaskStatus.FAILED:
                    self.store.tasks.retry(task.id)
                else:
                    self.store.tasks.apply(task.id, [Unblocked()])
                warnings.append(f"{name} is no longer blocked in {one.task.path}")
        return warnings

    def _write_status_blocks(self, files: Sequence[CodeTaskFile]) -> None:
        tasks, contents = self.tasks.by_name(), {}
        for one in files:
            task = tasks[one.task.name]
            is_right = (one.task.status or CodeTaskStatus.PENDING) is _status_of(task)
            contents[one.task.path] = (
                one.content
                if is_right or not self.writes
                else self._stamp(one, self._status_block(task))
            )
        self._save_files(contents)

    # Around a session

    def session_starts(self, task: Task) -> None:
        self._read_only_before = {path: self._content_or_empty(path) for path in self.read_only}
        last, contents = self._last(), {}
        started = StatusBlock(
            status=CodeTaskStatus.IN_PROGRESS, by=self.worker_name(task), at=self._now()
        )
        for one in self._files():
            if last is not None and one.task.path not in _contents(last):
                continue  # a new file, which the next sync adds
            is_own = self._is_about(one.task, task)
            contents[one.task.path] = self._stamp(one, started) if is_own else one.content
        self._save_files(contents, task.id)

    def session_ended(self, task: Task) -> tuple[str, ...]:
        """Restore the read-only files now, so that no change of them is committed."""
        del task
        warnings = []
        for path, before in self._read_only_before.items():
            now = self._content_or_empty(path)
            if before and now != before:
                kept = keep_copy(self.project_files, path, now)
                self.project_files.write(path, before)
                warnings.append(f"{path} is for sessions to read, so it is restored{kept}")
        return tuple(warnings)

    def read_claim(self, task: Task) -> DocumentClaim:
        last = self._last(task)
        if last is None:
            return DocumentClaim()
        warnings = self._restore_files(last, task)
        one = self._file_of(task)
        return DocumentClaim(
            claims=one is not None and one.task.status in CLAIMED, warnings=warnings
        )

    def review_starts(self, task: Task) -> None:
        one = self._file_of(task)
        if one is not None:
            status, by = CodeTaskStatus.IN_REVIEW, self.worker_name(task)
            self._stamp(one, StatusBlock(status=status, by=by, at=self._now()))

    def write_verdict(self, task: Task, *, done: bool) -> None:
        last = self._last(task)
        if last is None:
            return
        self._warnings += self._restore_files(last, task)
        one = self._file_of(task)
        if one is not None:
            status = CodeTaskStatus.COMPLETED if done else None
            self._stamp(one, self._status_block(self.store.tasks.find(task.id), status))

    def end_session(self, task: Task) -> None:
        last = self._last(task)
        if last is not None:
            known = _contents(last)
            found = (one for one in self._files() if one.task.path in known)
            self._save_files({one.task.path: one.content for one in found})

    def _close_session(self, last: DocumentSnapshot, task: TaskId) -> None:
        found = next((one for one in self.tasks.by_name().values() if one.id == task), None)
        if found is None:
            return
        self._warnings += self._restore_files(last, found)
        one = self._file_of(found)
        if one is not None and one.task.status is not _status_of(found):
            self._stamp(one, self._status_block(found))

    def _restore_files(self, last: DocumentSnapshot, task: Task) -> tuple[str, ...]:
        """Restore what a session must not change: all but the status in its own file."""
        now, known = {one.task.path: one for one in self._files()}, _contents(last)
        warnings = []
        for path in sorted({*now, *known}):
            before, one = known.get(path), now.get(path)
            if before is None:
                # A new task is not done.
                if one is not None and one.task.status not in (None, CodeTaskStatus.PENDING):
                    self._stamp(one, StatusBlock(status=CodeTaskStatus.PENDING))
            elif wrong := self._restore_file(path, before, one, task):
                warnings.append(wrong)
        return tuple(warnings)

    def _restore_file(self, path: str, before: bytes, now: CodeTaskFile | None, task: Task) -> str:
        """Restore one file. Returns a line about it; empty if the session may have done that."""
        if now is not None and now.content == before:
            return ""
        then = self._parse(path, before)
        is_own = self._is_about(then.task, task)
        text = then.encoded.text
        if now is not None and without_status_block(now.encoded.text) == without_status_block(text):
            if is_own:
                return ""
            self.project_files.write(path, before)
            return f"{path}: its status was moved by {task.name}, and is restored"
        kept = keep_copy(self.project_files, path, now.content if now is not None else b"")
        if is_own and now is not None and (status := _status_left(then, now)):
            text = with_status_block(text, StatusBlock(status=status))
        self.project_files.write(path, then.encoded.bytes_of(text))
        return (
            f"{path} was changed while {task.name} was worked on, so it is restored{kept};"
            " edit it while no session is at work, such as after `ralph pause`"
        )

    # Status blocks

    def _status_block(self, task: Task, status: CodeTaskStatus | None = None) -> StatusBlock:
        """The status block of a task; `status` before the store has it."""
        then = task.updated_at if status is None and task.status in SETTLED else ""
        status = status or _status_of(task)
        return StatusBlock(
            status=status,
            by=self.worker_name(task) if task.attempt else "",
            at=without_fraction(then) or self._now(),
            reason=(task.reason or "") if status is CodeTaskStatus.BLOCKED else "",
        )

    def _stamp(self, one: CodeTaskFile, block: StatusBlock) -> bytes:
        content = one.encoded.bytes_of(with_status_block(one.encoded.text, block))
        if content != one.content:
            self.project_files.write(one.task.path, content)
        return content

    def _now(self) -> str:
        return without_fraction(to_iso(self.clock.now()))

    # Files and versions

    def _save_files(self, files: Mapping[str, bytes], in_session_of: TaskId | None = None) -> None:
        self._save(msgspec.msgpack.encode(dict(files)), in_session_of)

    def _file_of(self, task: Task) -> CodeTaskFile | None:
        return next((one for one in self._files() if self._is_about(one.task, task)), None)

    def _is_about(self, one: CodeTask, task: Task) -> bool:
        return one.name == task.alias and task.feature_id == self.tasks.feature.id

    def _files(self) -> list[CodeTaskFile]:
        found = []
        for path in code_task_paths(self.project_files, self.folder):
            with suppress(RalphError):
                found.append(self._read(path))
        return found

    def _read(self, path: str) -> CodeTaskFile:
        content = self.project_files.read_bytes(path)
        if content is None:
            raise Missing(f"{path} is gone")
        return self._parse(path, content)

    def _parse(self, path: str, content: bytes) -> CodeTaskFile:
        encoded = decode_text(content)
        task = read_code_task(path, encoded.text, self.folder)
        return CodeTaskFile(content=content, encoded=encoded, task=task)

    def _content_or_empty(self, path: str) -> bytes:
        return read_if_possible(self.project_files, path) or b""


def _status_left(then: CodeTaskFile, now: CodeTaskFile) -> CodeTaskStatus | None:
    """What a session wrote into its file: in the status block, or in the older heading."""
    old, new = (read_status(without_status_block(one.encoded.text)) for one in (then, now))
    if new != old and isinstance(new, CodeTaskStatus) and new in CLAIMED:
        return new
    return now.task.status


def _status_of(task: Task) -> CodeTaskStatus:
    return code_task_status(task.status, in_review=task.review == OPEN_REVIEW)


def _contents(last: DocumentSnapshot | None) -> dict[str, bytes]:
    return msgspec.msgpack.decode(last.content, type=dict[str, bytes]) if last is not None else {}


def _prd_before(tasks: Sequence[CodeTask]) -> Prd | None:
    if not tasks:
        return None
    try:
        return as_prd(order_code_tasks(tasks))
    except RalphError:
        # It could not be built as it was; then the store's edges stay.
        return as_prd(tasks)


def code_task_paths(project_files: ProjectFiles, folder: str) -> list[str]:
    return sorted(files_below(project_files, folder, SUFFIX))


def files_below(
    project_files: ProjectFiles, folder: str, suffix: str = "", depth: int = DEEPEST
) -> Iterator[str]:
    """The paths of all files in a folder and below it that end like this."""
    yield from (f"{folder}/{name}" for name in project_files.files(folder, suffix))
    for name in project_files.folders(folder) if depth else ():
        yield from files_below(project_files, f"{folder}/{name}", suffix, depth - 1)
