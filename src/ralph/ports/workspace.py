"""The interfaces of a checkout, of temporary checkouts, and of a branch's history.

Nothing changes what a user has not committed."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from typing import Protocol

import msgspec

from ralph.core.ids import TaskId
from ralph.core.snapshot import CheckoutChanges, Snapshot


class LikelySecret(msgspec.Struct, frozen=True, kw_only=True):
    """A file that looks like a secret and is therefore not committed."""

    path: str
    why: str


class CommitResult(msgspec.Struct, frozen=True, kw_only=True):
    commit: str | None = None
    branch: str = ""
    """Where the commit is."""
    after: Snapshot | None = None
    """The checkout now, if nothing but the commit has changed since the state that it has; None
    where that has to be looked up."""
    files: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    """Not committed, because the user's changes are mixed in."""
    likely_secrets: tuple[LikelySecret, ...] = ()


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What a commit of accepted work will hold, and what it will not."""

    at: Snapshot
    """The state that the commit will have."""
    missing: tuple[str, ...] = ()
    """What the checkout has and the commit has not, or has with other bytes: ignored files and
    empty folders that sessions made, likely secrets, the user's changes; without caches and
    dependencies."""
    environment: tuple[str, ...] = ()
    """Untracked files that no session has touched: a fresh checkout may use them."""
    dependencies: tuple[str, ...] = ()
    """Those among them that are installed, and not written by gates."""


class LostCommits(msgspec.Struct, frozen=True, kw_only=True):
    """Commits that are broken or on no branch."""

    broken: tuple[str, ...] = ()
    """They, or objects that they added, are missing."""
    unreachable: tuple[str, ...] = ()
    """Complete, but on no branch: amended, rebased or reset away."""


class Workspace(Protocol):
    """One checkout."""

    @property
    def path(self) -> str:
        """Return where sessions work: the project's directory in the checkout."""

    @property
    def prefix(self) -> str:
        """The project's directory from the top, such as `apps/web/`; empty at the top."""

    def snapshot(self) -> Snapshot:
        """Return the state of every file, at a cost near that of `git status`."""

    def return_to(self, branch: str) -> bool:
        """Move the branch to the head's commit, and the head to the branch; no file changes. False
        if the branch would lose commits: then nothing has changed."""

    def uncommitted(self) -> tuple[str, ...]:
        """Return tracked files that differ from the head."""

    def changes(self, since: Snapshot, now: Snapshot) -> CheckoutChanges: ...

    def snapshot_at(self, since: Snapshot, now: Snapshot, moment: float) -> Snapshot:
        """Return how the checkout was at a moment between two snapshots, as far as commits tell:
        `now` if nothing was committed later, otherwise the commit that was its head."""

    def rebase_base(self, base: Snapshot, since: Snapshot, now: Snapshot) -> Snapshot:
        """Return `base` as if the changes by others between `since` and `now` had been there
        before.

        A session began at `base` and ended at `since`. Going back to the result takes the session's
        work out of the checkout and leaves theirs; what they have committed is never taken back.
        """

    def with_user_commits(self, base: Snapshot, now: Snapshot) -> Snapshot:
        """Return `base` as if the user's commits during a session that began there, and ended at
        `now`, had been there before. In git's log of a branch, entries of sessions are marked."""

    def file_contents(self, at: Snapshot, paths: Sequence[str]) -> dict[str, bytes]:
        """The contents of these files in that snapshot, without very large ones."""

    def with_files_of(self, then: Snapshot, now: Snapshot, paths: Sequence[str]) -> Snapshot:
        """Return the snapshot `now` with these files as they were in `then`."""

    def differing_from_disk(self, at: Snapshot, paths: Sequence[str]) -> tuple[str, ...]:
        """Which of these files have other content there than on disk, whatever the index says."""

    def commit(
        self,
        since: Snapshot,
        upto: Snapshot,
        message: str,
        keep: frozenset[str],
        own: frozenset[str] = frozenset(),
    ) -> CommitResult:
        """Commit what changed between the two and is not committed yet, except paths in `keep`.
        Ralph's `own` documents are committed as they are now.

        The content is that of `upto`: what gates wrote later stays out. What the user has staged
        stays staged. A second call commits nothing. Likely secrets are not committed, not even in
        the documents.
        """

    def preview(
        self,
        since: Snapshot,
        upto: Snapshot,
        keep: frozenset[str],
        own: frozenset[str] = frozenset(),
        *,
        times: Sequence[tuple[float, float]] = (),
        began: float = math.inf,
    ) -> Preview:
        """Return what `commit` would commit now. What changed at the `times` of sessions is theirs;
        what appeared after the run `began` and at no such time was made by gates."""

    def committed_secrets(self, since: Snapshot, now: Snapshot) -> tuple[LikelySecret, ...]:
        """Return likely secrets among what was committed between the snapshots."""

    def remove_from_commits(self, since: Snapshot, paths: frozenset[str]) -> tuple[str, ...]:
        """Rewrite the commits since then without these user files; return those that were removed.
        The files themselves stay. A commit of nothing else is the user's."""

    def committed_paths(self, since: Snapshot, now: Snapshot) -> tuple[str, ...]:
        """Return every path that a commit between the two changed, also if a later one undid it."""

    def withdraw(self, since: Snapshot, paths: Collection[str]) -> None:
        """Stage these files as they were in the snapshot; if the branch has others, go back to the
        snapshot's commit. No file changes, and no commit is lost."""

    def annotate(self, commits: Sequence[str], text: str) -> None:
        """Attach a note to commits, which stay as they are."""

    def save(self, ref: str, message: str) -> str:
        """Save the tree as it is now under `ref`, changing nothing else; return the commit."""

    def restore(self, to: Snapshot) -> None:
        """Bring branch, index and files back to the snapshot. Call `save` first."""

    def restore_files(self, to: Snapshot, paths: Sequence[str]) -> None:
        """Restore these files to the snapshot; nothing else changes."""

    def same_files(self, place: str, paths: Sequence[str]) -> list[str]:
        """Return those that are the same, byte for byte, in another checkout; `place` is the
        project's directory in it."""

    def clear_locks(self, since: float) -> list[str]:
        """Move the locks of dead git processes aside; return where they are now. Those made `since`
        then, in seconds since the epoch, are of Ralph's own processes, which are gone."""

    def hidden_files(self) -> frozenset[str]:
        """Return the files whose changes git does not see."""

    def show_files(self, paths: Iterable[str]) -> None:
        """Make git see the changes of these files again."""

    def lost_commits(self, commits: Sequence[str]) -> LostCommits:
        """Return which of these commits are broken or on no branch."""

    def recover_lost_head(self, candidates: Sequence[str]) -> str:
        """If the head's commit is gone or broken, move the branch to the first candidate that is
        complete; no file changes. Return that commit, empty if nothing was done."""

    def sync(self) -> None:
        """Sync to disk what git has written here: objects, refs and index."""


