"""Copy what a repository cannot do without before a command, give its objects second names, and
restore what was damaged. What must not stay is moved aside; nothing is deleted."""

import contextlib
import os
import re
import shutil
import stat
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from hashlib import sha1, sha256
from typing import Final

from ralph.adapters.sandbox.planted_files import PlantedFiles, PlantedKind, SearchArea
from ralph.adapters.sandbox.session_files import remove
from ralph.core.errors import Busy
from ralph.core.git_index import SHARED, is_safe_index, shared_index, without_assumptions
from ralph.files import (
    create_regular,
    lock_folder,
    names_in,
    open_regular,
    read_start,
    walk,
    write_regular,
)

NAME: Final = rb"refs/[^\x00-\x20\x7f~^:?*\[\\]+"
VALUE: Final = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})\s*|ref: " + NAME + rb"\s*")
PACKED: Final = re.compile(rb"#.*|([0-9a-f]{40,64}) (" + NAME + rb")|\^[0-9a-f]{40,64}")
LOGGED: Final = re.compile(rb"[0-9a-f]{40,64} ([0-9a-f]{40,64}) ")
REPLACED: Final = "refs/replace/"
REMOTES: Final = "refs/remotes/"
SYMBOLIC: Final = "ref: "
DEEPEST: Final = 5
"""So many symbolic refs git follows, one after the other."""
MOST_BORROWED: Final = 1 << 16
MOST_PLACES: Final = 20
Refs = dict[str, str]


def read_refs(common: str) -> Refs:
    """By name, also what is stashed. What is no ref has an empty value, and so has one that leads
    nowhere or in circles; those of remotes may."""
    found = dict(packed_refs(os.path.join(common, "packed-refs")))
    found.update(_loose(os.path.join(common, "refs")))
    found.update(_stashed(os.path.join(common, "logs", "refs", "stash")))
    lost = [name for name, value in found.items() if not commit_of(value, found)]
    return found | dict.fromkeys((name for name in lost if not name.startswith(REMOTES)), "")


def commit_of(value: str, refs: Refs) -> str:
    """The commit to which the value of a ref, or of a head, leads; empty if to none."""
    for _ in range(DEEPEST):
        if not value.startswith(SYMBOLIC):
            return value
        value = refs.get(value.removeprefix(SYMBOLIC), "")
    return ""


def has_object(common: str, name: str) -> bool:
    """Is there such an object, in a repository or in those that it borrows from?"""
    places = [os.path.join(common, "objects")]
    for place in places:  # grows meanwhile
        borrowed = read_start(os.path.join(place, "info", "alternates"), MOST_BORROWED)
        found = (os.path.join(place, os.fsdecode(line)) for line in borrowed.splitlines())
        places += [one for one in found if one not in places][: MOST_PLACES - len(places)]
    if any(os.path.isfile(os.path.join(place, name[:2], name[2:])) for place in places):
        return True
    packs = (os.path.join(place, "pack") for place in places)
    lists = (os.path.join(pack, one) for pack in packs for one in names_in(pack))
    raw = bytes.fromhex(name)
    return any(raw in read_start(path, LARGEST) for path in lists if path.endswith(".idx"))


def packed_refs(path: str) -> Iterator[tuple[str, str]]:
    for line in read_start(path, LARGEST).split(b"\n"):
        if (match := PACKED.fullmatch(line)) and match[2]:
            yield os.fsdecode(match[2]), match[1].decode()


def is_packed(path: str, before: str) -> bool:
    """Is it a file of refs, of which none replaces an object that was not replaced before?"""
    lines = read_start(path, LARGEST).removesuffix(b"\n").split(b"\n")
    known = {name for name, _ in packed_refs(before)}
    replaced = {name for name, _ in packed_refs(path) if name.startswith(REPLACED)}
    return replaced <= known and all(not line or PACKED.fullmatch(line) for line in lines)


def is_head(path: str) -> bool:
    return VALUE.fullmatch(read_start(path, 4096)) is not None


def value_of(head: str) -> str:
    return os.fsdecode(read_start(head, 4096)).strip()


