"""`.ralph/guardrails.md`: lessons that every later session should know.

Sections `Fixes`, `Decisions` and `Patterns`, each with entries like

    ### fix-1760000000-a1b2
    > what went wrong, and what fixes it
    <!-- tags: testing, build | created: 2026-02-10 -->

and, from older files, `Signs`. Agents write here by hand, so any text below one of these headings
is an entry. Changes leave every other byte as it is.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple
from zlib import crc32

from msgspec.structs import replace

from ralph.core.brief import Guardrail, GuardrailKind
from ralph.core.safe_text import markdown_quote, one_line
from ralph.documents.markdown import line_end, lines_with_ends, unified
from ralph.prompts import prompt

PATH: Final = ".ralph/guardrails.md"
HEADINGS: Final = {
    GuardrailKind.FIX: "Fixes",
    GuardrailKind.DECISION: "Decisions",
    GuardrailKind.PATTERN: "Patterns",
    GuardrailKind.SIGN: "Signs",
}
HEADING: Final = re.compile(r"(#{1,6})(?:\s(.*))?$")
ITEM: Final = re.compile(r"[-*+] ")
COMMENT: Final = re.compile(r"^[ \t]*<!--(?:(?!<!--).)*?-->.*?$", re.MULTILINE | re.DOTALL)
CODE: Final = re.compile(r"^[ \t]*(```|~~~).*?\n[ \t]*\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
"""Closed ones: one that is never closed hides nothing, or every entry below it would be lost."""
FIELD: Final = re.compile(r"(tags|created):([^|]*)", re.IGNORECASE)
FRESH: Final = prompt("guardrails")


class GuardrailSpan(NamedTuple):
    """An entry and its lines: from `start` up to `end`, which is not included."""

    entry: Guardrail
    start: int
    end: int


def read(text: str, other: GuardrailKind | None = None) -> tuple[Guardrail, ...]:
    """The entries, in the order of the file; with `other` also what is below any other heading."""
    return tuple(span.entry for span in _spans(lines_with_ends(text), other))


def new_id(kind: GuardrailKind, now_s: int, digits: str) -> str:
    """`fix-1760000000-a1b2`; `digits` are four hex digits that make it unique."""
    return f"{kind.value}-{now_s}-{digits}"


def with_guardrail(text: str, entry: Guardrail) -> str:
    """Add an entry at the end of its section."""
    lines, end = lines_with_ends(text or FRESH), line_end(text)
    at = _end_of_section(lines, entry.kind)
    before, after = lines[: at or len(lines)], lines[at or len(lines) :]
    if before and not before[-1].endswith("\n"):
        before[-1] += end
    if at is None:
        before += [end, f"## {HEADINGS[entry.kind]}{end}"]
    return "".join([*before, end, *(line + end for line in _written(entry)), *after])


def without_guardrail(text: str, name: str) -> str | None:
    """Remove an entry; None if there is none of that name."""
    lines = lines_with_ends(text)
    for span in _spans(lines):
        if span.entry.id == name:
            start, end = span.start, span.end
            # The empty line before it goes as well: gaps would grow with every removal.
            if start and not lines[start - 1].strip() and not "".join(lines[end : end + 1]).strip():
                start -= 1
            return "".join(lines[:start] + lines[end:])
    return None


# Reading


def _spans(lines: Sequence[str], other: GuardrailKind | None = None) -> list[GuardrailSpan]:
    found: list[GuardrailSpan] = []
    seen: Counter[str] = Counter()
    for kind, start, end in _blocks(lines, other):
        entry = _entry(kind, "".join(lines[start:end]))
        if entry is not None:
            seen[entry.id] += 1
            if seen[entry.id] > 1:
                entry = replace(entry, id=f"{entry.id}.{seen[entry.id]}")
            found.append(GuardrailSpan(entry, start, end))
    return found


def _blocks(
    lines: Sequence[str], other: GuardrailKind | None
) -> Iterator[tuple[GuardrailKind | None, int, int]]:
    """Where entries begin and end, and the kind of their section. An entry is a heading of the
    third rank with the text below it; without headings, a paragraph or an item of a list."""
    kind, is_headed = other, False
    start: int | None = None
    for at, level, title in [*_marks(lines), (len(lines), 1, "")]:
        if not level and is_headed:
            continue
        if start is not None and (is_headed or kind is not None):
            yield kind, start, _trimmed(lines, start, at)
        start, is_headed = (at, level > 2) if level not in (1, 2) else (None, False)
        if level in (1, 2):
            kind = (_kind(title) if level == 2 else None) or other


def _trimmed(lines: Sequence[str], start: int, end: int) -> int:
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _marks(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Where headings are, with their level and title; and, with level 0, where a paragraph or an
    item of a list begins. Code, comments and rules are left out."""
    was_empty = True
    text = "\n".join(line.rstrip() for line in lines)
    for hidden in (COMMENT, CODE):
        text = hidden.sub(lambda found: "\n".join([" ."] * (found[0].count("\n") + 1)), text)
    for at, line in enumerate(text.split("\n")):
        if heading := HEADING.match(line):
            yield at, len(heading[1]), (heading[2] or "").strip().rstrip("#").strip()
        elif line.strip("-*_ ") and line[0] not in " \t" and (was_empty or ITEM.match(line)):
            yield at, 0, ""
        was_empty = not line


