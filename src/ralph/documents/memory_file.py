"""`MEMORY.md`: what a session leaves to the fresh one that goes on with its task."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from ralph.core.agent_events import AgentEvent, Result, Text, ToolResult, ToolUse
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line

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
"""Characters: the next session has other things to read."""
EARLIER: Final = 8_000
SHOWN_CALLS: Final = 30
SHOWN_FILES: Final = 100
LAST_WORDS: Final = 2_000


def beside(task: TaskId) -> str:
    """Where it is when the place in the root is taken."""
    return f"{FOLDER}/{task}.md"


def is_ours(text: str) -> bool:
    """Has Ralph written it?"""
    return text.startswith(HEADING)


def is_about(text: str, task: TaskId) -> bool:
    """Is it Ralph's, and about this task?"""
    return text.startswith(f"{HEADING}{task},")


def task_of(text: str) -> TaskId | None:
    """Which one Ralph has written it about; None: he has not."""
    return TaskId(text.removeprefix(HEADING).partition(",")[0]) if is_ours(text) else None


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What Ralph itself knows about a session."""

    task: TaskId
    title: str
    attempt: int
    number: int = 1
    """Of the sessions of this attempt."""
    ending: str = ""
    """Why it is over, in a sentence."""
    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    learnings: tuple[str, ...] = ()


def written(facts: Facts, notes: str, told: Iterable[AgentEvent] = ()) -> str:
    """As the session has put it. What it has left out is as it was seen."""
    body = _without_heading(notes).strip()[:LONGEST]
    if not TITLE.search(body):
        body = f"## {SECTIONS[0]}\n\n{body}"
    has = {found[1].strip().lower() for found in TITLE.finditer(body)}
    missing = {name: text for name, text in _parts(facts, told).items() if name.lower() not in has}
    return f"{_heading(facts)}\n\n{body}\n{_sections(missing)}"


def drawn(facts: Facts, told: Iterable[AgentEvent], earlier: str = "") -> str:
    """From what was seen of a session that has not written anything itself."""
    parts = _parts(facts, told)
    parts[SECTIONS[0]] += " Ralph has put this together, since it wrote nothing itself."
    text = _sections(parts)
    if earlier:
        before = _without_heading(earlier).strip()
        text += f"\n## What the session before it left\n\n{_deeper(before)[:EARLIER]}\n"
    return f"{_heading(facts)}\n{text}"


def _sections(parts: Mapping[str, str]) -> str:
    return "".join(f"\n## {title}\n\n{body}\n" for title, body in parts.items())


def _parts(facts: Facts, told: Iterable[AgentEvent]) -> dict[str, str]:
    """Every section, as it was seen."""
    calls, words, failed = _seen(told)
    done = [f"- commit {one_line(commit[:12])}" for commit in facts.commits]
    state = [f"Its last words:\n\n{_quoted(words)}" if words else "It has said nothing."]
    if calls:
        more = f", the last {SHOWN_CALLS} of {len(calls)}" if len(calls) > SHOWN_CALLS else ""
        listed = "\n".join(f"- {one}" for one in calls[-SHOWN_CALLS:])
        state.append(f"What it did{more}:\n\n{listed}")
    return {
        "Session summary": f"Session {facts.number} of attempt {facts.attempt} at"
        f" {one_line(facts.title, 200)}. {_sentence(facts.ending)} {_used(len(calls), failed)}",
        "Completed tasks": "\n".join([*done, f"- {facts.task} is not done yet"]),
        "Current task state": "\n\n".join(state),
        "Learnings": _listed(facts.learnings) or "None were written down.",
        "Files modified": _files(facts),
    }


def _seen(told: Iterable[AgentEvent]) -> tuple[list[str], str, int]:
    """What it called, what it said last, and how many calls failed."""
    calls: list[str] = []
    words, failed = "", 0
    for event in told:
        match event:
            case ToolUse(name=name, summary=summary):
                calls.append(one_line(": ".join(filter(None, (name, summary))), 200))
            case ToolResult(error=True):
                failed += 1
            case Text(text=text, partial=False) if text.strip():
                words = text
            case Result(text=text) if text.strip():
                words = text
            case _:
                pass
    return calls, words[-LAST_WORDS:], failed


def _heading(facts: Facts) -> str:
    return f"{HEADING}{facts.task}, attempt {facts.attempt}, session {facts.number}"


def _without_heading(text: str) -> str:
    first, _, rest = text.lstrip().partition("\n")
    return rest if first.startswith("# ") else text


def _files(facts: Facts) -> str:
    shown = _listed(f"`{one_line(path, 200)}`" for path in facts.files[:SHOWN_FILES])
    more = len(facts.files) - SHOWN_FILES
    return (shown or "None.") + (f"\n- and {more} more" if more > 0 else "")


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.strip().splitlines())


def _deeper(text: str) -> str:
    """Its headings below ours."""
    return "\n".join(f"#{line}" if line.startswith("##") else line for line in text.splitlines())


def _used(calls: int, failed: int) -> str:
    if not calls:
        return "Nobody saw it use a tool."
    return f"It used {'one tool' if calls == 1 else f'{calls} tools'}, {failed} of them in vain."


def _sentence(text: str) -> str:
    said = one_line(text, 300).rstrip(".")
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def wrap_up(path: str, why: str) -> str:
    """What a session is told that is to hand over."""
    listed = ", ".join(f"`## {name}`" for name in SECTIONS)
    where = (
        f"write {path} in the root of the project" if path else "say all of this in your last words"
    )
    return (
        f"{why[:1].upper()}{why[1:]}, so a fresh session will go on with your task. Begin nothing"
        f" new. Bring what you are at to a state that can be read, then {where}, with the sections"
        f" {listed}: whoever goes on knows nothing but that and the files."
        " Then end, without any of the tags about your task. Only if the task is finished"
        " in fact, say so as usual instead."
    )
