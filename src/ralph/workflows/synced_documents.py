"""Keep PRDs and code tasks in sync with the store; a box that a session ticks is a claim."""

from collections.abc import Sequence
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from ralph.core.brief import GuardrailKind
from ralph.core.errors import RalphError, UsageError
from ralph.core.ids import FeatureId
from ralph.core.run import AllTasks
from ralph.core.safe_text import first_few_paths
from ralph.core.task import Task
from ralph.documents import guardrails
from ralph.documents.code_task_file import (
    SUFFIX,
    CodeTaskStatus,
    StatusBlock,
    read_code_task,
    read_status,
    with_status_block,
)
from ralph.documents.feature_files import SPECS, GoalFiles
from ralph.documents.text_encoding import decode_text
from ralph.engine.iteration_report import keep_guardrail
from ralph.engine.run_context import RunContext
from ralph.ports.task_document import DocumentClaim, TaskDocument, TaskText
from ralph.store.store import Store
from ralph.workflows.code_tasks import CLAIMED, CodeTasks
from ralph.workflows.document_tasks import DocumentTasks
from ralph.workflows.goal import approved_goals, code_tasks_of
from ralph.workflows.planning_task import archive_unfinished, uncommitted_edits
from ralph.workflows.prd_document import PrdDocument

KNOWN_PRDS_KEY = "documents"


class KnownPrd(msgspec.Struct, frozen=True, kw_only=True):
    feature: FeatureId
    checkout: str
    """Where it was synced last. Another checkout's version is not an edit."""


def record_document(store: Store, stories: PrdDocument, checkout: str) -> None:
    """Remember a PRD. UsageError if another one is the same feature: the stories of `docs/shop.md`
    and `docs-shop.md` have the same ids."""
    known = KnownPrd(feature=stories.tasks.feature.id, checkout=checkout)
    before = _recorded_documents(store)
    for path, other in before.items():
        is_namesake = path != stories.path and other.feature == known.feature
        if is_namesake and stories.project_files.exists(path):
            raise UsageError(
                f"{stories.path} and {path} would be one feature, {stories.tasks.feature.name}",
                hint="give one of them another name",
            )
    if before.get(stories.path) != known:
        store.documents.save_value(KNOWN_PRDS_KEY, {**before, stories.path: known})


def _recorded_documents(store: Store) -> dict[str, KnownPrd]:
    return store.documents.value(KNOWN_PRDS_KEY, dict[str, KnownPrd]) or {}


def prd_documents(ctx: RunContext, max_retries: int, but: str = "") -> tuple[PrdDocument, ...]:
    """The PRDs of this checkout, but for the one at the path `but`."""
    found = []
    for path, known in _recorded_documents(ctx.store).items():
        feature = ctx.store.features.get(known.feature)
        is_here = known.checkout == ctx.workspace.path and ctx.project_files.exists(path)
        if path != but and feature is not None and is_here:
            found.append(
                PrdDocument(
                    DocumentTasks(ctx.store, feature, path, max_retries),
                    ctx.project_files,
                    is_needed=False,
                )
            )
    return tuple(found)


def goal_code_tasks(ctx: RunContext, max_retries: int, but: str = "") -> tuple[CodeTasks, ...]:
    """The code tasks of the approved goals, but for the one of the name `but`."""
    found = approved_goals(ctx.store, ctx.project_files, but)
    return tuple(code_tasks_of(goal, ctx.store, ctx.clock, max_retries) for goal in found)


