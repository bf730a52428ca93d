"""What an agent says to Ralph in its final message.

Plain string search, no XML: agents write prose around their sigils. The first of each kind wins.
"""

from enum import StrEnum
from typing import Final

import msgspec

MODELS: Final = ("opus", "sonnet", "haiku")


class Promise(StrEnum):
    """A word about the whole run, on a line of its own."""

    COMPLETE = "COMPLETE"
    FAILURE = "FAILURE"


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """A memory for later sessions."""

    text: str
    title: str = ""
    tags: tuple[str, ...] = ()


class Sigils(msgspec.Struct, frozen=True, kw_only=True):
    """Everything found in one final message."""

    task_done: str | None = None
    task_failed: str | None = None
    promise: Promise | None = None
    next_model: str | None = None
    verify_pass: bool = False
    verify_fail: str | None = None
    phase_complete: str | None = None
    journal: str | None = None
    knowledge: tuple[Knowledge, ...] = ()


def read_sigils(message: str) -> Sigils:
    """Find the sigils of a final message. Where both are there, done wins over failed."""
    done = _inside(message, "task-done")
    model = _inside(message, "next-model")
    return Sigils(
        task_done=done,
        task_failed=None if done is not None else _inside(message, "task-failed"),
        promise=_promise(message),
        next_model=model if model in MODELS else None,
        verify_pass="<verify-pass/>" in message or "<verify-pass />" in message,
        verify_fail=_inside(message, "verify-fail"),
        phase_complete=_inside(message, "phase-complete"),
        journal=_inside(message, "journal"),
        knowledge=tuple(_knowledge(message)),
    )


def _inside(message: str, tag: str) -> str | None:
    """The trimmed text of the first `<tag>…</tag>`.

    An opening tag that prose merely mentions before it does not spoil it.
    """
    start = message.find(f"<{tag}>")
    if start < 0:
        return None
    start += len(tag) + 2
    end = message.find(f"</{tag}>", start)
    return message[start:end].rpartition(f"<{tag}>")[2].strip() if end >= 0 else None


def _promise(message: str) -> Promise | None:
    """Only on a line of its own: a sentence that quotes the promise does not make it."""
    for line in message.splitlines():
        text = line.strip()
        if text.startswith("<promise>") and text.endswith("</promise>"):
            word = text.removeprefix("<promise>").removesuffix("</promise>").strip()
            if word in Promise.__members__:
                return Promise[word]
    return None


def _knowledge(message: str) -> list[Knowledge]:
    found = []
    rest = message
    while (start := rest.find("<knowledge")) >= 0:
        opened = rest.find(">", start)
        end = rest.find("</knowledge>", opened)
        if opened < 0 or end < 0:
            break
        head = rest[start + len("<knowledge") : opened]
        tags = tuple(tag.strip() for tag in _attribute(head, "tags").split(",") if tag.strip())
        text = rest[opened + 1 : end].strip()
        if text:
            found.append(Knowledge(text=text, title=_attribute(head, "title").strip(), tags=tags))
        rest = rest[end + len("</knowledge>") :]
    return found


def _attribute(head: str, name: str) -> str:
    start = head.find(f'{name}="')
    if start < 0:
        return ""
    start += len(name) + 2
    end = head.find('"', start)
    return head[start:end] if end >= 0 else ""