def branch_of(head: str) -> str:
    """The ref to which a head leads; empty if it is detached."""
    return value_of(head).partition(SYMBOLIC)[2]


def _loose(refs: str) -> Iterator[tuple[str, str]]:
    above = len(os.path.dirname(refs)) + 1
    for folder, _, names in walk(refs):
        for path in (os.path.join(folder, name) for name in names if not name.endswith(".lock")):
            value = read_start(path, 4096)
            yield path[above:], os.fsdecode(value).strip() if VALUE.fullmatch(value) else ""


def _stashed(log: str) -> Iterator[tuple[str, str]]:
    """All but the last is in this log only."""
    for line in read_start(log, LARGEST).split(b"\n"):
        if match := LOGGED.match(line):
            yield f"refs/stashed/{match[1].decode()}", match[1].decode()


NEEDED: Final = ("HEAD", "index", "packed-refs", "config", "commondir", "gitdir")
LARGEST: Final = 1 << 28
SMALL: Final = 1 << 20
MOVED_REFS: Final = "refs/ralph/moved"


def copy_originals(area: SearchArea, seen: PlantedFiles, folder: str) -> dict[str, str]:
    """Copies in a folder, by the path of the original."""
    wanted = {os.path.join(git, name): LARGEST for git in area.own for name in _needed(git)}
    for path, trap in seen.items():
        if trap.kind is PlantedKind.REPOSITORY:
            names = ("config", "index", *(part.partition("\0")[0] for part in trap.parts))
            wanted = dict.fromkeys((os.path.join(path, name) for name in names), SMALL) | wanted
    copies = {path: os.path.join(folder, str(at)) for at, path in enumerate(wanted)}
    return {path: copy for path, copy in copies.items() if copy_plain(path, copy, wanted[path])}


def _needed(git: str) -> tuple[str, ...]:
    """With the rest of an index that is split."""
    return (*NEEDED, *(name for name in names_in(git) if name.startswith(SHARED)))


def repair_repository(
    own: Iterable[str],
    copies: Mapping[str, str],
    refs: Mapping[str, Refs],
    taken: Collection[str],
    state: str,
    *,
    is_open: bool = False,
) -> list[str]:
    """Restore what is missing or no longer what git can read; say so. What was `taken` away stood
    in the place of something. Without a sandbox (`is_open`) branches may be moved."""
    said, lost = [], False
    needed = (os.path.join(git, name) for git in own if os.path.isdir(git) for name in NEEDED)
    shared = (path for path in copies if os.path.basename(path).startswith(SHARED))
    for path in (*needed, *shared):
        copy = copies.get(path, "")
        if (not copy and not os.path.lexists(path)) or _is_whole(path, copy):
            continue
        kept = move_aside(path, state) if os.path.lexists(path) else ""
        is_back = bool(copy) and put_back(copy, path)
        what = f"{path} was {'spoilt' if kept else 'removed'}"
        what += ": it is as before" if is_back else ""
        said.append(what + (f", {kept} is what it was made" if kept else ""))
        lost = lost or os.path.basename(path) == "packed-refs"
    for git, before in refs.items():
        gone = frozenset(before if lost else (os.path.relpath(path, git) for path in taken))
        if os.path.isdir(git):
            said += _fix_refs(git, before, copies, gone, state, is_open=is_open)
            said += _restore_heads(git, before, copies, state)
    return said


def _restore_heads(git: str, before: Refs, copies: Mapping[str, str], state: str) -> Iterator[str]:
    """Restore a head that led to a commit and leads to none any more: no git could work there."""
    now: Refs | None = None
    for path, copy in copies.items():
        if os.path.basename(path) != "HEAD" or not os.path.isdir(os.path.dirname(path)):
            continue
        old, value = value_of(copy), value_of(path)
        then = commit_of(old, before)
        if value == old or not then:
            continue
        now = read_refs(git) if now is None else now
        commit = commit_of(value, now)
        if commit != then and not (commit and has_object(git, commit)):
            kept = move_aside(path, state)
            put_back(copy, path)
            yield f"{path} led to no commit: it is as before, {kept} is what it was made"


