"""The code tasks of a goal, as tasks: followed before each iteration, stamped as they go."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from posixpath import basename
from typing import Final

import msgspec

from ralph.core.errors import Missing, RalphError
from ralph.core.ids import TaskId
from ralph.core.moment import iso, to_the_second
from ralph.core.task import OPEN_REVIEW, Feature, Status, Task
from ralph.core.transitions import Blocked, Unblocked
from ralph.documents.code_tasks.compiling import Placed, as_prd, compiled
from ralph.documents.code_tasks.reading import SUFFIX, CodeTask, read_code_task
from ralph.documents.code_tasks.stamp import Stamp, Word, stamped, unstamped, word_of
from ralph.documents.encoded import Encoded, decode
from ralph.documents.stories.changes import compare
from ralph.documents.stories.prd import Prd
from ralph.ports.clock import Clock
from ralph.ports.document import Left, Passage
from ralph.ports.history import Mark
from ralph.ports.library import Library
from ralph.ports.papers import Paper
from ralph.ports.store import Filter, Store
from ralph.workflows.one_file import some_of
from ralph.workflows.story_tasks import StoryTasks

DEEPEST: Final = 4
"""Folders below each other that are looked into."""
KEPT: Final = ".ralph/runs"
"""Where versions of a file are kept that were put back."""
UNJUDGED: Final = frozenset({Mark.ENDED, Mark.GATED, Mark.ACCEPTED})
CLAIMED: Final = frozenset({Word.IN_REVIEW, Word.COMPLETED})
"""What a session writes into its own file when it thinks that it is done."""
SETTLED: Final = frozenset({Status.DONE, Status.FAILED, Status.BLOCKED})
STUCK: Final = frozenset({Status.BLOCKED, Status.FAILED})


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A file, as bytes and as what they mean."""

    content: bytes
    encoded: Encoded
    task: CodeTask


