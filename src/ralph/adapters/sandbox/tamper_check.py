"""After a command: check whether protected files changed or dangerous files were planted.

A mount protects a file until a program outside replaces that file: then sessions can write it. A
file that does not exist cannot be protected by a mount at all. So Ralph checks.
"""

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final

import msgspec

from ralph.adapters.sandbox import git_repair
from ralph.adapters.sandbox.planted_files import (
    DOT_GIT,
    STOPS_GIT,
    PlantedFile,
    PlantedFiles,
    PlantedKind,
    SearchArea,
    find_in_git_folders,
    find_planted_files,
)
from ralph.adapters.sandbox.resolved_paths import missing_paths, protected_paths
from ralph.core.sandbox_rules import Access, IfMissing, SandboxRules, is_inside
from ralph.core.unsafe_git_config import LARGEST, without_settings
from ralph.files import lock_folder, names_in, or_cannot_write, read_start, try_lock, write_regular

FileStamp = tuple[int, int, int]

SETTINGS: Final = ("config", "config.worktree")
WATCHED: Final = "watched-"
MOST: Final = 20
"""Lines to say: a session may plant a thousand things."""
VARIABLE: Final = "RALPH_WATCH"
"""In the environment of every watched command: finds its processes after Ralph was killed."""
LOCK_S: Final = 60.0
"""While one process clears up, no other one begins a command or clears up as well."""
NOTES: Final = "cleared.json"

STEP_NS: Final = 50_000_000
"""File times may lag behind the clock by less."""

Sweep = Callable[[str], object]
"""Ends all processes with a variable in their environment, `NAME=value`."""


