"""Killed at any transaction of the real store: what was committed counts, the rest never was."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.adapters.sqlite.database import open_sqlite_store
from ralph.core.gates import Gate
from ralph.core.process_exit import ProcessExit
from ralph.core.run import RunOutcome
from ralph.core.session_ending import EndingKind
from ralph.core.task import TaskStatus
from ralph.engine.loop import run
from ralph.ports.executor import Command, OutputListener
from ralph.store.sessions import Checkpoint
from tests.doubles import says
from tests.engine.world import CrashPoint, Died, World


class OnDisk(World):
    """A world whose store is a file."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.gates = (Gate(name="test", command="make test"),)
        self.executor.gates["make test"] = [0]
        self.workspace.edit("mine.txt", "a person's")
        self.executor.otherwise = self.session
        self.file = str(folder / "progress.db")
        self.open()
        self.good = self.add("good", priority=1)
        self.bad = self.add("bad", priority=2, max_retries=0)

    def session(self, command: Command, listener: OutputListener) -> ProcessExit:
        """One task is done, the other one is given up, with something left behind."""
        if command.env["RALPH_TASK_ID"] == self.good:
            return self.works()(command, listener)
        half = says("<task-failed>TASK</task-failed>", does=lambda: self.workspace.edit("half.txt"))
        return half(command, listener)

    def open(self) -> None:
        self.store = open_sqlite_store(self.file, self.clock.now)  # type: ignore[assignment]

    def dies_at(self, number: int, *, late: bool) -> bool:
        """Run until the n-th transaction, and die just before or just after its commit."""
        crash_point, left = CrashPoint(), number
        database = self.store.db  # type: ignore[attr-defined]
        whole = database._whole  # type: ignore[attr-defined]

        def transaction(work: Callable[[], Any]) -> Any:
            nonlocal left
            left -= 1
            if left != 0:
                return whole(work)
            if late:
                whole(work)
                crash_point.dead = True
                raise Died
            return whole(lambda: (work(), die()))

        def die() -> None:
            crash_point.dead = True
            raise Died

        database._whole = transaction  # type: ignore[attr-defined]
        try:
            run(self.ctx(crash_point))
        except Died:
            return True
        finally:
            # As the kernel does it: whatever was not committed is rolled back.
            self.store.close()
            self.open()
        return False


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_wherever_it_is_killed_the_next_run_finishes_it(tmp_path: Path, late: bool) -> None:  # noqa: FBT001
    ways = set()
    for number in range(1, 500):
        folder = tmp_path / str(number)
        folder.mkdir()
        world = OnDisk(folder)
        died = world.dies_at(number, late=late)
        if died:
            assert world.store.check() == []
            assert run(world.ctx()).outcome is RunOutcome.COMPLETE_WITH_FAILURES
        assert world.store.check() == []
        assert [world.task(one).status for one in (world.good, world.bad)] == [
            TaskStatus.DONE,
            TaskStatus.FAILED,
        ]
        assert world.workspace.commits == ["c0", "good"]
        assert world.workspace.files == {"work.txt": "x", "mine.txt": "a person's"}
        assert [kept["half.txt"] for kept in world.workspace.saved.values()] == ["x"]
        sessions = world.store.sessions.select()
        assert {session.checkpoint for session in sessions} == {Checkpoint.SETTLED}
        ways.add(tuple(session.ending.ended for session in sessions if session.ending))
        world.store.close()
        if not died:
            break
    else:
        pytest.fail("it never comes to its end")
    done, lost = EndingKind.FINISHED, EndingKind.LOST
    assert ways == {(done, done), (lost, done, done), (done, lost, done)}
