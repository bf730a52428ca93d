"""Write the brief of a session: the prompt that describes its task. A brief never contains a
literal tag that would count as a claim."""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.brief_sections import (
    BriefSection,
    SectionUsage,
    estimate_tokens,
    fit_sections,
    render_section,
    section_usage,
)
from ralph.core.ids import TaskId
from ralph.core.memory import Memory
from ralph.core.memory_selection import count_shared_words, memory_line, significant_words
from ralph.core.safe_text import markdown_quote
from ralph.core.settings import Config
from ralph.core.task import Task
from ralph.prompts import prompt


class DocumentText(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    text: str


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """Something that sessions have learned to do; the file tells how."""

    name: str
    description: str
    path: str


class GuardrailKind(StrEnum):
    """The section of the file that a guardrail is in."""

    FIX = "fix"
    """What went wrong, and what fixes it."""
    DECISION = "decision"
    PATTERN = "pattern"
    """How things are done here."""
    SIGN = "sign"
    """As older files have it: a trigger and an instruction."""


class Guardrail(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    kind: GuardrailKind
    text: str
    tags: tuple[str, ...] = ()
    created: str = ""
    """A day, such as 2026-02-10; empty if it is not written."""


class BriefDocuments(msgspec.Struct, frozen=True, kw_only=True):
    spec: DocumentText | None = None
    plan: DocumentText | None = None
    skills: tuple[Skill, ...] = ()
    guardrails: tuple[Guardrail, ...] = ()
    references: tuple[str, ...] = ()
    """Paths of documents that a session may want to read."""
    error_lines: tuple[str, ...] = ()
    """What could not be read, and why, for people."""


TAG_NAMES: Final = str.split("""
    task-done task-failed promise next-model verify-pass verify-fail review-pass review-fail
    review-blocked finding dismiss addressed phase-complete journal knowledge
""")
TAG: Final = re.compile(f"<(?=/?(?:{'|'.join(TAG_NAMES)}))")
HARMLESS_BRACKET: Final = "\u2039"
"""Looks like the bracket of a tag, and is none."""
CUT_ORDER: Final = str.split("""
    troubles references memories skills guardrails parent prerequisites plan spec attempts gates
    theirs changed diff guidance handoff review retry conflict task
""")
"""The least relevant first: what has to give way when there is too much to tell."""
MEMORY_SHARES: Final = 3
"""Guardrails and memories share their room; each is sure of a third of it."""
SMALLEST: Final = 300
"""Tokens for the task itself, however little room there is."""
TROUBLES: Final = 10
SPARE: Final = 20
"""The note may grow when it says more."""


class Prerequisite(msgspec.Struct, frozen=True, kw_only=True):
    """A finished blocker of the task, with a summary of its result."""

    id: TaskId
    title: str
    summary: str


class BriefInputs(msgspec.Struct, frozen=True, kw_only=True):
    task: Task
    heading: str = "Your task"
    parent: Task | None = None
    prerequisites: tuple[Prerequisite, ...] = ()
    documents: BriefDocuments = BriefDocuments()
    notes: tuple[Memory, ...] = ()
    """What earlier attempts at the task have left."""
    memories: tuple[Memory, ...] = ()
    """What others have left, the most relevant first."""
    gates: tuple[str, ...] = ()
    guidance: tuple[str, ...] = ()
    """Oldest first."""
    extra_sections: tuple[BriefSection, ...] = ()
    """What only this kind of session gets."""


class WrittenBrief(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    given: tuple[SectionUsage, ...]


def write_brief(inputs: BriefInputs, config: Config, rules: str = "") -> WrittenBrief:
    """Write the brief as Markdown. The tokens of `rules` count against the limit."""
    whole = _sections(inputs)
    known = _within_memory(whole, config.memory.budget_tokens)
    most = config.context.brief_tokens
    room = max(most - estimate_tokens(rules), SMALLEST) if most else 0
    kept, note = fit_sections(known, room, CUT_ORDER), ""
    # The note about what was cut takes room itself; how much is known only when it is written.
    for _ in range(3):
        note = _left_out(whole, kept)
        if not room or not note or _size(kept) + estimate_tokens(note) <= room:
            break
        left = max(room - estimate_tokens(note) - SPARE, SMALLEST // 2)
        kept = fit_sections(known, left, CUT_ORDER)
    # All of it comes from outside, and may hold a tag that was not meant for this session.
    text = without_tags("".join(map(render_section, kept)) + note)
    return WrittenBrief(text=text.rstrip() + "\n", given=tuple(section_usage(whole, kept)))


def write_rules(*, agent_commits: bool, learn: bool, memory: bool, builds: bool = True) -> str:
    """What every session gets, for the system prompt where the agent has one: the rules, the tags,
    and what to do with what was learned."""
    commit = (
        "Commit your changes with a message that says what and why."
        if agent_commits
        else "Do not commit: Ralph does."
    )
    rules = prompt("work_rules").format(commit=commit) if builds else prompt("planning_rules")
    # An echo of these must count for nothing: ID is no task, and … is no note (`message_tags`).
    parts = [rules, prompt("answer_tags")]
    if learn and builds:
        parts.append(prompt("learning") + (prompt("knowledge") if memory else ""))
    return "\n".join(parts)


def _size(sections: Iterable[BriefSection]) -> int:
    return sum(estimate_tokens(render_section(one)) for one in sections)


def _within_memory(sections: Sequence[BriefSection], room: int) -> list[BriefSection]:
    names = ("memories", "guardrails")
    small = fit_sections([one for one in sections if one.name in names], room, names, MEMORY_SHARES)
    left = {one.name: one for one in small}
    return [
        left.get(one.name, one) for one in sections if one.name in left or one.name not in names
    ]


def _sections(inputs: BriefInputs) -> list[BriefSection]:
    """In the order of the brief: what the task is, what is known, what to mind."""
    task, brief_documents = inputs.task, inputs.documents
    asked = significant_words(task.title, task.description)
    references = sorted(brief_documents.references, key=lambda one: -count_shared_words(asked, one))
    found = [
        _described("task", f"{inputs.heading}: {task.name}", task),
        _retry(task),
        _described("parent", "It is part of", inputs.parent) if inputs.parent else None,
        list_section(
            "prerequisites",
            "Already done before it",
            [
                (one.id, f"- {one.id} {one.title}: {one.summary}".removesuffix(": "))
                for one in inputs.prerequisites
            ],
            source=f"`ralph task deps list {task.id}`",
        ),
        _document("spec", "The specification it serves", brief_documents.spec),
        _document("plan", "The plan it is a step of", brief_documents.plan),
        _guardrails(asked, brief_documents.guardrails),
        _skills(brief_documents.skills),
        list_section(
            "references",
            "Reference documents",
            [(path, f"- `{path}`") for path in references],
            lead="Read those that your task touches.",
        ),
        list_section(
            "memories",
            "What earlier sessions learned",
            [(f"m-{one.id}", memory_line(one, task.id)) for one in inputs.memories],
            lead="The most relevant first. They may be out of date: believe the code.",
        ),
        list_section(
            "attempts",
            "What earlier attempts at this task left",
            [(f"m-{one.id}", memory_line(one, task.id)) for one in inputs.notes],
            source=f"`ralph logs {task.id}`",
        ),
        list_section(
            "guidance",
            "A person adds",
            [(str(at), f"- {one}") for at, one in enumerate(inputs.guidance, 1)][::-1],
            lead="The newest first." if len(inputs.guidance) > 1 else "",
        ),
        list_section("gates", "These must pass", [(one, f"- `{one}`") for one in inputs.gates]),
        list_section(
            "troubles",
            "Could not be read for you",
            [(one, f"- {one}") for one in brief_documents.error_lines[:TROUBLES]],
        ),
    ]
    return [*(one for one in found if one is not None), *inputs.extra_sections]


def _skills(skills: Iterable[Skill]) -> BriefSection | None:
    entries = [(one.name, f"- **{one.name}**: {one.description} (`{one.path}`)") for one in skills]
    lead = "Read the file of one before you do what it is about."
    return list_section("skills", "Skills", entries, lead=lead, source="`.ralph/skills/`")


def list_section(
    name: str, title: str, entries: Iterable[tuple[str, str]], *, lead: str = "", source: str = ""
) -> BriefSection | None:
    """Build a section from named entries; return None without entries."""
    if not (found := list(entries)):
        return None
    items, parts = zip(*found, strict=True)
    return BriefSection(name=name, title=title, parts=parts, items=items, lead=lead, source=source)


def _described(name: str, title: str, task: Task) -> BriefSection:
    return BriefSection(
        name=name,
        title=title,
        parts=tuple(filter(None, (f"**{task.title}**", task.description.rstrip()))),
        between="\n\n",
        source=f"`ralph task show {task.id}`",
    )


def _document(name: str, title: str, document: DocumentText | None) -> BriefSection | None:
    if document is None or not document.text.strip():
        return None
    return BriefSection(
        name=name,
        title=title,
        parts=(document.text.strip(),),
        lead=f"From `{document.path}`:",
        source=f"`{document.path}`",
    )


def _guardrails(asked: Sequence[str], found: Sequence[Guardrail]) -> BriefSection | None:
    said = [f"{one.text} {' '.join(one.tags)}" for one in found]
    # Those that share most words with the task, and among these the newest, which stand last.
    order = [(count_shared_words(asked, said[at]), one.created, at) for at, one in enumerate(found)]
    ranked = [found[at] for _, _, at in sorted(order, reverse=True)]
    return list_section(
        "guardrails",
        "Guardrails",
        [(one.id, f"- {_guardrail_line(one)}") for one in ranked],
        lead="Lessons that were paid for. Follow them.",
        source="`.ralph/guardrails.md`",
    )


def _guardrail_line(guardrail: Guardrail) -> str:
    kind = "" if guardrail.kind is GuardrailKind.SIGN else f"{guardrail.kind.capitalize()}: "
    return kind + " ".join(guardrail.text.split())


def _retry(task: Task) -> BriefSection | None:
    if not task.reason:
        return None
    which = f"This is retry {task.retry_count} of {task.max_retries}.\n\n" * bool(task.retry_count)
    return BriefSection(
        name="retry",
        title="The last attempt did not count" if task.attempt > 1 else "It has failed before",
        lead=f"{which}Fix this first. Work that is already in the tree is yours to use.",
        parts=("\n".join(f"> {line}" for line in task.reason.splitlines()),),
        source=f"`ralph logs {task.id}`",
        keep_both_ends=True,
    )


def handoff_section(memory: str, path: str) -> BriefSection:
    """Build the section with the notes of the previous session of this attempt."""
    return BriefSection(
        name="handoff",
        title="The session before you has left this",
        lead="It was at work on the same task. Its changes are in the tree: look at them, and go on"
        " from there.",
        parts=(markdown_quote(memory),),
        source=f"`{path}`" if path else "",
        keep_both_ends=True,
    )


def _left_out(whole: Sequence[BriefSection], kept: Sequence[BriefSection]) -> str:
    """What was cut, for the session. Memories are the result of a search: there are always more."""
    cuts = [one for one in section_usage(whole, kept) if one.is_cut and one.name != "memories"]
    lines = [f"- {_cut_note(one)}" for one in cuts]
    return "## Left out to save room\n\n" + "\n".join(lines) + "\n\n" if lines else ""


def _cut_note(given: SectionUsage) -> str:
    """What is missing of a section, and where to find it."""
    where = f"; all of it: {given.source}" if given.source else ""
    if given.items or given.left_out > 1:
        return f"{given.name}: {given.left_out} of {given.left_out + len(given.items)}{where}"
    return f"{given.name}: {given.of - given.tokens:,} of {given.of:,} tokens{where}"


def without_tags(text: str) -> str:
    """Make all tags harmless, so that an agent that repeats its brief claims nothing."""
    return TAG.sub(HARMLESS_BRACKET, text)
