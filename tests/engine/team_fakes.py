"""A branch that several workers build, of dictionaries; and workers that are functions."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from ralph.core.errors import Busy
from ralph.core.events import RunStarted
from ralph.core.gates import GateResult
from ralph.core.ids import RunId, TaskId, WorkerId
from ralph.core.run import RunEnding
from ralph.core.task import TaskStatus
from ralph.engine.crash_recovery import recover_dead_workers
from ralph.engine.run_context import RunContext
from ralph.engine.team_lead import clear_checkouts
from ralph.engine.team_worker import run_team_worker
from ralph.ports.merge_branch import MergeConflict, RebaseResult
from tests.doubles import FakeCommit, FakeWorkspace, Play, says
from tests.engine.world import CrashingPart, CrashPoint, World

TEAM = RunId("run-team")
MARKS = "<<<<<<<"


class FakeMergeBranch:
    """A `MergeBranch`: the tip is a list of commits, a checkout a workspace that began with
    some."""

    branch = "main"

    def __init__(self) -> None:
        self.history = [FakeCommit(name="c0", message="c0", files={})]
        self.checkouts: dict[TaskId, FakeWorkspace] = {}
        self.saved: dict[str, dict[str, str]] = {}
        self.is_taken = False
        self.is_locked = False
        self.theirs: set[str] = set()
        """Commits that have something of a person's in them."""
        self.merges: list[TaskId] = []
        self.kept: dict[TaskId, list[FakeCommit]] = {}

    @property
    def files(self) -> dict[str, str]:
        return self.history[-1].files

    def head(self) -> str:
        return self.history[-1].name

    def check_branch(self) -> None:
        pass

    def others_merge(self, **files: str) -> None:
        """Somebody else was quicker."""
        names = {name.replace("_", "."): text for name, text in files.items()}
        name = f"m{len(self.history)}"
        made = FakeCommit(name=name, message=name, files={**self.files, **names})
        self.history = [*self.history, made]

    def open_checkout(self, task: TaskId) -> FakeWorkspace:
        if task not in self.checkouts:
            made = FakeWorkspace(f"/checkout/{task}")
            made.adopt(self.kept.get(task, self.history))
            self.checkouts[task] = made
        return self.checkouts[task]

    def open_checkouts(self) -> tuple[TaskId, ...]:
        return tuple(self.checkouts)

    def has_checkout(self, task: TaskId) -> bool:
        return task in self.checkouts

    def put_aside_broken(self, task: TaskId) -> bool:
        return task not in self.checkouts

    @contextmanager
    def temporary_checkout(self, name: str, commit: str = "") -> Iterator[str]:
        yield f"/checkout/{name}-{commit}"

    def changed_by_people(self, commit: str) -> bool:
        return commit in self.theirs

    @contextmanager
    def merge_lock(self) -> Iterator[bool]:
        before, self.is_locked = self.is_locked, not self.is_taken
        yield self.is_locked
        self.is_locked = before

    def save_accepted(self, task: TaskId) -> None:
        self.kept[task] = list(self.checkouts[task].history)

    def has_accepted(self, task: TaskId) -> bool:
        return task in self.kept

    def is_merged(self, task: TaskId) -> bool:
        kept = self.kept.get(task)
        return bool(kept) and kept[-1].name in [one.name for one in self.history]  # type: ignore[index]

    def rebase(self, task: TaskId, trailers: str = "", message: str = "") -> RebaseResult:
        assert trailers == f"Ralph-Task: {task}\nRalph-Run: {TEAM}"
        place = self.checkouts[task]
        begun = self._began(place)
        theirs, mine = self.history[begun:], place.history[begun:]
        old = self.history[begun - 1].files
        clash = sorted(_changed(old, self.files) & _changed(old, place.head))
        if theirs and any(self.files.get(n) != place.head.get(n) for n in clash):
            return RebaseResult(head=self.head(), conflict=MergeConflict(files=tuple(clash)))
        files = self.files
        self._put_on_tip(place)
        for one in mine:
            files = {**files, **{n: one.files[n] for n in one.files if old.get(n) != one.files[n]}}
            place.files = dict(files)
            place.commit_files(one.message, files)
        return RebaseResult(head=self.head())

    def fast_forward(self, task: TaskId, onto: str) -> str:
        self.save_accepted(task)
        place = self.checkouts[task]
        if onto != self.head():
            raise Busy("the tip has moved")
        self.history = list(place.history)
        self.merges.append(task)
        return self.head()

    def merge_uncommitted(self, task: TaskId, ref: str) -> MergeConflict:
        place = self.checkouts[task]
        kept = self.saved.setdefault(ref, dict(place.files))
        old = self.history[self._began(place) - 1].files
        clash = sorted(_changed(old, self.files) & _changed(old, kept))
        self._put_on_tip(place)
        place.files |= {n: kept[n] for n in kept if old.get(n) != kept[n]}
        place.files |= dict.fromkeys(clash, MARKS)
        return MergeConflict(files=tuple(clash))

    def reset_checkout(self, task: TaskId, ref: str) -> None:
        self.saved.setdefault(ref, dict(self.checkouts[task].files))
        self._put_on_tip(self.checkouts[task])

    def remove_checkout(self, task: TaskId) -> None:
        self.checkouts.pop(task, None)
        self.kept.pop(task, None)

    def update_user_checkout(self) -> str:
        return ""

    def catch_up_command(self) -> str:
        return ""

    def clean_up_after_crash(self) -> None:
        pass

    def _began(self, place: FakeWorkspace) -> int:
        names = [one.name for one in self.history]
        return sum(one.name in names for one in place.history)

    def _put_on_tip(self, place: FakeWorkspace) -> None:
        place.adopt(self.history)


