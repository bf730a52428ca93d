"""A diff as rows of a table: pure, from git's text to lines with their numbers."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import msgspec

from ralph.core.review_thread import DiffSide

MOST_ROWS: Final = 5000
LONGEST_ROW: Final = 2000
HUNK: Final = re.compile(r"@@+ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@+(.*)")


class DiffRow(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    """add, cut, same or hunk."""
    text: str
    old: int | None = None
    new: int | None = None

    @property
    def side(self) -> DiffSide | None:
        """Whose numbers name it; None for no line of the file."""
        if self.kind == "hunk":
            return None
        return DiffSide.OLD if self.kind == "cut" else DiffSide.NEW

    @property
    def number(self) -> int | None:
        return self.old if self.kind == "cut" else self.new


class DiffFile(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    before: str
    """What it was called before."""
    rows: tuple[DiffRow, ...]
    note: str = ""
    """What git says beside its lines: a rename, a mode, a binary file."""


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    files: tuple[DiffFile, ...] = ()
    is_cut: bool = False
    """There is more than a page holds."""
    problem: str = ""
    """Why there is none."""


def read_diff(text: str) -> Diff:
    """The files of `git diff` or `git log -p`; lines of commit messages are left out."""
    lines = text.split("\n")
    heads = [at for at, line in enumerate(lines) if line.startswith("diff --")]
    files: list[DiffFile] = []
    left = MOST_ROWS
    for start, end in pairwise([*heads, len(lines)]):
        if not left:
            break
        one = _file(lines[start:end], left)
        left -= len(one.rows)
        files.append(one)
    return Diff(files=tuple(files), is_cut=not left)


def _file(lines: list[str], most: int) -> DiffFile:
    body = next((at for at, line in enumerate(lines) if line.startswith("@@")), len(lines))
    # Only where nothing but the mode or the name has changed, or a binary file.
    quote = '"' if lines[0].endswith('"') else ""
    path = before = _path(f"{quote}b/{lines[0].rpartition(f' {quote}b/')[2]}")
    notes = []
    for line in lines[1:body]:
        word, _, rest = line.partition(" ")
        if word == "---" and rest != "/dev/null":
            path = before = _path(rest.rstrip("\t"))
        elif word == "+++" and rest != "/dev/null":
            path = _path(rest.rstrip("\t"))
        elif word in ("rename", "new", "deleted", "old", "Binary", "similarity"):
            notes.append(line)
    rows = tuple(row for _, row in zip(range(most), _rows(lines[body:]), strict=False))
    return DiffFile(path=path, before=before, rows=rows, note=", ".join(notes))


def _path(name: str) -> str:
    """`b/src/a.py`; git puts a name with odd characters in quotes, as C does."""
    if name.startswith('"'):
        written = name.strip('"').encode().decode("unicode_escape", "replace")
        name = written.encode("latin-1", "replace").decode("utf-8", "replace")
    return name[2:] if name[:2] in ("a/", "b/") else name


def _rows(lines: list[str]) -> Iterator[DiffRow]:
    old = new = 0
    for whole in lines:
        line = whole if len(whole) <= LONGEST_ROW else f"{whole[:LONGEST_ROW]}…"
        if found := HUNK.match(line):
            old, new = int(found[1]), int(found[2])
            yield DiffRow(kind="hunk", text=line)
        elif line.startswith("+"):
            yield DiffRow(kind="add", text=line[1:], new=new)
            new += 1
        elif line.startswith("-"):
            yield DiffRow(kind="cut", text=line[1:], old=old)
            old += 1
        elif line.startswith(" "):
            yield DiffRow(kind="same", text=line[1:], old=old, new=new)
            old, new = old + 1, new + 1
        elif not line.startswith("\\"):
            # The message of the next commit.
            return