class FilesBefore(msgspec.Struct, frozen=True, kw_only=True):
    """The protected files before a command, as stored on disk."""

    absent: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    """Protected folders that a weak sandbox cannot keep empty."""
    area: SearchArea = SearchArea()
    stamp: int = 0
    """When the command began, by the clock of the file system."""
    ahead: int = 0
    """How far that clock was ahead of one that is never set."""
    device: int = -1
    """That file system."""
    before: PlantedFiles = {}
    copies: dict[str, str] = {}
    """Of files that may have to be restored."""
    refs: dict[str, git_repair.Refs] = {}
    links: dict[str, str] = {}
    """Protected places that are symbolic links, and where they lead: a mount holds only that."""
    kept_objects: str = ""
    """The folder with second names of the repository's objects."""
    is_open: bool = False
    """Without a sandbox: only what stops git is taken away."""

    def clear_up(self, state: str) -> tuple[list[str], PlantedFiles]:
        """Take away what was planted and restore what was spoilt. Say so, and what is there now
        that was there before."""
        set_back = self._clock_set_back(state)
        if set_back > STEP_NS:
            # What the command made looks older than it is.
            stamp, ahead = self.stamp - set_back, self.ahead - set_back
            return msgspec.structs.replace(self, stamp=stamp, ahead=ahead).clear_up(state)
        said = self._clear_places(state)
        links = [] if self.is_open else self._links()
        said += [self._remove(path, state, PlantedKind.POINTER) for path in links]
        said += [
            _put_back(path, f"-> {target}", state, "is a link, which is not a session's to change")
            for path, target in self.links.items()
            if not _leads(path, target)
        ]
        now = find_planted_files(self.area)
        # Before anything is moved, which changes the folders around it.
        news = {path: self._news(path, trap) for path, trap in now.items()}
        for path in [] if self.is_open else self._led_elsewhere(now):
            (old,) = self.before[path].parts
            said.append(_put_back(path, old, state, "led to another repository"))
            now[path], news[path] = self.before[path], []
        for git in self.refs:
            if self.kept_objects:
                said += git_repair.restore_objects(git, self.kept_objects)
            if not self.is_open:
                said += git_repair.take_away_forged_objects(
                    git, self.kept_objects, self._has_changed, state
                )
        taken: set[str] = set()
        for path, trap in sorted(now.items()):
            if news[path] and (trap.kind in STOPS_GIT or not self.is_open):
                if os.path.lexists(path):
                    said += self._disarm(path, trap, news[path], state)
                    taken.add(path)
                if path in self.before:
                    now[path] = self.before[path]
                else:
                    del now[path]
        said += git_repair.repair_repository(
            self.area.own, self.copies, self.refs, taken, state, is_open=self.is_open
        )
        if not self.is_open:
            self._doubt_indexes()
        if len(said) > MOST:
            said[MOST:] = [f"{len(said) - MOST} more such things were found, and moved to {state}"]
        return said, now

    def _clock_set_back(self, state: str) -> int:
        with contextlib.suppress(OSError):
            os.utime(state)
            return self.ahead - _ahead(os.stat(state))
        return 0  # a session without a sandbox has removed it

    def _clear_places(self, state: str) -> list[str]:
        """Where nothing may be."""
        appeared = (path for path in self.absent if os.path.lexists(path))
        said = [self._remove(path, state) for path in appeared if self._may_be_written(path)]
        for path in self.empty:
            if os.path.lexists(path) and not _is_empty_folder(path):
                said.append(self._remove(path, state))
                with contextlib.suppress(OSError):
                    os.mkdir(path)
        return said

    def _doubt_indexes(self) -> None:
        for path in (os.path.join(git, "index") for git in self.area.own):
            if path not in self.area.closed:
                git_repair.doubt_index(path, self.copies.get(path, ""))

    def _may_be_written(self, path: str) -> bool:
        """Could a session write there, or does a link in its place lead to a person's files?"""
        folder = os.path.realpath(os.path.dirname(path))
        places = (*self.area.roots, *self.area.closed)
        around = max((one for one in places if is_inside(folder, one)), key=len, default="")
        return around in self.area.roots

    def _news(self, path: str, trap: PlantedFile) -> list[str]:
        """The parts that this command has made, changed or moved there."""
        old = self._old(path, trap)
        if old is None and self._has_changed(path, self.area.roots):
            return [*trap.parts]
        known = {*old.parts} if old is not None else ()
        return [part for part in trap.parts if part not in known and self._is_new(path, trap, part)]

    def _is_new(self, path: str, trap: PlantedFile, part: str) -> bool:
        if trap.kind is not PlantedKind.REPOSITORY:
            return self._has_changed(path, self.area.roots)
        return self._has_changed(os.path.join(path, part.partition("\0")[0]), (path,))

    def _has_changed(self, path: str, tops: Collection[str]) -> bool:
        """Since the command began: itself, or a folder on the way to it from one of the `tops`.
        What is in a folder that is moved or opened keeps its own times."""
        is_top = False
        while not is_top:
            try:
                found = os.lstat(path)
            except OSError:
                return True
            # Another file system may have another clock: nothing there counts as old.
            if found.st_ctime_ns >= self.stamp or found.st_dev != self.device:
                return True
            path = os.path.dirname(path)
            is_top = path in tops or path == "/"
        return False

    def _old(self, path: str, trap: PlantedFile) -> PlantedFile | None:
        old = self.before.get(path)
        return old if old is not None and old.kind is trap.kind else None

    def _disarm(self, path: str, trap: PlantedFile, news: list[str], state: str) -> list[str]:
        if trap.kind is not PlantedKind.REPOSITORY:
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
        rest = without_settings(read_start(path, LARGEST), odd)
        kept = git_repair.move_aside(path, state)
        if rest is None:
            if path in self.copies:
                git_repair.put_back(self.copies[path], path)
        else:
            git_repair.write_new(path, rest)
        what = "; ".join(odd[:MOST])
        return f"{path} named what git would run ({what}): it no longer does, {kept} is what it was"

    def _remove(self, path: str, state: str, kind: PlantedKind | None = None) -> str:
        """Move it aside, and restore what was there before."""
        kept = git_repair.move_aside(path, state)
        if not kept:
            return f"{path} appeared, and cannot be taken away: remove it"
        if path in self.copies:
            git_repair.put_back(self.copies[path], path)
            why = "which is not a session's to do"
            return f"{path} was changed, {why}: it is as before, {kept} is what it was made"
        is_plain = kind in (None, PlantedKind.STEERING, PlantedKind.REPOSITORY)
        why = "" if is_plain else f" ({kind})"
        return f"{path} appeared, where nothing may be put{why}: it is {kept} now"

    def _led_elsewhere(self, now: PlantedFiles) -> list[str]:
        """Pointers that are others now, or repositories themselves."""
        return [
            path
            for path, old in self.before.items()
            if old.kind is PlantedKind.POINTER
            and os.path.lexists(path)
            and (path not in now or old.parts != now[path].parts)
            and (path not in now or self._has_changed(path, self.area.roots))
        ]

    def _links(self) -> list[str]:
        """In the place of folders with a pointer in them: what git writes there would go where the
        link leads."""
        found = {}
        for path, trap in self.before.items():
            folder = os.path.dirname(path)
            while (
                trap.kind is PlantedKind.POINTER and folder not in self.area.roots and folder != "/"
            ):
                if os.path.islink(folder):
                    found[folder] = path
                folder = os.path.dirname(folder)
        return [*found]