def _is_whole(path: str, copy: str) -> bool:
    match os.path.basename(path):
        case "HEAD":
            return is_head(path)
        case "index":
            return _is_index(path, copy)
        case "packed-refs":
            return os.path.isfile(path) and is_packed(path, copy)
        case _:
            return os.path.isfile(path)


def _is_index(path: str, copy: str) -> bool:
    """With the right sum at its end, if it has one: git can be told to write zeros in its place.
    And without a path that git would not add."""
    content, before = read_start(path, LARGEST + 1), read_start(copy, LARGEST)
    if len(content) > LARGEST:
        return not copy
    if content == before:
        return bool(content)
    if content[-20:] == bytes(20) and before[-20:] not in (b"", bytes(20)):
        return False
    if not is_safe_index(content):
        return False
    shared = shared_index(content)
    return not shared or os.path.lexists(os.path.join(os.path.dirname(path), shared))


def doubt_index(path: str, copy: str) -> None:
    """Take out of a changed index what git would believe: otherwise neither a person's git nor
    Ralph's own sees that something is staged, or that a file is another one."""
    if read_start(path, LARGEST) == read_start(copy, LARGEST):
        return
    # Every git that changes the index holds the first of these.
    for draft in (f"{path}.lock", f"{path}.{os.urandom(6).hex()}.lock"):
        with contextlib.suppress(OSError):
            create_regular(draft, os.O_EXCL).close()
            content, before = read_start(path, LARGEST), read_start(copy, LARGEST)
            try:
                write_regular(draft, without_assumptions(content, before))
                # If it looked younger, git would believe what is as before more than then.
                shutil.copystat(copy or path, draft)
                os.replace(draft, path)
            except OSError:
                os.unlink(draft)
            return


def _fix_refs(
    git: str,
    before: Refs,
    copies: Mapping[str, str],
    gone: Collection[str],
    state: str,
    *,
    is_open: bool,
) -> Iterator[str]:
    """Those that are `gone` were not deleted by git."""
    now = read_refs(git)
    heads = {path: copy for path, copy in copies.items() if os.path.basename(path) == "HEAD"}
    needed, moving = {*map(branch_of, heads)}, {*map(branch_of, heads.values())}
    for name in {**before, **now}:
        old, value = before.get(name, ""), now.get(name)
        path = os.path.join(git, name)
        if value and old not in ("", value) and _leads_astray(git, old, value):
            value = ""
        if value == "" != old or (old and value is None and (name in gone or name in needed)):
            kept = move_aside(path, state) if os.path.lexists(path) else ""
            is_back = write_new(path, os.fsencode(f"{old}\n"))
            what = "it is as before" if is_back else f"it was at {old}"
            yield f"{path} was spoilt: {what}" + (f", {kept} is what it was made" if kept else "")
        elif value == "" and name not in before and os.path.lexists(path):
            yield f"{path} is no ref: it is {move_aside(path, state)} now"
        elif old not in ("", value) and name not in needed | moving and not is_open:
            kept_ref = f"{MOVED_REFS}/{old[:12]}/{name.removeprefix('refs/')}"
            write_new(os.path.join(git, kept_ref), os.fsencode(f"{old}\n"))
            where = "gone" if value is None else f"at {value[:12]}"
            yield (
                f"{name} was at {old[:12]} and is {where} now, by you or from inside:"
                f" {kept_ref} is where it was"
            )


def _leads_astray(git: str, old: str, value: str) -> bool:
    """Does a ref that named a commit name another ref now, or an object that is not there?"""
    if old.startswith(SYMBOLIC):
        return False
    return value.startswith(SYMBOLIC) or not has_object(git, value)


def user_refs(refs: Refs) -> Refs:
    """Without those of Ralph and of remotes, which move at any time."""
    others = ("refs/ralph/", "refs/remotes/")
    return {name: value for name, value in refs.items() if not name.startswith(others)}


PLACE: Final = "planted"
LONGEST: Final = 200
"""Bytes of a name that are kept: with a stamp before it, a longer one could not be given."""


