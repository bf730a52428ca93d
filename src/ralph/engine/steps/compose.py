"""Step 2: write the brief of the session."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from ralph.core.brief import BriefInputs, handoff_section
from ralph.core.brief_sections import BriefSection, SectionUsage
from ralph.core.policy.decision import Phase
from ralph.core.safe_text import one_line
from ralph.core.session_events import SessionRole
from ralph.core.snapshot import CheckoutChanges, changed_work_files
from ralph.core.verification_and_review import findings_to_fix_section
from ralph.engine.brief_inputs import gather_brief_inputs, write_brief_files, write_rules_and_brief
from ralph.engine.model_selection import terms_of_next_session
from ralph.engine.run_context import RunContext
from ralph.engine.state_files import review_file_path
from ralph.ports.agent import Brief
from ralph.ports.task_document import TaskText
from ralph.store.claims import Claim

MAX_USER_FILES_NAMED: Final = 20
"""How many of a person's files are named."""


def compose(ctx: RunContext, claim: Claim) -> Brief:
    """Write the brief, also as a file beside the session's log."""
    task, s = claim.task, ctx.settings
    guidance = tuple(ctx.store.messages.guidance(task.id, claim.attempt))
    if guidance:
        ctx.log.publish()
    known = gather_brief_inputs(
        ctx.store,
        ctx.checkout.reader,
        task,
        config=s.config,
        target=ctx.state.target,
        gates=tuple(gate.command for gate in s.gates.commands),
        guidance=guidance,
    )
    task_text = ctx.document.task_text(task)
    if task_text is not None:
        known = _with_task_text(known, task_text)
    known = replace(known, extra_sections=tuple(_extra_sections(ctx, claim)))
    builds = s.phase is Phase.BUILDING
    rules, written = write_rules_and_brief(known, s.config, builds=builds)
    for trouble in known.documents.error_lines:
        ctx.log.warn_once(trouble)
    _warn_of_cuts(ctx, written.given)
    brief = Brief(
        task_id=task.id,
        title=task.title,
        alias=task.alias,
        attempt=claim.attempt,
        run_id=s.run_id,
        text=written.text,
        path=ctx.files + ".prompt.md",
        checkout=ctx.workspace.path,
        rules=rules,
        rules_path=ctx.files + ".rules.md",
        terms=terms_of_next_session(ctx, task),
        given=written.given,
    )
    if task_text is not None:
        brief = _with_document_terms(brief, task_text)
    write_brief_files(brief)
    return brief


def _extra_sections(ctx: RunContext, claim: Claim) -> Iterator[BriefSection]:
    """What the last attempts and this checkout add to the task."""
    task, store = claim.task, ctx.store
    if memory := ctx.memory_file.text_for(task.id):
        yield handoff_section(memory, ctx.memory_file.path)
    path = review_file_path(store, task)
    if findings := findings_to_fix_section(store.reviews.thread(task.id), path):
        yield findings
    if conflict := ctx.checkout.conflict:
        yield BriefSection(name="conflict", title="What was merged meanwhile", parts=(conflict,))
    kept = CheckoutChanges(files=tuple(sorted(ctx.checkout.kept)))
    if theirs := changed_work_files(kept, ctx.workspace.prefix):
        yield _user_changes_section(theirs)


def _user_changes_section(paths: Sequence[str]) -> BriefSection:
    shown = [one_line(path, 120) for path in paths[:MAX_USER_FILES_NAMED]]
    more = (
        (f"- and {len(paths) - MAX_USER_FILES_NAMED} more: see `git status`",)
        if len(paths) > MAX_USER_FILES_NAMED
        else ()
    )
    return BriefSection(
        name="uncommitted",
        title="Not yours to commit",
        lead="These files have changes that a person has not committed. Leave them alone, and add"
        " only your own files to a commit, by name.",
        parts=(*(f"- `{path}`" for path in shown), *more),
    )


def _with_document_terms(brief: Brief, task_text: TaskText) -> Brief:
    is_check = task_text.role is SessionRole.VERIFY
    return replace(
        brief,
        role=task_text.role,
        rules=task_text.rules or brief.rules,
        checkout=task_text.checkout or brief.checkout,
        terms=replace(brief.terms, read_only=True) if is_check else brief.terms,
    )


def _with_task_text(known: BriefInputs, task_text: TaskText) -> BriefInputs:
    """What the documents say about the task at this moment."""
    return replace(
        known,
        task=replace(known.task, description=task_text.text),
        documents=replace(known.documents, plan=task_text.plan or known.documents.plan),
    )


def _warn_of_cuts(ctx: RunContext, given: tuple[SectionUsage, ...]) -> None:
    """What a person wrote and a session does not get to read in whole is worth a word."""
    for one in given:
        if one.is_cut and one.name in ("task", "spec", "plan", "guidance"):
            what = one.source.strip("`") or one.name
            ctx.log.warn_once(f"[context] brief_tokens leave no room for all of {what}")
