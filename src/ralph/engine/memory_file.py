"""The memory file that a task's sessions leave for one another."""

import os
from collections.abc import Iterator
from typing import Final

import msgspec

from ralph.core.agent_events import AgentEvent
from ralph.core.errors import RalphError
from ralph.core.ids import TaskId
from ralph.core.json_text import NOT_JSON
from ralph.core.memory import MemoryKind
from ralph.core.snapshot import CheckoutChanges
from ralph.documents import memory_file
from ralph.documents.memory_file import SessionFacts
from ralph.files import open_regular
from ralph.ports.project_files import ProjectFiles
from ralph.store.sessions import Session
from ralph.store.store import Store

STREAM_BYTES: Final = 512 * 1024
"""How much of the end of a stream is looked at."""
LEARNED: Final = 20

_DECODE = msgspec.json.Decoder(AgentEvent).decode


class MemoryFile:
    """`MEMORY.md`, while a task is not done. If the user has a file of that name, Ralph uses
    `.ralph/memory/` instead, and sessions put their notes into their final message."""

    def __init__(self, project_files: ProjectFiles, store: Store, path: str) -> None:
        self._project_files = project_files
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

    def begin_attempt(self) -> None:
        self.part = 1

    def begin_session(self) -> None:
        self.is_at_work, self.is_wanted = True, False

    def end_session(self) -> None:
        self.is_at_work = False

    def begin_part(self) -> None:
        self.part += 1

    def ask(self) -> bool:
        """A person wants a fresh session; False: none is at work that could hand over."""
        self.is_wanted = self.is_at_work
        return self.is_wanted

    def find_owner(self, since: float | None) -> None:
        """Whose file is it? `since`: when the session began whose work lies in the checkout; it may
        have written it before Ralph died. None: there is no such work."""
        at = self._project_files.changed_at(self.path) if self.path else None
        if at is None or memory_file.is_ours(self._text(self.path) or ""):
            return
        if since is None or at < since:
            self.path = ""

    def remove_leftovers(self) -> None:
        beside = self._project_files.files(memory_file.FOLDER, ".md")
        for path in (self.path, *(f"{memory_file.FOLDER}/{name}" for name in beside)):
            task = memory_file.task_of(self._text(path) or "") if path else None
            if task is not None and not self._store.tasks.may_go_on(task):
                self._project_files.remove(path)

    def text_for(self, task: TaskId) -> str:
        text = self._text(self._place(task)) or ""
        self._before = text
        return text if memory_file.task_of(text) == task else ""

    def save_session_notes(
        self, session: Session, changes: CheckoutChanges, *, why: str, said: str = ""
    ) -> str:
        """What a session has left: as it wrote it, as it said it, or as it was seen. It is in the
        file then; what cannot be written is still returned."""
        place = self._place(session.task_id)
        found = self._text(place) or ""
        earlier = found if memory_file.is_ours(found) else ""
        task = self._store.tasks.get(session.task_id)
        learned = self._store.memories.select(task=session.task_id, limit=LEARNED)
        facts = SessionFacts(
            task=session.task_id,
            title=task.title if task is not None else "",
            attempt=session.attempt,
            number=len(self._store.sessions.segments(session.id)) + 1,
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
            text = memory_file.memory_from_notes(facts, found, _stream(session))
        elif said.strip():
            text = memory_file.memory_from_notes(facts, said, _stream(session))
        else:
            text = memory_file.memory_from_events(facts, _stream(session), earlier)
        try:
            self._project_files.write(place, text.encode("utf-8", "replace"))
            self._before = text
        except RalphError:
            pass  # a full disk must not cost the attempt
        return text

    def clear(self, task: TaskId) -> None:
        """The task is over, or its work was removed from the checkout: remove its notes."""
        for path in {self.path, memory_file.fallback_path(task)} - {""}:
            self._project_files.remove(path)

    def _place(self, task: TaskId) -> str:
        return self.path or memory_file.fallback_path(task)

    def _text(self, path: str) -> str | None:
        return self._project_files.read(path).text


def _stream(session: Session) -> Iterator[AgentEvent]:
    """The end of what it has said."""
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
