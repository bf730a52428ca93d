"""The files that one session sees of Ralph: a temporary folder, documents, placeholders."""

import contextlib
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph import files
from ralph.core.errors import Busy, CannotWrite
from ralph.core.json_text import NOT_JSON
from ralph.core.sandbox_rules import Access, PathRule, SandboxRules, is_inside

REPORTS: Final = ("validation", "blockers")
"""What Ralph itself has to say, though people read it like a document."""
WRITTEN: Final = (
    *("PRD_PATH", "PLAN_PATH", "PROGRESS_PATH", "GUARDRAILS_PATH"),
    *("ERRORS_LOG_PATH", "ACTIVITY_LOG_PATH"),
)
TEMPLATES: Final = ("PROMPT_PLAN", "PROMPT_BUILD")
"""Variables of `config.sh` by which people put them elsewhere."""


def documents(project: str, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Files in `.ralph`: all that are Markdown, but for reports, and what `config.sh` names."""
    state = os.path.join(project, ".ralph")
    found = [
        os.path.join(state, name)
        for name in files.names_in(state)
        if name.endswith(".md") and not name.startswith(REPORTS)
    ]
    named = (_whole(project, variables.get(key, "")) for key in WRITTEN)
    return tuple(dict.fromkeys((*found, *(path for path in named if is_inside(path, state)))))


def templates(project: str, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Those that `config.sh` names."""
    found = (_whole(project, variables[key]) for key in TEMPLATES if variables.get(key))
    return tuple(path for path in found if is_inside(path, project))


def _whole(project: str, path: str) -> str:
    return os.path.normpath(os.path.join(project, path)) if path else ""


PREFIX: Final = "ralph~"
LONGEST: Final = 60
"""A socket's whole path may have a hundred bytes only, and some people's TMPDIR is longer."""
TRIES: Final = 20
LIST: Final = "holding.json"
USERS: Final = "holding.lock"


def usual_temp() -> str:
    """Where temporary folders are made."""
    usual = tempfile.gettempdir()
    return usual if len(os.fsencode(usual)) <= LONGEST else "/tmp"


@contextlib.contextmanager
def command_folder() -> Iterator[str]:
    """A folder for one command, with `tmp` in it; locked, so that it is known to be in use."""
    where = usual_temp()
    with contextlib.ExitStack() as stack:
        for _ in range(TRIES):
            with files.or_cannot_write(f"make a folder in {where}", "set TMPDIR to another one"):
                folder = os.path.realpath(tempfile.mkdtemp(prefix=PREFIX, dir=where))
                # Before it is locked, another Ralph may take it for one that was left behind.
                with contextlib.suppress(FileNotFoundError, Busy):
                    stack.enter_context(files.lock_folder(folder, 0.0))
                    os.mkdir(os.path.join(folder, "tmp"), 0o700)
                    break
        else:
            raise CannotWrite(f"cannot make a folder in {where}: others remove it")
        stack.callback(remove, folder)
        yield folder


def remove_abandoned() -> None:
    """Remove the folders of commands whose Ralph was killed."""
    where = usual_temp()
    with contextlib.suppress(OSError), os.scandir(where) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError, Busy), files.lock_folder(entry.path, 0.0):
                    remove(entry.path)


def remove(folder: str) -> None:
    """A whole folder, also what was made unreadable in it."""
    with contextlib.suppress(OSError):
        files.remove_tree(folder)


class PlaceholderFolders:
    """Empty folders at paths that must not be created, as long as any sandbox needs them.

    Shared with other sandboxes around the same checkout: the last one removes them. Removed
    under another sandbox, they would open it.
    """

    def __init__(self, state: str) -> None:
        self._list = os.path.join(state, LIST)
        self._users = os.path.join(state, USERS)
        self._handle = -1

    def create(self, paths: Iterable[str]) -> None:
        try:
            os.makedirs(os.path.dirname(self._list), exist_ok=True)
            with files.lock_file(self._list, mode=0o600) as file:
                held = self._held(file)
                for path in paths:
                    folder = path
                    while not os.path.lexists(folder):
                        held[folder] = None
                        folder = os.path.dirname(folder)
                    os.makedirs(path, exist_ok=True)
                self._write(file, held)
                self._handle = files.open_lock(self._users, 0o600)
                fcntl.flock(self._handle, fcntl.LOCK_SH)
        except OSError as error:
            raise CannotWrite(f"cannot write {error.filename}: {error.strerror}") from error

    def remove(self) -> None:
        """Remove them, unless another sandbox needs them."""
        if self._handle < 0:
            return
        with contextlib.suppress(OSError), files.lock_file(self._list, mode=0o600) as file:
            # Refused as long as there is another user.
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for path in sorted(self._held(file), key=len, reverse=True):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
            self._write(file, {})
        os.close(self._handle)
        self._handle = -1

    def _held(self, file: int) -> dict[str, None]:
        with contextlib.suppress(ValueError, TypeError, RecursionError):
            return dict.fromkeys(json.loads(os.pread(file, 1 << 20, 0) or b"[]"))
        return {}

    def _write(self, file: int, paths: dict[str, None]) -> None:
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(list(paths)).encode(), 0)


