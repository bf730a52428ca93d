"""Planning: sessions that only look, and write a plan of how the stories are built."""

import os
from contextlib import suppress

from msgspec.structs import replace

from ralph.core.errors import RalphError
from ralph.core.events import RunEnded
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Snapshot
from ralph.core.task import Status, Task
from ralph.documents.stories.checking import require_usable
from ralph.documents.stories.reading import read_prd
from ralph.engine.kit import Kit
from ralph.ports.chronicle import Account
from ralph.ports.document import Left, Passage
from ralph.ports.library import Library
from ralph.workflows.chronicle import Logs
from ralph.workflows.errand import Errand, send
from ralph.workflows.pipeline import Pipeline, require_prd
from ralph.workflows.uncommitted import uncommitted_edits

SHOWN = 5


def plan_errand(library: Library, pipeline: Pipeline) -> Errand:
    """One look at the code, and a better plan after it. Missing without a PRD."""
    require_prd(library, pipeline)
    require_usable(read_prd(library.read(pipeline.prd).text or ""), pipeline.prd)
    return Errand(
        alias=f"{pipeline.feature}-plan",
        title=f"Plan how {pipeline.prd} is built",
        description=pipeline.prompt(library, "plan", {}),
        missing=lambda: _lacks(library, pipeline),
    )


def _lacks(library: Library, pipeline: Pipeline) -> str:
    page = library.read(pipeline.plan)
    if page.trouble:
        return page.trouble
    return "" if (page.text or "").strip() else f"there is no {pipeline.plan}, or nothing is in it"


def plan(kit: Kit, pipeline: Pipeline, task: TaskId, rounds: int) -> RunEnded:
    """Some rounds in one run; fewer, when one of them changes nothing."""
    logs = Logs(library=kit.library, pipeline=pipeline, clock=kit.clock, mode="plan", gates={})
    planned = Planned(kit, pipeline, logs, rounds)
    kit.document, kit.chronicle = planned, logs
    logs.after = planned.again
    told = uncommitted_edits(kit, planned.paths)
    kit.settings = replace(kit.settings, warnings=(*kit.settings.warnings, *told))
    try:
        return send(kit, task, plan_errand(kit.library, pipeline))
    finally:
        _remove_if_empty(pipeline)


def make_room(library: Library, pipeline: Pipeline) -> None:
    """An empty plan, if there is none: behind a wall no file can be made beside Ralph's own."""
    if not library.exists(pipeline.plan):
        library.put(pipeline.plan, b"")


def _remove_if_empty(pipeline: Pipeline) -> None:
    path = os.path.join(pipeline.root, pipeline.plan)
    with suppress(OSError):
        if os.path.getsize(path) == 0:
            os.unlink(path)


class Planned:
    """`Document` on a plan: the one file that its sessions may change."""

    def __init__(self, kit: Kit, pipeline: Pipeline, logs: Logs, rounds: int) -> None:
        self.kit = kit
        self.pipeline = pipeline
        self.logs = logs
        self.rounds = rounds
        self.before: Snapshot | None = None
        self.text: bytes | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.pipeline.plan, self.pipeline.progress, self.pipeline.guardrails)

    def follow(self) -> tuple[str, ...]:
        return ()

    def passage(self, task: Task) -> Passage | None:
        """By the template as it is now."""
        kit = self.kit
        self.logs.begin(task, kit.iteration)
        values = {
            "RUN_ID": str(kit.settings.run_id),
            "ITERATION": str(kit.iteration),
            "RUN_LOG_PATH": f"{kit.files}.log",
            "RUN_META_PATH": f"{kit.files}.md",
        }
        return Passage(text=self.pipeline.prompt(kit.library, "plan", values))

    def begin(self, task: Task) -> None:
        """Remember everything, to bring it back."""
        del task
        self.before = self.kit.take_snapshot()
        self.text = self.kit.library.content(self.pipeline.plan)

    def leave(self, task: Task) -> tuple[str, ...]:
        """Put back what it changed beside the plan; what that was is kept under a ref."""
        kit, before = self.kit, self.before
        if before is None:
            return ()
        kit.snapshot = None
        now = kit.take_snapshot()
        changes = kit.workspace.changes(before, now)
        others = [path for path in changes.files if path not in kit.own]
        if not others and not changes.commits:
            return ()
        kept = {path: kit.library.content(path) for path in self.paths}
        ref = f"refs/ralph/{task.id}/{task.attempt}"
        try:
            kit.workspace.save(ref, f"Changed while {task.name} was planned\n")
            kit.workspace.restore(before)
        except RalphError as error:
            return (f"what the session changed could not be put back: {error}",)
        kit.snapshot = None
        for path, content in kept.items():
            if content is not None:
                kit.library.put(path, content)
        names = ", ".join(one_line(path, 60) for path in others[:SHOWN])
        more = f" and {len(others) - SHOWN} more" if len(others) > SHOWN else ""
        what = f"{names}{more}" if others else f"{len(changes.commits)} commits"
        return (f"planning changes only {self.pipeline.plan}: {what} put back, kept as {ref}",)

    def look(self, task: Task) -> Left:
        del task
        return Left()

    def conclude(self, task: Task, *, done: bool) -> None:
        """There are no boxes of Ralph's in a plan."""

    def release(self, task: Task) -> None:
        """Nothing is held."""

    def again(self, account: Account) -> None:
        """After a round: the next one, if this one made a difference and there are more to do."""
        task = self.kit.store.find(account.task.id)
        if task.status is not Status.DONE:
            return
        is_better = self.kit.library.content(self.pipeline.plan) != self.text
        if is_better and self.kit.iteration < self.rounds:
            self.kit.store.reset(task.id)
        elif not is_better and self.kit.iteration < self.rounds:
            self.kit.warn(f"round {self.kit.iteration} has changed nothing: the plan is settled")
