"""A private checkout: a throw-away clone that borrows the source's objects.

It costs what a linked worktree costs and keeps the source out of an agent's reach.
Results come back by `git fetch` run in the *source*, which executes nothing of the clone's;
everything else here runs git inside the clone, so its executor belongs inside the wall as soon as
there is one.

The clone's objects are borrowed: `refs/ralph/base/<name>` keeps its starting point alive in the
source, whatever is collected there.
"""

import os
import re
from collections.abc import Sequence
from typing import Final

from ralph.adapters.workspace.cloning import make_clone
from ralph.adapters.workspace.fetching import fetch
from ralph.adapters.workspace.flush import Flush
from ralph.adapters.workspace.git import ANY, Git, find_top, text
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.layout import layout
from ralph.adapters.workspace.lfs import bring_large_files_home
from ralph.adapters.workspace.objects import Objects
from ralph.adapters.workspace.submodules import bring_home, fill, unpin
from ralph.core.errors import CannotWrite, Missing, UnusableData
from ralph.core.snapshot import Changes, Snapshot
from ralph.files import remove_tree
from ralph.ports.executor import Captures
from ralph.ports.workspace import Committed, Lost, Withheld

KEPT: Final = "refs/ralph/kept/"
"""What a checkout still held when it was given up."""
PINS: Final = "refs/ralph/base/"
"""Starting points of checkouts."""
BESIDE: Final = "refs/ralph/beside"
"""How two sides were last put together in a checkout: its parents are base, work and tip."""


def clone(
    executor: Captures,
    *,
    source_top: str,
    project_subdir: str,
    commit: str,
    top: str,
    name: str,
) -> "PrivateCheckout":
    """Make one: a commit of the source on a branch `ralph/<name>`, in a folder of its own that is
    empty or not there yet."""
    source = Git(executor, find_top(executor, source_top))
    base = Objects(source).read_ref(commit)
    try:
        if not base:
            raise Missing(f"there is no commit {commit} in {source.top}")
        source.run("update-ref", pin(name), base)
        fill(source, make_clone(source, top, base, f"ralph/{name}"), name)
        return PrivateCheckout(
            executor, source_top=source.top, project_subdir=project_subdir, top=top, name=name
        )
    except BaseException:
        forget(source, top, name)
        raise


