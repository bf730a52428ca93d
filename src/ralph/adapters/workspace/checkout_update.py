"""The branch that a team builds, and the user's branch and checkout, which follow it.

Three refs tell where each is. `refs/heads/<branch>` is the person's. `refs/ralph/tip/<branch>` is
what was accepted so far: equal to the user's branch, or ahead of it. `refs/ralph/followed/<branch>`
is the last commit that both had: what the person has changed since (by commits, a reset, an amended
commit), they mean. Where it equals the tip, the tip goes along; otherwise their changes are merged
into the tip.

The user's checkout goes to the tip if nothing is in the way. Only files that differ between the two
commits are touched, and only if none of them is uncommitted; what else is changed or staged stays
so. Before the first of them changes, a ref says from where to where we are going; after a crash
each file that equals the old or the new version is ours to move on, and anything else is the
person's. Each step is on disk before the next one, so that this also holds after a power cut.
"""

import os
from collections.abc import Callable, Set
from contextlib import AbstractContextManager, suppress
from typing import Final, NamedTuple

from ralph.adapters.workspace.git import ANY, Git, text, try_again
from ralph.adapters.workspace.git_index import ABSENT, GITLINK, index_lock, read_status, submodules
from ralph.adapters.workspace.git_objects import Difference, GitObjects
from ralph.adapters.workspace.restore_checkout import UNFINISHED, FileSwitch
from ralph.core.errors import Busy, Missing, RalphError
from ralph.core.safe_text import first_few_paths, one_line
from ralph.files import names_in, read_start, walk
from ralph.git_layout import find_layout

TRIES: Final = 8
"""Another process may move the tip at the same moment, and again."""
SHOWN: Final = 3
NAMED: Final = 5


class Diverged(RalphError):
    """The user's branch and what was built do not fit together."""

    def __init__(self, branch: str, at: "BranchPositions", ref: str, why: str) -> None:
        super().__init__(
            f"{branch} ({at.branch[:10]}) and what was built on it ({ref}, {at.head[:10]}) {why}",
            hint=f"git merge {ref}, or to give up what was built: git update-ref -d {ref}",
        )
        self.head = at.head
        self.line = f"{branch} stays behind what was built: both {why} (`git merge {ref}`)"
        """The same in a run that goes on: it stays the same while the head moves."""


class BranchPositions(NamedTuple):
    """Commits; empty for a ref that is not there."""

    branch: str
    head: str
    followed: str


class BranchHead:
    """The head of one branch. Every change is atomic, and made by who holds the merge lock:
    otherwise work that is put on the head would be overtaken by each commit of a person."""

    def __init__(
        self, git: Git, branch: str, lock: Callable[[], AbstractContextManager[bool]]
    ) -> None:
        self._git = git
        self._lock = lock
        self._objects = GitObjects(git)
        self.branch = branch
        self.branch_ref = f"refs/heads/{branch}"
        self.ref = f"refs/ralph/tip/{branch}"
        self.followed_ref = f"refs/ralph/followed/{branch}"

    def positions(self) -> BranchPositions:
        """Read all three at once."""
        names = (self.branch_ref, self.ref, self.followed_ref)
        listed = self._git.refs("for-each-ref", "--format=%(objectname) %(refname)", *names)
        found = {name: commit for commit, _, name in (line.partition(" ") for line in listed)}
        return BranchPositions(*(found.get(name, "") for name in names))

    def current(self) -> str:
        """The tip, with what the person has committed meanwhile, if that fits and no other process
        merges."""
        try:
            joined = self.joined()
        except Diverged as apart:
            return apart.head
        return self._objects.read_ref(self.ref) or joined

    def joined(self) -> str:
        """The tip, with what the person has committed meanwhile; Diverged if that does not fit.
        While another process merges, this commit is not the tip yet."""
        return try_again(lambda: self._now(self.positions()), Busy, TRIES)

    def move(self, new: str, old: str) -> None:
        """Go forward from `old`; Busy if it is elsewhere."""
        if new != old:
            self._objects.move_ref(self.ref, new, old, "accepted")

    def _now(self, at: BranchPositions) -> str:
        if not at.branch and not at.head:
            raise Missing(
                f"there is no branch {one_line(self.branch)} with a commit on it",
                hint="git commit --allow-empty -m 'First commit'",
            )
        if at.branch in ("", at.followed) and at.head:
            return at.head  # the person's branch has yet to follow, or was taken away
        if not at.head or at.head == at.branch or self._objects.contains(at.branch, at.head):
            return self._follow(at.branch, at, "as far as your branch")
        if at.followed == at.head:
            # Theirs to take back, and yet other people's work: it stays within reach.
            self._objects.rescue(at.head)
            return self._follow(at.branch, at, "where you have taken the branch")
        is_rewritten = at.followed and not self._objects.contains(at.branch, at.followed)
        if not is_rewritten and self._objects.contains(at.head, at.branch):
            return at.head
        return self._merge(at, at.followed if is_rewritten else "")

    def _follow(self, commit: str, at: BranchPositions, reason: str) -> str:
        """Go to the commit, which holds the person's branch."""
        moves = {}
        if commit != at.head:
            moves[self.ref] = (commit, at.head)
        if at.branch != at.followed:
            moves[self.followed_ref] = (at.branch, at.followed)
        if moves:
            with self._lock() as is_ours:
                if is_ours:
                    self._objects.move_refs(moves, reason)
        return commit

    def _merge(self, at: BranchPositions, base: str) -> str:
        """Both have gone on, from `base` where git would find another one: a rewritten branch has
        left it. Made of objects alone: no file of the checkout is looked at."""
        ours, theirs = at.head, at.branch
        if base:
            tree_of, write = self._objects.tree_of, self._objects.write_commit
            common = write(tree_of(base), "What both had\n", ())
            ours, theirs = (write(tree_of(one), "Since\n", (common,)) for one in (ours, theirs))
        args = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages")
        got = self._git.ask(*args, ours, theirs, ok=(0, 1, 129))
        tree, *names = text(got.stdout).split("\0")
        branch, ref = one_line(self.branch), one_line(self.ref)
        if got.code == 1:
            files = ", ".join(one_line(name, 60) for name in list(filter(None, names))[:NAMED])
            raise Diverged(branch, at, ref, f"do not fit together in {files}")
        if got.code == 129:
            raise Diverged(branch, at, ref, "have moved, and this git is older than 2.38")
        message = f"Merge {self.branch} and what was built on it meanwhile\n"
        merged = self._objects.write_commit(tree, message, (at.head, at.branch))
        return self._follow(merged, at, "with what you have committed")


