"""What a session is told. The brief never holds a literal that would count as a claim."""

from typing import Final

import msgspec

from ralph.core.ids import TaskId
from ralph.core.task import Task

SIGIL_TAGS: Final = (
    "task-done",
    "task-failed",
    "promise",
    "next-model",
    "verify-pass",
    "verify-fail",
    "phase-complete",
)

INERT: Final = "\u2039"
"""Looks like the bracket of a sigil, and is none."""

RULES: Final = """\
You work in a Ralph loop: a fresh session for each task, and nobody to ask.

- One task, the one below. Leave the others alone.
- Do not assume that something is missing: search the code first.
- Write complete, working code. No placeholders, no stubs.
- Run the project's tests and checks before you claim anything.
- {commit}
- Ralph checks the work itself: a claim without work, or with a failing gate, comes back."""

SIGNALS: Final = """\
End your last message with exactly one of these, on a line of its own, with the task's id for ID:

    <task-done>ID</task-done>       the task is complete
    <task-failed>ID</task-failed>   it cannot be done; say why before

Where nothing at all can go on, a line <promise>WORD</promise> with the word FAILURE ends the run.
<journal>…</journal> keeps a note with this attempt. <next-model>WORD</next-model> with the word
haiku, sonnet or opus asks for the next session's model: a stronger one where the work is hard, a
cheaper one where it is plain."""


class Prerequisite(msgspec.Struct, frozen=True, kw_only=True):
    """A blocker that is done, and what it left behind."""

    id: TaskId
    title: str
    summary: str


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a brief may speak about."""

    task: Task
    parent: Task | None = None
    prerequisites: tuple[Prerequisite, ...] = ()
    gates: tuple[str, ...] = ()
    guidance: tuple[str, ...] = ()
    agent_commits: bool = True


def write_rules(material: Material) -> str:
    """What holds for every session, as Markdown: for the system prompt, where there is one."""
    commit = (
        "Commit your changes with a message that says what and why."
        if material.agent_commits
        else "Do not commit: Ralph does."
    )
    return f"{RULES.format(commit=commit)}\n\n{_titled('How to finish', SIGNALS)}\n"


def write_brief(material: Material) -> str:
    """What is to be done, as Markdown, section by section."""
    task = material.task
    sections = [
        _titled(f"Your task: {task.name}", f"**{task.title}**\n\n{task.description}".rstrip()),
    ]
    if material.parent is not None:
        text = f"**{material.parent.title}**\n\n{material.parent.description}".rstrip()
        sections.append(_titled("It is part of", text))
    if material.prerequisites:
        lines = [f"- {p.id} {p.title}: {p.summary}" for p in material.prerequisites]
        sections.append(_titled("Already done before it", "\n".join(lines)))
    if task.reason and (task.retry_count or task.strikes):
        sections.append(_titled("The last attempt did not count", _retry(task)))
    if material.guidance:
        lines = [f"- {text}" for text in material.guidance]
        sections.append(_titled("A person adds", "\n".join(lines)))
    if material.gates:
        lines = [f"- `{gate}`" for gate in material.gates]
        sections.append(_titled("These must pass", "\n".join(lines)))
    # All of it comes from outside, and may hold a sigil that was not meant for this session.
    return disarm("\n\n".join(sections)) + "\n"


def _titled(title: str, text: str) -> str:
    return f"## {title}\n\n{text}"


def _retry(task: Task) -> str:
    which = f"This is retry {task.retry_count} of {task.max_retries}.\n\n" * bool(task.retry_count)
    quoted = "\n".join(f"> {line}" for line in (task.reason or "").splitlines())
    return f"{which}{quoted}\n\nMend that first. Work that is already in the tree is yours to use."


def disarm(text: str) -> str:
    """Text in which no sigil is left: an agent that echoes its brief must claim nothing."""
    for tag in SIGIL_TAGS:
        text = text.replace(f"<{tag}", f"{INERT}{tag}").replace(f"</{tag}", f"{INERT}/{tag}")
    return text
