"""The tree a session works in. Never touches what a person has not committed."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from ralph.core.snapshot import Changes, Snapshot


class Withheld(msgspec.Struct, frozen=True, kw_only=True):
    """A file that looks like a secret, which is why Ralph does not commit it."""

    path: str
    why: str


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """What became of work that the session left uncommitted."""

    commit: str | None = None
    files: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    """Left alone: a person's changes are mixed in."""
    withheld: tuple[Withheld, ...] = ()


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """Commits that are not where they should be."""

    broken: tuple[str, ...] = ()
    """Gone, or something that they added is."""
    unreachable: tuple[str, ...] = ()
    """Whole, but on no branch: amended, rebased or reset away."""


class Workspace(Protocol):
    """One checkout."""

    @property
    def path(self) -> str:
        """Where sessions work: the project's directory in the checkout."""
        ...

    @property
    def prefix(self) -> str:
        """The project's directory as seen from the top, such as `apps/web/`; empty at the top."""
        ...

    def snapshot(self) -> Snapshot:
        """The state of every file, at a cost near that of `git status`."""
        ...

    def changes(self, since: Snapshot, now: Snapshot) -> Changes:
        """What happened in between."""
        ...

    def as_of(self, since: Snapshot, now: Snapshot, moment: float) -> Snapshot:
        """How a checkout that is `now` like that was at a moment since, as far as commits tell it:
        the same where nobody has committed later, else the commit that was its head."""
        ...

    def carry_over(self, base: Snapshot, since: Snapshot, now: Snapshot) -> Snapshot:
        """`base` as if what others did between `since` and `now` had been there before.

        A session began at `base` and ended at `since`. Going back to the result takes the session's
        work out of the checkout and leaves theirs; what they have committed is never taken back.
        """
        ...

    def contents(self, at: Snapshot, paths: Sequence[str]) -> dict[str, bytes]:
        """What these files hold in that state, where they are there; nothing of very large ones."""
        ...

    def with_files_of(self, then: Snapshot, now: Snapshot, paths: Sequence[str]) -> Snapshot:
        """The state `now`, but for these files: they are as they were `then`."""
        ...

    def unlike_disk(self, at: Snapshot, paths: Sequence[str]) -> tuple[str, ...]:
        """Which of these files are in that state with another content than on disk, whatever the
        index says about them."""
        ...

    def commit(
        self,
        since: Snapshot,
        upto: Snapshot,
        message: str,
        keep: frozenset[str],
        own: frozenset[str] = frozenset(),
    ) -> Committed:
        """Commit what changed between the two and is not committed yet, except paths in `keep`.
        Ralph's `own` documents go along as they are now, whoever has changed them.

        The content is that of `upto`: what gates dropped later stays out. What a person has
        staged stays staged. Doing it twice commits once. Likely secrets are withheld, in the
        documents as well.
        """
        ...

    def exposed(self, since: Snapshot, now: Snapshot) -> tuple[Withheld, ...]:
        """Likely secrets in what was committed in between, by whomever."""
        ...

    def take_out(self, since: Snapshot, paths: frozenset[str]) -> tuple[str, ...]:
        """Redo the commits since then without files that a session has swept into them; return
        those. The files themselves stay as they are. A commit of nothing else is a person's."""
        ...

    def save(self, ref: str, message: str) -> str:
        """Keep the tree as it is now under `ref`, changing nothing else; return the commit."""
        ...

    def restore(self, to: Snapshot) -> None:
        """Bring branch, index and files back to the snapshot. Call `save` first."""
        ...

    def put_back(self, to: Snapshot, paths: Sequence[str]) -> None:
        """Make these files what they were in the snapshot's commit; nothing else changes."""
        ...

    def clear_locks(self, since: float) -> list[str]:
        """Move the locks of gits that are dead out of the way; return where they are now. What was
        made `since` then, in seconds since the epoch, is of processes of ours that are gone."""
        ...

    def lost(self, commits: Sequence[str]) -> Lost:
        """Which of these commits are broken, or on no branch."""
        ...

    def leave_lost_head(self, candidates: Sequence[str]) -> str:
        """If the head's commit is gone or broken, put the branch on the first candidate that is
        whole; no file changes. Return that commit, empty if nothing was done."""
        ...

    def sync(self) -> None:
        """Put on disk what git has written here, whoever ran it: objects, refs and index."""
        ...
