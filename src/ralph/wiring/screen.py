"""The screen of a run."""

from typing import TYPE_CHECKING, TextIO

from ralph.ports.store import Store
from ralph.wiring.project import Project

if TYPE_CHECKING:
    from ralph.core.target import Target
    from ralph.ports.clock import Clock
    from ralph.ports.sink import Sink


def screen_of(
    project: Project,
    store: Store,
    target: "Target",
    stdout: TextIO,
    clock: "Clock",
    *,
    json: bool,
    color: str,
    again: str,
) -> "Sink":
    """The one that suits the terminal, or the lack of one. `again` is the command that goes on."""
    from ralph.core.task import Status
    from ralph.ports.store import Filter
    from ralph.ui.board import Board, Wait
    from ralph.ui.choose import screen_for

    def upcoming() -> list[str]:
        return [f"{task.name} {task.title}" for task in store.tasks(Filter(ready=True, limit=5))]

    def waits() -> list[Wait]:
        stuck = store.tasks(Filter(statuses=frozenset({Status.PENDING, Status.BLOCKED}), limit=10))
        blockers = store.blocker_ids([task.id for task in stuck])
        return [
            Wait(
                task.name,
                task.title,
                tuple(
                    one for one in blockers[task.id] if store.find(one).status is not Status.DONE
                ),
                is_blocked=task.status is Status.BLOCKED,
            )
            for task in stuck
        ]

    board = Board(
        counts=store.counts(target),
        upcoming=upcoming,
        waits=waits,
        logs=project.runs_dir,
        again=again,
    )
    return screen_for(stdout, clock=clock, board=board, json=json, color=color)
