"""An errand: a task that prepares others, such as writing a spec. The loop does it like any."""

from collections.abc import Callable
from contextlib import suppress

import msgspec
from msgspec.structs import replace

from ralph.core.errors import NoSuchTask
from ralph.core.events import RunEnded
from ralph.core.ids import TaskId
from ralph.core.policy.decision import Phase
from ralph.core.target import Subtree, describe
from ralph.core.task import Draft, Edit, Status, Task
from ralph.engine.kit import Kit
from ralph.engine.loop import run
from ralph.ports.papers import Paper, Papers
from ralph.ports.store import Store

NOTED = "errands"
"""The place among Ralph's papers where they are written down."""


class Errand(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done, and how one can tell that it was."""

    alias: str
    title: str
    description: str
    phase: Phase
    missing: Callable[[], str]
    """What its result still lacks, in a sentence; empty when it is there."""
    command: str
    """Who does it, and nobody else."""
    feature: str = ""
    """What it prepares: tasks that its session adds belong there."""


def as_task(store: Store, errand: Errand, max_retries: int) -> Task:
    """The task of an errand, ready to be claimed; the same one as long as the errand is open.

    It belongs to no feature: the feature has not begun because its spec is being written.
    """
    try:
        task = store.find(errand.alias)
    except NoSuchTask:
        made = store.add_task(
            Draft(
                title=errand.title,
                description=errand.description,
                alias=errand.alias,
                max_retries=max_retries,
                needs_change=False,
            )
        )
        note(store, made.id, errand.command)
        return made
    store.edit_task(task.id, Edit(description=errand.description))
    if task.status not in (Status.PENDING, Status.IN_PROGRESS):
        # Asked for once more: with a fresh set of tries. What is in somebody's hands stays there:
        # the run finds out whether they live, and what they have left behind.
        store.reset(task.id)
    return store.find(task.id)


def note(store: Papers, task: TaskId, command: str) -> None:
    """Remember whose task it is: `ralph run` leaves it alone."""
    noted = {**errands(store), task: command}
    store.keep_paper(Paper(path=NOTED, content=msgspec.json.encode(noted)))


def errands(store: Papers) -> dict[TaskId, str]:
    """The tasks that are done by a command of their own, and its name."""
    kept = store.paper(NOTED)
    return msgspec.json.decode(kept.content, type=dict[TaskId, str]) if kept is not None else {}


def errands_of(store: Store, feature: str) -> list[TaskId]:
    """The tasks that have prepared a feature, or were to."""
    known, found = errands(store), []
    for step in ("prd", "spec", "plan", "build"):
        with suppress(NoSuchTask):
            task = store.find(f"{feature}-{step}").id
            found += [task] if task in known else []
    return found


def retire(kit: Kit) -> tuple[str, ...]:
    """Take out of the graph what a command has begun and not done: it begins anew when it is called
    again, and no other run is to do it, or to wait for it. What is worth a word is returned."""
    store, told, left = kit.store, [], {}
    for task, command in errands(store).items():
        with suppress(NoSuchTask):
            found = store.find(task)
            if found.status is Status.DONE or _is_at_work(kit, task):
                left[task] = command
                continue
            store.delete_task(task)
            told.append(f"{found.name} was left undone by `{command}`, so it is taken out")
    if told:
        store.keep_paper(Paper(path=NOTED, content=msgspec.json.encode(left)))
    return tuple(told)


def _is_at_work(kit: Kit, task: TaskId) -> bool:
    """Is its command at it, in another checkout?"""
    mine, target = kit.settings.run_id, describe(Subtree(task))
    return any(
        run.id != mine and run.target == target and kit.is_alive(owner) is not False
        for run, owner in kit.store.live_runs()
    )


def send(kit: Kit, errand: Errand) -> RunEnded:
    """Run the loop for its task. The project's gates say nothing about a document, and nobody can
    try it out: a person reads it, or the tasks that come of it are checked."""
    task = kit.store.find(errand.alias).id
    home = kit.store.add_feature(errand.feature).id if errand.feature else None
    kit.settings = replace(
        kit.settings, gates=(), verify=False, review=False, phase=errand.phase, home=home
    )
    kit.missing = lambda claimed: errand.missing() if claimed.id == task else ""
    return run(kit)
