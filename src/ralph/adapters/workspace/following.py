"""Letting a person's branch and checkout follow the tip, when nothing of theirs is in the way.

Only files that differ between the two commits are touched, and only in a clean checkout. Before the
first of them changes, a ref says from where to where we are going; after a crash each file that
equals the old or the new version is ours to move on, and anything else is the person's.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from ralph.adapters.workspace.git import ANY, Git, text
from ralph.adapters.workspace.index import index_lock
from ralph.adapters.workspace.moving import Moving, is_new
from ralph.adapters.workspace.objects import GITLINK, Difference, Objects
from ralph.adapters.workspace.restore import UNFINISHED
from ralph.adapters.workspace.status import read_status
from ralph.adapters.workspace.tip import TRIES, Tip, Where
from ralph.core.errors import Busy, RalphError
from ralph.core.safe_text import one_line
from ralph.core.snapshot import OWN_FOLDERS
from ralph.files import open_regular, walk

SHOWN: Final = 3


class Following:
    """The person's checkout behind one branch."""

    def __init__(self, git: Git, tip: Tip, prefix: str) -> None:
        self._git = git
        self._objects = Objects(git)
        self._tip = tip
        self._prefix = prefix
        self._under_way = f"refs/ralph/following/{tip.branch}"

    def follow(self) -> str:
        """Go to the tip; return why that cannot be, in a line."""
        try:
            at, new = self._goal()
        except RalphError as error:
            return str(error)
        if at.branch == new:
            return ""
        branch = one_line(self._tip.branch)
        ref = one_line(self._tip.ref)
        if not at.branch:
            back = f"`git branch {branch} {ref}` brings it back"
            return f"your branch {branch} is gone; what was built is at {ref} ({back})"
        head = self._objects.branch_ref()
        try:
            if head != self._tip.branch_ref:
                reason = self._used_elsewhere()
                if not reason:
                    self._move_branch(at.branch, new)
            else:
                # The next one who merges tries again.
                with index_lock(self._git, waits=False):
                    moving = Moving(self._git, self._objects, at.branch, new)
                    reason = self._in_the_way(moving, at.branch)
                    if not reason:
                        self._go(moving, at.branch, new)
        except RalphError as error:
            reason = str(error)
        catch_up = f"`git merge --ff-only {ref}` catches up"
        return f"{branch} stays behind what was built: {reason} ({catch_up})" if reason else ""

    def _goal(self) -> tuple[Where, str]:
        """Where the branch is, and a tip that holds all of it: a person may commit between the two
        looks, and the branch never leaves a commit behind."""
        for _ in range(TRIES):
            new = self._tip.now()
            at = self._tip.where()
            if not at.branch or self._objects.contains(new, at.branch):
                return at, new
        raise Busy(f"{one_line(self._tip.branch)} moves all the time")

    def mend(self) -> None:
        """After a crash: finish what was begun, or undo it where a person has been since."""
        begun = self._objects.read_ref(self._under_way)
        if not begun:
            return
        old, new = self._git.word("rev-parse", f"{begun}^1", f"{begun}^2").split("\n")
        head = self._objects.branch_ref()
        at = self._objects.read_ref("HEAD")
        # Elsewhere now: then somebody has looked at the files and moved on from there.
        if head == self._tip.branch_ref and at in (old, new):
            with index_lock(self._git):
                moving = Moving(self._git, self._objects, old, new)
                if at == new:
                    moving.bring(forward=True)
                elif moving.is_ours():
                    with self._or_undone(moving):
                        moving.bring(forward=True)
                        self._move_branch(old, new)
                else:
                    moving.bring(forward=False)
        self._forget()

    # -- where it can follow

    def _used_elsewhere(self) -> str:
        """The checkout is on another branch, so no file has to move, unless another checkout has
        this one, or somebody is in the middle of rebasing or bisecting it."""
        listed = text(self._git.run("worktree", "list", "--porcelain")).splitlines()
        folder = ""
        for line in listed:
            if line.startswith("worktree "):
                folder = line.removeprefix("worktree ")
            if line == f"branch {self._tip.branch_ref}":
                return f"it is checked out in {one_line(folder)}"
        common = os.path.join(self._git.top, self._git.word("rev-parse", "--git-common-dir"))
        linked = os.path.join(common, "worktrees")
        places = [os.path.join(linked, name) for name in _listed(linked)]
        for place in (common, *places):
            for mark, content in (
                ("rebase-merge/head-name", self._tip.branch_ref),
                ("rebase-apply/head-name", self._tip.branch_ref),
                ("BISECT_START", self._tip.branch),
            ):
                if _content(os.path.join(place, mark)) == content:
                    return "a rebase or a bisection of it is under way"
        return ""

    def _in_the_way(self, moving: Moving, old: str) -> str:
        status = read_status(self._git)
        if status.head != old:
            return "it has just moved"
        if any(os.path.exists(os.path.join(self._git.git_dir, mark)) for mark in UNFINISHED):
            return "a merge or a rebase is under way"
        if (
            text(self._git.ask("config", "--bool", "core.sparseCheckout", ok=(0, 1)).stdout)
            == "true\n"
        ):
            return "your checkout is a sparse one"
        touched = {one.path for one in moving.files}
        dirty = [path for path in status.dirty if path in touched or not self._is_own(path)]
        dirty = self._without_submodules(dirty)
        if dirty:
            return f"{_names(dirty)}: not committed"
        covered = [one.path for one in moving.files if self._is_covered(one)]
        if covered:
            return f"{_names(covered)}: not known to git, and would be overwritten"
        return ""

    def _is_own(self, path: str) -> bool:
        """Ralph's own documents change all the time, and nobody is in the middle of an edit."""
        return path.startswith(tuple(self._prefix + folder for folder in OWN_FOLDERS))

    def _without_submodules(self, paths: list[str]) -> list[str]:
        """Which commit is checked out in a submodule is for the person to say."""
        if not paths:
            return paths
        listed = text(self._git.run("ls-files", "-s", "-z")).split("\0")
        links = {line.partition("\t")[2] for line in listed if line.startswith(GITLINK)}
        return [path for path in paths if path not in links]

    def _is_covered(self, one: Difference) -> bool:
        """Does something that git does not know, such as an ignored file, lie where a new file is
        to be?"""
        if not is_new(one):
            return False
        full = self._git.top
        for part in one.path.split("/")[:-1]:
            full = os.path.join(full, part)
            if os.path.islink(full) or os.path.isfile(full):
                return not self._is_known(os.path.relpath(full, self._git.top))
        full = os.path.join(self._git.top, one.path)
        if os.path.isdir(full) and not os.path.islink(full):
            return any(not self._is_known(path) for path in self._below(one.path))
        return os.path.lexists(full)

    def _is_known(self, path: str) -> bool:
        return self._git.ask("ls-files", "--error-unmatch", "--", path, ok=(0, 1)).code == 0

    def _below(self, path: str) -> list[str]:
        full = os.path.join(self._git.top, path)
        return [
            os.path.relpath(os.path.join(folder, name), self._git.top)
            for folder, _, names in walk(full)
            for name in names
        ]

    # -- moving

    def _go(self, moving: Moving, old: str, new: str) -> None:
        begun = self._objects.write_commit(
            self._objects.tree_of(new), f"On the way to {new}\n", (old, new)
        )
        before = self._objects.read_ref(self._under_way)
        self._objects.move_ref(self._under_way, begun, before, "the checkout follows")
        with self._or_undone(moving):
            moving.go()
            self._move_branch(old, new)

    @contextmanager
    def _or_undone(self, moving: Moving) -> Iterator[None]:
        try:
            yield
        except RalphError:
            moving.bring(forward=False)
            self._forget()
            raise
        self._forget()

    def _move_branch(self, old: str, new: str) -> None:
        at = self._tip.where()
        moves = {self._tip.branch_ref: (new, old)}
        if at.followed != new:
            moves[self._tip.followed_ref] = (new, at.followed)
        self._objects.move_refs(moves, "follows what was built")

    def _forget(self) -> None:
        self._git.ask("update-ref", "-d", self._under_way, ok=ANY)


def _names(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(one_line(path, 60) for path in paths[:SHOWN]) + more


def _listed(folder: str) -> list[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []


def _content(path: str) -> str:
    try:
        with open_regular(path) as file:
            return file.read(4096).decode("utf-8", "surrogateescape").strip()
    except OSError:
        return ""
