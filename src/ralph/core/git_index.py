"""Find paths in a git index that lead out of the checkout or into a folder of git.

git never adds such a path, but it does not look for one in an index that is there: `git checkout .`
writes a forged one, and runs it where it is a hook.
"""

import contextlib
import re
from collections.abc import Iterator
from hashlib import sha1, sha256
from typing import Final, NamedTuple

HEADER: Final = 12
STAT: Final = 40
"""Bytes of an entry before the name of its object."""
TIMES: Final = 16
"""The first of them, for git to see whether a file has changed."""
KINDS: Final = {20: sha1, 32: sha256}
EXTENDED: Final = 0x4000
LONGEST: Final = 0xFFF
SHARED: Final = "sharedindex."
"""Begins the name of a file with most of an index that is split."""
UNSAFE: Final = re.compile(rb"/|(?:.*/)?(?:\.{1,2}|\.git|git~1)(?:/|$)", re.IGNORECASE | re.DOTALL)


class _Parts(NamedTuple):
    """A safe index."""

    digest: int
    """How long names of objects are in it."""
    entries: list[tuple[int, bytes]]
    """Where each begins, and its path."""
    end: int
    """Of the entries; extensions follow."""


def is_safe_index(index: bytes) -> bool:
    """Is it an index, whole, in which every path is one that git itself would add?"""
    return _parse(index) is not None


def shared_index(index: bytes) -> str:
    """The file in which the rest of a safe index is; empty if nothing is elsewhere."""
    if b"link" in index and (parts := _parse(index)) is not None:
        for name, at, _ in _extensions(index, parts):
            if name == b"link":
                return f"{SHARED}{index[at : at + parts.digest].hex()}"
    return ""


def without_assumptions(index: bytes, before: bytes) -> bytes:
    """A safe index less what git believes in place of a look at the files: the times of entries
    that are others than `before`, and extensions in which trees and names are that it has seen."""
    parts, old = _parse(index), _parse(before)
    if parts is None:
        return index
    known = {_record(before, old.digest, *entry) for entry in old.entries} if old else ()
    kept = bytearray(index[: parts.end])
    for at, path in parts.entries:
        if _record(index, parts.digest, at, path) not in known:
            kept[at : at + TIMES] = bytes(TIMES)
    for name, at, size in _extensions(index, parts):
        # Those that begin with a capital can be left out.
        if not name[:1].isupper():
            kept += index[at - 8 : at + size]
    has_sum = index[-20:] != bytes(20)
    return bytes(kept) + (KINDS[parts.digest](kept).digest() if has_sum else bytes(parts.digest))


def _record(index: bytes, digest: int, at: int, path: bytes) -> bytes:
    return index[at : at + STAT + digest + 2] + path


def _parse(index: bytes) -> _Parts | None:
    """None if it is not a safe index. Without a sum at its end, which git can be told to leave out,
    the entries tell how long names are."""
    for digest, kind in KINDS.items() if index.startswith(b"DIRC") else ():
        if index[-20:] == bytes(20) or index.endswith(kind(index[:-digest]).digest()):
            with contextlib.suppress(IndexError, ValueError):
                parts = _entries(index, digest)
                is_unsafe = any(UNSAFE.match(path) for _, path in parts.entries)
                if not is_unsafe and _offsets_agree(index, parts):
                    return parts
    return None


def _entries(index: bytes, digest: int) -> _Parts:
    version, count = _int(index, 4), _int(index, 8)
    entries, at, path = [], HEADER, b""
    for _ in range(count):
        start = at
        name = at + STAT + digest
        flags = int.from_bytes(index[name : name + 2])
        name += 4 if flags & EXTENDED and version > 2 else 2
        kept = b""
        if version == 4:
            name, cut = _number(index, name)
            kept = path[: len(path) - cut]
        end = index.index(0, name)
        path = kept + index[name:end]
        at = end + 1 if version == 4 else at + (end - at) // 8 * 8 + 8
        # git believes the length, so that what follows may be something else for it.
        if flags & LONGEST != min(len(path), LONGEST):
            raise ValueError
        entries.append((start, path))
    return _Parts(digest, entries, at)


def _offsets_agree(index: bytes, parts: _Parts) -> bool:
    """Do the tables by which git reads entries side by side say the same as the entries?"""
    starts, digest = [at for at, _ in parts.entries], parts.digest
    tail = len(index) - digest
    if index[tail - 12 - digest :][:4] == b"EOIE" and _int(index, tail - 4 - digest) != parts.end:
        return False
    for name, at, size in _extensions(index, parts):
        if name == b"IEOT":
            blocks = range(at + 4, at + size, 8)
            counts = [_int(index, block + 4) for block in blocks]
            firsts = [sum(counts[:block]) for block in range(len(counts))]
            if [_int(index, block) for block in blocks] != [starts[first] for first in firsts]:
                return False
    return True


def _extensions(index: bytes, parts: _Parts) -> Iterator[tuple[bytes, int, int]]:
    """What follows the entries: by name, where it begins and how large it is."""
    end = parts.end
    while end + 8 <= len(index) - parts.digest:
        size = _int(index, end + 4)
        yield index[end : end + 4], end + 8, size
        end += 8 + size


def _number(index: bytes, at: int) -> tuple[int, int]:
    """Where it ends, and how much of the last path an entry of version 4 leaves out."""
    value = index[at] & 127
    while index[at] & 128:
        at += 1
        value = (value + 1 << 7) | index[at] & 127
    return at + 1, value


def _int(index: bytes, at: int) -> int:
    return int.from_bytes(index[at : at + 4])
