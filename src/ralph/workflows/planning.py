"""Planning: sessions that only look, and write a plan of how the stories are built."""

import os
from contextlib import suppress

from msgspec.structs import replace

from ralph.core.events import RunEnded
from ralph.core.policy.decision import Phase
from ralph.core.task import Status, Task
from ralph.documents.stories.checking import require_usable
from ralph.engine.kit import Kit
from ralph.ports.chronicle import Account
from ralph.ports.document import Passage
from ralph.ports.library import Library
from ralph.workflows.chronicle import Logs
from ralph.workflows.errand import Errand, send
from ralph.workflows.one_file import OneFile
from ralph.workflows.pipeline import Pipeline, prd_of, require_prd
from ralph.workflows.uncommitted import uncommitted_edits


def plan_errand(library: Library, pipeline: Pipeline) -> Errand:
    """One look at the code, and a better plan after it. Missing without a PRD."""
    require_prd(library, pipeline)
    require_usable(prd_of(library, pipeline), pipeline.prd)
    return Errand(
        alias=f"{pipeline.feature}-plan",
        title=f"Plan how {pipeline.prd} is built",
        description=pipeline.prompt(library, "plan", {}),
        phase=Phase.PLANNING,
        missing=lambda: _lacks(library, pipeline),
        command=pipeline.command("plan"),
        feature=pipeline.feature,
    )


def _lacks(library: Library, pipeline: Pipeline) -> str:
    page = library.read(pipeline.plan)
    if page.trouble:
        return page.trouble
    return "" if (page.text or "").strip() else f"there is no {pipeline.plan}, or nothing is in it"


def plan(kit: Kit, pipeline: Pipeline, rounds: int, limit: int = 0) -> RunEnded:
    """Some rounds in one run; fewer, when one of them changes nothing. `limit` bounds sessions,
    also those that fail; 0: as many as the task has tries."""
    logs = Logs(library=kit.library, pipeline=pipeline, clock=kit.clock, mode="plan", gates={})
    planned = Planned(kit, pipeline, logs, rounds)
    kit.document, kit.chronicle = planned, logs
    logs.after = planned.again
    told = uncommitted_edits(kit, planned.paths)
    kit.settings = replace(
        kit.settings,
        warnings=(*kit.settings.warnings, *told),
        limits=replace(kit.settings.limits, iterations=limit),
    )
    try:
        return send(kit, plan_errand(kit.library, pipeline))
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


class Planned(OneFile):
    """`Document` on a plan, which is made better round by round."""

    def __init__(self, kit: Kit, pipeline: Pipeline, logs: Logs, rounds: int) -> None:
        super().__init__(kit, pipeline.plan, (pipeline.progress, pipeline.guardrails))
        self.pipeline = pipeline
        self.logs = logs
        self.rounds = rounds
        self.text: bytes | None = None

    def passage(self, task: Task) -> Passage | None:
        """By the template as it is now."""
        kit = self.kit
        # What a killed session has written of it is taken out of the way only just before.
        require_prd(kit.library, self.pipeline)
        self.logs.begin(task, kit.iteration)
        values = {
            "RUN_ID": str(kit.settings.run_id),
            "ITERATION": str(kit.iteration),
            "RUN_LOG_PATH": f"{kit.files}.log",
            "RUN_META_PATH": f"{kit.files}.md",
        }
        text = self.pipeline.prompt(kit.library, "plan", values)
        if self.content(self.path) == b"":
            # Made for it; some agents do not write over a file that they have not read.
            text += f"\n\n`{self.path}` is there already, and empty: read it before you write it."
        return Passage(text=text)

    def begin(self, task: Task) -> None:
        """Remember everything, also to see whether the plan becomes another."""
        super().begin(task)
        self.text = self.content(self.path)

    def again(self, account: Account) -> None:
        """After a round: the next one, if this one made a difference and there are more to do."""
        task = self.kit.store.find(account.task.id)
        if task.status is not Status.DONE:
            return
        is_better = self.content(self.path) != self.text
        done = self.kit.iteration - self.kit.settings.first_iteration + 1
        if is_better and done < self.rounds:
            self.kit.store.reset(task.id)
        elif not is_better and done < self.rounds:
            self.kit.warn(f"round {done} has changed nothing: the plan is settled")