def _kind(title: str) -> GuardrailKind | None:
    """The kind that a heading means: also `Learned Signs` and `Fix`."""
    words = {word.strip("():,") for word in title.lower().split()}
    for kind, heading in HEADINGS.items():
        if words & {heading.lower(), kind.value}:
            return kind
    return None


def _entry(section: GuardrailKind | None, text: str) -> Guardrail | None:
    first, _, rest = unified(text).partition("\n")
    title = first.strip("#").strip() if HEADING.match(first) else ""
    body = rest if title else unified(text)
    is_sign = title.lower().startswith("sign:")
    named = GuardrailKind.SIGN if is_sign else _kind_of_id(title)
    kind = named or section
    said = "\n".join(map(_bare, COMMENT.sub("", body).split("\n"))).strip()
    if title and (is_sign or named is None):
        # An older sign, or an agent's version of it: the heading is a part of its text.
        title = title[len("sign:") :].strip() if is_sign else title
        said = f"{title}: {said}" if said else title
    if kind is None or not said:
        return None
    about = {
        name.lower(): value.removesuffix("-->").strip()
        for comment in COMMENT.findall(body)
        for name, value in FIELD.findall(comment)
    }
    return Guardrail(
        id=title if named is not None and not is_sign else _name(kind, title, said),
        kind=kind,
        text=said,
        tags=tuple(filter(None, map(str.strip, about.get("tags", "").split(",")))),
        created=about.get("created", ""),
    )


def _kind_of_id(title: str) -> GuardrailKind | None:
    kind, _, rest = title.partition("-")
    is_id = rest and " " not in rest and kind in {one.value for one in GuardrailKind}
    return GuardrailKind(kind) if is_id else None


def _bare(line: str) -> str:
    """A quotation as it is, other lines without the marks of lists and of bold words."""
    line = line.strip()
    if line.startswith(">"):
        return line[1:].strip()
    return (line[2:] if ITEM.match(line) else line).replace("**", "").strip()


def _name(kind: GuardrailKind, title: str, text: str) -> str:
    """An id for an entry without one, the same whenever it is read."""
    words = "".join(char if char.isalnum() else " " for char in title.lower()).split()
    digest = format(crc32(text.encode("utf-8", "surrogatepass")), "08x")
    return f"{kind.value}-{'-'.join(words[:6]) or digest}"


# Writing


def _end_of_section(lines: Sequence[str], kind: GuardrailKind) -> int | None:
    """The line after the last text of the section; None without such a section."""
    begin: int | None = None
    for at, level, title in [*_marks(lines), (len(lines), 1, "")]:
        if level in (1, 2):
            if begin is not None:
                return _trimmed(lines, begin, at)
            begin = at if level == 2 and _kind(title) is kind else None
    return None


def _written(entry: Guardrail) -> list[str]:
    tags = ", ".join(_harmless(tag) for tag in entry.tags)
    known = (f"tags: {tags}" if tags else "", f"created: {entry.created}" if entry.created else "")
    about = " | ".join(filter(None, known))
    return [
        f"### {entry.id}",
        *markdown_quote(entry.text).splitlines(),
        *([f"<!-- {about} -->"] if about else []),
    ]


def _harmless(tag: str) -> str:
    """A tag without characters that end its list, its field or the comment."""
    return (
        one_line(tag, 40).translate({ord(char): " " for char in ",|<>"}).replace("--", "-").strip()
    )


def add_guardrail_once(text: str, entry: Guardrail) -> tuple[str, Guardrail]:
    """Add an entry, unless there is one that says the same. Returns the text and that entry."""
    there = next((one for one in read(text) if _words(one.text) == _words(entry.text)), None)
    return (with_guardrail(text, entry), entry) if there is None else (text, there)


def after_session(before: str, now: str) -> str:
    """What a session has written by hand, without losing an entry or repeating a section."""
    known = {_words(one.text) for one in read(now)}
    is_whole = all(_words(one.text) in known for one in read(before))
    if is_whole and _repeated_sections(now) <= _repeated_sections(before):
        return now
    text = before
    for entry in read(now, GuardrailKind.PATTERN):
        text, _ = add_guardrail_once(text, entry)
    return text


def _repeated_sections(text: str) -> int:
    titles = [title for _, level, title in _marks(lines_with_ends(text)) if level == 2]
    kinds = [kind for title in titles if (kind := _kind(title)) is not None]
    return len(kinds) - len(set(kinds))


def _words(text: str) -> str:
    return " ".join(text.lower().split())
