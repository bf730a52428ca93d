"""Bringing a checkout back: head, files, index, in that order, each checked before it moves."""

import os
from collections.abc import Callable
from typing import Final

from ralph.adapters.workspace.git import ANY, Git
from ralph.adapters.workspace.index import Scratch, absent, replace_index, scratch
from ralph.adapters.workspace.objects import Difference, Objects
from ralph.adapters.workspace.status import Entry, Status, read_status
from ralph.core.errors import RalphError
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Snapshot

UNFINISHED: Final = {
    "MERGE_HEAD": ("merge", "--quit"),
    "CHERRY_PICK_HEAD": ("cherry-pick", "--quit"),
    "REVERT_HEAD": ("revert", "--quit"),
    "rebase-merge": ("rebase", "--quit"),
    "rebase-apply": ("rebase", "--quit"),
}
"""What git remembers of an operation, and how to make it forget without touching a file."""


class Restore:
    """One way back. The caller holds the index lock."""

    def __init__(
        self,
        git: Git,
        objects: Objects,
        photograph: Callable[[Status, Scratch], Snapshot],
    ) -> None:
        self._git = git
        self._objects = objects
        self._photograph = photograph
        self.changed: set[str] = set()
        """The files that were brought back."""

    def back_to(self, to: Snapshot) -> None:
        """Make the checkout what it was."""
        status = read_status(self._git)
        with scratch(self._git) as disk:
            now = self._photograph(status, disk)
            if now == to:
                return
            tree = self._prepare(disk, now, to)
            found = self._objects.differences(tree, self._tree(to))
            self.changed.update(difference.path for difference in found)
            self._head(now, to)
            self._update_files(disk, tree, self._tree(to))
        if not to.dirty:
            self._forget_unfinished()
        self._index(status, now, to)
        self._mop_up(to)

    def _tree(self, snapshot: Snapshot) -> str:
        return snapshot.tree or self._objects.tree_of(snapshot.head)

    # -- files

    def _prepare(self, disk: Scratch, now: Snapshot, to: Snapshot) -> str:
        """Make the scratch index know every file in the way; fail while nothing is changed."""
        tree = self._tree(now)
        missing = self._objects.differences(tree, self._tree(to))
        # What existed then and is ignored now is no part of the tree, and of no saved one.
        hidden = [d.path for d in missing if d.old.mode == "000000" and self._is_file(d.path)]
        if hidden:
            disk.add(hidden)
            tree = disk.tree()
            lost = {d.path for d in self._objects.differences(tree, self._tree(to))}
            if not lost.isdisjoint(hidden):
                parents = (now.head,) if now.head else ()
                kept = self._objects.write_commit(tree, "Ignored files, overwritten\n", parents)
                self._objects.rescue(kept)
        disk.refresh()
        self._update_files(disk, tree, self._tree(to), dry=True)
        return tree

    def _is_file(self, path: str) -> bool:
        *folders, name = path.split("/")
        full = self._git.top
        for folder in folders:
            full = os.path.join(full, folder)
            if os.path.islink(full):
                return False  # what lies behind it is elsewhere
        full = os.path.join(full, name)
        return os.path.islink(full) or os.path.isfile(full)

    def _update_files(self, disk: Scratch, old: str, new: str, *, dry: bool = False) -> None:
        """Let git bring the files from one tree to the other.

        It writes and removes only what differs, refuses if a file is no longer what the scratch
        index says, follows no symbolic link, and takes directories away that became empty.
        """
        # With sparse rules in force it would remove a person's files that lie outside of them.
        options = ("--no-sparse-checkout", "-n") if dry else ("--no-sparse-checkout",)
        disk.git.run("read-tree", "-m", "-u", *options, old, new, once=not dry)

    def _mop_up(self, to: Snapshot) -> None:
        """Remove what only the session's own .gitignore hid, then look whether all is well."""
        for last in (False, True):
            status = read_status(self._git)
            if not status.dirty and not to.tree:
                return
            with scratch(self._git) as disk:
                now = self._photograph(status, disk)
                wrong = self._wrong(now, to)
                if not wrong:
                    return
                if last:
                    names = ", ".join(one_line(d.path, 60) for d in wrong[:5])
                    raise RalphError(f"could not bring back: {names}")
                disk.refresh()
                self._update_files(disk, self._tree(now), self._tree(to))

    def _wrong(self, now: Snapshot, to: Snapshot) -> list[Difference]:
        differences = self._objects.differences(self._tree(now), self._tree(to))
        # A submodule's own checkout is left alone, so it may be at another commit.
        return [difference for difference in differences if not difference.is_nested]

    # -- head

    def _head(self, now: Snapshot, to: Snapshot) -> None:
        """Put the branch back where it was, and the head on that branch."""
        if not to.branch:
            self._move("HEAD", now.head, to.head)
            return
        ref = f"refs/heads/{to.branch}"
        # The session may have gone to another branch; that one stays as it is.
        tip = now.head if now.branch == to.branch else self._objects.read_ref(ref)
        if not now.branch:
            self._keep(now.head, "HEAD")
        self._move(ref, tip, to.head)
        if now.branch != to.branch:
            self._objects.go_to_branch(ref)

    def _move(self, ref: str, old: str, new: str) -> None:
        if old == new:
            # The same commit, but the head may be on a branch that it should not be on.
            if ref == "HEAD":
                self._objects.move_ref(ref, new, old, "detached as before")
            return
        self._keep(old, ref)
        self._objects.move_ref(ref, new, old, "back to where it was")

    def _keep(self, commit: str, ref: str) -> None:
        """See to it that a commit is not lost with its ref."""
        if commit and not self._objects.is_reachable(commit, apart_from=(ref,)):
            self._objects.rescue(commit)

    def _forget_unfinished(self) -> None:
        """End a merge or rebase of the session's.

        Left in place, the next commit would become a merge. It is the session's if the checkout
        was clean before; otherwise it may be a person's and stays.
        """
        for mark, command in UNFINISHED.items():
            if os.path.exists(os.path.join(self._git.git_dir, mark)):
                self._git.ask(*command, ok=ANY)

    # -- index

    def _index(self, status: Status, now: Snapshot, to: Snapshot) -> None:
        """Change just the entries that differ: the others keep their flags (sparse, unchanged)."""
        staged = now.index or self._objects.tree_of(now.head)
        wanted = to.index or self._objects.tree_of(to.head)
        with scratch(self._git) as index:
            index.put(_residue(status, to, wanted))
            index.put(difference.new for difference in self._objects.differences(staged, wanted))
            index.refresh()
            replace_index(self._git, index)


def _residue(status: Status, to: Snapshot, oid: str) -> list[Entry]:
    """The session's conflicts and announced files, which no tree shows."""
    before = frozenset(to.dirty)
    conflicts = [entry for entry in status.unmerged if entry.path not in before]
    announced = [absent(path, oid) for path in status.announced if path not in before]
    return [*conflicts, *announced]
