"""After a command: has anything changed that no wall let it change, and has it left a trap?

A mount protects a file until somebody outside replaces that file: then it is open to whoever runs
inside. A file that is not there cannot be protected by a mount at all. So we look.
"""

import contextlib
import fcntl
import json
import os
import shutil
from typing import Final

import msgspec

from ralph.adapters.sandbox.aside import move_aside, put_back, write_new
from ralph.adapters.sandbox.mending import mend, originals, persons
from ralph.adapters.sandbox.plain import read_plain
from ralph.adapters.sandbox.refs import Refs, read_refs
from ralph.adapters.sandbox.terrain import frozen, missing
from ralph.adapters.sandbox.traps import DOT_GIT, Area, Kind, Trap, Traps, look, look_at_own
from ralph.core.errors import CannotWrite
from ralph.core.fence import Absent, Access, Fence, is_inside
from ralph.core.git_settings import LARGEST, without

Seen = tuple[int, int, int]

SETTINGS: Final = ("config", "config.worktree")
WATCHED: Final = "watched-"
MOST: Final = 20
"""Lines to say: a session may plant a thousand things."""


class Kept(msgspec.Struct, frozen=True, kw_only=True):
    """What was and was not there before a command; as it is written down."""

    absent: tuple[str, ...] = ()
    area: Area = Area()
    stamp: int = 0
    """When the command began, by the clock of the file system."""
    before: Traps = {}
    copies: dict[str, str] = {}
    """Of files that may have to be put back."""
    refs: dict[str, Refs] = {}
    is_open: bool = False
    """Without a sandbox: only what stops git is taken away."""

    def clear_up(self, state: str) -> tuple[list[str], Traps]:
        """Take away what was planted and put back what was spoilt. Say so, and what is there now
        that was there before."""
        said = [self._remove(path, state) for path in self.absent if os.path.lexists(path)]
        links = [] if self.is_open else self._links()
        said += [self._remove(path, state, Kind.POINTER) for path in links]
        now = look(self.area)
        for path in [] if self.is_open else self._led_elsewhere(now):
            said.append(self._point_back(path, state))
            now[path] = self.before[path]
        taken: set[str] = set()
        for path, trap in sorted(now.items()):
            news = self._news(path, trap)
            if news and (trap.kind is Kind.SPECIAL or not self.is_open):
                if os.path.lexists(path):
                    said += self._disarm(path, trap, news, state)
                    taken.add(path)
                now[path] = self.before.get(path, Trap(kind=trap.kind))
        said += mend(self.area.own, self.copies, self.refs, taken, state, is_open=self.is_open)
        if len(said) > MOST:
            said[MOST:] = [f"{len(said) - MOST} more such things were found, and moved to {state}"]
        return said, now

    def _news(self, path: str, trap: Trap) -> list[str]:
        """The parts that this command has made or changed."""
        old = self._old(path, trap)
        if old is None and trap.since >= self.stamp:
            return [*trap.parts]
        known = old.parts if old is not None else {}
        return [
            part for part, when in trap.parts.items() if part not in known and when >= self.stamp
        ]

    def _old(self, path: str, trap: Trap) -> Trap | None:
        old = self.before.get(path)
        return old if old is not None and old.kind is trap.kind else None

    def _disarm(self, path: str, trap: Trap, news: list[str], state: str) -> list[str]:
        if trap.kind is not Kind.REPOSITORY:
            return [self._remove(path, state, trap.kind)]
        if self._old(path, trap) is None and path not in self.area.own:
            return [_disarm(path, state)]
        parts: dict[str, list[str]] = {}
        for name, _, what in (part.partition("\0") for part in news):
            parts.setdefault(os.path.join(path, name), []).append(what)
        return [
            self._tame(part, odd, state)
            if os.path.basename(part) in SETTINGS
            else self._remove(part, state, trap.kind)
            for part, odd in parts.items()
            if os.path.lexists(part)
        ]

    def _tame(self, path: str, odd: list[str], state: str) -> str:
        """What else is new in it may be a person's."""
        rest = without(read_plain(path, LARGEST), odd)
        kept = move_aside(path, state)
        if rest is None:
            if path in self.copies:
                put_back(self.copies[path], path)
        else:
            write_new(path, rest)
        what = "; ".join(odd[:MOST])
        return f"{path} named what git would run ({what}): it no longer does, {kept} is what it was"

    def _remove(self, path: str, state: str, kind: Kind | None = None) -> str:
        """Move it aside, and put back what was there before."""
        kept = move_aside(path, state)
        if not kept:
            return f"{path} appeared, and cannot be taken away: remove it"
        if path in self.copies:
            put_back(self.copies[path], path)
            why = "which is not a session's to do"
            return f"{path} was changed, {why}: it is as before, {kept} is what it was made"
        why = f" ({kind})" if kind in (Kind.SPECIAL, Kind.LINK, Kind.POINTER) else ""
        return f"{path} appeared, where nothing may be put{why}: it is {kept} now"

    def _point_back(self, path: str, state: str) -> str:
        (old,) = self.before[path].parts
        kept = move_aside(path, state)
        if old.startswith("-> "):
            with contextlib.suppress(OSError):
                os.symlink(old.removeprefix("-> "), path)
        else:
            write_new(path, os.fsencode(old))
        return f"{path} led to another repository: it is as before, {kept} is what it was made"

    def _led_elsewhere(self, now: Traps) -> list[str]:
        """Pointers that are others now, or repositories themselves."""
        return [
            path
            for path, old in self.before.items()
            if old.kind is Kind.POINTER
            and os.path.lexists(path)
            and (path not in now or old.parts.keys() != now[path].parts.keys())
            and (path not in now or now[path].since >= self.stamp)
        ]

    def _links(self) -> list[str]:
        """In the place of folders with a pointer in them: what git writes there would go where the
        link leads."""
        found = {}
        for path, trap in self.before.items():
            folder = os.path.dirname(path)
            while trap.kind is Kind.POINTER and folder not in self.area.roots and folder != "/":
                if os.path.islink(folder):
                    found[folder] = path
                folder = os.path.dirname(folder)
        return [*found]