class TemporaryCheckouts(Protocol):
    """Creates checkouts that are deleted after use."""

    def checkout_of(
        self,
        workspace: Workspace,
        at: Snapshot,
        name: str,
        *,
        links: Sequence[str] = (),
        copies: Sequence[str] = (),
    ) -> AbstractContextManager[str]:
        """Create a private checkout of exactly this state of the workspace, prepared as the
        settings say; yield the project's directory in it. It is deleted afterwards. Paths in
        `links` that it lacks are links to the workspace; of `copies` it gets its own."""

    def remove_leftovers(self) -> None:
        """Remove checkouts that a killed Ralph left behind."""


class TaskCommit(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    subject: str
    is_merge: bool = False


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    added: int = 0
    """Lines; 0 of a binary file."""
    removed: int = 0


class ChangeReader(Protocol):
    """Reads what commits have changed. A commit that git no longer has is left out."""

    def on_branches(self, commits: Sequence[str], since: str) -> set[str]:
        """Those that are on a branch; nothing is older than `since`."""

    def stat(self, commits: Sequence[str]) -> list[FileChange]:
        """How many lines of each file they have changed, all together."""

    def patch(self, commits: Sequence[str]) -> str:
        """Their changes as a diff, in the order of the commits; cut where it is very long."""

    def between(self, start: str, end: str) -> str:
        """The changes from one tree or commit to another, in the same way; empty if git no longer
        has one of them. An empty `start` is the empty tree."""

    def text_of(self, at: str, path: str) -> str | None:
        """The text of a file in a tree or commit; None if there is no such file. Missing if git no
        longer has the tree."""


class BranchHistory(Protocol):
    """The history of the branch that is checked out."""

    def commits_of(
        self, tasks: Set[TaskId], recorded: Mapping[str, TaskId], since: str
    ) -> list[TaskCommit]:
        """Return the commits of these tasks that were not reverted, newest first.

        By the trailers of Ralph's own commits, and by what is `recorded` of their sessions. Nothing
        is older than `since`.
        """

    def landed_tasks(self, since: str) -> dict[TaskId, str]:
        """Return the tasks whose commits are on the branch and were not reverted, each with its
        newest commit. It relies on trailers alone; nothing is older than `since`."""

    def lost_commits(self, commits: Sequence[str]) -> LostCommits:
        """Return which of these commits are broken or on no branch."""

    def revert(self, commits: Sequence[TaskCommit], message: str) -> str | None:
        """Add a commit that reverts these commits, newest first; None if nothing is left to revert.
        If later changes conflict, no file changes."""

    def apply(self, ref: str, start: str) -> tuple[str, ...]:
        """Make the changes from a tree to the work under a ref in the files of the checkout; return
        the paths. Without that tree, they are those since the branch.
        Where they do not fit, no file changes."""
