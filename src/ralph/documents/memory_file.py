"""`MEMORY.md`: notes of a session for the next session of its task."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from ralph.core.agent_events import AgentEvent, SessionResultEvent, Text, ToolResult, ToolUse
from ralph.core.ids import TaskId
from ralph.core.safe_text import markdown_quote, one_line
from ralph.documents.log_files import listed
from ralph.prompts import prompt

PATH: Final = "MEMORY.md"
FOLDER: Final = ".ralph/memory"
HEADING: Final = "# Memory of "
SECTIONS: Final = (
    "Session summary",
    "Completed tasks",
    "Current task state",
    "Learnings",
    "Files modified",
)
TITLE: Final = re.compile(r"^#{1,4}[ \t]+(.+?)[ \t]*:?$", re.MULTILINE)
LONGEST: Final = 32_000
"""Characters of notes that the next session reads."""
EARLIER: Final = 8_000
SHOWN_CALLS: Final = 30
LAST_WORDS: Final = 2_000


def fallback_path(task: TaskId) -> str:
    """The path of the file if a person's own file is at the usual one."""
    return f"{FOLDER}/{task}.md"


def is_ours(text: str) -> bool:
    return text.startswith(HEADING)


def task_of(text: str) -> TaskId | None:
    """The task that Ralph has written the file about, if it has."""
    return TaskId(text.removeprefix(HEADING).partition(",")[0]) if is_ours(text) else None


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True):
    task: TaskId
    title: str
    attempt: int
    number: int = 1
    ending: str = ""
    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()


def memory_from_notes(facts: SessionFacts, notes: str, events: Iterable[AgentEvent] = ()) -> str:
    """The session's own notes, with sections that they lack from its events."""
    body = _without_heading(notes).strip()[:LONGEST]
    if not TITLE.search(body):
        body = f"## {SECTIONS[0]}\n\n{body}"
    has = {found[1].strip().lower() for found in TITLE.finditer(body)}
    missing = {
        name: text for name, text in _parts(facts, events).items() if name.lower() not in has
    }
    return f"{_heading(facts)}\n\n{body}\n{_sections(missing)}"


def memory_from_events(facts: SessionFacts, events: Iterable[AgentEvent], earlier: str = "") -> str:
    """Notes on a session that has written none, from its events."""
    parts = _parts(facts, events)
    parts[SECTIONS[0]] += " Ralph has put this together, since it wrote nothing itself."
    text = _sections(parts)
    if earlier:
        before = re.sub("(?m)^##", "###", _without_heading(earlier).strip())
        text += f"\n## What the session before it left\n\n{before[:EARLIER]}\n"
    return f"{_heading(facts)}\n{text}"


def _sections(parts: Mapping[str, str]) -> str:
    return "".join(f"\n## {title}\n\n{body}\n" for title, body in parts.items())


def _parts(facts: SessionFacts, events: Iterable[AgentEvent]) -> dict[str, str]:
    """The text of every section, from facts and events."""
    calls, words, failed = _summarize_events(events)
    done = [f"- commit {one_line(commit[:12])}" for commit in facts.commits]
    state = [f"Its last words:\n\n{markdown_quote(words)}" if words else "It has said nothing."]
    if calls:
        more = f", the last {SHOWN_CALLS} of {len(calls)}" if len(calls) > SHOWN_CALLS else ""
        shown = "\n".join(listed(calls[-SHOWN_CALLS:]))
        state.append(f"What it did{more}:\n\n{shown}")
    return {
        "Session summary": f"Session {facts.number} of attempt {facts.attempt} at"
        f" {one_line(facts.title, 200)}. {_sentence(facts.ending)}"
        f" Tool calls: {len(calls)}, of which {failed} failed.",
        "Completed tasks": "\n".join([*done, f"- {facts.task} is not done yet"]),
        "Current task state": "\n\n".join(state),
        "Learnings": "\n".join(listed(facts.learnings)),
        "Files modified": "\n".join(listed([f"`{path}`" for path in facts.files])),
    }


def _summarize_events(events: Iterable[AgentEvent]) -> tuple[list[str], str, int]:
    calls: list[str] = []
    words, failed = "", 0
    for event in events:
        match event:
            case ToolUse(name=name, summary=summary):
                calls.append(one_line(": ".join(filter(None, (name, summary))), 200))
            case ToolResult(error=True):
                failed += 1
            case Text(text=text, partial=False) if text.strip():
                words = text
            case SessionResultEvent(text=text) if text.strip():
                words = text
            case _:
                pass
    return calls, words[-LAST_WORDS:], failed


def _heading(facts: SessionFacts) -> str:
    return f"{HEADING}{facts.task}, attempt {facts.attempt}, session {facts.number}"


def _without_heading(text: str) -> str:
    first, _, rest = text.lstrip().partition("\n")
    return rest if first.startswith("# ") else text


def _sentence(text: str) -> str:
    said = one_line(text, 300).rstrip(".")
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def wrap_up_prompt(path: str, why: str) -> str:
    """The message that asks a session to write its notes and end."""
    listed = ", ".join(f"`## {name}`" for name in SECTIONS)
    where = (
        f"write {path} in the root of the project" if path else "say all of this in your last words"
    )
    said = f"{why[:1].upper()}{why[1:]}"
    return prompt("wrap_up").format(why=said, where=where, sections=listed).rstrip()
