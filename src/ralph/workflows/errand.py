"""An errand: a task that prepares others, such as writing a spec. The loop does it like any."""

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from ralph.core.errors import NoSuchTask
from ralph.core.events import RunEnded
from ralph.core.ids import TaskId
from ralph.core.task import Draft, Edit, Status, Task
from ralph.engine.kit import Kit
from ralph.engine.loop import run
from ralph.ports.store import Store


class Errand(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done, and how one can tell that it was."""

    alias: str
    title: str
    description: str
    missing: Callable[[], str]
    """What its result still lacks, in a sentence; empty when it is there."""


def as_task(store: Store, errand: Errand, max_retries: int) -> Task:
    """The task of an errand, ready to be claimed; the same one as long as the errand is open.

    It belongs to no feature: the feature has not begun because its spec is being written.
    """
    try:
        task = store.find(errand.alias)
    except NoSuchTask:
        return store.add_task(
            Draft(
                title=errand.title,
                description=errand.description,
                alias=errand.alias,
                max_retries=max_retries,
                needs_change=False,
            )
        )
    store.edit_task(task.id, Edit(description=errand.description))
    if task.status is not Status.PENDING:
        # Asked for once more: with a fresh set of tries.
        store.reset(task.id)
    return store.find(task.id)


def send(kit: Kit, task: TaskId, errand: Errand) -> RunEnded:
    """Run the loop for this one task. The project's gates say nothing about a document, and nobody
    can try it out: a person reads it, or the tasks that come of it are checked."""
    kit.settings = replace(kit.settings, gates=(), verify=False)
    kit.missing = lambda claimed: errand.missing() if claimed.id == task else ""
    return run(kit)
