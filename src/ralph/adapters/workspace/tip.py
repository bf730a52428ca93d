"""The tip of a team's branch: a ref of Ralph's own, ahead of the person's branch or equal to it.

Three refs tell where everybody is. `refs/heads/<branch>` is the person's. `refs/ralph/tip/<branch>`
is what was accepted so far. `refs/ralph/followed/<branch>` is the last commit that both had: where
it equals the tip, the person has seen all of it, so that wherever they go from there (a reset, an
amended commit), they mean it, and the tip goes along.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from ralph.adapters.workspace.git import Git, text
from ralph.adapters.workspace.objects import Objects
from ralph.core.errors import Busy, Missing, RalphError, Unavailable
from ralph.core.safe_text import one_line

TRIES: Final = 20
"""Somebody else may move the tip at the same moment, and again."""
SHOWN: Final = 5


class Where(NamedTuple):
    """Commits; empty for a ref that is not there."""

    branch: str
    tip: str
    followed: str


class Tip:
    """The tip of one branch. Every change is one atomic step."""

    def __init__(self, git: Git, branch: str) -> None:
        self._git = git
        self._objects = Objects(git)
        self.branch = branch
        self.branch_ref = f"refs/heads/{branch}"
        self.ref = f"refs/ralph/tip/{branch}"
        self.followed_ref = f"refs/ralph/followed/{branch}"

    def where(self) -> Where:
        """Read all three at once."""
        names = (self.branch_ref, self.ref, self.followed_ref)
        listed = text(self._git.run("for-each-ref", "--format=%(objectname) %(refname)", *names))
        found = {name: commit for commit, _, name in map(_parted, listed.splitlines())}
        return Where(*(found.get(name, "") for name in names))

    def now(self) -> str:
        """The tip, with what the person has committed meanwhile."""
        for attempt in range(TRIES):
            try:
                return self._now(self.where())
            except Busy:
                if attempt == TRIES - 1:
                    raise
        raise AssertionError

    def move(self, new: str, old: str) -> None:
        """Go forward from `old`; Busy if it is elsewhere."""
        if new != old:
            self._objects.move_ref(self.ref, new, old, "accepted")

    def _now(self, at: Where) -> str:
        if not at.branch and not at.tip:
            raise Missing(
                f"there is no branch {one_line(self.branch)} with a commit on it",
                hint="git commit --allow-empty -m 'First commit'",
            )
        if at.branch in ("", at.followed) and at.tip:
            return at.tip  # the person's branch has yet to follow, or was taken away
        if not at.tip or at.tip == at.branch or self._objects.contains(at.branch, at.tip):
            self._take(at.branch, at, "as far as your branch")
            return at.branch
        if at.followed == at.tip:
            # Theirs to take back, and yet other people's work: it stays within reach.
            self._objects.rescue(at.tip)
            self._take(at.branch, at, "where you have taken the branch")
            return at.branch
        if at.followed and not self._objects.contains(at.branch, at.followed):
            raise self._apart(at, ())
        if self._objects.contains(at.tip, at.branch):
            return at.tip
        return self._merge(at)

    def _take(self, commit: str, at: Where, reason: str) -> None:
        moves = {}
        if commit != at.tip:
            moves[self.ref] = (commit, at.tip)
        if commit != at.followed:
            moves[self.followed_ref] = (commit, at.followed)
        if moves:
            self._objects.move_refs(moves, reason)

    def _merge(self, at: Where) -> str:
        """Both have gone on. Made of objects alone: no file of the checkout is looked at."""
        args = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages")
        got = self._git.ask(*args, at.tip, at.branch, ok=(0, 1, 129))
        tree, *names = text(got.stdout).split("\0")
        if got.code == 1:
            raise self._apart(at, [name for name in names if name])
        if got.code == 129:
            raise Unavailable(
                f"you have committed to {one_line(self.branch)} meanwhile, and this git is too old"
                " to put the two together",
                hint=f"git merge {one_line(self.ref)}, or a git from 2.38 on",
            )
        message = f"Merge {self.branch} and what was built on it meanwhile\n"
        merged = self._objects.write_commit(tree, message, (at.tip, at.branch))
        moves = {self.ref: (merged, at.tip), self.followed_ref: (at.branch, at.followed)}
        self._objects.move_refs(moves, "with what you have committed")
        return merged

    def _apart(self, at: Where, names: Sequence[str]) -> RalphError:
        branch, ref = one_line(self.branch), one_line(self.ref)
        files = ", ".join(one_line(name, 60) for name in names[:SHOWN])
        why = f" in {files}" if files else ", since the branch was rewritten"
        return RalphError(
            f"{branch} ({at.branch[:10]}) and what was built on it ({ref}, {at.tip[:10]}) do not"
            f" fit together{why}",
            hint=f"git merge {ref}, or to give up what was built: git update-ref -d {ref}",
        )


def _parted(line: str) -> tuple[str, str, str]:
    return line.partition(" ")
