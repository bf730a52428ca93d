"""A branch that several workers build, of dictionaries; and workers that are functions."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from ralph.core.errors import Busy
from ralph.core.events import RunStarted
from ralph.core.gates import GateResult
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.task import Status
from ralph.engine.kit import Kit
from ralph.engine.lead import clear_checkouts
from ralph.engine.recovery import recover
from ralph.engine.teammate import work_along
from ralph.ports.history import Run
from ralph.ports.staff import Report
from ralph.ports.trunk import Conflict, Rebased
from ralph.testing.doubles import FakeCommit, FakeWorkspace, Play, says
from tests.engine.world import Fate, Mortal, World

TEAM = RunId("run-team")
MARKS = "<<<<<<<"


class FakeTrunk:
    """A `Trunk`: the tip is a list of commits, a checkout a workspace that began with some."""

    branch = "main"

    def __init__(self) -> None:
        self.history = [FakeCommit(name="c0", message="c0", files={})]
        self.checkouts: dict[TaskId, FakeWorkspace] = {}
        self.saved: dict[str, dict[str, str]] = {}
        self.is_taken = False
        self.theirs: set[str] = set()
        """Commits that have something of a person's in them."""
        self.merges: list[TaskId] = []
        self.kept: dict[TaskId, list[FakeCommit]] = {}

    @property
    def files(self) -> dict[str, str]:
        return self.history[-1].files

    def tip(self) -> str:
        return self.history[-1].name

    def others_merge(self, **files: str) -> None:
        """Somebody else was quicker."""
        names = {name.replace("_", "."): text for name, text in files.items()}
        name = f"m{len(self.history)}"
        made = FakeCommit(name=name, message=name, files={**self.files, **names})
        self.history = [*self.history, made]

    def open(self, task: TaskId) -> FakeWorkspace:
        if task not in self.checkouts:
            made = FakeWorkspace(f"/checkout/{task}")
            made.adopt(self.kept.get(task, self.history))
            self.checkouts[task] = made
        return self.checkouts[task]

    def opened(self) -> tuple[TaskId, ...]:
        return tuple(self.checkouts)

    def is_open(self, task: TaskId) -> bool:
        return task in self.checkouts

    @contextmanager
    def look(self, name: str, commit: str = "") -> Iterator[str]:
        yield f"/checkout/{name}-{commit}"

    def by_people(self, commit: str) -> bool:
        return commit in self.theirs

    @contextmanager
    def turn(self) -> Iterator[bool]:
        yield not self.is_taken

    def keep(self, task: TaskId) -> None:
        self.kept[task] = list(self.checkouts[task].history)

    def has_kept(self, task: TaskId) -> bool:
        return task in self.kept

    def is_merged(self, task: TaskId) -> bool:
        kept = self.kept.get(task)
        return bool(kept) and kept[-1].name in [one.name for one in self.history]

    def rebase(self, task: TaskId, trailers: str = "", message: str = "") -> Rebased:
        assert trailers == f"Ralph-Task: {task}\nRalph-Run: {TEAM}"
        place = self.checkouts[task]
        begun = self._began(place)
        theirs, mine = self.history[begun:], place.history[begun:]
        old = self.history[begun - 1].files
        clash = sorted(_changed(old, self.files) & _changed(old, place.head))
        if theirs and any(self.files.get(n) != place.head.get(n) for n in clash):
            return Rebased(tip=self.tip(), conflict=Conflict(files=tuple(clash)))
        files = self.files
        self._put_on_tip(place)
        for one in mine:
            files = {**files, **{n: one.files[n] for n in one.files if old.get(n) != one.files[n]}}
            place.files = dict(files)
            place.commit_files(one.message, files)
        return Rebased(tip=self.tip())

    def advance(self, task: TaskId, onto: str) -> str:
        self.keep(task)
        place = self.checkouts[task]
        if onto != self.tip():
            raise Busy("the tip has moved")
        self.history = list(place.history)
        self.merges.append(task)
        return self.tip()

    def side_by_side(self, task: TaskId, ref: str) -> Conflict:
        place = self.checkouts[task]
        kept = self.saved.setdefault(ref, dict(place.files))
        old = self.history[self._began(place) - 1].files
        clash = sorted(_changed(old, self.files) & _changed(old, kept))
        self._put_on_tip(place)
        place.files |= {n: kept[n] for n in kept if old.get(n) != kept[n]}
        place.files |= dict.fromkeys(clash, MARKS)
        return Conflict(files=tuple(clash))

    def start_over(self, task: TaskId, ref: str) -> None:
        self.saved.setdefault(ref, dict(self.checkouts[task].files))
        self._put_on_tip(self.checkouts[task])

    def close(self, task: TaskId) -> None:
        self.checkouts.pop(task, None)
        self.kept.pop(task, None)

    def follow(self) -> str:
        return ""

    def tidy(self) -> None:
        pass

    def _began(self, place: FakeWorkspace) -> int:
        names = [one.name for one in self.history]
        return sum(one.name in names for one in place.history)

    def _put_on_tip(self, place: FakeWorkspace) -> None:
        place.adopt(self.history)