class PrivateCheckout:
    """One that is there."""

    def __init__(
        self, executor: Captures, *, source_top: str, project_subdir: str, top: str, name: str
    ) -> None:
        self._name = name
        self._source = Git(executor, source_top)
        self._top = top
        self._inside = InPlace(executor, os.path.join(top, project_subdir))
        if os.path.realpath(self._inside.top) != os.path.realpath(top):
            # Where its own repository is gone, git finds the one around it: the person's.
            raise UnusableData(f"{top} has no repository of its own any more")

    @property
    def path(self) -> str:
        return self._inside.path

    @property
    def prefix(self) -> str:
        return self._inside.prefix

    @property
    def top(self) -> str:
        """The checkout's top directory."""
        return self._top

    @property
    def inside(self) -> InPlace:
        """The checkout as such."""
        return self._inside

    def snapshot(self) -> Snapshot:
        return self._inside.snapshot()

    def contents(self, at: Snapshot, paths: Sequence[str]) -> dict[str, bytes]:
        return self._inside.contents(at, paths)

    def with_files_of(self, then: Snapshot, now: Snapshot, paths: Sequence[str]) -> Snapshot:
        return self._inside.with_files_of(then, now, paths)

    def unlike_disk(self, at: Snapshot, paths: Sequence[str]) -> tuple[str, ...]:
        return self._inside.unlike_disk(at, paths)

    def changes(self, since: Snapshot, now: Snapshot) -> Changes:
        return self._inside.changes(since, now)

    def as_of(self, since: Snapshot, now: Snapshot, moment: float) -> Snapshot:
        return self._inside.as_of(since, now, moment)

    def carry_over(self, base: Snapshot, since: Snapshot, now: Snapshot) -> Snapshot:
        return self._inside.carry_over(base, since, now)

    def commit(
        self,
        since: Snapshot,
        upto: Snapshot,
        message: str,
        keep: frozenset[str],
        own: frozenset[str] = frozenset(),
    ) -> Committed:
        return self._inside.commit(since, upto, message, keep, own)

    def exposed(self, since: Snapshot, now: Snapshot) -> tuple[Withheld, ...]:
        return self._inside.exposed(since, now)

    def take_out(self, since: Snapshot, paths: frozenset[str]) -> tuple[str, ...]:
        return self._inside.take_out(since, paths)

    def save(self, ref: str, message: str) -> str:
        """As in place; the ref is in the source as well, where it outlives the checkout."""
        self.bring_home()
        saved = self._inside.save(ref, message)
        fetch(self._source, self._top, ref, ref)
        Flush()(layout(self._source.top))
        return saved

    def clear_locks(self, since: float) -> list[str]:
        return self._inside.clear_locks(since)

    def lost(self, commits: Sequence[str]) -> Lost:
        return self._inside.lost(commits)

    def leave_lost_head(self, candidates: Sequence[str]) -> str:
        return self._inside.leave_lost_head(candidates)

    def sync(self) -> None:
        self._inside.sync()

    def put_back(self, to: Snapshot, paths: Sequence[str]) -> None:
        self.inside.put_back(to, paths)

    def restore(self, to: Snapshot) -> None:
        self._inside.restore(to)

    def close(self) -> None:
        """Remove the directory, after everything that only it holds was saved in the source."""
        if os.path.isdir(self._top):
            self.keep()
            self.discard()

    def keep(self) -> None:
        """Save in the source what only the checkout holds.

        That is work nobody asked for any more (its run was cut short), so it goes to
        `refs/ralph/kept/<name>/…` and not to a branch.
        """
        objects = Objects(self._source)
        self.bring_home()
        now = self.snapshot()
        if now.tree and now.tree not in self._saved_trees():
            self.save(f"{KEPT}{self._name}/files", f"Uncommitted when {self._name} was given up\n")
        for commit, name in self._refs():
            if not objects.is_reachable(commit):
                fetch(self._source, self._top, name, f"{KEPT}{self._name}/{commit}")

    def bring_home(self) -> None:
        """Bring back what commits name and do not hold: those of submodules, and large files."""
        bring_home(self._source, self._source.at(self._top), self._name)
        common = layout(self._source.top).common_dir
        bring_large_files_home(common, os.path.join(self._top, ".git"))

    def fill_submodules(self) -> None:
        """Put submodules on the commits that the head names now."""
        fill(self._source, self._source.at(self._top), self._name)

    def discard(self) -> None:
        """Remove the directory with whatever is in it: for checkouts made to be thrown away."""
        forget(self._source, self._top, self._name)

    def _saved_trees(self) -> frozenset[str]:
        """What was kept of it, by whichever process."""
        refs = self._source.run("for-each-ref", "--format=%(tree) %(refname)", "refs/ralph/")
        lines = (line.partition(" ") for line in text(refs).splitlines())
        return frozenset(tree for tree, _, ref in lines if f"/{self._name}/" in ref)

    def _refs(self) -> list[tuple[str, str]]:
        """Every ref of the clone, the head first, asked for from outside."""
        listed = text(self._source.run("ls-remote", "--quiet", self._top))
        pairs = [line.split("\t", 1) for line in listed.splitlines()]
        return [
            (commit, name)
            for commit, name in pairs
            if not name.endswith("^{}") and not name.startswith((PINS, BESIDE))
        ]


def forget(source: Git, top: str, name: str) -> None:
    """Remove a checkout, whole or not, and what kept its starting point alive."""
    # The folder last: as long as it is there, whoever is killed here is seen to have been at it.
    unpin(source, name)
    source.ask("update-ref", "-d", pin(name), ok=ANY)
    remove(top)


def pin(name: str) -> str:
    """The ref that keeps a checkout's starting point alive in the source."""
    return f"{PINS}{name}"


def new_directory(parent: str, name: str) -> str:
    """One that nobody else has."""
    import tempfile

    try:
        os.makedirs(parent, exist_ok=True)
        readable = re.sub(r"[^A-Za-z0-9._-]", "-", name)
        return os.path.realpath(tempfile.mkdtemp(prefix=f"{readable}-", dir=parent))
    except OSError as error:
        raise CannotWrite(f"cannot write in {parent}: {error.strerror}") from error


def remove(top: str) -> None:
    """Take a folder away with all that is in it."""
    remove_tree(top)