class CheckoutUpdate:
    def __init__(self, git: Git, tip: BranchHead, sync: Callable[[], None]) -> None:
        """`sync` puts on disk what was written."""
        self._git = git
        self._sync = sync
        self._objects = GitObjects(git)
        self._tip = tip
        self._under_way = f"refs/ralph/following/{tip.branch}"

    def update(self) -> str:
        """Go to the tip; return why that cannot be, in a line."""
        try:
            at = self._tip.positions()
            new = at.head
            with suppress(Busy):  # a person who commits all the time has to wait for our lock
                at, new = self._target()
            return self._update(at, new) if at.branch != new else ""
        except Diverged as apart:
            return apart.line
        except RalphError as error:
            return str(error)

    def _update(self, at: BranchPositions, new: str) -> str:
        branch = one_line(self._tip.branch)
        ref = one_line(self._tip.ref)
        if not at.branch:
            back = f"`git branch {branch} {ref}` brings it back"
            return f"your branch {branch} is gone; what was built is at {ref} ({back})"
        head = self._objects.branch_ref()
        is_over = False
        try:
            if head != self._tip.branch_ref:
                reason = self._used_elsewhere()
                if not reason:
                    self._move_branch(at.branch, new)
            else:
                # The next one who merges tries again.
                with index_lock(self._git, waits=False):
                    if self._objects.read_ref(head) != at.branch:
                        at, new = self._target()  # the person cannot commit now
                    moving = FileSwitch(self._git, self._objects, at.branch, new)
                    reason = self._in_the_way(moving, at.branch)
                    if not reason:
                        reason = self._move_all(moving, at.branch, new)
                        is_over = True
        except Diverged:
            raise
        except RalphError as error:
            reason = str(error)
        if is_over:
            # Only now that the lock is released: if we die before, there is a ref for `recover`.
            self._forget()
        catch_up = f"`git merge --ff-only {ref}` catches up"
        return f"{branch} stays behind what was built: {reason} ({catch_up})" if reason else ""

    def _target(self) -> tuple[BranchPositions, str]:
        """Where the branch is, and a tip that holds all of it: a person may commit between the two
        looks, and the branch never leaves a commit behind."""
        for _ in range(TRIES):
            new = self._tip.joined()
            at = self._tip.positions()
            if not at.branch or self._objects.contains(new, at.branch):
                return at, new
        raise Busy(f"{one_line(self._tip.branch)} moves all the time")

    def recover(self) -> None:
        """After a crash: finish what was begun, or undo it where a person has been since."""
        begun = self._objects.read_ref(self._under_way)
        if not begun:
            return
        old, new = self._git.word("rev-parse", f"{begun}^1", f"{begun}^2").split("\n")
        head = self._objects.branch_ref()
        at = self._objects.read_ref("HEAD")
        # Elsewhere now: then a person has looked at the files and moved on from there.
        if head == self._tip.branch_ref and at in (old, new):
            with index_lock(self._git):
                moving = FileSwitch(self._git, self._objects, old, new)
                if at == new:
                    moving.write_files(forward=True)
                elif moving.is_ours():
                    try:
                        moving.write_files(forward=True)
                        self._sync()
                        self._move_branch(old, new)
                    except RalphError:
                        moving.write_files(forward=False)
                        self._forget()
                        raise
                else:
                    moving.write_files(forward=False)
                self._sync()
        self._forget()

    # -- where it can follow

    def _used_elsewhere(self) -> str:
        """The checkout is on another branch, so no file has to move, unless another checkout has
        this one, or a rebase or a bisection of it is under way."""
        listed = text(self._git.run("worktree", "list", "--porcelain")).splitlines()
        folder = ""
        for line in listed:
            if line.startswith("worktree "):
                folder = line.removeprefix("worktree ")
            if line == f"branch {self._tip.branch_ref}":
                return f"it is checked out in {one_line(folder)}"
        common = find_layout(self._git.top).common_dir
        linked = os.path.join(common, "worktrees")
        places = [os.path.join(linked, name) for name in names_in(linked)]
        for place in (common, *places):
            for mark, content in (
                ("rebase-merge/head-name", self._tip.branch_ref),
                ("rebase-apply/head-name", self._tip.branch_ref),
                ("BISECT_START", self._tip.branch),
            ):
                found = os.fsdecode(read_start(os.path.join(place, mark), 4096))
                if found.strip() == content:
                    return "a rebase or a bisection of it is under way"
        return ""

    def _in_the_way(self, moving: FileSwitch, old: str) -> str:
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
        if status.unmerged:
            return f"{first_few_paths([one.path for one in status.unmerged], SHOWN)}: not merged"
        touched = {one.path for one in moving.files}
        untracked = {*status.untracked}
        # Of what git does not know only files that a new one would replace are in the way.
        dirty = [
            path
            for path in status.dirty
            if path in touched or (path not in untracked and _is_beside(path, touched))
        ]
        if dirty:
            # Which commit is checked out in a submodule is for the person to say.
            links = {path for path, _ in submodules(self._git)}
            dirty = [path for path in dirty if path not in links]
        if dirty:
            return f"{first_few_paths(dirty, SHOWN)}: not committed"
        covered = [one.path for one in moving.files if self._is_covered(one)]
        if covered:
            return f"{first_few_paths(covered, SHOWN)}: not known to git, and would be overwritten"
        return ""

    def _is_covered(self, one: Difference) -> bool:
        """Is there something unknown to git, such as an ignored file, where a new file is to be?"""
        if one.old.mode != ABSENT or one.new.mode == GITLINK:
            return False
        full = self._git.top
        for part in one.path.split("/")[:-1]:
            full = os.path.join(full, part)
            if os.path.islink(full) or os.path.isfile(full):
                return not self._is_known(os.path.relpath(full, self._git.top))
        full = os.path.join(self._git.top, one.path)
        if os.path.isdir(full) and not os.path.islink(full):
            below = (
                os.path.join(folder, name) for folder, _, names in walk(full) for name in names
            )
            return any(not self._is_known(os.path.relpath(path, self._git.top)) for path in below)
        return os.path.lexists(full)

    def _is_known(self, path: str) -> bool:
        return self._git.ask("ls-files", "--error-unmatch", "--", path, ok=(0, 1)).code == 0

    # -- moving

    def _move_all(self, moving: FileSwitch, old: str, new: str) -> str:
        """Move files and branch; return why that failed and was undone."""
        self._objects.check_room(one.new for one in moving.files)
        begun = self._objects.write_commit(
            self._objects.tree_of(new), f"On the way to {new}\n", (old, new)
        )
        before = self._objects.read_ref(self._under_way)
        self._objects.move_ref(self._under_way, begun, before, "the checkout follows")
        self._sync()
        try:
            moving.switch()
            self._sync()
            self._move_branch(old, new)
            self._sync()
        except RalphError as error:
            moving.write_files(forward=False)
            return str(error)
        return ""

    def _move_branch(self, old: str, new: str) -> None:
        at = self._tip.positions()
        moves = {self._tip.branch_ref: (new, old)}
        if at.followed != new and self._objects.contains(at.head, new):
            moves[self._tip.followed_ref] = (new, at.followed)
        self._objects.move_refs(moves, "follows what was built")

    def _forget(self) -> None:
        self._git.ask("update-ref", "-d", self._under_way, ok=ANY)


def _is_beside(path: str, touched: Set[str]) -> bool:
    """Is a folder above the path a file in one of the commits, or the path a folder in one?"""
    parts = path.split("/")
    above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
    return any(one in touched for one in above) or any(
        one.startswith(f"{path}/") for one in touched
    )
