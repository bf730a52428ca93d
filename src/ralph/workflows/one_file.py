"""The one file that a session is sent for. Whatever else it changes is put back."""

from collections.abc import Sequence

from msgspec.structs import replace

from ralph.core.errors import RalphError
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Snapshot
from ralph.core.target import Subtree
from ralph.core.task import Task
from ralph.engine.kit import Kit
from ralph.engine.unjudged import unjudged
from ralph.ports.document import Left, Passage

SHOWN = 5


class OneFile:
    """`Document` on a file that is written, not built: there are no boxes of Ralph's in it."""

    def __init__(self, kit: Kit, path: str, beside: tuple[str, ...] = ()) -> None:
        self.kit = kit
        self.path = path
        self.paths = (path, *beside)
        self.before: Snapshot | None = None
        self._is_first = True

    def follow(self) -> tuple[str, ...]:
        """What a session has committed that was killed is taken off its branch, as its end would
        have done. What lies there uncommitted may be a person's, and stays."""
        kit, is_first, self._is_first = self.kit, self._is_first, False
        # Later on, commits between two sessions are a person's.
        left = kit.unfinished if is_first else None
        if left is None or kit.settings.target != Subtree(left.task) or unjudged(kit, left.task):
            return ()
        now = kit.take_snapshot()
        if now.branch != left.base.branch:
            # Somebody has gone elsewhere since: there it begins anew.
            kit.unfinished = None
            kit.store.forget_base(left.task)
            return ()
        made = kit.workspace.changes(left.base, now).commits
        if not made:
            return ()
        committed = replace(now, tree="", index="", dirty=())
        back = kit.workspace.carry_over(left.base, committed, now)
        return self._put_back(back, f"refs/ralph/{left.task}/{left.attempt}", _counted(made))

    def passage(self, task: Task) -> Passage | None:
        """Nothing beyond what the task says."""
        del task
        return None

    def begin(self, task: Task) -> None:
        """Remember everything, to bring it back."""
        kit = self.kit
        self.before = kit.take_snapshot()
        # Of a session that was killed, or of a person since: either way not for this commit.
        left = frozenset(self.before.dirty) - kit.own - kit.kept
        if left:
            kit.kept |= left
            kit.warn(f"left as it is, and not committed: {some_of(sorted(left))}", task.id)

    def leave(self, task: Task) -> tuple[str, ...]:
        """Put back what it changed beside the file; what that was is kept under a ref."""
        kit, before = self.kit, self.before
        if before is None:
            return ()
        kit.snapshot = None
        changes = kit.workspace.changes(before, kit.take_snapshot())
        others = [path for path in changes.files if path not in kit.own]
        if not others and not changes.commits:
            return ()
        what = some_of(others) if others else _counted(changes.commits)
        return self._put_back(before, f"refs/ralph/{task.id}/{task.attempt}", what)

    def _put_back(self, to: Snapshot, ref: str, what: str) -> tuple[str, ...]:
        kit = self.kit
        kept = {path: self.content(path) for path in self.paths}
        try:
            kit.workspace.save(ref, f"Changed beside {self.path}\n")
            kit.workspace.restore(to)
        except RalphError as error:
            return (f"what the session changed could not be put back: {error}",)
        kit.snapshot = None
        for path, content in kept.items():
            if content is not None:
                kit.library.put(path, content)
        return (f"only {self.path} was to be changed: {what} put back, kept as {ref}",)

    def content(self, path: str) -> bytes | None:
        """None also where a session has left something that is no file, or a file without end."""
        try:
            return self.kit.library.content(path)
        except RalphError:
            return None

    def look(self, task: Task) -> Left:
        del task
        return Left()

    def review(self, task: Task) -> None:
        """Nobody reviews it."""

    def conclude(self, task: Task, *, done: bool) -> None:
        """What it says is nobody's status."""

    def release(self, task: Task) -> None:
        """Nothing is held."""


def _counted(commits: Sequence[str]) -> str:
    return "1 commit" if len(commits) == 1 else f"{len(commits)} commits"


def some_of(paths: list[str]) -> str:
    """The first few, by name."""
    names = ", ".join(one_line(path, 60) for path in paths[:SHOWN])
    return f"{names} and {len(paths) - SHOWN} more" if len(paths) > SHOWN else names
