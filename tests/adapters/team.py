"""A repository with a team's branch in it, for the tests of what the team does there."""

import os
from collections.abc import Sequence
from pathlib import Path

from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.adapters.sandbox.wall import NoWall
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.preparing import Preparation
from ralph.adapters.workspace.stock import Stock
from ralph.adapters.workspace.trunk import SharedBranch
from ralph.core.ids import TaskId
from ralph.ports.executor import Captures
from ralph.testing.hands import Hands

ONE, TWO, THREE = TaskId("t-000001"), TaskId("t-000002"), TaskId("t-000003")


def a_trunk(
    source: Hands,
    *,
    branch: str = "main",
    project: str = "",
    include: Sequence[str] = (),
    setup: Sequence[str] = (),
    stock: Stock | None = None,
    since: str = "",
    executor: Captures | None = None,
) -> SharedBranch:
    """As another process would have it."""
    executor = executor or Processes(SystemClock())
    root = source.top / project
    return SharedBranch(
        executor,
        InPlace(executor, str(root)),
        branch=branch,
        folder=str(folder_of(source)),
        since=since,
        preparation=Preparation(
            str(root),
            include=include,
            setup=setup,
            stock=stock,
            env=os.environ,
            executor=Processes(SystemClock()),
            wall=NoWall(),
        ),
    )


def folder_of(source: Hands) -> Path:
    """Where the checkouts are."""
    return source.top.parent / "checkouts"


def opened(trunk: SharedBranch, task: TaskId) -> Hands:
    """An agent's hands in the task's checkout."""
    return Hands(trunk.open(task).path)


def work(trunk: SharedBranch, task: TaskId, path: str, content: str) -> str:
    """One file, committed."""
    inside = opened(trunk, task)
    inside.write(path, content)
    return inside.commit(f"Write {path}\n\nRalph-Task: {task}")


def merge(trunk: SharedBranch, task: TaskId) -> str:
    """As the merge queue does it when nothing is in the way."""
    with trunk.turn() as mine:
        assert mine
        rebased = trunk.rebase(task)
        assert rebased.conflict is None
        return trunk.advance(task, rebased.tip)


def refs(hands: Hands) -> dict[str, str]:
    """Every ref and its commit."""
    listed = hands.git("for-each-ref", "--format=%(refname) %(objectname)")
    return dict(line.split(" ") for line in listed.splitlines())


def state(hands: Hands) -> tuple[str, str, str]:
    """Head, branch and what `git status` says."""
    return (
        hands.git("rev-parse", "HEAD").strip(),
        hands.git("symbolic-ref", "-q", "--short", "HEAD", check=False).strip(),
        hands.git("status", "--porcelain"),
    )
