"""Commits that sessions have made, with trailers that say which task and run they belong to."""

import re
from collections.abc import Iterator
from typing import Final

from ralph.adapters.workspace.git import Git, raw, text

MOST: Final = 100
"""Of a longer row the last one alone says it: every commit costs two processes."""
UNTITLED: Final = b"Without a message"
TRAILER: Final = re.compile(rb"[A-Za-z0-9-]+: .*|[ \t].*")


def with_trailers(git: Git, base: str, head: str, trailers: str) -> str:
    """The head, after every commit behind `base` that lacks them has got them. Trees, authors and
    dates stay; signatures go, since they are of something else. Of a merge only the first side."""
    key = trailers.partition(":")[0]
    form = f"--format=%H %(trailers:key={key},valueonly,separator=%x20)"
    without = (f"^{base}",) if base else ()
    listed = text(git.run("log", "-z", "--first-parent", "--reverse", form, head, *without))
    row = [entry.partition(" ") for entry in listed.split("\0") if entry]
    new = ""
    for commit, _, named in row[-1:] if len(row) > MOST else row:
        if not named or new:
            old = git.run("cat-file", "commit", commit)
            content = _rewritten(old, new, "" if named else trailers)
            new = git.word("hash-object", "-t", "commit", "-w", "--stdin", stdin=content)
    return new or head


def _rewritten(content: bytes, parent: str, trailers: str) -> bytes:
    header, _, message = content.partition(b"\n\n")
    lines = list(_unsigned(header.split(b"\n")))
    if parent:
        at = next(i for i, line in enumerate(lines) if line.startswith(b"parent "))
        lines[at] = b"parent " + raw(parent)
    if trailers:
        message = _signed_off(message, raw(trailers))
    return b"\n".join(lines) + b"\n\n" + message


def _unsigned(lines: list[bytes]) -> Iterator[bytes]:
    is_signature = False
    for line in lines:
        if not line.startswith(b" "):
            is_signature = line.startswith(b"gpgsig")
        if not is_signature:
            yield line


def _signed_off(message: bytes, trailers: bytes) -> bytes:
    """Behind those that are there already, else in a paragraph of their own."""
    body = message.strip(b"\n") or UNTITLED
    _, is_more, last = body.rpartition(b"\n\n")
    has_some = is_more and all(TRAILER.fullmatch(line) for line in last.split(b"\n"))
    return body + (b"\n" if has_some else b"\n\n") + trailers + b"\n"
