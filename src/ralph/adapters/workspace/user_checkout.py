"""The user's own checkout.

Comparing snapshots, git trees of every file on disk, distinguishes what a session did from a
person's work. They are unreferenced objects, which git prunes two weeks after they were written at
the earliest (`gc.pruneExpire`), long after the task that they belong to; `git gc --prune=now`
during a run would lose them, and `changes` or `restore` would then say so.

As with `git stash`, a file's bytes go through git's line-ending rules and filters (`autocrlf`,
`text=auto`, LFS) on the way in and out. Nested repositories are left alone, whatever happens in
them; of a submodule only its commit is seen.
"""

import math
import os
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Final

from ralph.adapters.workspace import commit_changes, git_index
from ralph.adapters.workspace.branch_history import lost_commits
from ralph.adapters.workspace.git import ANY, Git, find_top, raw, try_again
from ralph.adapters.workspace.git_index import show_files
from ralph.adapters.workspace.git_objects import Difference, GitObjects
from ralph.adapters.workspace.locks import clear_locks
from ralph.adapters.workspace.restore_checkout import (
    CheckoutRestore,
    rebase_base,
    with_user_commits,
)
from ralph.adapters.workspace.snapshot_cache import HiddenFiles, LastSnapshot, read_state
from ralph.adapters.workspace.uncommitted_files import (
    changed_submodules,
    differing,
    exclude_patterns,
    find_uncommitted,
    folders_of,
    is_dependency,
    is_dropped,
    same_content,
)
from ralph.core.errors import Busy, TemporaryFailure, UnusableData
from ralph.core.snapshot import CheckoutChanges, Snapshot, changed_work_files
from ralph.files import sync_all
from ralph.git_layout import find_layout
from ralph.ports.executor import CommandRunner
from ralph.ports.workspace import CommitResult, LikelySecret, LostCommits, Preview

TRIES: Final = 3
"""For what a git that was killed has left half done."""
REMEMBERED: Final = 4
MOST_NOTES: Final = 100
"""Each takes a process."""


