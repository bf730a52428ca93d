"""What a session is told. The brief never holds a literal that would count as a claim."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from ralph.core.ids import TaskId
from ralph.core.learning import as_note
from ralph.core.memory import Memory
from ralph.core.relevance import shared, telling_words
from ralph.core.sections import Given, Section, account, fit, rendered, tokens
from ralph.core.shelf import Document, Guardrail, GuardrailKind, Shelf
from ralph.core.task import Task

SIGIL_TAGS: Final = (
    "task-done",
    "task-failed",
    "promise",
    "next-model",
    "verify-pass",
    "verify-fail",
    "review-pass",
    "review-fail",
    "review-blocked",
    "finding",
    "dismiss",
    "phase-complete",
    "journal",
    "knowledge",
)

INERT: Final = "\u2039"
"""Looks like the bracket of a sigil, and is none."""

RELEVANCE: Final = (
    "troubles",
    "references",
    "memories",
    "skills",
    "guardrails",
    "parent",
    "prerequisites",
    "plan",
    "spec",
    "attempts",
    "gates",
    "theirs",
    "changed",
    "diff",
    "guidance",
    "handoff",
    "review",
    "retry",
    "conflict",
    "task",
)
"""The least relevant first: what has to give way when there is too much to tell."""
MEMORY_SHARES: Final = 3
"""Guardrails and memories share their room; each is sure of a third of it."""
SMALLEST: Final = 300
"""Tokens for the task itself, however little room there is."""
TROUBLES: Final = 10
SPARE: Final = 20
"""The note may grow when it says more."""


class Prerequisite(msgspec.Struct, frozen=True, kw_only=True):
    """A blocker that is done, and what it left behind."""

    id: TaskId
    title: str
    summary: str


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """How much sessions are told. Of both rooms, 0 is without limit."""

    room: int = 40_000
    """Tokens of a brief."""
    memory: bool = True
    memory_room: int = 2000
    """Tokens of guardrails and memories in it."""
    learn: bool = True
    """Ask sessions to write down what they learned."""
    specs: tuple[str, ...] = (".ralph/specs",)
    """Folders with reference documents."""


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a brief may speak about."""

    task: Task
    heading: str = "Your task"
    parent: Task | None = None
    prerequisites: tuple[Prerequisite, ...] = ()
    shelf: Shelf = Shelf()
    notes: tuple[Memory, ...] = ()
    """What earlier attempts at the task have left."""
    memories: tuple[Memory, ...] = ()
    """What others have left, the most relevant first."""
    gates: tuple[str, ...] = ()
    guidance: tuple[str, ...] = ()
    """Oldest first."""
    more: tuple[Section, ...] = ()
    """What only this kind of session is told."""


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """A brief, and what is in it."""

    text: str
    given: tuple[Given, ...]


