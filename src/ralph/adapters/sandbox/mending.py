"""What a repository cannot do without: copied before a command, put back where it was spoilt."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from hashlib import sha1, sha256
from typing import Final

from ralph.adapters.sandbox.aside import copy_plain, move_aside, put_back, write_new
from ralph.adapters.sandbox.plain import read_plain
from ralph.adapters.sandbox.refs import Refs, branch_of, is_head, is_packed, read_refs
from ralph.adapters.sandbox.traps import Area, Kind, Traps

NEEDED: Final = ("HEAD", "index", "packed-refs", "config", "commondir", "gitdir")
LARGEST: Final = 1 << 28
SMALL: Final = 1 << 20
KEEPER: Final = "refs/ralph/moved"


def originals(area: Area, seen: Traps, folder: str) -> dict[str, str]:
    """Copies in a folder, by the path of the original."""
    wanted = {os.path.join(git, name): LARGEST for git in area.own for name in NEEDED}
    for path, trap in seen.items():
        if trap.kind is Kind.REPOSITORY:
            names = ("config", *(part.partition("\0")[0] for part in trap.parts))
            wanted = dict.fromkeys((os.path.join(path, name) for name in names), SMALL) | wanted
    copies = {path: os.path.join(folder, str(at)) for at, path in enumerate(wanted)}
    return {path: copy for path, copy in copies.items() if copy_plain(path, copy, wanted[path])}


def mend(
    own: Iterable[str],
    copies: Mapping[str, str],
    refs: Mapping[str, Refs],
    taken: Collection[str],
    state: str,
    *,
    is_open: bool = False,
) -> list[str]:
    """Put back what is missing or no longer what git can read; say so. What was `taken` away stood
    in the place of something. Without a sandbox (`is_open`) branches may be moved."""
    said, lost = [], False
    for path in (os.path.join(git, name) for git in own if os.path.isdir(git) for name in NEEDED):
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
            said += _mend_refs(git, before, copies, gone, state, is_open=is_open)
    return said


def _is_whole(path: str, copy: str) -> bool:
    match os.path.basename(path):
        case "HEAD":
            return is_head(path)
        case "index":
            return _is_index(path)
        case "packed-refs":
            return os.path.isfile(path) and is_packed(path, copy)
        case _:
            return os.path.isfile(path)


def _is_index(path: str) -> bool:
    """With the right sum at its end, if it has one."""
    content = read_plain(path, LARGEST)
    return content.startswith(b"DIRC") and (
        content[-20:] in (bytes(20), sha1(content[:-20]).digest())
        or content[-32:] == sha256(content[:-32]).digest()
    )


def _mend_refs(
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
        if value == "" != old or (old and value is None and (name in gone or name in needed)):
            kept = move_aside(path, state) if os.path.lexists(path) else ""
            is_back = write_new(path, os.fsencode(f"{old}\n"))
            what = "it is as before" if is_back else f"it was at {old}"
            yield f"{path} was spoilt: {what}" + (f", {kept} is what it was made" if kept else "")
        elif value == "" and name not in before and os.path.lexists(path):
            yield f"{path} is no ref: it is {move_aside(path, state)} now"
        elif old not in ("", value) and name not in needed | moving and not is_open:
            keeper = f"{KEEPER}/{old[:12]}/{name.removeprefix('refs/')}"
            write_new(os.path.join(git, keeper), os.fsencode(f"{old}\n"))
            where = "gone" if value is None else f"at {value[:12]}"
            yield (
                f"{name} was at {old[:12]} and is {where} now, by you or from inside:"
                f" {keeper} is where it was"
            )


def persons(refs: Refs) -> Refs:
    """Without those of Ralph and of remotes, which move at any time."""
    others = ("refs/ralph/", "refs/remotes/")
    return {name: value for name, value in refs.items() if not name.startswith(others)}
