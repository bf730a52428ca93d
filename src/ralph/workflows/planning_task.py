"""Planning tasks prepare others, such as writing a spec. The loop runs them like any task."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from ralph.core.errors import NoSuchTask, RalphError
from ralph.core.events import RunEnded
from ralph.core.ids import TaskId, kept_ref
from ralph.core.policy.decision import Phase
from ralph.core.run import Subtree, describe_target
from ralph.core.safe_text import first_few_paths, one_line
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task, TaskDraft, TaskEdit, TaskStatus
from ralph.documents import guardrails, log_files
from ralph.engine.crash_recovery import session_pending_verdict
from ralph.engine.loop import run
from ralph.engine.run_context import RunContext
from ralph.ports.project_files import ProjectFiles
from ralph.ports.task_document import TaskDocument
from ralph.store.store import Store


class PlanningTask(msgspec.Struct, frozen=True, kw_only=True):
    alias: str
    title: str
    description: str
    phase: Phase
    missing: Callable[[], str]
    """A sentence about what the result still lacks; empty when nothing is missing."""
    command: str
    feature: str = ""
    """The feature that it prepares. Tasks that its session adds belong there."""


def lacking(path: str) -> str:
    return f"there is no {path}, or nothing is in it"


def task_of(store: Store, planning_task: PlanningTask, max_retries: int) -> Task:
    """The task in the store, ready to be claimed; an open one is used again.

    It belongs to no feature: a feature does not begin because its spec is being written.
    """
    try:
        task = store.tasks.find(planning_task.alias)
    except NoSuchTask:
        made = store.tasks.add(
            TaskDraft(
                title=planning_task.title,
                description=planning_task.description,
                alias=planning_task.alias,
                max_retries=max_retries,
                needs_change=False,
            )
        )
        record_command(store, made.id, planning_task.command)
        return made
    store.tasks.edit(task.id, TaskEdit(description=planning_task.description))
    if task.status not in (TaskStatus.PENDING, TaskStatus.IN_PROGRESS):
        # A fresh set of tries. A task in progress stays so: the run finds out whether its worker
        # is alive.
        store.tasks.reset(task.id)
    return store.tasks.find(task.id)


def record_command(store: Store, task: TaskId, command: str) -> None:
    """Remember the command of a planning task: `ralph run` leaves it alone."""
    store.tasks.set_planning({**store.tasks.planning(), task: command})


def planning_tasks_of(store: Store, feature: str) -> list[TaskId]:
    known, found = store.tasks.planning(), []
    for step in ("prd", "spec", "plan", "build"):
        with suppress(NoSuchTask):
            task = store.tasks.find(f"{feature}-{step}").id
            found += [task] if task in known else []
    return found


def archive_unfinished(ctx: RunContext) -> tuple[str, ...]:
    """Remove planning tasks that are not done: their command begins again, and no other run may do
    them or wait for them. Returns lines for the user."""
    store, warnings, left = ctx.store, [], {}
    known = store.tasks.planning()
    for task, command in known.items():
        with suppress(NoSuchTask):
            found = store.tasks.find(task)
            # A part of a validation goes with it, and it comes first.
            is_part = found.parent_id in known
            if is_part or found.status is TaskStatus.DONE or _is_running(ctx, task):
                left[task] = command
                continue
            store.tasks.delete(task)
            warnings.append(f"{found.name} was left undone by `{command}`, so it is taken out")
    if warnings:
        store.tasks.set_planning(left)
    return tuple(warnings)


def _is_running(ctx: RunContext, task: TaskId) -> bool:
    mine, target = ctx.settings.run_id, describe_target(Subtree(task))
    return any(
        run.id != mine and run.target == target and ctx.leases.is_alive(owner) is not False
        for run, owner in ctx.store.runs.live()
    )


def run_planning_task(
    ctx: RunContext, planning_task: PlanningTask, document: "SingleFileDocument | None" = None
) -> RunEnded:
    """Run the loop for a planning task, without gates and verification: they say nothing about a
    document. A person reads it, or the tasks that come of it are checked."""
    if document is not None:
        warnings = uncommitted_edits(ctx, document.edited_paths)
        ctx = replace(ctx.with_warnings(warnings), document=document)
    task = ctx.store.tasks.find(planning_task.alias).id
    home = ctx.store.features.add(planning_task.feature).id if planning_task.feature else None
    settings = replace(ctx.settings.without_checks(), phase=planning_task.phase, home=home)

    def missing(claimed: Task) -> str:
        return planning_task.missing() if claimed.id == task else ""

    return run(replace(ctx, settings=settings, missing=missing))


class SingleFileDocument(TaskDocument):
    """The document of sessions that may change one file only. Other changes are reverted."""

    def __init__(self, ctx: RunContext, path: str, beside: tuple[str, ...] = ()) -> None:
        self.ctx = ctx
        self.path = path
        self.paths = (path, *beside)
        self.before: Snapshot | None = None
        self._is_first = True

    @property
    def edited_paths(self) -> tuple[str, ...]:
        """The files in which a person may have uncommitted edits."""
        return self.paths

    def _own(self) -> frozenset[str]:
        return frozenset(self.ctx.workspace.prefix + path for path in self.paths)

    def sync(self) -> tuple[str, ...]:
        """Take the commits of a killed session off the branch, as its end would have done. What it
        left uncommitted may be a person's, and stays."""
        ctx, is_first, self._is_first = self.ctx, self._is_first, False
        # Later on, commits between two sessions are a person's.
        left = ctx.checkout.unfinished if is_first else None
        if (
            left is None
            or ctx.state.target != Subtree(left.task)
            or session_pending_verdict(ctx, left.task)
        ):
            return ()
        now = ctx.checkout.snapshot()
        if now.branch != left.base.branch:
            # The user has changed the branch since: the task begins again on it.
            ctx.checkout.take_unfinished()
            ctx.store.claims.forget_base(left.task, None)
            return ()
        made = ctx.workspace.changes(left.base, now).commits
        if not made:
            return ()
        committed = replace(now, tree="", index="", dirty=())
        back = ctx.workspace.rebase_base(left.base, committed, now)
        return self._revert(back, kept_ref(left.task, left.attempt), _counted(made))

    def session_starts(self, task: Task) -> None:
        ctx = self.ctx
        self.before = ctx.checkout.snapshot()
        # Files of a killed session, or of a person since: neither are for this commit.
        left = frozenset(self.before.dirty) - self._own() - ctx.checkout.kept
        if left:
            ctx.checkout.keep(left)
            ctx.log.warn(
                f"left as it is, and not committed: {first_few_paths(sorted(left))}", task.id
            )

    def session_ended(self, task: Task) -> tuple[str, ...]:
        """Revert the other changes, and keep them under a ref."""
        ctx, before = self.ctx, self.before
        if before is None:
            return ()
        ctx.checkout.changed()
        now = ctx.checkout.snapshot()
        before = ctx.workspace.with_user_commits(before, now)
        changes = ctx.workspace.changes(before, now)
        others = [path for path in changes.files if path not in self._own()]
        if not others and not changes.commits:
            return ()
        what = first_few_paths(others) if others else _counted(changes.commits)
        return self._revert(before, kept_ref(task.id, task.attempt), what)

    def _revert(self, to: Snapshot, ref: str, what: str) -> tuple[str, ...]:
        ctx = self.ctx
        kept = {path: self.content(path) for path in self.paths}
        try:
            ctx.workspace.save(ref, f"Changed beside {self.path}\n")
            ctx.workspace.restore(to)
        except RalphError as error:
            return (f"what the session changed could not be restored: {error}",)
        ctx.checkout.changed()
        for path, content in kept.items():
            if content is not None:
                ctx.project_files.write(path, content)
        return (f"only {self.path} was to be changed: {what} reverted, kept as {ref}",)

    def content(self, path: str) -> bytes | None:
        """The content of a file; None if there is none, or if it cannot be read."""
        try:
            return self.ctx.project_files.read_bytes(path)
        except RalphError:
            return None


def _counted(commits: Sequence[str]) -> str:
    return "1 commit" if len(commits) == 1 else f"{len(commits)} commits"


def uncommitted_edits(ctx: RunContext, paths: tuple[str, ...]) -> tuple[str, ...]:
    """A warning about documents with uncommitted changes; empty if there are none.

    They cannot be left out: Ralph writes ticks and entries between a person's lines.
    """
    if ctx.settings.config.git.commit == "none":
        return ()
    there = [path for path in dict.fromkeys(paths) if ctx.project_files.exists(path)]
    dirty = frozenset(ctx.workspace.snapshot().dirty) if there else ()
    named = [
        path
        for path in there
        if ctx.workspace.prefix + path in dirty and not _is_new(ctx.project_files, path)
    ]
    if not named:
        return ()
    have = "has" if len(named) == 1 else "have"
    names = ", ".join(one_line(path, 60) for path in named)
    return (f"{names} {have} changes that are not committed: Ralph commits them with the work",)


def _is_new(project_files: ProjectFiles, path: str) -> bool:
    text = project_files.read(path).text
    return text is not None and (
        text in ("", guardrails.FRESH) or log_files.is_fresh_progress_log(text)
    )