class TamperCheck:
    """Compares the files before and after one command. If Ralph is killed in between, the next run
    does the comparison."""

    def __init__(
        self,
        state: str,
        rules: SandboxRules,
        before: PlantedFiles | None = None,
        *,
        kept_objects: git_repair.KeptObjects | None = None,
        is_weak: bool = False,
        is_open: bool = False,
    ) -> None:
        """`before` is what the last one has found; a weak sandbox does not keep sessions from
        writing in folders of git, an open one from nothing at all."""
        self._state = state
        self._list = os.path.join(state, f"{WATCHED}{os.urandom(4).hex()}.json")
        self._folder = self._list.removesuffix(".json")
        self.name = os.path.basename(self._folder)
        """The value of VARIABLE for the command."""
        with or_cannot_write(f"write {self._list}"):
            os.makedirs(self._folder, mode=0o700)
            with lock_folder(state, LOCK_S):
                self._handle = os.open(self._list, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                try_lock(self._handle)
            folder = ""
            if kept_objects is not None:
                kept_objects.update()
                folder = kept_objects.folder
            protected = protected_paths(rules)
            noted = self._note(rules, protected, before, is_weak=is_weak)
            self._kept = msgspec.structs.replace(noted, is_open=is_open, kept_objects=folder)
            self._protected = {path: _see(path) for path in protected}
            # Anew: what was changed at this very moment may be of this command.
            os.pwrite(self._handle, json.dumps(msgspec.to_builtins(self._kept)).encode(), 0)

    def _note(
        self,
        rules: SandboxRules,
        protected: Sequence[str],
        before: PlantedFiles | None,
        *,
        is_weak: bool,
    ) -> FilesBefore:
        area = search_area_of(rules, is_weak=is_weak)
        seen = (
            find_planted_files(area) if before is None else {**before, **find_in_git_folders(area)}
        )
        copies = git_repair.copy_originals(area, seen, self._folder)
        refs = {rules.git: git_repair.user_refs(git_repair.read_refs(rules.git))}
        absent = tuple(missing_paths(rules, IfMissing.CLEAR))
        empty = tuple(path for path in protected if is_weak and _is_empty_folder(path))
        links = {path: os.readlink(path) for path in protected if os.path.islink(path)}
        os.pwrite(self._handle, b"\n", 0)
        now = os.fstat(self._handle)
        return FilesBefore(
            absent=absent,
            empty=empty,
            area=area,
            stamp=now.st_ctime_ns,
            ahead=_ahead(now),
            device=now.st_dev,
            before=seen,
            copies=copies,
            refs=refs,
            links=links,
        )

    def end(self) -> tuple[list[str], PlantedFiles]:
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


def _ahead(written_now: os.stat_result) -> int:
    """How far the clock of a file system is ahead of the time since the machine was started."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return written_now.st_ctime_ns - time.clock_gettime_ns(clock)


def search_area_of(rules: SandboxRules, *, is_weak: bool) -> SearchArea:
    """Where sessions can write."""
    own = {folder for folder in (rules.git, rules.git_dir) if folder}
    closed = (
        place.path
        for place in rules.paths
        if place.access is not Access.WRITE
        # A session may put something in the place of what is not there.
        and os.path.lexists(place.path)
        and not (is_weak and _is_of_git(place.path, own))
    )
    return SearchArea(
        # What stays lies in another one.
        roots=tuple(
            {p.path: None for p in rules.paths if p.access is Access.WRITE and not p.stays}
        ),
        closed=tuple(closed),
        own=tuple(own),
    )


def _is_of_git(path: str, own: Iterable[str]) -> bool:
    return ".git" in path.split("/") or any(is_inside(path, folder) for folder in own)


def clean_up_after_killed(state: str, sweep: Sweep = lambda _: None) -> list[str]:
    """Clear up after commands of a Ralph that was killed: end their processes, then disarm what
    they planted. Returns what was found, now and by others since the last run."""
    if not os.path.isdir(state):
        return []
    with lock_folder(state, LOCK_S):
        said = _take_notes(state)
        for name in names_in(state):
            if name.startswith(WATCHED) and name.endswith(".json"):
                said += _look_once(os.path.join(state, name), state, sweep)
    return said


def leave_notes(state: str, said: list[str]) -> None:
    """Keep what was found for the next run, which tells it."""
    with lock_folder(state, LOCK_S), contextlib.suppress(OSError):
        notes = [*_take_notes(state), *said][:MOST]
        write_regular(os.path.join(state, NOTES), json.dumps(notes).encode())


def _take_notes(state: str) -> list[str]:
    path = os.path.join(state, NOTES)
    notes: list[str] = []
    with contextlib.suppress(ValueError, RecursionError, msgspec.ValidationError):
        notes = msgspec.convert(json.loads(read_start(path, LARGEST) or b"[]"), list[str])
    with contextlib.suppress(OSError):
        os.unlink(path)
    return notes


def _look_once(path: str, state: str, sweep: Sweep) -> list[str]:
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        if not try_lock(handle) or not os.fstat(handle).st_nlink:
            return []  # its owner is at work, or has looked meanwhile
        # A command that still runs would plant more behind us.
        sweep(f"{VARIABLE}={os.path.basename(path).removesuffix('.json')}")
        with os.fdopen(handle, "rb", closefd=False) as file:
            # Not by msgspec: names of files need not be text.
            kept = msgspec.convert(json.loads(file.read().strip() or b"{}"), FilesBefore)
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
    kept = git_repair.move_aside(part, state)
    what = f"git would run something in {repository}, which was not so before"
    if kept:
        return f"{what}: {'it' if is_all else part} is {kept} now"
    return f"{what}, and {part} cannot be taken away: remove it"


def _leads(path: str, target: str) -> bool:
    try:
        return os.readlink(path) == target
    except OSError:
        return False


def _put_back(path: str, old: str, state: str, why: str) -> str:
    """Restore a link (`-> TARGET`), or a file with that text."""
    kept = git_repair.move_aside(path, state) if os.path.lexists(path) else ""
    if old.startswith("-> "):
        with contextlib.suppress(OSError):
            os.symlink(old.removeprefix("-> "), path)
    else:
        git_repair.write_new(path, os.fsencode(old))
    what = f", {kept} is what it was made" if kept else ""
    return f"{path} {why}: it is as before{what}"


def _is_empty_folder(path: str) -> bool:
    try:
        return not os.path.islink(path) and not os.listdir(path)
    except OSError:
        return False


def _see(path: str) -> FileStamp | None:
    with contextlib.suppress(OSError):
        found = os.lstat(path)
        # A folder's time changes with what is in it, which is protected by itself.
        return (found.st_ino, found.st_dev, 0 if os.path.isdir(path) else found.st_mtime_ns)
    return None