def _changed(old: dict[str, str], new: dict[str, str]) -> set[str]:
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


class Crew(World):
    """One worker of a team at a time, in a world where others move the branch."""

    def __init__(self, runs_dir: Path) -> None:
        super().__init__(runs_dir)
        self.trunk = FakeTrunk()
        self.run_is_known = False
        self.first_baseline: tuple[GateResult, ...] = ()
        """What the lead has found."""

    def teammate(self, fate: Fate | None = None) -> Kit:
        """The kit of the next worker."""
        kit = self.kit(fate)
        kit.settings = replace(kit.settings, run_id=TEAM, address=RunId(kit.settings.worker))
        kit.baseline = self.first_baseline
        if not self.run_is_known:
            self._make_known()
        return kit

    def _make_known(self) -> None:
        self.run_is_known = True
        run = Run(
            id=TEAM,
            worker=WorkerId("the-lead"),
            target="all tasks",
            agent="command",
            checkout="/checkout",
            started_at="2026-01-01T00:00:00Z",
            baseline=self.first_baseline,
        )
        event = RunStarted(
            run_id=TEAM,
            worker=run.worker,
            target=run.target,
            agent=run.agent,
            checkout=run.checkout,
        )
        self.store.start_run(run, replace(self.kit().settings.owner, pid=-1), 60.0, event)

    def others_mend(self, **files: str) -> None:
        """Somebody else merges what makes every gate pass."""
        self.trunk.others_merge(**files)
        mended = tuple(replace(one, passed=True, code=0) for one in self.first_baseline)
        self.store.save_baseline(TEAM, mended)

    def works_along(self, *sessions: Play, fate: Fate | None = None) -> Report:
        """One worker, whose sessions must be just these."""
        self.executor.sessions = list(sessions)
        kit = self.teammate(fate)
        trunk = Mortal(self.trunk, fate) if fate is not None else self.trunk
        report = work_along(kit, trunk)  # type: ignore[arg-type]
        assert not self.executor.sessions, "the script was not used up"
        return report

    def place(self, task: TaskId) -> FakeWorkspace:
        return self.trunk.checkouts[task]

    def edits(self, task: TaskId, name: str = "work.txt", text: str = "mine") -> Play:
        """A session that edits a file in its own checkout and claims its task."""
        return says("<task-done>TASK</task-done>", does=lambda: self.place(task).edit(name, text))

    def is_at_work(self, task: TaskId) -> bool:
        return self.task(task).status is Status.IN_PROGRESS

    def recover(self) -> None:
        """What the lead does when a worker is dead."""
        kit = self.kit()
        recover(kit)
        clear_checkouts(kit, self.trunk)
