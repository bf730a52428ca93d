"""The memory that a task's sessions leave to one another, as a file for them and for people."""

import os
from collections.abc import Iterator
from typing import Final

import msgspec

from ralph.core.agent_events import AgentEvent
from ralph.core.errors import NoSuchTask, RalphError
from ralph.core.ids import TaskId
from ralph.core.json_text import NOT_JSON
from ralph.core.memory import MemoryKind
from ralph.core.snapshot import Changes
from ralph.core.task import Status
from ralph.documents import memory_file
from ralph.documents.memory_file import Facts
from ralph.files import open_regular
from ralph.ports.history import Session
from ralph.ports.library import Library
from ralph.ports.store import Store

STREAM_BYTES: Final = 512 * 1024
"""How much of the end of a stream is looked at."""
LEARNED: Final = 20

_DECODE = msgspec.json.Decoder(AgentEvent).decode


class Memo:
    """`MEMORY.md`, while a task is not done. A person's own file of that name is left alone: then
    it is below `.ralph/memory/`, and sessions say what they leave instead of writing it."""

    def __init__(self, library: Library, store: Store, path: str) -> None:
        self._library = library
        self._store = store
        self.path = path
        """Where sessions write it; empty: nowhere."""
        self.part = 1
        """Which session of the attempt at hand; each hand-off brings another."""
        self.is_at_work = False
        """A session is, and could hand over."""
        self.is_wanted = False
        """A person wants a fresh session."""
        self._before: str | None = None
        """What was in there when the session began."""

    def look(self, since: float | None) -> None:
        """Whose file is it? `since`: when the session began whose work lies in the checkout; it may
        have written it before Ralph died. None: there is no such work."""
        at = self._library.changed_at(self.path) if self.path else None
        if at is None or memory_file.is_ours(self._text(self.path) or ""):
            return
        if since is None or at < since:
            self.path = ""

    def tidy(self) -> None:
        """Take away what is about tasks that are over: Ralph may have died in between."""
        beside = self._library.files(memory_file.FOLDER, ".md")
        for path in (self.path, *(f"{memory_file.FOLDER}/{name}" for name in beside)):
            task = memory_file.task_of(self._text(path) or "") if path else None
            if task is not None and not self._is_open(task):
                self._library.remove(path)

    def _is_open(self, task: TaskId) -> bool:
        try:
            return self._store.find(task).status in (Status.PENDING, Status.IN_PROGRESS)
        except NoSuchTask:
            return False

    def told(self, task: TaskId) -> str:
        """What the last session of this task has left, for the next one."""
        text = self._text(self._place(task)) or ""
        self._before = text
        return text if memory_file.is_about(text, task) else ""

    def take(
        self, session: Session, changes: Changes, *, title: str, why: str, said: str = ""
    ) -> str:
        """What a session has left: as it wrote it, as it said it, or as it was seen. It is in the
        file then; what cannot be written is still returned."""
        place = self._place(session.task_id)
        found = self._text(place) or ""
        earlier = found if memory_file.is_ours(found) else ""
        learned = self._store.memories(task=session.task_id, limit=LEARNED)
        facts = Facts(
            task=session.task_id,
            title=title,
            attempt=session.attempt,
            number=len(self._store.stints(session.id)) + 1,
            ending=why,
            commits=changes.commits,
            files=changes.files,
            learnings=tuple(
                " ".join(one.text.split())[:400]
                for one in reversed(learned)
                if one.kind is MemoryKind.KNOWLEDGE
            ),
        )
        is_known = found == self._before or (self._before is None and bool(earlier))
        if self.path and found.strip() and not is_known:
            text = memory_file.written(facts, found, _stream(session))
        elif said.strip():
            text = memory_file.written(facts, said, _stream(session))
        else:
            text = memory_file.drawn(facts, _stream(session), earlier)
        try:
            self._library.put(place, text.encode("utf-8", "replace"))
            self._before = text
        except RalphError:
            pass  # a full disk must not cost the attempt
        return text

    def clear(self, task: TaskId) -> None:
        """The task is over, or its work was taken out of the checkout."""
        for path in {self.path, memory_file.beside(task)} - {""}:
            self._library.remove(path)

    def _place(self, task: TaskId) -> str:
        return self.path or memory_file.beside(task)

    def _text(self, path: str) -> str | None:
        return self._library.read(path).text


def _stream(session: Session) -> Iterator[AgentEvent]:
    """The end of what was heard of it."""
    try:
        with open_regular(f"{os.path.splitext(session.log)[0]}.jsonl") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - STREAM_BYTES))
            lines = file.read(STREAM_BYTES).splitlines()
    except OSError:
        return
    for line in lines:
        try:
            yield _DECODE(line)
        except NOT_JSON:
            continue  # cut off at the beginning, or by a kill