class Watch:
    """What everything was like before one command. Whoever is killed before they have looked leaves
    it written down: the next one looks in their place."""

    def __init__(
        self,
        state: str,
        fence: Fence,
        before: Traps | None = None,
        *,
        is_weak: bool = False,
        is_open: bool = False,
    ) -> None:
        """`before` is what the last one has found; a weak wall does not keep sessions from writing
        in folders of git, an open one from nothing at all."""
        self._state = state
        self._list = os.path.join(state, f"{WATCHED}{os.urandom(4).hex()}.json")
        self._folder = self._list.removesuffix(".json")
        try:
            os.makedirs(self._folder, mode=0o700)
            self._handle = os.open(self._list, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            noted = self._note(fence, before, is_weak=is_weak)
            self._kept = msgspec.structs.replace(noted, is_open=is_open)
            self._protected = {path: _see(path) for path in frozen(fence)}
            # Anew: what was changed at this very moment may be of this command.
            os.pwrite(self._handle, json.dumps(msgspec.to_builtins(self._kept)).encode(), 0)
        except OSError as error:
            raise CannotWrite(f"cannot write {self._list}: {error.strerror}") from error

    def _note(self, fence: Fence, before: Traps | None, *, is_weak: bool) -> Kept:
        area = area_of(fence, is_weak=is_weak)
        seen = look(area) if before is None else {**before, **look_at_own(area)}
        copies = originals(area, seen, self._folder)
        refs = {fence.git: persons(read_refs(fence.git))}
        absent = tuple(missing(fence, Absent.CLEAR))
        os.pwrite(self._handle, b"\n", 0)
        now = os.fstat(self._handle)
        area = msgspec.structs.replace(area, device=now.st_dev)
        return Kept(
            absent=absent,
            area=area,
            stamp=now.st_ctime_ns,
            before=seen,
            copies=copies,
            refs=refs,
        )

    def end(self) -> tuple[list[str], Traps]:
        """Clear up; say what has changed, and what there is now."""
        changed = [path for path, before in self._protected.items() if _see(path) != before]
        said, now = self._kept.clear_up(self._state)
        said += [
            f"{path} was changed meanwhile, by you or from inside: look at it" for path in changed
        ]
        with contextlib.suppress(OSError):
            os.unlink(self._list)
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._handle)
        return said, now


def area_of(fence: Fence, *, is_weak: bool) -> Area:
    """Where sessions can write."""
    own = {folder for folder in (fence.git, fence.git_dir) if folder}
    closed = (
        place.path
        for place in fence.places
        if place.access is not Access.WRITE
        and not (is_weak and any(is_inside(place.path, folder) for folder in own))
    )
    return Area(
        # What stays lies in another one.
        roots=tuple(
            {p.path: None for p in fence.places if p.access is Access.WRITE and not p.stays}
        ),
        closed=tuple(closed),
        own=tuple(own),
    )


def look_after_the_dead(state: str) -> list[str]:
    """Clear up after commands of somebody who was killed."""
    said: list[str] = []
    with contextlib.suppress(OSError):
        for name in os.listdir(state):
            if name.startswith(WATCHED) and name.endswith(".json"):
                said += _look_once(os.path.join(state, name), state)
    return said


def _look_once(path: str, state: str) -> list[str]:
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with os.fdopen(handle, "rb", closefd=False) as file:
            # Not by msgspec: names of files need not be text.
            kept = msgspec.convert(json.loads(file.read().strip() or b"{}"), Kept)
        said, _ = kept.clear_up(state)
        os.unlink(path)
        shutil.rmtree(path.removesuffix(".json"), ignore_errors=True)
        return said
    except (OSError, ValueError):
        return []
    finally:
        os.close(handle)


def _disarm(repository: str, state: str) -> str:
    """Without its HEAD a folder is no repository. A `.git` goes as a whole: git stumbles over what
    is left of one."""
    is_all = os.path.basename(repository) in DOT_GIT
    part = repository if is_all else os.path.join(repository, "HEAD")
    kept = move_aside(part, state)
    what = f"git would run something in {repository}, which was not so before"
    if kept:
        return f"{what}: {'it' if is_all else part} is {kept} now"
    return f"{what}, and {part} cannot be taken away: remove it"


def _see(path: str) -> Seen | None:
    with contextlib.suppress(OSError):
        found = os.lstat(path)
        # A folder's time changes with what is in it, which is protected by itself.
        return (found.st_ino, found.st_dev, 0 if os.path.isdir(path) else found.st_mtime_ns)
    return None