class CompositeDocument(TaskDocument):
    """Several documents as one. A task is in at most one of them."""

    def __init__(self, parts: Sequence[TaskDocument]) -> None:
        self.parts = parts

    @property
    def paths(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(dict.fromkeys(path for one in self.parts for path in one.paths))

    def sync(self) -> tuple[str, ...]:
        return tuple(line for one in self.parts for line in one.sync())

    def task_text(self, task: Task) -> TaskText | None:
        found = (one.task_text(task) for one in self.parts)
        return next((one for one in found if one is not None), None)

    def session_starts(self, task: Task) -> None:
        for one in self.parts:
            one.session_starts(task)

    def session_ended(self, task: Task) -> tuple[str, ...]:
        return tuple(line for one in self.parts for line in one.session_ended(task))

    def read_claim(self, task: Task) -> DocumentClaim:
        left = [one.read_claim(task) for one in self.parts]
        return DocumentClaim(
            claims=any(one.claims for one in left),
            broken="; ".join(one.broken for one in left if one.broken),
            warnings=tuple(line for one in left for line in one.warnings),
        )

    def review_starts(self, task: Task) -> None:
        for one in self.parts:
            one.review_starts(task)

    def write_verdict(self, task: Task, *, done: bool) -> None:
        for one in self.parts:
            one.write_verdict(task, done=done)

    def end_session(self, task: Task) -> None:
        for one in self.parts:
            one.end_session(task)


class _WholeGraphDocument(CompositeDocument):
    """The documents of a run on all tasks, which removes the planning tasks of other commands."""

    def __init__(self, ctx: RunContext, parts: Sequence[TaskDocument]) -> None:
        super().__init__(parts)
        self.ctx = ctx
        self._is_first = True

    def sync(self) -> tuple[str, ...]:
        # Now, since the claims of dead workers have just been released.
        is_first, self._is_first = self._is_first, False
        return (*(archive_unfinished(self.ctx) if is_first else ()), *super().sync())


def sync_documents(ctx: RunContext, max_retries: int) -> RunContext:
    """Sync every PRD and every goal of this checkout during the run."""
    parts: tuple[TaskDocument, ...] = (
        *prd_documents(ctx, max_retries),
        *goal_code_tasks(ctx, max_retries),
    )
    if isinstance(ctx.state.target, AllTasks) and (parts or ctx.store.tasks.planning()):
        ctx = replace(ctx, document=_WholeGraphDocument(ctx, parts))
    elif parts:
        ctx = replace(ctx, document=CompositeDocument(parts))
    paths = (*(path for one in parts for path in one.paths), ctx.settings.guardrails)
    return ctx.with_warnings(uncommitted_edits(ctx, paths))


class ReadOnlyDocuments(TaskDocument):
    """The documents in a worker's checkout: the lead writes them in the user's checkout, so changes
    by a session are reverted."""

    def __init__(self, ctx: RunContext, paths: tuple[str, ...]) -> None:
        self.ctx = ctx
        self.read_only = paths
        """Paths from the project's root."""
        self._claims = False
        """The session claims its task in the file of its code task."""

    def session_ended(self, task: Task) -> tuple[str, ...]:
        ctx = self.ctx
        self._claims = False
        base = ctx.store.claims.base(task.id)
        if base is None:
            return ()
        prefix, path_of_guardrails = ctx.workspace.prefix, ctx.settings.guardrails
        wanted = {prefix + path for path in (*self.read_only, path_of_guardrails)}
        files = ctx.workspace.changes(base, ctx.workspace.snapshot()).files
        changed = wanted.intersection(files)
        added = {path for path in files if path not in wanted and self._reopen(path, prefix)}
        if not changed | added:
            return ()
        self._claims = any(self._is_claim(path.removeprefix(prefix), task) for path in changed)
        written = self._read(path_of_guardrails)
        ctx.workspace.restore_files(base, sorted(changed))
        if prefix + path_of_guardrails in changed:
            self._keep_guardrails(written, self._read(path_of_guardrails))
        now = ctx.workspace.snapshot()
        # What the session has committed is reverted by a commit.
        ctx.workspace.commit(
            now, now, "Leave the documents alone\n", frozenset(), frozenset(changed | added)
        )
        named = sorted(changed - {prefix + path_of_guardrails})
        if not named:
            return ()
        names = first_few_paths(named)
        return (f"{names}: restored, since only Ralph writes there while a team works",)

    def _reopen(self, path: str, prefix: str) -> bool:
        """Set the status of a new code task to pending. Returns whether that changed the file."""
        name = path.removeprefix(prefix)
        if not (path.endswith(SUFFIX) and name.startswith(f"{SPECS}/")):
            return False
        here = self.ctx.project_files_at(self.ctx.workspace.path)
        with suppress(RalphError):
            found = decode_text(here.read_bytes(name) or b"")
            if read_status(found.text) not in (None, CodeTaskStatus.PENDING):
                pending = StatusBlock(status=CodeTaskStatus.PENDING)
                here.write(name, found.bytes_of(with_status_block(found.text, pending)))
                return True
        return False

    def _read(self, path: str) -> str:
        return self.ctx.project_files_at(self.ctx.workspace.path).read(path).text or ""

    def _is_claim(self, path: str, task: Task) -> bool:
        feature = self.ctx.store.features.get(task.feature_id) if task.feature_id else None
        if feature is None or not path.endswith(SUFFIX):
            return False
        folder = GoalFiles(name=feature.name).implementation
        found = read_code_task(path, self._read(path), folder)
        is_own = path.startswith(f"{folder}/") and found.name == task.alias
        return is_own and found.status in CLAIMED

    def _keep_guardrails(self, now: str, before: str) -> None:
        known = {one.text for one in guardrails.read(before, GuardrailKind.PATTERN)}
        for entry in guardrails.read(now, GuardrailKind.PATTERN):
            if entry.text not in known:
                keep_guardrail(self.ctx, entry)

    def read_claim(self, task: Task) -> DocumentClaim:
        del task
        return DocumentClaim(claims=self._claims)
