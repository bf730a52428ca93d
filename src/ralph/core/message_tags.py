"""Read the tags in an agent's final message, such as `<task-done>`.

Plain string search, no XML: agents write prose around their tags. The first of each kind wins.
"""

import re
from enum import StrEnum
from typing import Final

import msgspec

MODELS: Final = ("opus", "sonnet", "haiku")
BLANKS: Final = frozenset({"ID", "…"})
"""What a brief writes where a session is to write something: its echo says nothing."""


WHY_CHARS: Final = 2000
AROUND: Final = 1000
"""Characters on each side of a tag that are kept of a message that is too long."""
MOST_TAGS: Final = 40
"""Of each kind, before its end."""
# Possessive, here and below: what a session writes is read in linear time.
_SPACED: Final = re.compile(
    r"<\s*+(/?)\s*+(verify-(?:pass|fail)|review-(?:pass|fail|blocked)|finding)\b([^<>]*+)>",
    re.IGNORECASE,
)
_TAG: Final = re.compile(
    r"<\s*+/?\s*+(task-done|task-failed|promise|next-model|verify-fail|review-pass|review-fail"
    r"|review-blocked|finding|dismiss|addressed|phase-complete|journal|knowledge)\b|\b(verify-pass)\b",
    re.IGNORECASE,
)
_ANY: Final = re.compile(
    r"<([a-z]+(?:-[a-z]+)*)\b[^>]*>.*?</\1>|</?[a-z]+(?:-[a-z]+)*\s*/?>", re.DOTALL
)
_HEAD: Final = re.compile(r'(?:[^">]|"[^"]*+")*+(?=>)')
_PROMISE: Final = re.compile(r"<promise>\s*+(COMPLETE|FAILURE)\s*</promise>")


class Promise(StrEnum):
    """A word about the whole run, on a line of its own."""

    COMPLETE = "COMPLETE"
    FAILURE = "FAILURE"


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """A memory for later sessions."""

    text: str
    title: str = ""
    tags: tuple[str, ...] = ()


class FindingTag(msgspec.Struct, frozen=True, kw_only=True):
    """A tag about a review finding: a new one, a dismissal with its reason, or the lines that
    answer it."""

    id: str = ""
    """Which one; empty for a new one."""
    text: str


class MessageTags(msgspec.Struct, frozen=True, kw_only=True):
    task_done: str | None = None
    task_failed: str | None = None
    why_failed: str = ""
    """What the message says about that: after it, or just before it."""
    promise: Promise | None = None
    next_model: str | None = None
    verify_pass: bool = False
    verify_fail: str | None = None
    review_pass: str | None = None
    review_fail: str | None = None
    review_blocked: str | None = None
    findings: tuple[FindingTag, ...] = ()
    dismissed: tuple[FindingTag, ...] = ()
    addressed: tuple[FindingTag, ...] = ()
    journal: str | None = None
    knowledge: tuple[Knowledge, ...] = ()


def read_message_tags(message: str) -> MessageTags:
    """Find the tags of a final message. Where both are there, done wins over failed."""
    done = _tag_text(message, "task-done")
    failed = None if done is not None else _tag_text(message, "task-failed")
    model = _tag_text(message, "next-model")
    return MessageTags(
        task_done=done,
        task_failed=failed,
        why_failed=_text_around_tag(message, "task-failed") if failed is not None else "",
        promise=_promise(message),
        next_model=model if model in MODELS else None,
        verify_pass=_has_empty_tag(message, "verify-pass"),
        verify_fail=_tag_text(message, "verify-fail"),
        review_pass=""
        if _has_empty_tag(message, "review-pass")
        else _tag_text(message, "review-pass"),
        review_fail=_tag_text(message, "review-fail"),
        review_blocked=_tag_text(message, "review-blocked"),
        findings=tuple(_remarks(message, "finding")),
        dismissed=tuple(_remarks(message, "dismiss")),
        addressed=tuple(_remarks(message, "addressed")),
        journal=_tag_text(message, "journal") or None,
        knowledge=tuple(_knowledge(message)),
    )


def normalize_answer(message: str, example: str) -> str:
    """An answer of a verifier or reviewer in the usual spelling: with spaces, in capitals, without
    the slash, or as a bare word on a line of its own. Lines of the `example` say nothing."""
    shown = {" ".join(line.split()) for line in example.splitlines() if "<" in line}
    lines = message.splitlines()
    # Who repeats all of them has answered nothing; who repeats one has chosen it.
    said = {" ".join(line.split()) for line in lines}
    if shown <= said:
        lines = [line for line in lines if " ".join(line.split()) not in shown]
    bare = (
        f"<{word}/>" if (word := line.strip(" \t`*<>/.").lower()) == "verify-pass" else line
        for line in lines
    )
    return _SPACED.sub(_close_up, "\n".join(bare))