def move_aside(path: str, state: str) -> str:
    """Where it is now; empty if it cannot be moved."""
    aside = os.path.join(state, PLACE)
    end = os.fsdecode(os.fsencode(os.path.basename(path))[:LONGEST])
    name = f"{time.time_ns()}-{end}"
    with contextlib.suppress(OSError):
        os.makedirs(aside, mode=0o700, exist_ok=True)
    # On another file system it stays where it is, by another name.
    for kept in (os.path.join(aside, name), os.path.join(os.path.dirname(path), f"planted-{name}")):
        if _rename(path, kept):
            _disarm(kept)
            return kept
    return ""


def _rename(path: str, kept: str) -> bool:
    for _ in range(2):
        try:
            os.rename(path, kept)
            return True
        except PermissionError:
            # To move a folder its owner must be able to write in it, too.
            for folder in (os.path.dirname(path), path):
                with contextlib.suppress(OSError):
                    if stat.S_ISDIR(os.lstat(folder).st_mode):
                        os.chmod(folder, stat.S_IMODE(os.lstat(folder).st_mode) | 0o700)
        except OSError:
            return False
    return False


def _disarm(moved: str) -> None:
    """What was a repository is none there, either."""
    if os.path.islink(moved):
        return
    found = [
        os.path.join(folder, name)
        for folder, folders, files in walk(moved)
        for name in (*folders, *files)
        if name in ("HEAD", ".git")
    ]
    for path in sorted(found, key=len, reverse=True):
        with contextlib.suppress(OSError):
            os.rename(path, os.path.join(os.path.dirname(path), f"was-{os.path.basename(path)}"))


def copy_plain(path: str, copy: str, largest: int) -> bool:
    """Of a file, if it is one and not too large."""
    try:
        with open_regular(path, os.O_NOFOLLOW) as file:
            found = os.fstat(file.fileno())
            if found.st_size > largest:
                return False
            with create_regular(copy, os.O_EXCL) as new:
                shutil.copyfileobj(file, new)
        os.chmod(copy, stat.S_IMODE(found.st_mode) | stat.S_IRUSR)
        # git believes an index that is younger than the files.
        os.utime(copy, ns=(found.st_atime_ns, found.st_mtime_ns))
    except OSError:
        return False
    return True


def put_back(copy: str, path: str) -> bool:
    """The copy, in one step."""
    draft = f"{path}.{os.urandom(6).hex()}.lock"
    try:
        shutil.copy2(copy, draft, follow_symlinks=False)
        os.replace(draft, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        return False
    return True


def write_new(path: str, content: bytes) -> bool:
    """A file where there is none, in one step."""
    draft = f"{path}.{os.urandom(6).hex()}.lock"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with create_regular(draft, os.O_EXCL) as file:
            file.write(content)
        os.replace(draft, path)
    except OSError:
        return False
    return True


KEPT: Final = "objects-"
OBJECT_FOLDER: Final = re.compile(r"[0-9a-f]{2}|pack")
SINGLE: Final = r"[0-9a-f]{38}([0-9a-f]{24})?"
OBJECT: Final = re.compile(rf"{SINGLE}|pack-[0-9a-f]+\.\w+")
OF_SHA1: Final = len("ab/") + 38
PIECE: Final = 1 << 20
MOST_VERIFIED: Final = 1 << 32
"""Bytes that are read to see whether objects are what they are called: a few seconds."""


class KeptObjects:
    """Second names for the objects of a repository, in a folder that sessions cannot write. What a
    command removes or replaces comes back from there: git itself never changes an object."""

    def __init__(self, git: str) -> None:
        self.folder = os.path.join(git, "ralph", f"{KEPT}{os.urandom(4).hex()}")
        self._objects = os.path.join(git, "objects")
        self._lock = contextlib.ExitStack()

    def update(self) -> None:
        """Keep exactly what is there now. What cannot be linked is not kept."""
        with contextlib.suppress(OSError, Busy):
            if not os.path.isdir(self.folder):
                os.makedirs(self.folder, mode=0o700)
                self._lock.enter_context(lock_folder(self.folder, 0.0))
        there, kept = _object_files(self._objects), _object_files(self.folder)
        for name, _ in kept.items() - there.items():
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(self.folder, name))
        _link({name for name, _ in there.items() - kept.items()}, self._objects, self.folder)

    def remove(self) -> None:
        with self._lock:
            remove(self.folder)


