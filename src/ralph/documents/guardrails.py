"""`.ralph/guardrails.md`: lessons that every later session should know.

Sections `Fixes`, `Decisions` and `Patterns`, each with entries like

    ### fix-1760000000-a1b2
    > what went wrong, and what mends it
    <!-- tags: testing, build | created: 2026-02-10 -->

and, from older files, `Signs`. Agents write here by hand, so whatever stands below one of these
headings is an entry. Changes leave everything else as it is, byte for byte.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple
from zlib import crc32

from msgspec.structs import replace

from ralph.core.safe_text import one_line
from ralph.core.shelf import Guardrail, GuardrailKind

PATH: Final = ".ralph/guardrails.md"
HEADINGS: Final = {
    GuardrailKind.FIX: "Fixes",
    GuardrailKind.DECISION: "Decisions",
    GuardrailKind.PATTERN: "Patterns",
    GuardrailKind.SIGN: "Signs",
}
FRESH: Final = """\
# Guardrails

Lessons that were paid for. Every session is told those that fit its task best.

## Signs

### Sign: Read Before Writing
- **Trigger**: before a file is changed
- **Instruction**: read it first, and what calls it
- **Added after**: the beginning

### Sign: Test Before Commit
- **Trigger**: before work is committed or claimed
- **Instruction**: run the project's tests and checks, and look at what they say
- **Added after**: the beginning

## Fixes

## Decisions

## Patterns
"""


class Span(NamedTuple):
    """An entry and its lines: from `start` up to, not including, `end`."""

    entry: Guardrail
    start: int
    end: int


def read(text: str) -> tuple[Guardrail, ...]:
    """The entries, in the order of the file."""
    return tuple(span.entry for span in _spans(_lines(text)))


def new_id(kind: GuardrailKind, now_s: int, digits: str) -> str:
    """`fix-1760000000-a1b2`; `digits` are four hex digits that make it unique."""
    return f"{kind.value}-{now_s}-{digits}"


def added(text: str, entry: Guardrail) -> str:
    """The file with one more entry, at the end of its section."""
    lines = _lines(text or FRESH)
    end = "\r\n" if lines and lines[0].endswith("\r\n") else "\n"
    at = _end_of_section(lines, entry.kind)
    before, after = lines[: at or len(lines)], lines[at or len(lines) :]
    if before and not before[-1].endswith("\n"):
        before[-1] += end
    if at is None:
        before += [end, f"## {HEADINGS[entry.kind]}{end}"]
    return "".join([*before, end, *(line + end for line in _written(entry)), *after])


def removed(text: str, name: str) -> str | None:
    """The file without an entry; None if there is none of that name."""
    lines = _lines(text)
    for span in _spans(lines):
        if span.entry.id == name:
            start, end = span.start, span.end
            # The empty line before it goes, too, or a gap would grow with every removal.
            if start and not lines[start - 1].strip() and _is_gap(lines, end):
                start -= 1
            return "".join(lines[:start] + lines[end:])
    return None


def _is_gap(lines: Sequence[str], at: int) -> bool:
    return at >= len(lines) or not lines[at].strip()


def _lines(text: str) -> list[str]:
    """With their ends. Not `splitlines`: form feeds and the like do not end a line."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + lines[-1:] * bool(lines[-1])


# Reading


def _spans(lines: Sequence[str]) -> list[Span]:
    found: list[Span] = []
    seen: dict[str, int] = {}
    for kind, start, end in _blocks(lines):
        entry = _entry(kind, [line.rstrip() for line in lines[start:end]])
        if entry is not None:
            seen[entry.id] = seen.get(entry.id, 0) + 1
            if seen[entry.id] > 1:
                entry = replace(entry, id=f"{entry.id}.{seen[entry.id]}")
            found.append(Span(entry, start, end))
    return found


def _blocks(lines: Sequence[str]) -> Iterator[tuple[GuardrailKind | None, int, int]]:
    """Where entries begin and end: at a third heading; and, where there is none, at every
    paragraph and every entry of a list. With the kind that their section says."""
    kind: GuardrailKind | None = None
    start: int | None = None
    is_headed = False
    for at, level, title in [*_marks(lines), (len(lines), 1, "")]:
        if not level and is_headed:
            continue
        if start is not None and (is_headed or kind is not None):
            yield kind, start, _trimmed(lines, start, at)
        start, is_headed = (at, level > 2) if level not in (1, 2) else (None, False)
        if level in (1, 2):
            kind = _kind(title) if level == 2 else None