class CodeTasks:
    """`Document` on a folder of code tasks. What differs from the version that Ralph was last done
    with is a person's doing, or a session's while one is at work."""

    def __init__(
        self,
        *,
        store: Store,
        library: Library,
        clock: Clock,
        folder: str,
        feature: Feature,
        max_retries: int,
        seat: Callable[[Task], str] = lambda _: "teammate-1",
        speak: Callable[[Task, CodeTask], Passage] | None = None,
        beside: tuple[str, ...] = (),
        needs: tuple[str, ...] = (),
        key: str = "",
        writes: bool = True,
    ) -> None:
        self.store = store
        self.library = library
        self.clock = clock
        self.folder = folder
        self.tasks = StoryTasks(store, feature, folder, max_retries)
        self.seat = seat
        """Who works on a task."""
        self.speak = speak
        self.beside = beside
        self.needs = needs
        """What sessions are to find, whatever one of them does to it."""
        self._needed: dict[str, bytes] = {}
        """The same as it was before the session."""
        self.key = key or folder
        """By which the store knows the files as they were; each checkout has its own."""
        self.writes = writes
        """False where nothing is begun yet: only the store follows."""
        self._is_first = True
        self._told: tuple[str, ...] = ()
        """What happened around the last session and is still to be said."""

    @property
    def paths(self) -> tuple[str, ...]:
        """All of them, and what else Ralph writes."""
        return (*self._paths(), *self.beside)

    # Before an iteration

    def follow(self) -> tuple[str, ...]:
        """Let the store follow the files; what is worth a word is returned."""
        last = self._last()
        if last is not None and last.held_for is not None:
            if self._is_to_be_judged(last.held_for):
                # What it says there is still to be heard.
                return ()
            self._told += self._close(last)
        try:
            files = [self._read(path, self._content(path)) for path in self._paths()]
            placed = compiled([one.task for one in files])
            if not placed:
                raise Missing(f"there are no code tasks in {self.folder}", hint="ralph team plan")
        except RalphError as error:
            if self._is_first:
                raise
            return (f"{error}; going on with the tasks as they were",)
        self._is_first = False
        then = [self._read(path, content) for path, content in last.files.items()] if last else []
        told = [*self.tasks.apply(compare(as_prd(placed), _as_it_was(then), self.tasks.known()))]
        told += self._held_back(files, {one.task.name: one.task.word for one in then})
        self._write_back(files)
        unknown = tuple(
            f"{one.task.path}: there is no status {one.task.unknown_word}"
            for one in files
            if one.task.unknown_word
        )
        before, self._told = self._told, ()
        return (*unknown, *before, *told)

    def _held_back(self, files: Sequence[Found], before: Mapping[str, Word | None]) -> list[str]:
        """A person may hold a task back, or let it go, by its status."""
        told = []
        tasks = self._by_name()
        for one in files:
            name, now = one.task.name, one.task.word
            task, then = tasks[name], before.get(name)
            if now is then:
                continue
            if now is Word.BLOCKED and task.status is Status.PENDING:
                self.store.apply(task.id, [Blocked(f"{one.task.path} says so")])
                told.append(f"{name} is blocked, since {one.task.path} says so")
            elif then is Word.BLOCKED and now is Word.PENDING and task.status in STUCK:
                if task.status is Status.FAILED:
                    self.store.retry(task.id)
                else:
                    self.store.apply(task.id, [Unblocked()])
                told.append(f"{name} is no longer blocked in {one.task.path}")
        return told

    def _write_back(self, files: Sequence[Found]) -> None:
        tasks = self._by_name()
        contents = {}
        for one in files:
            task = tasks[one.task.name]
            is_right = (one.task.word or Word.PENDING) is self._word(task)
            contents[one.task.path] = (
                one.content if is_right or not self.writes else self._stamp(one, self._due(task))
            )
        self._remember(contents)

    # Around a session

    def passage(self, task: Task) -> Passage | None:
        """As it stands there now."""
        one = self._of(task)
        return self.speak(task, one.task) if one is not None and self.speak is not None else None

    def begin(self, task: Task) -> None:
        """Say that somebody is at it; from now on what changes there may be a session's doing."""
        self._needed = {path: self._bytes(path) for path in self.needs}
        contents = {}
        for one in self._files():
            stamp = Stamp(word=Word.IN_PROGRESS, by=self.seat(task), at=self._now())
            is_own = self._is_about(one.task, task)
            contents[one.task.path] = self._stamp(one, stamp) if is_own else one.content
        self._remember(contents, held_for=task.id)

    def leave(self, task: Task) -> tuple[str, ...]:
        """It may change anything in the checkout; the files are looked at later. Only what others
        need is back before its work is looked at, so that it is not committed as gone."""
        del task
        return self._bring_back()

    def look(self, task: Task) -> Left:
        """What the session says in its file. Whatever else it changed in them is put back."""
        last = self._last()
        if last is None or last.held_for != task.id:
            return Left()
        warnings = self._put_right(last, task)
        one = self._of(task)
        return Left(claims=one is not None and one.task.word in CLAIMED, warnings=warnings)

    def conclude(self, task: Task, *, done: bool) -> None:
        """Write the verdict back."""
        last = self._last()
        if last is None or last.held_for != task.id:
            return
        self._told += self._put_right(last, task)
        one = self._of(task)
        if one is not None:
            due = self._due(self.store.find(task.id), Word.COMPLETED if done else None)
            self._stamp(one, due)

    def release(self, task: Task) -> None:
        """The store knows the verdict, too: from now on it is people who change them."""
        last = self._last()
        if last is not None and last.held_for == task.id:
            self._remember({one.task.path: one.content for one in self._files()})

    def review(self, task: Task) -> None:
        """It is implemented, and somebody looks at it now."""
        one = self._of(task)
        if one is not None:
            self._stamp(one, Stamp(word=Word.IN_REVIEW, by=self.seat(task), at=self._now()))

    def _close(self, last: "Kept") -> tuple[str, ...]:
        """A session is over of which nobody will hear any more."""
        task = next((one for one in self._by_name().values() if one.id == last.held_for), None)
        if task is None:
            return ()
        told = self._put_right(last, task)
        one = self._of(task)
        if one is not None and one.task.word is not self._word(task):
            self._stamp(one, self._due(task))
        return told

    def _put_right(self, last: "Kept", task: Task) -> tuple[str, ...]:
        """Bring back what a session may not change: everything but the status in its own file."""
        now = {one.task.path: one for one in self._files()}
        told = []
        for path in sorted({*now, *last.files}):
            before, one = last.files.get(path), now.get(path)
            if before is None:
                # New, and nobody has done it yet.
                if one is not None and one.task.word not in (None, Word.PENDING):
                    self._stamp(one, Stamp(word=Word.PENDING))
            elif wrong := self._wrong(path, before, one, task):
                told.append(wrong)
        return tuple(told)

    def _wrong(self, path: str, before: bytes, now: Found | None, task: Task) -> str:
        """Put one file back; what is worth a word about it."""
        if now is not None and now.content == before:
            return ""
        then = self._read(path, before)
        is_own = self._is_about(then.task, task)
        if now is not None and unstamped(now.encoded.text) == unstamped(then.encoded.text):
            if is_own:
                return ""
            self.library.put(path, before)
            return f"{path}: its status was moved by {task.name}, and is put back"
        kept = self._keep(path, now)
        word = now.task.word if now is not None and is_own else None
        text = stamped(then.encoded.text, Stamp(word=word)) if word else then.encoded.text
        self.library.put(path, then.encoded.bytes_of(text))
        return (
            f"{path} was changed while {task.name} was worked on, so it is put back{kept};"
            " edit it while no session is at work, such as after `ralph pause`"
        )

    def _bring_back(self) -> tuple[str, ...]:
        """It may write into the documents of the goal; who empties one takes away the plan."""
        gone = [path for path, text in self._needed.items() if text and not self._bytes(path)]
        for path in gone:
            self.library.put(path, self._needed[path])
        return (f"{some_of(gone)}: removed or emptied by the session, and back",) if gone else ()

    def _bytes(self, path: str) -> bytes:
        """Empty also where there is nothing to be read."""
        with suppress(RalphError):
            return self.library.content(path) or b""
        return b""

    def _keep(self, path: str, now: Found | None) -> str:
        """It may be a person who has changed it: nothing of theirs is lost."""
        if now is None or not now.content.strip():
            return ""
        # Named after what is in it: done twice, it is there once.
        digest = sha256(now.content).hexdigest()[:8]
        kept = f"{KEPT}/{basename(path).removesuffix(SUFFIX)}-{digest}{SUFFIX}"
        self.library.put(kept, now.content)
        return f"; what it was changed to is in {kept}"

    # What the store knows

    def _by_name(self) -> dict[str, Task]:
        found = self.store.tasks(Filter(feature=self.tasks.feature.id))
        return {task.alias: task for task in found if task.alias is not None}

    def _word(self, task: Task) -> Word:
        return word_of(task.status, in_review=task.review == OPEN_REVIEW)

    def _due(self, task: Task, word: Word | None = None) -> Stamp:
        """What its file is to say; when it is told later, still of then."""
        then = task.updated_at if word is None and task.status in SETTLED else ""
        word = word or self._word(task)
        return Stamp(
            word=word,
            by=self.seat(task) if task.attempt else "",
            at=to_the_second(then) or self._now(),
            reason=(task.reason or "") if word is Word.BLOCKED else "",
        )

    def _is_to_be_judged(self, task: TaskId) -> bool:
        sessions = self.store.sessions(task=task, limit=1)
        return bool(sessions) and sessions[-1].mark in UNJUDGED and self.tasks.has(task)

    def _last(self) -> "Kept | None":
        """All files as Ralph was last done with them."""
        paper = self.store.paper(self.key)
        if paper is None:
            return None
        files = msgspec.msgpack.decode(paper.content, type=dict[str, bytes])
        return Kept(files=files, held_for=paper.held_for)

    def _remember(self, files: Mapping[str, bytes], held_for: TaskId | None = None) -> None:
        content = msgspec.msgpack.encode(dict(files))
        paper = Paper(path=self.key, content=content, held_for=held_for)
        if paper != self.store.paper(self.key):
            self.store.keep_paper(paper)

    # The files

    def _now(self) -> str:
        return to_the_second(iso(self.clock.now()))

    def _of(self, task: Task) -> Found | None:
        return next((one for one in self._files() if self._is_about(one.task, task)), None)

    def _is_about(self, one: CodeTask, task: Task) -> bool:
        """Another goal may have a task of the same name."""
        return one.name == task.alias and task.feature_id == self.tasks.feature.id

    def _files(self) -> list[Found]:
        """In the order of their paths."""
        found = []
        for path in self._paths():
            # A session may have put anything in its place: then it is gone, and comes back.
            with suppress(RalphError):
                found.append(self._read(path, self._content(path)))
        return found

    def _paths(self) -> list[str]:
        return code_task_paths(self.library, self.folder)

    def _content(self, path: str) -> bytes:
        content = self.library.content(path)
        if content is None:
            raise Missing(f"{path} is gone")
        return content

    def _read(self, path: str, content: bytes) -> Found:
        encoded = decode(content)
        task = read_code_task(path, encoded.text, self.folder)
        return Found(content=content, encoded=encoded, task=task)

    def _stamp(self, one: Found, stamp: Stamp) -> bytes:
        content = one.encoded.bytes_of(stamped(one.encoded.text, stamp))
        if content != one.content:
            self.library.put(one.task.path, content)
        return content


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The files as they were, and whose session works since then."""

    files: dict[str, bytes]
    held_for: TaskId | None = None


def _as_it_was(then: Sequence[Found]) -> Prd | None:
    if not then:
        return None
    try:
        return as_prd(compiled([one.task for one in then]))
    except RalphError:
        # It could not be built as it was; then the edges are those that the store has.
        return as_prd([Placed(task=one.task) for one in then])


def code_task_paths(library: Library, folder: str, depth: int = DEEPEST) -> list[str]:
    """All files of code tasks in a folder and below it, in their order."""
    found = [f"{folder}/{name}" for name in library.files(folder, SUFFIX)]
    for name in library.folders(folder) if depth else ():
        found += code_task_paths(library, f"{folder}/{name}", depth - 1)
    return sorted(found)
