"""Building: the stories of a PRD, one after the other, until all of them are done."""

from msgspec.structs import replace

from ralph.core.breaker import PUT_ASIDE
from ralph.core.events import RunEnded
from ralph.core.shelf import Document as Shelved
from ralph.core.target import OneFeature
from ralph.core.task import Status, Task
from ralph.documents.plan_sections import section_of
from ralph.documents.templates import template_path
from ralph.engine.kit import Kit
from ralph.engine.loop import run
from ralph.ports.document import Passage
from ralph.ports.store import Filter, Store
from ralph.workflows.chronicle import Logs
from ralph.workflows.minding import Minded, documents, note
from ralph.workflows.pipeline import Pipeline, require_plan, require_prd
from ralph.workflows.stories import Stories
from ralph.workflows.uncommitted import uncommitted_edits


def prepare(store: Store, stories: Stories) -> tuple[str, ...]:
    """Read the PRD, and give stories that failed or were put aside before a fresh set of tries;
    what is worth a word is returned."""
    told = stories.follow()
    feature = stories.tasks.feature
    given_up = frozenset({Status.FAILED, Status.BLOCKED})
    for task in store.tasks(Filter(feature=feature.id, statuses=given_up)):
        is_put_aside = (task.reason or "").startswith(PUT_ASIDE)
        if is_put_aside or (task.status is Status.FAILED and task.parent_id is None):
            store.retry(task.id)
    return told


def build(kit: Kit, pipeline: Pipeline, max_retries: int) -> RunEnded:
    """Run the loop on the stories."""
    require_prd(kit.library, pipeline)
    require_plan(kit.library, pipeline)
    feature = kit.store.add_feature(pipeline.feature)
    logs = Logs(
        library=kit.library,
        pipeline=pipeline,
        clock=kit.clock,
        mode="build",
        gates={gate.name: gate.command for gate in kit.settings.gates},
    )
    words = _Words(kit, pipeline, logs)
    stories = Stories(
        store=kit.store,
        library=kit.library,
        path=pipeline.prd,
        feature=feature,
        max_retries=max_retries,
        speak=words.speak,
        beside=pipeline.tracked[1:],
    )
    note(kit.store, stories, kit.workspace.path)
    others = documents(kit, max_retries, but=pipeline.prd)
    kit.document, kit.chronicle = Minded((stories, *others)) if others else stories, logs
    kit.settings = replace(
        kit.settings,
        target=OneFeature(feature.id, feature.name),
        warnings=(
            *kit.settings.warnings,
            *uncommitted_edits(kit, stories.paths),
            *prepare(kit.store, stories),
        ),
    )
    return run(kit)


class _Words:
    """What a session is told of its story."""

    def __init__(self, kit: Kit, pipeline: Pipeline, logs: Logs) -> None:
        self.kit = kit
        self.pipeline = pipeline
        self.logs = logs

    def speak(self, task: Task, block: str) -> Passage:
        """By the template; a retry has one of its own, where a person wrote it."""
        kit, p = self.kit, self.pipeline
        self.logs.begin(task, kit.iteration)
        values = {
            "STORY_ID": task.name,
            "STORY_TITLE": task.title,
            "STORY_BLOCK": block.rstrip("\n"),
            "RUN_ID": str(kit.settings.run_id),
            "ITERATION": str(kit.iteration),
            "RUN_LOG_PATH": f"{kit.files}.log",
            "RUN_META_PATH": f"{kit.files}.md",
            "RETRY_ATTEMPT": str(task.retry_count),
            "RETRY_MAX": str(task.max_retries),
            "FAILURE_CONTEXT": task.reason or "",
        }
        again = bool(task.reason) and kit.library.read(template_path("retry")).text is not None
        text = p.prompt(kit.library, "retry" if again else "build", values)
        section = section_of(kit.library.read(p.plan).text or "", task.name)
        plan = Shelved(path=p.plan, text=section) if section else None
        return Passage(text=text, plan=plan)