SESSION_FOLDERS: Final = "folders"
ASIDE: Final = "planted"
UNSEEN: Final = (".lock", ".sock", "-wal", "-shm", "-journal", ".db")
"""Ends of names that no session needs."""
LARGEST: Final = 16 * 1024 * 1024


class SessionFolder:
    """The folder of one command."""

    def __init__(self, state: str, rules: SandboxRules) -> None:
        self._folder = os.path.join(state, SESSION_FOLDERS, os.urandom(6).hex())
        self._state = state
        self._home, self._names = rules.session_folder, rules.documents
        self._known = {place.path for place in rules.paths}
        with files.or_cannot_write(f"write {self._folder}"):
            os.makedirs(os.path.dirname(self._folder), mode=0o700, exist_ok=True)
            with files.lock_folder(state):
                os.mkdir(self._folder, mode=0o700)
                self._lock = contextlib.ExitStack()
                self._lock.enter_context(files.lock_folder(self._folder))
            for part in ("top", "before"):
                os.mkdir(os.path.join(self._folder, part), mode=0o700)
            what = msgspec.json.encode((os.fsencode(self._home), self._names))
            files.write_regular(os.path.join(self._folder, "what"), what)
            for name in self._names:
                self._lay_out(name)

    def _lay_out(self, name: str) -> None:
        real = os.path.join(self._home, name)
        content = _read(real)
        if content is None:
            return
        files.write_regular(os.path.join(self._folder, "before", name), content)
        there = os.path.join(self._folder, "top", name)
        try:
            os.link(real, there, follow_symlinks=False)
        except OSError:
            # Some file systems have no second names: then it is a copy, and taken in.
            shutil.copy2(real, there)

    def with_session_folder(self, rules: SandboxRules) -> SandboxRules:
        """The rules with this folder in the place of Ralph's own."""
        documents = {os.path.join(self._home, name) for name in self._names}
        kept = (place for place in rules.paths if place.path not in documents)
        return replace(rules, paths=(*kept, *self.places()))

    def places(self) -> Iterator[PathRule]:
        """The folder, and in it all that can only be read."""
        why = "documents, in a folder of the session's own"
        top = os.path.join(self._folder, "top")
        yield PathRule(path=self._home, access=Access.WRITE, why=why, source=top)
        for name in files.names_in(self._home):
            path = os.path.join(self._home, name)
            is_said = name in self._names or path in self._known
            if not is_said and not name.endswith(UNSEEN):
                yield PathRule(path=path, access=Access.READ, why="what judges", changes=True)

    def take_in_and_remove(self) -> list[str]:
        with self._lock:
            return take_in_documents(self._folder, self._state)


def clean_up_session_folders(state: str) -> list[str]:
    """The same for the folders of a Ralph that was killed."""
    said: list[str] = []
    with contextlib.suppress(OSError), files.lock_folder(state):
        for name in files.names_in(os.path.join(state, SESSION_FOLDERS)):
            folder = os.path.join(state, SESSION_FOLDERS, name)
            with contextlib.suppress(OSError, Busy), files.lock_folder(folder, 0.0):
                said += take_in_documents(folder, state)
    return said


def take_in_documents(folder: str, state: str) -> list[str]:
    """Every document that is another one now."""
    said: list[str] = []
    with contextlib.suppress(OSError, *NOT_JSON):
        what = files.read_regular(os.path.join(folder, "what"))
        home, names = msgspec.json.decode(what, type=tuple[bytes, tuple[str, ...]])
        for name in names:
            said += _take_in(folder, os.path.join(os.fsdecode(home), name), state)
    with contextlib.suppress(OSError):
        files.remove_tree(folder)
    return said


def _take_in(folder: str, real: str, state: str) -> list[str]:
    name = os.path.basename(real)
    left = os.path.join(folder, "top", name)
    if not os.path.lexists(left) or _is_same(left, real):
        return []
    before, now = _read(os.path.join(folder, "before", name)) or b"", _read(left)
    if now == before:
        return []
    try:
        if now is not None:
            # Every writer of a document takes this lock.
            with files.lock_file(f"{real}.lock"):
                found = _read(real)
                merged = _merged(before, now, found)
                if merged is not None:
                    files.replace_file(real, merged)
                    return []
        kept = os.path.join(state, ASIDE, f"{os.path.basename(folder)}-{name}")
        os.makedirs(os.path.dirname(kept), mode=0o700, exist_ok=True)
        os.rename(left, kept)
    except OSError as error:
        return [f"what a session wrote in {real} is lost: {error.strerror}"]
    why = "it is no file" if now is None else "it was changed at the same time"
    return [f"what a session wrote in {real} is {kept} now, since {why}"]


def _merged(before: bytes, now: bytes, found: bytes | None) -> bytes | None:
    """What a session made of a document and what others did meanwhile, together; None if that
    cannot be."""
    if found is None or found == before:
        return now
    if now.startswith(before):
        gap = b"\n" if found and not found.endswith(b"\n") else b""
        return found + gap + now[len(before) :]
    return found if found == now else None


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samestat(os.lstat(one), os.lstat(other))
    except OSError:
        return False


def _read(path: str) -> bytes | None:
    """Of a file, and nothing but a file: neither behind a link, nor out of a pipe."""
    try:
        return files.read_regular(path, os.O_NOFOLLOW, most=LARGEST)
    except OSError:
        return None
