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
    from ralph.ports.store import Filter
    from ralph.ui.board import Board
    from ralph.ui.choose import screen_for
    from ralph.wiring.waits import waits_in

    def upcoming() -> list[str]:
        return [f"{task.name} {task.title}" for task in store.tasks(Filter(ready=True, limit=5))]

    board = Board(
        counts=store.counts(target),
        upcoming=upcoming,
        waits=lambda: waits_in(store, target),
        logs=project.runs_dir,
        again=again,
    )
    return screen_for(stdout, clock=clock, board=board, json=json, color=color)