def _changed(old: dict[str, str], new: dict[str, str]) -> set[str]:
    return {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}


class TeamWorld(World):
    """One worker of a team at a time, in a world where others move the branch."""

    def __init__(self, runs_dir: Path) -> None:
        super().__init__(runs_dir)
        self.merge_branch = FakeMergeBranch()
        self.run_is_known = False
        self.first_baseline: tuple[GateResult, ...] = ()
        """The baseline that the lead has taken."""

    def teammate(self, crash_point: CrashPoint | None = None) -> RunContext:
        """The context of the next worker."""
        ctx = self.ctx(crash_point, run_id=TEAM, address=RunId(f"agent-{self.number + 1}"))
        ctx.state.set_baseline(self.first_baseline)
        if not self.run_is_known:
            self._make_known()
        return ctx

    def _make_known(self) -> None:
        self.run_is_known = True
        event = RunStarted(
            run_id=TEAM,
            worker=WorkerId("the-lead"),
            target="all tasks",
            agent="command",
            checkout="/checkout",
        )
        self.store.runs.start(event, replace(self.ctx().settings.owner, pid=-1), 60.0)
        self.store.runs.save_baseline(TEAM, self.first_baseline)

    def others_fix(self, **files: str) -> None:
        """Somebody else merges what makes every gate pass."""
        self.merge_branch.others_merge(**files)
        mended = tuple(replace(one, passed=True, code=0) for one in self.first_baseline)
        self.store.runs.save_baseline(TEAM, mended)

    def works_along(self, *sessions: Play, crash_point: CrashPoint | None = None) -> RunEnding:
        """One worker, whose sessions must be just these."""
        self.executor.sessions = list(sessions)
        ctx = self.teammate(crash_point)
        merge_branch = (
            CrashingPart(self.merge_branch, crash_point)
            if crash_point is not None
            else self.merge_branch
        )
        report = run_team_worker(ctx, merge_branch)  # type: ignore[arg-type]
        assert not self.executor.sessions, "the script was not used up"
        return report

    def place(self, task: TaskId) -> FakeWorkspace:
        return self.merge_branch.checkouts[task]

    def edits(self, task: TaskId, name: str = "work.txt", text: str = "mine") -> Play:
        """A session that edits a file in its own checkout and claims its task."""
        return says("<task-done>TASK</task-done>", does=lambda: self.place(task).edit(name, text))

    def is_at_work(self, task: TaskId) -> bool:
        return self.task(task).status is TaskStatus.IN_PROGRESS

    def recover(self) -> None:
        """What the lead does when a worker is dead."""
        ctx = self.ctx()
        recover_dead_workers(ctx)
        clear_checkouts(ctx, self.merge_branch)
