"""Killed at any transaction of the real store: what was committed counts, the rest never was."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ralph.adapters.store.sqlite import SqliteStore
from ralph.core.ended import Ended
from ralph.core.ending import Exit
from ralph.core.gates import Gate
from ralph.core.outcome import Outcome
from ralph.core.task import Status
from ralph.engine.loop import run
from ralph.ports.executor import Command, Listener
from ralph.ports.history import Mark
from ralph.testing.doubles import says
from tests.engine.world import Died, Fate, World


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

    def session(self, command: Command, listener: Listener) -> Exit:
        """One task is done, the other one is given up, with something left behind."""
        if command.env["RALPH_TASK_ID"] == self.good:
            return self.works()(command, listener)
        half = says("<task-failed>TASK</task-failed>", does=lambda: self.workspace.edit("half.txt"))
        return half(command, listener)

    def open(self) -> None:
        self.store = SqliteStore.open(self.file, self.clock)  # type: ignore[assignment]

    def dies_at(self, number: int, *, late: bool) -> bool:
        """Run until the n-th transaction, and die just before or just after its commit."""
        fate, left = Fate(), number
        database = self.store.db  # type: ignore[attr-defined]
        whole = database._whole

        def transaction(work: Callable[[], Any]) -> Any:
            nonlocal left
            left -= 1
            if left != 0:
                return whole(work)
            if late:
                whole(work)
                fate.dead = True
                raise Died
            return whole(lambda: (work(), die()))

        def die() -> None:
            fate.dead = True
            raise Died

        database._whole = transaction
        try:
            run(self.kit(fate))
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
            assert run(world.kit()).outcome is Outcome.COMPLETE_WITH_FAILURES
        assert world.store.check() == []
        assert [world.task(one).status for one in (world.good, world.bad)] == [
            Status.DONE,
            Status.FAILED,
        ]
        assert world.workspace.commits == ["c0", "good"]
        assert world.workspace.files == {"work.txt": "x", "mine.txt": "a person's"}
        assert [kept["half.txt"] for kept in world.workspace.saved.values()] == ["x"]
        sessions = world.store.sessions()
        assert {session.mark for session in sessions} == {Mark.SETTLED}
        ways.add(tuple(session.ending.ended for session in sessions if session.ending))
        world.store.close()
        if not died:
            break
    else:
        pytest.fail("it never comes to its end")
    done, lost = Ended.FINISHED, Ended.LOST
    assert ways == {(done, done), (lost, done, done), (done, lost, done)}