def _trimmed(lines: Sequence[str], start: int, end: int) -> int:
    """Without the empty lines after it."""
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _marks(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Headings with their level; and, with level 0, where a paragraph or an entry of a list begins.
    Code, comments and rules are neither."""
    shown_from, was_empty = 0, True
    for at, line in enumerate(lines):
        bare = line.strip()
        if at < shown_from:
            pass
        elif bare.startswith(("```", "~~~")):
            shown_from = _shown_from(lines, at, bare[:3])
        elif bare.startswith("<!--"):
            shown_from = at if "-->" in bare else _shown_from(lines, at, "-->")
        elif level := _level(line):
            yield at, level, bare.lstrip("#").strip().rstrip("#").strip()
        elif bare.strip("-*_ ") and (was_empty or _is_item(line)) and line[0] not in " \t":
            yield at, 0, ""
        was_empty = not bare


def _shown_from(lines: Sequence[str], at: int, end: str) -> int:
    """The line behind the code or the comment that begins here. What somebody has forgotten to
    close hides nothing: every lesson below it would be lost."""
    for later in range(at + 1, len(lines)):
        if _is_end(lines[later].strip(), end):
            return later + 1
    return at


def _is_end(bare: str, end: str) -> bool:
    """Does this line end the code or the comment? The comment below an entry ends itself only."""
    if end == "-->":
        return end in bare and not bare.startswith("<!--")
    return bare.startswith(end) and not bare.strip(end[0])


def _level(line: str) -> int:
    marks = len(line) - len(line.lstrip("#"))
    return (
        marks if 1 <= marks <= 6 and line[marks : marks + 1] in (" ", "\t", "\n", "\r", "") else 0
    )


def _is_item(line: str) -> bool:
    return line.startswith(("- ", "* ", "+ "))


def _kind(title: str) -> GuardrailKind | None:
    """`Learned Signs` and `Fix` are understood as well."""
    words = {word.strip("():,") for word in title.lower().split()}
    for kind, heading in HEADINGS.items():
        if words & {heading.lower(), kind.value}:
            return kind
    return None


def _entry(section: GuardrailKind | None, lines: Sequence[str]) -> Guardrail | None:
    title = lines[0].strip("#").strip() if _level(lines[0]) else ""
    is_sign = title.lower().startswith("sign:")
    named = GuardrailKind.SIGN if is_sign else _kind_of_id(title)
    kind = named or section
    body = lines[1:] if title else lines
    text = "\n".join(map(_bare, _without_comments(body))).strip()
    if title and (is_sign or named is None):
        # An older sign, or what an agent made of it: the heading is a part of what it says.
        heading = title[len("sign:") :].strip() if is_sign else title
        text = f"{heading}: {text}" if text else heading
        title = heading
    if kind is None or not text:
        return None
    tags, created = _about(body)
    name = title if named is not None and not is_sign else _name(kind, title, text)
    return Guardrail(id=name, kind=kind, text=text, tags=tags, created=created)


def _kind_of_id(title: str) -> GuardrailKind | None:
    kind, _, rest = title.partition("-")
    is_id = rest and " " not in rest and kind in {one.value for one in GuardrailKind}
    return GuardrailKind(kind) if is_id else None


def _without_comments(lines: Iterable[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        inside = inside or line.lstrip().startswith("<!--")
        if not inside:
            yield line
        inside = inside and "-->" not in line


def _bare(line: str) -> str:
    """What is quoted, to the letter; else without the marks of lists and of bold words."""
    line = line.strip()
    if line.startswith(">"):
        return line[1:].strip()
    return (line[1:] if _is_item(line) else line).replace("**", "").strip()


def _about(lines: Iterable[str]) -> tuple[tuple[str, ...], str]:
    """Tags and the day, from the comment below an entry."""
    tags: tuple[str, ...] = ()
    created = ""
    for line in lines:
        bare = line.strip()
        if not bare.startswith("<!--"):
            continue
        for field in bare.removeprefix("<!--").partition("-->")[0].split("|"):
            name, _, value = field.partition(":")
            match name.strip().lower():
                case "tags":
                    tags = tuple(tag.strip() for tag in value.split(",") if tag.strip())
                case "created":
                    created = value.strip()
                case _:
                    pass
    return tags, created


def _name(kind: GuardrailKind, title: str, text: str) -> str:
    """A name for what has none, the same whenever it is read."""
    words = "".join(char if char.isalnum() else " " for char in title.lower()).split()
    digest = format(crc32(text.encode("utf-8", "surrogatepass")), "08x")
    return f"{kind.value}-{'-'.join(words[:6]) or digest}"


# Writing


def _end_of_section(lines: Sequence[str], kind: GuardrailKind) -> int | None:
    """Behind the last line of the section that is not empty; None without such a section."""
    begin: int | None = None
    for at, level, title in [*_marks(lines), (len(lines), 1, "")]:
        if level in (1, 2):
            if begin is not None:
                return _trimmed(lines, begin, at)
            begin = at if level == 2 and _kind(title) is kind else None
    return None


def _written(entry: Guardrail) -> list[str]:
    tags = ", ".join(_harmless(tag) for tag in entry.tags)
    about = " | ".join(filter(None, (f"tags: {tags}" if tags else "", f"created: {entry.created}")))
    said = [f"> {line}".rstrip() for line in entry.text.strip().splitlines()]
    return [f"### {entry.id}", *said, f"<!-- {about} -->"]


def _harmless(tag: str) -> str:
    """A tag that does not end its list, its field or the comment."""
    return (
        one_line(tag, 40).translate({ord(char): " " for char in ",|<>"}).replace("--", "-").strip()
    )
