"""A PRD as a task document: stories are synced before each iteration, ticked after it."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from ralph.core.errors import Missing, RalphError
from ralph.core.ids import TaskId
from ralph.core.task import Task
from ralph.documents import prd_changes
from ralph.documents.prd import Prd, flaws, read_prd, require_usable, with_boxes
from ralph.documents.text_encoding import EncodedText, decode_text
from ralph.ports.project_files import ProjectFiles
from ralph.ports.task_document import DocumentClaim, TaskText
from ralph.store.documents import DocumentSnapshot
from ralph.workflows.document_tasks import (
    DocumentTasks,
    StoredDocument,
    keep_copy,
    read_if_possible,
)

TRIES: Final = 5


class ParsedPrd(msgspec.Struct, frozen=True, kw_only=True):
    content: bytes
    encoded: EncodedText
    prd: Prd


@lru_cache(maxsize=4)
def _parsed(content: bytes) -> ParsedPrd:
    encoded = decode_text(content)
    return ParsedPrd(content=content, encoded=encoded, prd=read_prd(encoded.text))


class PrdDocument(StoredDocument[ParsedPrd]):
    called = "stories"

    def __init__(
        self,
        tasks: DocumentTasks,
        project_files: ProjectFiles,
        *,
        brief_text: Callable[[Task, str], TaskText] | None = None,
        beside: tuple[str, ...] = (),
        is_needed: bool = True,
    ) -> None:
        super().__init__(tasks, project_files, is_needed=is_needed)
        self.brief_text = brief_text
        self.paths = (self.path, *beside)
        self._beside: dict[str, bytes] = {}
        """The content of the other files before the session."""

    # Before an iteration

    def _close_session(self, last: DocumentSnapshot, task: TaskId) -> None:
        self._finish_session(last, task)
        self._forget_session()

    def _apply(
        self, found: ParsedPrd, last: DocumentSnapshot | None
    ) -> tuple[Sequence[str], Sequence[str]]:
        before = _parsed(last.content).prd if last is not None else None
        warnings = self.tasks.update(found.prd, before)
        written = self._tick(found, prd_changes.boxes_between(found.prd, before, self.tasks.done()))
        # If another program wrote meanwhile, the next sync sees what it did.
        self._save(written or found.content)
        return [f"{self.path}, {remark}" for remark in found.prd.remarks], warnings

    def _usable(self, last: DocumentSnapshot | None = None) -> ParsedPrd:
        del last
        content = self.project_files.read_bytes(self.path)
        if content is None:
            raise Missing(f"there is no {self.path}", hint="ralph story write makes it")
        found = _parsed(content)
        require_usable(found.prd, self.path)
        return found

    # Around a session

    def task_text(self, task: Task) -> TaskText | None:
        now = self._now()
        story = now.prd.story(self._name_of(task)) if now else None
        if now is None or story is None or self.brief_text is None:
            return None
        return self.brief_text(task, now.prd.block(story))

    def session_starts(self, task: Task) -> None:
        self._beside = {
            path: read_if_possible(self.project_files, path) or b"" for path in self.paths[1:]
        }
        try:
            content = self._usable().content
        except RalphError:
            return  # a person is editing it: their text stays
        self._save(content, task.id)

    def read_claim(self, task: Task) -> DocumentClaim:
        last = self._last(task)
        if last is None:
            return DocumentClaim()
        story = self._name_of(task)
        broken, warnings = self._restore_stories(last, story, task.name)
        warnings += self._restore_emptied()
        now = self._now()
        if broken or now is None:
            if not story:
                return DocumentClaim(warnings=warnings)  # its story is in another document
            why = broken or f"{self.path} is gone"
            return DocumentClaim(broken=f"{why}: only tick boxes in it", warnings=warnings)
        found = prd_changes.ticks(_parsed(last.content).prd, now.prd, story)
        if found.foreign:
            names = ", ".join(found.foreign[:5])
            warnings += (
                f"the boxes of {names} in {self.path} were moved while {task.name} was worked on:"
                " they are restored; `ralph task done` and `ralph task reset` move them",
            )
        return DocumentClaim(claims=found.claimed, warnings=warnings)

    def _name_of(self, task: Task) -> str:
        """The story of a task; empty if it is in another document, which may have the same ids."""
        return (task.alias or "") if task.feature_id == self.tasks.feature.id else ""

    def _restore_emptied(self) -> tuple[str, ...]:
        emptied = [
            path
            for path, content in self._beside.items()
            if content and read_if_possible(self.project_files, path) == b""
        ]
        for path in emptied:
            self.project_files.write(path, self._beside[path])
        return tuple(
            f"{path} was removed or emptied by the session; it is back" for path in emptied
        )

    def _restore_stories(
        self, last: DocumentSnapshot, story: str, name: str
    ) -> tuple[str, tuple[str, ...]]:
        """Restore what a session must not change; return how that broke it, and lines to print."""
        before, now = _parsed(last.content), self._now()
        content = now.content if now is not None else b""
        if wrong := prd_changes.damage(before.prd, now.prd if now else None, story):
            kept = keep_copy(self.project_files, self.path, content, name)
            self.project_files.write(self.path, last.content)
            broken = f"{self.path} {wrong}; it is as it was before the session"
            return broken, (broken + kept,)
        assert now is not None
        missing = prd_changes.removed_parts(before.prd, now.prd)
        if not missing:
            return "", ()
        kept = keep_copy(self.project_files, self.path, content, name)
        text = prd_changes.with_ticks_of(before.prd, now.prd, story)
        self.project_files.write(self.path, before.encoded.bytes_of(text))
        names = ", ".join(missing[:5]) + (" and more" if len(missing) > 5 else "")
        return "", (
            f"{self.path} asks for less of {names} since the session on {name} began, so it is"
            f" restored{kept}; edit it while no session is at work, such as after `ralph pause`",
        )

    # After a session

    def write_verdict(self, task: Task, *, done: bool) -> None:
        last = self._last(task)
        if last is not None:
            self._finish_session(last, task.id, done=done)

    def end_session(self, task: Task) -> None:
        if self._last(task) is not None:
            self._forget_session()

    def _finish_session(self, last: DocumentSnapshot, task: TaskId, *, done: bool = False) -> None:
        """Keep the session's ticks if its task is done, otherwise take them back."""
        name = self.tasks.name_of(task) or ""
        before = _parsed(last.content).prd
        self._warnings += self._restore_stories(last, name, name or task)[1]
        finished = self.tasks.done() | ({name} if done and name else set())
        content = last.content
        for _ in range(TRIES):
            now = self._now()
            if now is None or flaws(now.prd):
                break
            content = now.content
            written = self._tick(now, prd_changes.boxes_after(now.prd, before, finished, name))
            if written is not None:
                content = written
                break
        # What a person did to the stories meanwhile counts; the boxes were the session's to move.
        now = _parsed(content)
        self._warnings += tuple(self.tasks.update(now.prd, before, with_boxes=False))
        self._save(content, last.in_session_of)

    def reopen(self, failed: Mapping[str, tuple[tuple[str, ...], str]]) -> None:
        """Open stories that are not done: the criteria that do not hold, and why."""
        now = self._usable()
        wanted: dict[int, bool] = {}
        for story in now.prd.stories:
            if story.id in failed:
                criteria, why = failed[story.id]
                self.tasks.reopen(story.id, why)
                bad = [one for one in story.criteria if one.text in criteria] or story.criteria
                wanted |= {story.box.at: False} | {one.box.at: False for one in bad}
        self._save(self._tick(now, wanted) or now.content)

    # Versions

    def _forget_session(self) -> None:
        last = self._last()
        if last is not None:
            self._save(last.content)

    def _now(self) -> ParsedPrd | None:
        """The document on disk, if it can be read."""
        try:
            content = self.project_files.read_bytes(self.path)
        except RalphError:
            return None
        return None if content is None else _parsed(content)

    def _tick(self, now: ParsedPrd, wanted: Mapping[int, bool]) -> bytes | None:
        """Move boxes; return the new content, or None if the file has changed meanwhile."""
        content = now.encoded.bytes_of(with_boxes(now.prd.text, wanted))
        if content == now.content:
            return content
        if self.project_files.read_bytes(self.path) != now.content:
            return None
        self.project_files.write(self.path, content)
        return content
