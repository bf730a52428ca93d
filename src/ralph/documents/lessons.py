"""Guardrails of several writers: the same lesson is not written twice, and none gets lost."""

from typing import NamedTuple

from ralph.core.shelf import Guardrail
from ralph.documents.guardrails import added, read


class Learned(NamedTuple):
    """The file with a lesson in it, and the entry that says it."""

    text: str
    entry: Guardrail


def learned(text: str, entry: Guardrail) -> Learned:
    """Write a lesson down, unless it is there already: then the file stays as it is, byte for
    byte, and the entry is the one that says the same."""
    there = _known(text, entry)
    return Learned(added(text, entry), entry) if there is None else Learned(text, there)


def _known(text: str, entry: Guardrail) -> Guardrail | None:
    # Reading takes its time in a long file, so first what needs none of it: a lesson that is there
    # as we would write it, and one that is news.
    if there := _as_written(text, entry):
        return there
    said = _words(entry.text)
    if said not in _words(text.replace(">", " ").replace("**", "")):
        return None
    return next((one for one in read(text) if _words(one.text) == said), None)


def _as_written(text: str, entry: Guardrail) -> Guardrail | None:
    """The entry with the very same lines between its heading and its comment."""
    lines = "\n".join(f"> {line}".rstrip() for line in entry.text.strip().splitlines())
    at = text.find(f"\n{lines}\n<!--")
    start = text.rfind("\n", 0, max(at, 0)) + 1
    if at < 0 or not text.startswith("### ", start):
        return None
    end = text.find("-->", at + len(lines)) + len("-->")
    found = read(text[start:end])
    return found[0] if found else None


def _words(text: str) -> str:
    """What a lesson says, however it is broken into lines and written large."""
    return " ".join(text.lower().split())
