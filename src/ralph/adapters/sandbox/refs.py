"""The refs of a repository, read by hand: git would believe, and wait for, what a session put
there."""

import os
import re
from collections.abc import Iterator
from typing import Final

from ralph.adapters.sandbox.plain import read_plain
from ralph.files import walk

LARGEST: Final = 1 << 28
NAME: Final = rb"refs/[^\x00-\x20\x7f~^:?*\[\\]+"
VALUE: Final = re.compile(rb"([0-9a-f]{40}|[0-9a-f]{64})\s*|ref: " + NAME + rb"\s*")
PACKED: Final = re.compile(rb"#.*|([0-9a-f]{40,64}) (" + NAME + rb")|\^[0-9a-f]{40,64}")
REPLACED: Final = "refs/replace/"

Refs = dict[str, str]


def read_refs(common: str) -> Refs:
    """By name. What is no ref has an empty value."""
    found = dict(packed_refs(os.path.join(common, "packed-refs")))
    found.update(_loose(os.path.join(common, "refs")))
    return found


def packed_refs(path: str) -> Iterator[tuple[str, str]]:
    """Those in a file."""
    for line in read_plain(path, LARGEST).split(b"\n"):
        if (match := PACKED.fullmatch(line)) and match[2]:
            yield os.fsdecode(match[2]), match[1].decode()


def is_packed(path: str, before: str) -> bool:
    """Is it a file of refs, of which none replaces an object that was not replaced before?"""
    lines = read_plain(path, LARGEST).removesuffix(b"\n").split(b"\n")
    known = {name for name, _ in packed_refs(before)}
    replaced = {name for name, _ in packed_refs(path) if name.startswith(REPLACED)}
    return replaced <= known and all(not line or PACKED.fullmatch(line) for line in lines)


def is_head(path: str) -> bool:
    """Does a file say where a head is?"""
    return VALUE.fullmatch(read_plain(path, 4096)) is not None


def branch_of(head: str) -> str:
    """The ref to which a head leads; empty if it is detached."""
    return os.fsdecode(read_plain(head, 4096)).strip().partition("ref: ")[2]


def _loose(refs: str) -> Iterator[tuple[str, str]]:
    above = len(os.path.dirname(refs)) + 1
    for folder, _, names in walk(refs):
        for path in (os.path.join(folder, name) for name in names if not name.endswith(".lock")):
            value = read_plain(path, 4096)
            yield path[above:], os.fsdecode(value).strip() if VALUE.fullmatch(value) else ""