class UserCheckout:
    """The checkout that contains the project. Paths are relative to its top."""

    _git_dirs: tuple[str, ...] = ()
    """Where git keeps what belongs to all checkouts of the repository, and to this one."""

    def __init__(
        self, executor: CommandRunner, project_path: str, *, is_private: bool = False
    ) -> None:
        self._path = os.path.abspath(project_path)
        self.git = Git(executor, find_top(executor, self._path), is_private=is_private)
        self.objects = GitObjects(self.git)
        self._changes: dict[tuple[Snapshot, Snapshot], CheckoutChanges] = {}
        self._last: LastSnapshot | None = None
        self._hidden = HiddenFiles(self.git)
        # Before any session: one may lead us elsewhere.
        with suppress(UnusableData):
            self._git_dirs = tuple(dict.fromkeys(reversed(find_layout(self.git.top))))

    @property
    def path(self) -> str:
        return self._path

    @property
    def prefix(self) -> str:
        inside = os.path.relpath(os.path.realpath(self._path), os.path.realpath(self.git.top))
        return "" if inside == "." else inside + "/"

    @property
    def top(self) -> str:
        return self.git.top

    def return_to(self, branch: str) -> bool:
        # What a person commits on a detached head meanwhile would be left behind.
        with git_index.index_lock(self.git):
            return self.objects.return_to(branch)

    def exclude(self, patterns: Iterable[str]) -> None:
        """Let git ignore what is Ralph's own in the project's directory, whatever agents commit."""
        exclude_patterns(self.git, self.prefix, patterns)

    def ignore_files(self, paths: Iterable[str]) -> None:
        """Take no notice of files that Ralph writes while it runs; absolute paths. They are neither
        work nor a person's changes, and stay as they are whatever is brought back."""
        top = os.path.realpath(self.git.top)
        inside = (os.path.relpath(os.path.realpath(path), top) for path in paths)
        self.git.unseen |= {path for path in inside if not path.startswith(os.pardir)}

    def tracks(self, path: str) -> bool:
        """Is it a file of the project, rather than one that lies there?"""
        return bool(self.git.run("ls-files", "--", f":(top,literal){self.prefix}{path}").strip())

    def snapshot(self) -> Snapshot:
        state, self._last = read_state(self.git), None
        status = git_index.read_status(self.git)
        if not status.dirty:
            # The loop asks after every session: a clean checkout costs this one process.
            return Snapshot(head=status.head, branch=status.branch)
        with git_index.scratch_index(self.git) as disk:
            before = disk.content()
            at = self._snapshot_of(status, disk)
            self._last = LastSnapshot.of(at, status, state, before, disk.content())
        return at

    def uncommitted(self) -> tuple[str, ...]:
        status = git_index.read_status(self.git)
        return tuple(path for path in status.dirty if path not in {*status.untracked})

    def changes(self, since: Snapshot, now: Snapshot) -> CheckoutChanges:
        if (since, now) not in self._changes:
            # Objects do not change, and a judge asks for the same several times.
            self._changes = dict([*self._changes.items()][-REMEMBERED:])
            self._changes[since, now] = self._find_changes(since, now)
        return self._changes[since, now]

    def _find_changes(self, since: Snapshot, now: Snapshot) -> CheckoutChanges:
        commits = self.objects.commits(since.head, now.head)
        if since.same_as(now):
            return CheckoutChanges(commits=commits)
        tree = self.objects.tree_of(now)
        found = self.objects.differences(self.objects.tree_of(since), tree)
        # What Ralph writes is no work, even if a session commits it.
        files = tuple(one.path for one in found if one.path not in self.git.unseen)
        nested = commit_changes.nested_repositories(self.git, found, tree)
        return CheckoutChanges(commits=commits, files=files, nested=nested)

    def file_contents(self, at: Snapshot, paths: Sequence[str]) -> dict[str, bytes]:
        return self.objects.contents(self.objects.tree_of(at), paths)

    def with_files_of(self, then: Snapshot, now: Snapshot, paths: Sequence[str]) -> Snapshot:
        old, new = self.objects.tree_of(then), self.objects.tree_of(now)
        wanted = [one.new for one in self.objects.differences(new, old) if one.path in paths]
        tree = self.objects.tree_with(new, wanted)
        return Snapshot(head=now.head, branch=now.branch, tree=tree)

    def differing_from_disk(self, at: Snapshot, paths: Sequence[str]) -> tuple[str, ...]:
        tree = self.objects.tree_of(at)
        there = [path for path in paths if git_index.is_file(self.git.top, path)]
        with git_index.scratch_index(self.git, copy=False) as index:
            index.read(tree)
            index.put(git_index.absent(path, tree) for path in paths if path not in there)
            index.add(there)
            found = self.objects.changed(tree, index.tree())
        return tuple(path for path in paths if path in found)

    def snapshot_at(self, since: Snapshot, now: Snapshot, moment: float) -> Snapshot:
        head = self.objects.head_at(since.head, now.head, moment)
        return now if head == now.head else Snapshot(head=head, branch=now.branch)

    def rebase_base(self, base: Snapshot, since: Snapshot, now: Snapshot) -> Snapshot:
        return rebase_base(self.objects, base, since, now)

    def with_user_commits(self, base: Snapshot, now: Snapshot) -> Snapshot:
        return with_user_commits(self.git, self.objects, base, now.head, now.branch)

    def commit(
        self,
        since: Snapshot,
        upto: Snapshot,
        message: str,
        keep: frozenset[str],
        own: frozenset[str] = frozenset(),
    ) -> CommitResult:
        left = self._uncommitted_work(since, upto, own)
        if not left and not own:
            return CommitResult()
        with git_index.index_lock(self.git):
            # Documents may have changed since that snapshot.
            last = self._last if self._last and not own else None
            if last and not last.is_still_true(upto, self.git):
                last = None
            status = last.status if last else git_index.read_status(self.git)
            chosen, leftovers, secrets = self._choose(left, since, upto, status, keep)
            documents, now = self._changed_now(status, own)
            head = self.objects.tree_of(status.head)
            more = commit_changes.likely_secrets(self.git, documents, head, now)
            chosen += _without(documents, more)
            secrets += more
            if not chosen:
                return CommitResult(leftovers=leftovers, likely_secrets=secrets)
            if last and not last.is_all(chosen, self.objects):
                last = None
            commit = self._commit(status, chosen, message, last)
        files = tuple(difference.path for difference in chosen)
        return CommitResult(
            commit=commit,
            after=Snapshot(head=commit, branch=status.branch) if last else None,
            branch=status.branch,
            files=files,
            leftovers=leftovers,
            likely_secrets=secrets,
        )

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
        status = git_index.read_status(self.git)
        left = self._uncommitted_work(since, upto, own)
        chosen, _, _ = self._choose(left, since, upto, status, keep)
        head, disk = self.objects.tree_of(upto.head), self.objects.tree_of(upto)
        loose = self.objects.differences(head, disk)
        taken = {one.path for one in chosen}
        # Documents of Ralph, and of people who work with it: no verdict depends on them.
        files = tuple(one.path for one in loose)
        ours = {*own} | {*files} - {*changed_work_files(CheckoutChanges(files=files), self.prefix)}
        without = [one.path for one in loose if one.path not in taken | ours]
        at = upto
        if without or status.head != upto.head:
            entries = [one.new for one in loose if one.path in taken | ours]
            tree = self.objects.tree_with(self.objects.tree_of(status.head), entries)
            at = Snapshot(head=status.head, branch=status.branch, tree=tree)
        around = find_uncommitted(self.git, self.prefix, frozenset(upto.dirty), times)
        dropped = {
            one.path
            for one in loose
            if one.old.mode == git_index.ABSENT and is_dropped(self.git.top, one.path, times, began)
        }
        changed = self.objects.differences(self.objects.tree_of(since), self.objects.tree_of(at))
        apart = {*without} | ours
        missing = [path for path in without if path not in dropped]
        missing += differing(self.git, [one for one in changed if one.path not in apart])
        missing += [*around.left, *changed_submodules(self.git, status)]
        return Preview(
            at=at,
            missing=tuple(dict.fromkeys(missing)),
            environment=around.before,
            dependencies=tuple(path for path in around.before if is_dependency(self.git.top, path)),
        )

    def committed_secrets(self, since: Snapshot, now: Snapshot) -> tuple[LikelySecret, ...]:
        if since.head == now.head:
            return ()
        old, new = self.objects.tree_of(since.head), self.objects.tree_of(now.head)
        return commit_changes.likely_secrets(self.git, self.objects.differences(old, new), old, new)

    def remove_from_commits(self, since: Snapshot, paths: frozenset[str]) -> tuple[str, ...]:
        # What Ralph writes meanwhile is not committed either.
        every = paths | self.git.unseen
        since = self.with_user_commits(since, self._head())
        return commit_changes.take_out(self.git, self.objects, since, every)

    def committed_paths(self, since: Snapshot, now: Snapshot) -> tuple[str, ...]:
        return tuple(commit_changes.committed_paths(self.git, since.head, now.head))

    def withdraw(self, since: Snapshot, paths: Collection[str]) -> None:
        commit_changes.withdraw(self.git, self.objects, since, paths)

    def annotate(self, commits: Sequence[str], text: str) -> None:
        for commit in commits[:MOST_NOTES]:
            args = ("notes", "--ref=ralph", "add", "-f", "-F", "-", commit)
            self.objects.signed.run(*args, stdin=raw(text))

    def save(self, ref: str, message: str) -> str:
        """Save the tree under `ref`, with the head and what the ref held before as parents."""
        now = self.snapshot()
        # A git of a run that was killed lives on for a moment, and saves the same.
        return try_again(lambda: self._save(ref, message, now), Busy, TRIES)

    def _save(self, ref: str, message: str, now: Snapshot) -> str:
        tree = self.objects.tree_of(now)
        before = self.objects.read_ref(ref)
        if before and self.objects.tree_of(before) == tree:
            first_parent = self.objects.read_ref(f"{before}^")
            if first_parent == now.head:
                return before  # the same thing, saved before a crash
        commit = self.objects.write_commit(tree, message, dict.fromkeys((now.head, before)))
        self.objects.move_ref(ref, commit, before, "work kept aside")
        # Before it is taken out of the checkout.
        self.sync()
        return commit

    def commit_of(self, at: Snapshot, name: str) -> str:
        """A commit of exactly this state, which nothing but a clone's pin points to."""
        if at.head and not at.tree:
            return at.head
        message = f"The state for {name}\n"
        return self.objects.write_commit(self.objects.tree_of(at), message, (at.head,))

    def restore(self, to: Snapshot) -> None:
        """Bring branch, index and files back, byte for byte. Call `save` first.

        Files that were created since are removed, with directories that became empty; ignored
        ones stay. It stops before it changes anything if a file changes under its hands, and may
        be called again after a crash.
        """

        def go_back() -> None:
            with git_index.index_lock(self.git):
                goal = self.with_user_commits(to, self._head())
                CheckoutRestore(self.git, self.objects, self._snapshot_of).back_to(goal)

        try_again(go_back, TemporaryFailure, TRIES)

    def restore_files(self, to: Snapshot, paths: Sequence[str]) -> None:
        tree = self.objects.tree_of(to)
        known = set(self.git.names("ls-tree", "-r", "-z", "--name-only", tree))
        if there := [path for path in paths if path in known]:
            literally = self.git.with_env(GIT_LITERAL_PATHSPECS="1")
            literally.run("restore", f"--source={tree}", "--worktree", "--", *there)
        for path in set(paths) - known:
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(self.git.top, path))

    def same_files(self, place: str, paths: Sequence[str]) -> list[str]:
        top = place.removesuffix(f"/{self.prefix.strip('/')}") if self.prefix else place
        return [path for path in paths if same_content(f"{self.git.top}/{path}", f"{top}/{path}")]

    def clear_locks(self, since: float) -> list[str]:
        self.git.check_repository()
        return [aside for place in self._git_dirs for aside in clear_locks(place, since)]

    def hidden_files(self) -> frozenset[str]:
        return self._hidden.find()

    def show_files(self, paths: Iterable[str]) -> None:
        show_files(self.git, paths)

    def lost_commits(self, commits: Sequence[str]) -> LostCommits:
        return lost_commits(self.git, commits)

    def recover_lost_head(self, candidates: Sequence[str]) -> str:
        if self.git.ask(
            "rev-parse", "--verify", "--quiet", "HEAD", ok=(0, 1)
        ).code != 0 or self._is_read("HEAD"):
            return ""
        for commit in candidates:
            if self._is_read(commit):
                # HEAD stays on its branch; what the ref named is in the reflog and in our warning.
                self.objects.signed.run("update-ref", "-m", "ralph: lost commit", "HEAD", commit)
                return commit
        return ""

    def _is_read(self, commit: str) -> bool:
        return self.git.ask("ls-tree", "-r", "-t", commit, ok=ANY).code == 0

    def sync(self) -> None:
        sync_all(self.git.top, *self._git_dirs)

    # -- snapshots

    def _head(self) -> Snapshot:
        status = git_index.read_status(self.git)
        return Snapshot(head=status.head, branch=status.branch)

    def _snapshot_of(self, status: git_index.GitStatus, disk: git_index.ScratchIndex) -> Snapshot:
        """Turn the scratch copy of the index into what is on disk, noting what is staged."""
        head_tree = self.objects.tree_of(status.head)
        index = tree = head_tree
        if status.staged or status.unmerged:
            # Conflicts cannot be written as a tree; our side stands for them.
            disk.put(status.unmerged)
            index = tree = disk.tree()
        if status.written or status.removed:
            # Not `git add -A`: it would look at every file again, fail on a nested repository
            # without commits, and adopt one that has some.
            disk.put(git_index.absent(path, head_tree) for path in status.removed)
            disk.add(status.written)
            tree = disk.tree()
        return Snapshot(
            head=status.head,
            branch=status.branch,
            # Canonical, so that equal states are equal values.
            tree=tree if tree != head_tree else "",
            index=index if index != head_tree else "",
            dirty=status.dirty,
        )

    # -- commits

    def _uncommitted_work(
        self, since: Snapshot, upto: Snapshot, own: frozenset[str]
    ) -> tuple[Difference, ...]:
        """What the session changed and had not committed at `upto`, less our `own` documents."""
        if not upto.tree:
            return ()
        before, head = self.objects.tree_of(since), self.objects.tree_of(upto.head)
        found = self.objects.differences(head, upto.tree)
        uncommitted = tuple(difference for difference in found if difference.path not in own)
        if before == head:
            return uncommitted
        # A file that was committed and then restored is as it was before, yet its commit is not.
        committed = self.objects.changed(self.objects.tree_of(since.head), head)
        changed = self.objects.changed(before, upto.tree) | committed
        return tuple(difference for difference in uncommitted if difference.path in changed)

    def _choose(
        self,
        left: tuple[Difference, ...],
        since: Snapshot,
        upto: Snapshot,
        status: git_index.GitStatus,
        keep: frozenset[str],
    ) -> tuple[tuple[Difference, ...], tuple[str, ...], tuple[LikelySecret, ...]]:
        """Divide what is left into what to commit, what to leave alone, and likely secrets."""
        if not left:
            return (), (), ()
        moved = self.objects.differences(
            self.objects.tree_of(upto.head), self.objects.tree_of(status.head)
        )
        newer = {difference.path: difference.new for difference in moved}
        # Committed meanwhile with just this content: then it was us, before a crash.
        open_ones = [
            difference
            for difference in left
            if difference.path not in keep and newer.get(difference.path) != difference.new
        ]
        # A person's changes mixed in; a conflict; a newer commit.
        mixed = {*since.dirty, *(entry.path for entry in status.unmerged), *newer}
        blocked = mixed | {difference.path for difference in left if difference.path in keep}
        # A file cannot be where another path needs a directory.
        untouchable = mixed | folders_of(blocked)
        for folder in sorted(folders_of(one.path for one in open_ones)):
            if os.path.dirname(folder) in blocked:
                blocked.add(folder)
        chosen = tuple(
            one
            for one in open_ones
            if one.path not in untouchable and os.path.dirname(one.path) not in blocked
        )
        taken = {difference.path for difference in chosen}
        leftovers = tuple(d.path for d in open_ones if d.path not in taken)
        old = self.objects.tree_of(upto.head)
        secrets = commit_changes.likely_secrets(self.git, chosen, old, upto.tree)
        return _without(chosen, secrets), leftovers, secrets

    def _changed_now(
        self, status: git_index.GitStatus, paths: frozenset[str]
    ) -> tuple[tuple[Difference, ...], str]:
        """How some files differ from the head now, conflicts aside; and the tree of now."""
        wanted = paths.intersection(status.dirty) - {entry.path for entry in status.unmerged}
        if not wanted:
            return (), ""
        with git_index.scratch_index(self.git) as disk:
            now = self.objects.tree_of(self._snapshot_of(status, disk))
        found = self.objects.differences(self.objects.tree_of(status.head), now)
        return tuple(difference for difference in found if difference.path in wanted), now

    def _commit(
        self,
        status: git_index.GitStatus,
        chosen: tuple[Difference, ...],
        message: str,
        last: LastSnapshot | None,
    ) -> str:
        """`last`: a snapshot that holds just that, if there is one."""
        if last is not None:
            with git_index.scratch_index(self.git, content=last.disk) as known:
                return self._move_to_commit(status, known, last.at.tree, message)
        entries = [difference.new for difference in chosen]
        with git_index.scratch_index(self.git) as new:
            new.put(entries)
            others = {*status.staged, *(entry.path for entry in status.unmerged)}
            alone = others <= {entry.path for entry in entries}
            # Without what a person has staged.
            head = self.objects.tree_of(status.head)
            tree = new.tree() if alone else self.objects.tree_with(head, entries)
            new.refresh()
            return self._move_to_commit(status, new, tree, message)

    def _move_to_commit(
        self, status: git_index.GitStatus, index: git_index.ScratchIndex, tree: str, message: str
    ) -> str:
        commit = self.objects.write_commit(tree, message, (status.head,))
        reason = message.partition("\n")[0]
        commit_changes.move_head(self.objects, status, index, commit, reason)
        return commit


def _without(
    chosen: tuple[Difference, ...], secrets: tuple[LikelySecret, ...]
) -> tuple[Difference, ...]:
    held_back = {one.path for one in secrets}
    return tuple(one for one in chosen if one.path not in held_back)