def remove_abandoned_objects(git: str) -> None:
    """Remove what a Ralph that was killed has kept."""
    for name in names_in(os.path.join(git, "ralph")):
        if name.startswith(KEPT):
            folder = os.path.join(git, "ralph", name)
            with contextlib.suppress(OSError, Busy), lock_folder(folder, 0.0):
                remove(folder)


def restore_objects(git: str, folder: str) -> list[str]:
    """Restore the objects that are gone, or are other files now."""
    objects = os.path.join(git, "objects")
    gone = dict(_object_files(folder).items() - _object_files(objects).items())
    if not gone:
        return []
    lost = len(gone) - _link({*gone}, folder, objects)
    end = f", but for {lost}: `git fsck` tells more" if lost else ""
    return [f"{len(gone)} files in {objects} were removed or replaced: they are there again{end}"]


def _object_files(folder: str) -> dict[str, int]:
    """Objects and packs, by their path in the folder, with the numbers of their inodes."""
    found = {}
    for name in names_in(folder):
        if OBJECT_FOLDER.fullmatch(name):
            with contextlib.suppress(OSError), os.scandir(os.path.join(folder, name)) as entries:
                for entry in entries:
                    if OBJECT.fullmatch(entry.name):
                        found[f"{name}/{entry.name}"] = entry.inode()
    return found


def _link(names: Collection[str], source: str, target: str) -> int:
    """Give files a second name in another folder; return how many have it."""
    linked = 0
    for folder in {os.path.dirname(name) for name in names}:
        with contextlib.suppress(OSError):
            os.makedirs(os.path.join(target, folder), exist_ok=True)
    # A pack counts for git as soon as its index is there.
    for name in sorted(names, key=lambda name: name.endswith(".idx")):
        draft = os.path.join(target, f"{name}~")
        with contextlib.suppress(OSError):
            os.link(os.path.join(source, name), draft, follow_symlinks=False)
            os.replace(draft, os.path.join(target, name))
            linked += 1
    return linked


def take_away_forged_objects(
    git: str, kept: str, has_changed: Callable[[str, Collection[str]], bool], state: str
) -> list[str]:
    """Take away single objects that changed since, and whose content has another name: git does not
    compare them, and a checkout would write them as files of a commit that is known."""
    objects, left = os.path.join(git, "objects"), MOST_VERIFIED
    known, forged = _object_files(kept), []
    for name in _object_files(objects):
        path = os.path.join(objects, name)
        # A folder of objects that are not known may have been moved there.
        top = os.path.dirname(path) if name in known else objects
        if re.fullmatch(SINGLE, name[3:]) and has_changed(path, (top,)):
            with contextlib.suppress(OSError):
                size = _size_of_genuine(path, name, left)
                left -= size
                forged += [] if size else [path]
    aside = [move_aside(path, state) for path in forged]
    what = f"{len(aside)} objects in {objects} were not what their names say"
    return [f"{what}: they are beside {aside[0]} now; `git fsck` tells more"] if aside else []


def _size_of_genuine(path: str, name: str, most: int) -> int:
    """How much is in an object; 0 if it is not what it is called, or has more than `most` bytes."""
    digest = sha1() if len(name) == OF_SHA1 else sha256()
    unpacked, size = zlib.decompressobj(), 0
    with open_regular(path, os.O_NOFOLLOW) as file, contextlib.suppress(zlib.error):
        while data := unpacked.unconsumed_tail or file.read(PIECE):
            part = unpacked.decompress(data, PIECE)
            digest.update(part)
            size += len(part)
            if unpacked.eof or size > most:
                break
        digest.update(unpacked.flush())
    return size if size <= most and digest.hexdigest() == name.replace("/", "") else 0