def write_brief(material: Material, telling: Telling, rules: str = "") -> Written:
    """What is to be done, as Markdown, section by section. `rules` take room, too."""
    whole = _sections(material)
    known = _within_memory(whole, telling.memory_room)
    room = max(telling.room - tokens(rules), SMALLEST) if telling.room else 0
    kept, note = fit(known, room, RELEVANCE), ""
    # The note about what was cut takes room itself; how much is known only when it is written.
    for _ in range(3):
        note = _left_out(whole, kept)
        if not room or not note or _size(kept) + tokens(note) <= room:
            break
        kept = fit(known, max(room - tokens(note) - SPARE, SMALLEST // 2), RELEVANCE)
    # All of it comes from outside, and may hold a sigil that was not meant for this session.
    text = disarm("".join(map(rendered, kept)) + note)
    return Written(text=text.rstrip() + "\n", given=tuple(account(whole, kept)))


def _size(sections: Iterable[Section]) -> int:
    return sum(tokens(rendered(one)) for one in sections)


def _within_memory(sections: Sequence[Section], room: int) -> list[Section]:
    names = ("memories", "guardrails")
    small = fit([one for one in sections if one.name in names], room, names, MEMORY_SHARES)
    left = {one.name: one for one in small}
    return [
        left.get(one.name, one) for one in sections if one.name in left or one.name not in names
    ]


def _sections(material: Material) -> list[Section]:
    """In the order in which they are told: what the task is, what is known, what to mind."""
    task, shelf = material.task, material.shelf
    found = [
        Section(
            name="task",
            title=f"{material.heading}: {task.name}",
            parts=tuple(filter(None, (f"**{task.title}**", task.description.rstrip()))),
            between="\n\n",
            source=f"`ralph task show {task.id}`",
        ),
        _retry(task),
        _parent(material.parent),
        listed(
            "prerequisites",
            "Already done before it",
            [(one.id, f"- {one.id} {one.title}: {one.summary}") for one in material.prerequisites],
            source=f"`ralph task deps list {task.id}`",
        ),
        _document("spec", "The specification it serves", shelf.spec),
        _document("plan", "The plan it is a step of", shelf.plan),
        _guardrails(task, shelf.guardrails),
        _skills(shelf),
        _references(task, shelf),
        listed(
            "memories",
            "What earlier sessions learned",
            [(f"m-{one.id}", as_note(one, task.id)) for one in material.memories],
            lead="The most relevant first. They may be out of date: believe the code.",
        ),
        listed(
            "attempts",
            "What earlier attempts at this task left",
            [(f"m-{one.id}", as_note(one, task.id)) for one in material.notes],
            source=f"`ralph logs {task.id}`",
        ),
        listed(
            "guidance",
            "A person adds",
            [(str(at), f"- {one}") for at, one in _newest_first(material.guidance)],
            lead="The newest first." if len(material.guidance) > 1 else "",
        ),
        listed("gates", "These must pass", [(one, f"- `{one}`") for one in material.gates]),
        listed(
            "troubles",
            "Could not be read for you",
            [(one, f"- {one}") for one in shelf.troubles[:TROUBLES]],
        ),
    ]
    return [*(one for one in found if one is not None), *material.more]


def listed(
    name: str, title: str, entries: Iterable[tuple[str, str]], *, lead: str = "", source: str = ""
) -> Section | None:
    """A section of entries, each with what it is called; None without any."""
    found = list(entries)
    return (
        Section(
            name=name,
            title=title,
            parts=tuple(text for _, text in found),
            items=tuple(item for item, _ in found),
            lead=lead,
            source=source,
        )
        if found
        else None
    )


def _newest_first(guidance: Sequence[str]) -> list[tuple[int, str]]:
    return list(enumerate(guidance, 1))[::-1]


def _parent(parent: Task | None) -> Section | None:
    if parent is None:
        return None
    parts = (f"**{parent.title}**", parent.description.rstrip())
    return Section(
        name="parent",
        title="It is part of",
        parts=tuple(filter(None, parts)),
        between="\n\n",
        source=f"`ralph task show {parent.id}`",
    )


def _document(name: str, title: str, document: Document | None) -> Section | None:
    if document is None or not document.text.strip():
        return None
    return Section(
        name=name,
        title=title,
        parts=(document.text.strip(),),
        lead=f"From `{document.path}`:",
        source=f"`{document.path}`",
    )


def _guardrails(task: Task, found: Sequence[Guardrail]) -> Section | None:
    asked = telling_words(task.title, task.description)
    said = [f"{one.text} {' '.join(one.tags)}" for one in found]
    # Those that share most words with the task, and among these the newest, which stand last.
    order = [(shared(asked, said[at]), one.created, at) for at, one in enumerate(found)]
    ranked = [found[at] for _, _, at in sorted(order, reverse=True)]
    return listed(
        "guardrails",
        "Guardrails",
        [(one.id, f"- {_said(one)}") for one in ranked],
        lead="Lessons that were paid for. Follow them.",
        source="`.ralph/guardrails.md`",
    )


def _said(guardrail: Guardrail) -> str:
    kind = "" if guardrail.kind is GuardrailKind.SIGN else f"{guardrail.kind.capitalize()}: "
    return kind + " ".join(guardrail.text.split())


def _skills(shelf: Shelf) -> Section | None:
    return listed(
        "skills",
        "Skills",
        [(one.name, f"- **{one.name}**: {one.description} (`{one.path}`)") for one in shelf.skills],
        lead="Read the file of one before you do what it is about.",
        source="`.ralph/skills/`",
    )


def _references(task: Task, shelf: Shelf) -> Section | None:
    asked = telling_words(task.title, task.description)
    ranked = sorted(shelf.references, key=lambda path: -shared(asked, path))
    return listed(
        "references",
        "Reference documents",
        [(path, f"- `{path}`") for path in ranked],
        lead="Read those that your task touches.",
    )


def _retry(task: Task) -> Section | None:
    if not task.reason:
        return None
    which = f"This is retry {task.retry_count} of {task.max_retries}.\n\n" * bool(task.retry_count)
    return Section(
        name="retry",
        title="The last attempt did not count" if task.attempt > 1 else "It has failed before",
        lead=f"{which}Mend this first. Work that is already in the tree is yours to use.",
        parts=("\n".join(f"> {line}" for line in task.reason.splitlines()),),
        source=f"`ralph logs {task.id}`",
        both_ends=True,
    )


def handed_over(memory: str, path: str) -> Section:
    """What the session before this one has left."""
    return Section(
        name="handoff",
        title="The session before you has left this",
        lead="It was at work on the same task. Its changes are in the tree: look at them, and go on"
        " from there.",
        parts=("\n".join(f"> {line}".rstrip() for line in memory.strip().splitlines()),),
        source=f"`{path}`" if path else "",
        both_ends=True,
    )


def _left_out(whole: Sequence[Section], kept: Sequence[Section]) -> str:
    """What was cut, for the session. Memories are the result of a search: there are always more."""
    cuts = [one for one in account(whole, kept) if one.is_cut and one.name != "memories"]
    lines = [f"- {_in_words(one)}" for one in cuts]
    return "## Left out to save room\n\n" + "\n".join(lines) + "\n\n" if lines else ""


def _in_words(given: Given) -> str:
    """What is missing of a section, and where to find it."""
    where = f"; all of it: {given.source}" if given.source else ""
    if given.items or given.left_out > 1:
        return f"{given.name}: {given.left_out} of {given.left_out + len(given.items)}{where}"
    return f"{given.name}: {given.of - given.tokens:,} of {given.of:,} tokens{where}"


def disarm(text: str) -> str:
    """Text in which no sigil is left: an agent that echoes its brief must claim nothing."""
    for tag in SIGIL_TAGS:
        text = text.replace(f"<{tag}", f"{INERT}{tag}").replace(f"</{tag}", f"{INERT}/{tag}")
    return text
