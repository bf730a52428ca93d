"""The stories of a PRD, as tasks: followed before each iteration, ticked after it."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from posixpath import basename, splitext

import msgspec
from msgspec.structs import replace

from ralph.core.errors import Missing, RalphError
from ralph.core.ids import TaskId
from ralph.core.task import Feature, Task
from ralph.documents.encoded import Encoded, decode
from ralph.documents.stories.asked import taken_out, with_ticks_of
from ralph.documents.stories.changes import compare
from ralph.documents.stories.checking import flaws, require_usable
from ralph.documents.stories.claims import boxes_after, boxes_between, ticks
from ralph.documents.stories.damage import damage
from ralph.documents.stories.moving import moved
from ralph.documents.stories.prd import Prd
from ralph.documents.stories.reading import read_prd
from ralph.ports.document import Left, Passage
from ralph.ports.history import Mark
from ralph.ports.library import Library
from ralph.ports.papers import Paper
from ralph.ports.store import Store
from ralph.workflows.story_tasks import StoryTasks

KEPT = ".ralph/runs"
"""Where versions of a document are kept that were put back."""
UNJUDGED = frozenset({Mark.ENDED, Mark.GATED, Mark.ACCEPTED})
ROUNDS = 5
"""How often to try to write while somebody else writes, too."""


class Read(msgspec.Struct, frozen=True, kw_only=True):
    """A document, as bytes and as what they mean."""

    content: bytes
    encoded: Encoded
    prd: Prd


@lru_cache(maxsize=4)
def _parsed(content: bytes) -> Read:
    """Mostly nothing has changed since the last look."""
    encoded = decode(content)
    return Read(content=content, encoded=encoded, prd=read_prd(encoded.text))


class Stories:
    """`Document` on a PRD: what differs from the version that Ralph was last done with is a
    person's doing, or a session's while one is at work."""

    def __init__(
        self,
        *,
        store: Store,
        library: Library,
        path: str,
        feature: Feature,
        max_retries: int,
        speak: Callable[[Task, str], Passage] | None = None,
        beside: tuple[str, ...] = (),
        is_needed: bool = True,
    ) -> None:
        self.store = store
        self.library = library
        self.path = path
        self.tasks = StoryTasks(store, feature, path, max_retries)
        self.speak = speak
        """Puts a story, as it stands there, into words for a session."""
        self.paths = (path, *beside)
        self._beside: dict[str, bytes] = {}
        """What stood in the other files before the session."""
        self._may_go_without = not is_needed
        """Nothing begins with a document that cannot be used, if that is what the run is about."""
        self._written: Read | None = None
        """The document as we wrote it last."""
        self._told: tuple[str, ...] = ()
        """What happened around the last session and is still to be said."""

    # Before an iteration

    def follow(self) -> tuple[str, ...]:
        """Let the store follow the document; what is worth a word is returned."""
        paper = self.store.paper(self.path)
        if paper is not None and paper.held_for is not None:
            if self._is_to_be_judged(paper.held_for):
                # Its ticks are still to be heard.
                return ()
            self._close(paper, paper.held_for)
            self._let_go()
            paper = self.store.paper(self.path)
        try:
            now = self._usable()
        except RalphError as error:
            if not self._may_go_without:
                raise
            # A person at work on it: their text stays, and the stories are those we know.
            return (f"{error}; going on with the stories as they were",)
        self._may_go_without = True
        last = self._read(paper.content).prd if paper is not None else None
        changes = compare(now.prd, last, self.tasks.known())
        told = self.tasks.apply(changes)
        done = self.tasks.done()
        written = self._tick(now, boxes_between(now.prd, last, done))
        # Written by somebody else meanwhile: what they did is the difference at the next look.
        self.store.keep_paper(Paper(path=self.path, content=written or now.content))
        remarks = tuple(f"{self.path}, {remark}" for remark in now.prd.remarks)
        before, self._told = self._told, ()
        return remarks + before + told

    def _is_to_be_judged(self, task: TaskId) -> bool:
        sessions = self.store.sessions(task=task, limit=1)
        return bool(sessions) and sessions[-1].mark in UNJUDGED and self.tasks.has(task)

    def _usable(self) -> Read:
        content = self.library.content(self.path)
        if content is None:
            raise Missing(f"there is no {self.path}", hint="ralph prd writes it")
        found = self._read(content)
        require_usable(found.prd, self.path)
        return found

    # Around a session

    def passage(self, task: Task) -> Passage | None:
        """The story as it stands there now."""
        now = self._now()
        story = now.prd.story(self._mine(task)) if now else None
        if now is None or story is None or self.speak is None:
            return None
        return self.speak(task, now.prd.block(story))

    def begin(self, task: Task) -> None:
        """From now on it may be the session that ticks, whatever it works on."""
        self._beside = {path: self._bytes(path) or b"" for path in self.paths[1:]}
        try:
            content = self._usable().content
        except RalphError:
            return  # as it is, it is somebody else's, and stays so
        self.store.keep_paper(Paper(path=self.path, content=content, held_for=task.id))

    def leave(self, task: Task) -> tuple[str, ...]:
        """It may change anything in the checkout; the document is looked at later."""
        del task
        return ()

    def look(self, task: Task) -> Left:
        """What the session says in the document; a broken one is put back."""
        paper = self.store.paper(self.path)
        if paper is None or paper.held_for != task.id:
            return Left()
        mine = self._mine(task)
        broken, said = self._put_right(paper, mine, task.name)
        said += self._bring_back()
        now = self._now()
        if (broken or now is None) and not mine:
            return Left(warnings=said)  # what it works on stands elsewhere
        if broken or now is None:
            why = broken or f"{self.path} is gone"
            return Left(broken=f"{why}: only tick boxes in it", warnings=said)
        found = ticks(self._read(paper.content).prd, now.prd, mine)
        names = ", ".join(found.foreign[:5])
        warning = (
            f"the boxes of {names} in {self.path} were moved while {task.name} was worked on: they"
            " are put back; `ralph task done` and `ralph task reset` move them"
        )
        return Left(claims=found.claimed, warnings=(*said, warning) if names else said)

    def _bring_back(self) -> tuple[str, ...]:
        """A session may write into the files beside it; who empties one takes away what others
        need."""
        gone = [path for path, text in self._beside.items() if text and self._bytes(path) == b""]
        for path in gone:
            self.library.put(path, self._beside[path])
        return tuple(f"{path} was removed or emptied by the session; it is back" for path in gone)

    def _bytes(self, path: str) -> bytes | None:
        """What a file holds; empty without one, None where that cannot be told."""
        try:
            return self.library.content(path) or b""
        except RalphError:
            return None

    def _mine(self, task: Task) -> str:
        """The story of a task, if it is one of this document: others may have the same ids."""
        is_here = task.feature_id == self.tasks.feature.id
        return task.alias if is_here and task.alias is not None else ""

    def _put_right(self, paper: Paper, current: str, name: str) -> tuple[str, tuple[str, ...]]:
        """Bring back what a session may not change; what it broke, and what is worth a word."""
        before, now = self._read(paper.content), self._now()
        if wrong := damage(before.prd, now.prd if now else None, current):
            kept = self._keep(now, name)
            self.library.put(self.path, paper.content)
            broken = f"{self.path} {wrong}; it is as it was before the session"
            return broken, (broken + kept,)
        assert now is not None
        missing = taken_out(before.prd, now.prd)
        if not missing:
            return "", ()
        kept = self._keep(now, name)
        text = with_ticks_of(before.prd, now.prd, current)
        self.library.put(self.path, before.encoded.bytes_of(text))
        names = ", ".join(missing[:5]) + (" and more" if len(missing) > 5 else "")
        said = (
            f"{self.path} asks for less of {names} since the session on {name} began, so it is"
            f" put back{kept}; edit it while no session is at work, such as after `ralph pause`"
        )
        return "", (said,)

    def _keep(self, now: Read | None, name: str) -> str:
        """It may be a person who has changed it: nothing of theirs is lost."""
        if now is None or not now.content.strip():
            return ""
        digest = sha256(now.content).hexdigest()[:8]
        stem, suffix = splitext(basename(self.path))
        # Named after what is in it: done twice, it is there once.
        path = f"{KEPT}/{stem}-{name}-{digest}{suffix}"
        self.library.put(path, now.content)
        return f"; what it was changed to is in {path}"

    def review(self, task: Task) -> None:
        """A box knows only open and done."""

    def conclude(self, task: Task, *, done: bool) -> None:
        """Write the verdict back."""
        paper = self.store.paper(self.path)
        if paper is not None and paper.held_for == task.id:
            self._close(paper, task.id, done=done)

    def release(self, task: Task) -> None:
        """The store knows the verdict, too: from now on it is people who tick."""
        paper = self.store.paper(self.path)
        if paper is not None and paper.held_for == task.id:
            self._let_go()

    def _let_go(self) -> None:
        paper = self.store.paper(self.path)
        if paper is not None:
            self.store.keep_paper(replace(paper, held_for=None))

    def _close(self, paper: Paper, task: TaskId, *, done: bool = False) -> None:
        """The session is over: its ticks are made good or taken back."""
        alias = self.tasks.alias(task)
        before = self._read(paper.content).prd
        self._told += self._put_right(paper, alias or "", alias or task)[1]
        finished = self.tasks.done() | ({alias} if done and alias is not None else set())
        content = paper.content
        for _ in range(ROUNDS):
            now = self._now()
            if now is None or flaws(now.prd):
                break
            content = now.content
            written = self._tick(now, boxes_after(now.prd, before, finished, alias or ""))
            if written is not None:
                content = written
                break
        # What a person did to the stories meanwhile counts; their boxes were the session's to move.
        changes = compare(self._read(content).prd, before, self.tasks.known())
        self._told += self.tasks.apply(replace(changes, ticked=(), cleared=()))
        self.store.keep_paper(replace(paper, content=content))

    def reopen(self, failed: Mapping[str, tuple[tuple[str, ...], str]]) -> None:
        """Some stories turned out not to be done: which of their criteria do not hold, and why."""
        now = self._usable()
        wanted: dict[int, bool] = {}
        for story in now.prd.stories:
            if story.id in failed:
                criteria, why = failed[story.id]
                self.tasks.open_again(story.id, why)
                bad = [one for one in story.criteria if one.text in criteria] or story.criteria
                wanted |= {story.box.at: False} | {one.box.at: False for one in bad}
        written = self._tick(now, wanted)
        self.store.keep_paper(Paper(path=self.path, content=written or now.content))

    # The file

    def _read(self, content: bytes) -> Read:
        """What we wrote ourselves is known: reading a long document takes its time."""
        written = self._written
        return written if written and written.content == content else _parsed(content)

    def _now(self) -> Read | None:
        try:
            content = self.library.content(self.path)
        except RalphError:
            return None
        return None if content is None else self._read(content)

    def _tick(self, now: Read, wanted: Mapping[int, bool]) -> bytes | None:
        """Move the boxes; return what the file holds then. None: it is not what it was."""
        prd = moved(now.prd, wanted)
        content = now.encoded.bytes_of(prd.text)
        if content == now.content:
            return content
        if self.library.content(self.path) != now.content:
            return None
        self.library.put(self.path, content)
        encoded = replace(now.encoded, text=prd.text)
        self._written = Read(content=content, encoded=encoded, prd=prd)
        return content