def _close_up(found: "re.Match[str]") -> str:
    start, name, rest = found.groups()
    name, rest = name.lower(), rest.strip()
    is_alone = rest.endswith("/") or (name == "verify-pass" and not start)
    rest = rest.removesuffix("/").rstrip()
    return f"<{start}{name}{' ' + rest if rest else ''}{'/' if is_alone else ''}>"


def shorten_message(message: str, most: int) -> str:
    """The end of a message that is longer than `most`, and before it whatever says something to
    Ralph, with a little of the text around it."""
    end = len(message) - most
    if end <= 0:
        return message
    pieces: list[tuple[int, int]] = []
    counts: dict[str, int] = {}
    for found in _TAG.finditer(message, 0, end):
        name = (found[1] or found[2]).lower()
        counts[name] = counts.get(name, 0) + 1
        if counts[name] <= MOST_TAGS:
            start, stop = max(0, found.start() - AROUND), found.end() + AROUND
            if pieces and start <= pieces[-1][1]:
                start = pieces.pop()[0]
            pieces.append((start, stop))
    if pieces and end <= pieces[-1][1]:
        end = pieces.pop()[0]
    # What is cut says so: half a line must not look like a line of its own.
    kept = [f"{'…' if start else ''}{message[start:stop]}…\n" for start, stop in pieces]
    return f"{''.join(kept)}{'…' if kept else ''}{message[end:]}"


def contains_answer(text: str) -> bool:
    """Whether it would pass or fail work if an agent echoed it."""
    found = read_message_tags(text)
    answers = (found.verify_fail, found.review_pass, found.review_fail, found.review_blocked)
    return found.verify_pass or any(one is not None for one in answers)


def _tag_text(message: str, tag: str) -> str | None:
    """The trimmed text of the first `<tag>…</tag>` that says something.

    An opening tag that prose merely mentions before it does not spoil it, nor does an example.
    """
    opening, closing = f"<{tag}>", f"</{tag}>"
    start = message.find(opening)
    while start >= 0:
        start += len(opening)
        end = message.find(closing, start)
        if end < 0:
            return None
        text = message[start:end].rpartition(opening)[2].strip()
        if text not in BLANKS:
            return text
        start = message.find(opening, end)
    return None


def _text_around_tag(message: str, tag: str) -> str:
    """The words after a tag, otherwise the paragraph before it, without other tags."""
    before, _, rest = message.partition(f"<{tag}>")
    after = _ANY.sub("", rest.partition(f"</{tag}>")[2][: 4 * WHY_CHARS]).strip()
    paragraphs = _ANY.sub("", before[-4 * WHY_CHARS :]).strip().split("\n\n")
    return (after or paragraphs[-1].strip())[:WHY_CHARS]


def _has_empty_tag(message: str, tag: str) -> bool:
    """Is it there without a text?"""
    return f"<{tag}/>" in message or f"<{tag} />" in message


def _promise(message: str) -> Promise | None:
    """Only on a line of its own: a sentence that quotes the promise does not make it."""
    lines = (_PROMISE.fullmatch(line.strip()) for line in message.splitlines())
    return next((Promise(found[1]) for found in lines if found), None)


def _knowledge(message: str) -> list[Knowledge]:
    found = []
    for head, text in _all(message, "knowledge"):
        tags = tuple(filter(None, map(str.strip, _attribute(head, "tags").split(","))))
        found.append(Knowledge(text=text, title=_attribute(head, "title"), tags=tags))
    return found


def _remarks(message: str, tag: str) -> list[FindingTag]:
    return [FindingTag(id=_attribute(head, "id"), text=text) for head, text in _all(message, tag)]


def _all(message: str, tag: str) -> list[tuple[str, str]]:
    """The attributes and the text of each one that says something, from the last opening tag before
    its end: prose may mention the tag as well."""
    opening, found = f"<{tag}", []
    for piece in message.split(f"</{tag}>")[:-1]:
        head, text = _split_opening_tag(piece.rpartition(opening)[2] if opening in piece else "")
        written = text.strip()
        if written and written not in BLANKS:
            found.append((head, written))
    return found


def _split_opening_tag(tag: str) -> tuple[str, str]:
    """The attributes of an opening tag, and what follows it; a `>` in quotes does not end it."""
    # Without a closing quote, the first bracket ends the tag.
    head = found[0] if (found := _HEAD.match(tag)) else tag.partition(">")[0]
    return head, tag[len(head) + 1 :]


def _attribute(head: str, name: str) -> str:
    found = re.search(f'{name}="([^"]*)"', head)
    return found[1].strip() if found else ""
