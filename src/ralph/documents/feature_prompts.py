"""Prompts for sessions that write a feature's spec, plan or tasks."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.policy.decision import Phase
from ralph.core.safe_text import markdown_quote
from ralph.core.task import Feature
from ralph.prompts import prompt

GUIDE_LENGTH: Final = 6000
"""Characters of the project's own guide: a session can read the rest itself."""


def describe_project(
    *,
    guide_name: str = "",
    guide: str = "",
    settings: Sequence[tuple[str, str]] = (),
    features: Sequence[tuple[Feature, int, int]] = (),
) -> str:
    """The project, for a conversation about it: its guide (CLAUDE.md or AGENTS.md), settings, and
    features with the numbers of done and of all tasks."""
    parts = []
    if guide.strip():
        cut = cut_at_line_end(guide.strip(), GUIDE_LENGTH)
        parts.append(f"From `{guide_name}`:\n\n{markdown_quote(cut)}")
    if settings:
        parts.append("\n".join(f"- {name}: {value}" for name, value in settings))
    if features:
        rows = ["| feature | status | tasks done |", "| --- | --- | --- |"]
        for feature, done, total in features:
            name = feature.name.replace("|", "\\|")
            rows.append(f"| {name} | {feature.status.value} | {done} of {total} |")
        parts.append("\n".join(rows))
    return "\n\n".join(["## The project", *parts]) if parts else ""


def cut_at_line_end(text: str, length: int) -> str:
    """The beginning, cut at the end of a line, and how much was cut."""
    if len(text) <= length:
        return text
    end = text.rfind("\n", length // 2, length)
    kept = text[: end if end > 0 else length].rstrip()
    return f"{kept}\n[… {len(text) - len(kept)} more characters in the file]"


class FeatureDocument(StrEnum):
    SPEC = "spec"
    PLAN = "plan"

    @property
    def phase(self) -> Phase:
        return Phase.DISCOVERY if self is FeatureDocument.SPEC else Phase.PLANNING


class FeatureFacts(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    paths: dict[FeatureDocument, str]
    """From the project's root."""
    written: frozenset[FeatureDocument] = frozenset()
    request: str = ""
    """What a person asked for, in their own words."""

    def rules(self, document: FeatureDocument) -> str:
        return prompt(f"feature_{document}").format(name=self.name, **self.paths)


class InteractivePrompt(msgspec.Struct, frozen=True, kw_only=True):
    title: str
    phase: Phase
    rules: str
    first_message: str


def write_together(
    title: str, phase: Phase, rules: Sequence[str], opening: str, request: str = ""
) -> InteractivePrompt:
    """The prompt of a session that writes a document together with a person."""
    return InteractivePrompt(
        title=title, phase=phase, rules=_joined(*rules), first_message=_joined(opening, request)
    )


def interactive_document_prompt(
    facts: FeatureFacts, document: FeatureDocument, context: str
) -> InteractivePrompt:
    opening = f"Let us write the {document} of the feature `{facts.name}`."
    if document in facts.written:
        opening = revise_together(document, facts.paths[document])
    rules = (
        f"You help a person. {prompt('write_together')}",
        prompt("advise"),
        facts.rules(document),
        context,
    )
    title = f"{document.capitalize()} of {facts.name}"
    return write_together(title, document.phase, rules, opening, facts.request)


def revise_together(called: str, path: str) -> str:
    """The first words about a document that is there already."""
    return (
        f"There is a {called} already, `{path}`. Read it, say in a few lines what it settles and"
        " what is open, and let us go on from there."
    )


def interactive_task_prompt(request: str, context: str) -> InteractivePrompt:
    opening = request or "I have something to be done. Ask me what it is."
    return write_together("A new task", Phase.PLANNING, (prompt("new_task"), context), opening)


def document_task_description(facts: FeatureFacts, document: FeatureDocument) -> str:
    """The description of a task: write a spec or a plan without asking."""
    path = facts.paths[document]
    return _joined(
        f"A person asks for this:\n\n{markdown_quote(facts.request)}" if facts.request else "",
        facts.rules(document),
        f"There is a {document} already. Revise it: keep what still holds in `{path}`, and change"
        " what the request asks for."
        if document in facts.written
        else "",
        prompt("without_asking"),
    )


def decomposition_task_description(facts: FeatureFacts, root: str) -> str:
    return prompt("feature_tasks").format(name=facts.name, root=root, **facts.paths)


def _joined(*parts: str) -> str:
    return "\n\n".join(part.strip() for part in parts if part.strip())
