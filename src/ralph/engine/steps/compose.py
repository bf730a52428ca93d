"""Step 2: write down what the session is told."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from ralph.core.brief import Material, handed_over
from ralph.core.policy.decision import Phase
from ralph.core.reviewing import for_author
from ralph.core.role import Role
from ralph.core.safe_text import one_line
from ralph.core.sections import Given, Section
from ralph.core.snapshot import Changes, work
from ralph.engine.brief_files import write_files
from ralph.engine.choosing import choose_model
from ralph.engine.kit import Kit
from ralph.engine.material import gather, tell
from ralph.engine.matter import file_of, matter_of
from ralph.ports.agent import Brief
from ralph.ports.claims import Claim
from ralph.ports.document import Passage

THEIRS: Final = 20
"""How many of a person's files are named."""


def compose(kit: Kit, claim: Claim) -> Brief:
    """The brief, also as a file beside the session's log."""
    task, s, store = claim.task, kit.settings, kit.store
    guidance = tuple(store.guidance(task.id, claim.attempt))
    if guidance:
        kit.publish()
    known = gather(
        store,
        kit.reader,
        task,
        telling=s.telling,
        target=s.target,
        gates=tuple(gate.command for gate in s.gates),
        guidance=guidance,
    )
    passage = kit.document.passage(task) if kit.document is not None else None
    if passage is not None:
        known = _with_passage(known, passage)
    if memory := kit.memo.told(task.id):
        known = replace(known, more=(*known.more, handed_over(memory, kit.memo.path)))
    # A task's first attempt has nothing behind it.
    said = for_author(matter_of(store, task), file_of(store, task)) if claim.attempt > 1 else None
    if said is not None:
        known = replace(known, more=(*known.more, said))
    if kit.conflict:
        known = replace(known, more=(*known.more, _conflict(kit.conflict)))
    if theirs := work(Changes(files=tuple(sorted(kit.kept))), kit.workspace.prefix):
        known = replace(known, more=(*known.more, _theirs(theirs)))
    told = tell(known, s.telling, s.commit, builds=s.phase is Phase.BUILDING)
    for trouble in told.troubles:
        kit.warn_once(trouble)
    _warn_of_cuts(kit, told.written.given)
    brief = Brief(
        task_id=task.id,
        title=task.title,
        alias=task.alias,
        attempt=claim.attempt,
        run_id=s.run_id,
        text=told.written.text,
        path=kit.files + ".prompt.md",
        checkout=kit.workspace.path,
        rules=told.rules,
        rules_path=kit.files + ".rules.md",
        terms=choose_model(kit, task),
        given=told.written.given,
    )
    if passage is not None:
        brief = _as_wished(brief, passage)
    write_files(brief)
    return brief


def _conflict(text: str) -> Section:
    return Section(name="conflict", title="What was merged meanwhile", parts=(text,))


def _theirs(paths: Sequence[str]) -> Section:
    shown = [one_line(path, 120) for path in paths[:THEIRS]]
    more = (f"- and {len(paths) - THEIRS} more: see `git status`",) if len(paths) > THEIRS else ()
    return Section(
        name="theirs",
        title="Not yours to commit",
        lead="These files have changes that a person has not committed. Leave them alone, and add"
        " only your own files to a commit, by name.",
        parts=(*(f"- `{path}`" for path in shown), *more),
    )


def _as_wished(brief: Brief, passage: Passage) -> Brief:
    is_check = passage.role is Role.VERIFY
    return replace(
        brief,
        role=passage.role,
        rules=passage.rules or brief.rules,
        checkout=passage.checkout or brief.checkout,
        terms=replace(brief.terms, read_only=True) if is_check else brief.terms,
    )


def _with_passage(known: Material, passage: Passage) -> Material:
    """What the documents say about the task at this moment."""
    return replace(
        known,
        task=replace(known.task, description=passage.text),
        shelf=replace(known.shelf, plan=passage.plan or known.shelf.plan),
    )


def _warn_of_cuts(kit: Kit, given: tuple[Given, ...]) -> None:
    """What a person wrote and a session does not get to read in whole is worth a word."""
    for one in given:
        if one.is_cut and one.name in ("task", "spec", "plan", "guidance"):
            what = one.source.strip("`") or one.name
            kit.warn_once(f"[context] brief_tokens leave no room for all of {what}")
