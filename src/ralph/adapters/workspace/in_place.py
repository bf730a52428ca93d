"""A person's own checkout, worked on in place.

What a session did is told from a person's work by comparing snapshots: git trees of every file on
disk. They are unreferenced objects, which git prunes two weeks after they were written at the
earliest (`gc.pruneExpire`), long after the task that they belong to; `git gc --prune=now` during a
run would lose them, and `changes` or `restore` would then say so.

As with `git stash`, a file's bytes go through git's line-ending rules and filters (`autocrlf`,
`text=auto`, LFS) on the way in and out. Nested repositories are left alone, whatever happens in
them; of a submodule only its commit is seen.
"""

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Final

from ralph.adapters.workspace.branch import go_to_branch
from ralph.adapters.workspace.carry import Carry
from ralph.adapters.workspace.commit_filter import CommitFilter
from ralph.adapters.workspace.exclude import hide
from ralph.adapters.workspace.flush import Flush
from ralph.adapters.workspace.git import ANY, Git, find_top, text
from ralph.adapters.workspace.index import (
    Scratch,
    absent,
    index_lock,
    replace_index,
    scratch,
)
from ralph.adapters.workspace.layout import Layout, layout
from ralph.adapters.workspace.locks import clear_locks
from ralph.adapters.workspace.lost_commits import lost_commits
from ralph.adapters.workspace.nested import nested
from ralph.adapters.workspace.objects import Difference, Objects
from ralph.adapters.workspace.restore import Restore
from ralph.adapters.workspace.secrets import likely_secrets
from ralph.adapters.workspace.status import Entry, Status, read_status
from ralph.core.errors import Busy, RalphError, TemporaryFailure, UnusableData
from ralph.core.snapshot import Changes, Snapshot
from ralph.ports.executor import Captures
from ralph.ports.workspace import Committed, Lost, Withheld

TRIES: Final = 3
"""For what a git that was killed has left half done."""
REMEMBERED: Final = 4
SAVE_TRIES: Final = 3


class InPlace:
    """The checkout around a project's directory. Paths are relative to its top."""

    _git_dirs: tuple[str, ...] = ()
    """Where git keeps what belongs to all checkouts of the repository, and to this one."""

    def __init__(self, executor: Captures, project_path: str) -> None:
        self._path = os.path.abspath(project_path)
        self._git = Git(executor, find_top(executor, self._path))
        self._objects = Objects(self._git)
        self._changes: dict[tuple[Snapshot, Snapshot], Changes] = {}
        self._flush = Flush()
        self._touched: set[str] = set()
        # Before any session: one may lead us elsewhere.
        with suppress(UnusableData):
            self._git_dirs = tuple(dict.fromkeys(reversed(layout(self._git.top))))

    @property
    def path(self) -> str:
        return self._path

    @property
    def prefix(self) -> str:
        inside = os.path.relpath(os.path.realpath(self._path), os.path.realpath(self._git.top))
        return "" if inside == "." else inside + "/"

    @property
    def git_dir(self) -> str:
        """Where git keeps what belongs to this checkout alone."""
        return self._git.git_dir

    @property
    def top(self) -> str:
        """The checkout's top directory."""
        return self._git.top

    def go_to(self, branch: str) -> str:
        """Check a branch out, new if there is none; return what that changed, in a line."""
        return go_to_branch(self._git, branch)

    def hide(self, patterns: Iterable[str]) -> None:
        """Let git ignore what is Ralph's own in the project's directory, whatever agents commit."""
        hide(self._git, self.prefix, patterns)

    def overlook(self, paths: Iterable[str]) -> None:
        """Take no notice of files that Ralph writes while it runs; absolute paths. They are neither
        work nor a person's changes, and stay as they are whatever is brought back."""
        top = os.path.realpath(self._git.top)
        inside = (os.path.relpath(os.path.realpath(path), top) for path in paths)
        self._git.unseen |= {path for path in inside if not path.startswith(os.pardir)}

    def tracks(self, path: str) -> bool:
        """Is it a file of the project, rather than one that lies there?"""
        return bool(self._git.run("ls-files", "--", f":(top,literal){self.prefix}{path}").strip())

    def snapshot(self) -> Snapshot:
        status = read_status(self._git)
        if not status.dirty:
            # The loop asks after every session: a clean checkout costs this one process.
            return Snapshot(head=status.head, branch=status.branch)
        with scratch(self._git) as disk:
            return self._photograph(status, disk)

    def changes(self, since: Snapshot, now: Snapshot) -> Changes:
        if (since, now) not in self._changes:
            # Objects do not change, and a judge asks for the same several times.
            self._changes = dict([*self._changes.items()][-REMEMBERED:])
            self._changes[since, now] = self._find_changes(since, now)
        return self._changes[since, now]

    def _find_changes(self, since: Snapshot, now: Snapshot) -> Changes:
        commits = self._objects.commits(since.head, now.head)
        if since.same_as(now):
            return Changes(commits=commits)
        tree = self._tree(now)
        found = self._objects.differences(self._tree(since), tree)
        files = tuple(difference.path for difference in found)
        self._touched.update(files)
        return Changes(commits=commits, files=files, nested=nested(self._git, found, tree))

    def contents(self, at: Snapshot, paths: Sequence[str]) -> dict[str, bytes]:
        return self._objects.contents(self._tree(at), paths)

    def with_files_of(self, then: Snapshot, now: Snapshot, paths: Sequence[str]) -> Snapshot:
        old, new = self._tree(then), self._tree(now)
        wanted = [one.new for one in self._objects.differences(new, old) if one.path in paths]
        with scratch(self._git, copy=False) as index:
            index.read(new)
            index.put(wanted)
            return Snapshot(head=now.head, branch=now.branch, tree=index.tree())

    def unlike_disk(self, at: Snapshot, paths: Sequence[str]) -> tuple[str, ...]:
        tree = self._tree(at)
        there = [path for path in paths if self._is_file(path)]
        with scratch(self._git, copy=False) as index:
            index.read(tree)
            index.put(absent(path, tree) for path in paths if path not in there)
            index.add(there)
            return tuple(path for path in self._names(tree, index.tree()) if path in paths)

    def _is_file(self, path: str) -> bool:
        with suppress(OSError):
            mode = os.lstat(os.path.join(self._git.top, path)).st_mode
            return stat.S_ISREG(mode) or stat.S_ISLNK(mode)
        return False

    def as_of(self, since: Snapshot, now: Snapshot, moment: float) -> Snapshot:
        head = self._objects.head_at(since.head, now.head, moment)
        return now if head == now.head else Snapshot(head=head, branch=now.branch)

    def carry_over(self, base: Snapshot, since: Snapshot, now: Snapshot) -> Snapshot:
        return Carry(self._git, self._objects).over(base, since, now)

    def commit(
        self,
        since: Snapshot,
        upto: Snapshot,
        message: str,
        keep: frozenset[str],
        own: frozenset[str] = frozenset(),
    ) -> Committed:
        found = self._left(since, upto) if upto.tree else ()
        left = tuple(difference for difference in found if difference.path not in own)
        if not left and not own:
            return Committed()
        with index_lock(self._git):
            status = read_status(self._git)
            chosen, leftovers = self._choose(left, since, upto, status, keep)
            withheld = likely_secrets(
                self._git, chosen, self._objects.tree_of(upto.head), upto.tree
            )
            documents, now = self._as_it_is(status, own)
            withheld += likely_secrets(
                self._git, documents, self._objects.tree_of(status.head), now
            )
            held_back = {one.path for one in withheld}
            chosen = tuple(one for one in (*chosen, *documents) if one.path not in held_back)
            if not chosen:
                return Committed(leftovers=leftovers, withheld=withheld)
            commit = self._commit(status, chosen, message)
        files = tuple(difference.path for difference in chosen)
        return Committed(commit=commit, files=files, leftovers=leftovers, withheld=withheld)

    def exposed(self, since: Snapshot, now: Snapshot) -> tuple[Withheld, ...]:
        if since.head == now.head:
            return ()
        old, new = self._objects.tree_of(since.head), self._objects.tree_of(now.head)
        return likely_secrets(self._git, self._objects.differences(old, new), old, new)

    def take_out(self, since: Snapshot, paths: frozenset[str]) -> tuple[str, ...]:
        # What we write meanwhile is nobody's to commit either.
        every = paths | self._git.unseen
        return CommitFilter(self._git, self._objects).take_out(since, every)

    def save(self, ref: str, message: str) -> str:
        """Keep the tree as it is now under `ref`; what the ref kept before stays reachable.

        The head is a parent, so the session's own commits are kept along with it.
        """
        now = self.snapshot()
        for attempt in range(1, SAVE_TRIES + 1):
            try:
                return self._save(ref, message, now)
            except Busy:
                # A git of a run that was killed lives on for a moment, and saves the same.
                if attempt == SAVE_TRIES:
                    raise
        raise AssertionError

    def _save(self, ref: str, message: str, now: Snapshot) -> str:
        tree = self._tree(now)
        before = self._objects.read_ref(ref)
        parents = [commit for commit in (now.head, before) if commit]
        if before and self._objects.tree_of(before) == tree:
            first_parent = self._objects.read_ref(f"{before}^")
            if first_parent == now.head:
                return before  # the same thing, saved before a crash
        commit = self._objects.write_commit(tree, message, dict.fromkeys(parents))
        self._objects.move_ref(ref, commit, before, "work kept aside")
        # Before anybody takes it out of the checkout.
        self.sync()
        return commit

    def commit_of(self, at: Snapshot, name: str) -> str:
        """A commit of exactly this state, which nothing but a clone's pin points to."""
        if at.head and not at.tree:
            return at.head
        parents = [at.head] if at.head else []
        return self._objects.write_commit(self._tree(at), f"The state for {name}\n", parents)

    def restore(self, to: Snapshot) -> None:
        """Bring branch, index and files back, byte for byte. Call `save` first.

        Files that were created since are removed, with directories that became empty; ignored
        ones stay. It stops before it changes anything if a file changes under its hands, and may
        be called again after a crash.
        """
        restore = Restore(self._git, self._objects, self._photograph)
        for left in reversed(range(TRIES)):
            try:
                with index_lock(self._git):
                    restore.back_to(to)
            except TemporaryFailure:
                if not left:
                    raise
            else:
                self._touched.update(restore.changed)
                return

    def put_back(self, to: Snapshot, paths: Sequence[str]) -> None:
        tree = self._objects.tree_of(to.head)
        known = set(text(self._git.run("ls-tree", "-r", "-z", "--name-only", tree)).split("\0"))
        if there := [path for path in paths if path in known]:
            self._git.run("restore", f"--source={to.head}", "--worktree", "--", *there)
        for path in set(paths) - known:
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(self._git.top, path))

    def clear_locks(self, since: float) -> list[str]:
        return [aside for place in self._git_dirs for aside in clear_locks(place, since)]

    def lost(self, commits: Sequence[str]) -> Lost:
        return lost_commits(self._git, commits)

    def leave_lost_head(self, candidates: Sequence[str]) -> str:
        if self._git.ask(
            "rev-parse", "--verify", "--quiet", "HEAD", ok=(0, 1)
        ).code != 0 or self._is_read("HEAD"):
            return ""
        for commit in candidates:
            if self._is_read(commit):
                # HEAD stays on its branch; what the ref named is in the reflog and in our warning.
                self._objects.signed.run("update-ref", "-m", "ralph: lost commit", "HEAD", commit)
                return commit
        return ""

    def _is_read(self, commit: str) -> bool:
        return self._git.ask("ls-tree", "-r", "-t", commit, ok=ANY).code == 0

    def sync(self) -> None:
        """Put on disk what git wrote, whoever ran it, and the files of the session's work: half
        of them gone, they would look like a person's changes."""
        touched, self._touched = self._touched, set()
        folders = {folder for path in touched for folder in _folders(path)}
        # The deepest first: a file before the folder that names it.
        names = sorted({*touched, *folders}, key=lambda name: name.count("/"), reverse=True)
        self._flush(self._layout, [os.path.join(self._git.top, name) for name in names])

    @cached_property
    def _layout(self) -> Layout:
        return layout(self._git.top)

    # -- snapshots

    def _photograph(self, status: Status, disk: Scratch) -> Snapshot:
        """Turn the scratch copy of the index into what is on disk, noting what is staged."""
        head_tree = self._objects.tree_of(status.head)
        index = tree = head_tree
        if status.staged or status.unmerged:
            # Conflicts cannot be written as a tree; our side stands for them.
            disk.put(status.unmerged)
            index = tree = disk.tree()
        if status.written or status.removed:
            # Not `git add -A`: it would look at every file again, fail on a nested repository
            # without commits, and adopt one that has some.
            disk.put(absent(path, head_tree) for path in status.removed)
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

    def _tree(self, snapshot: Snapshot) -> str:
        return snapshot.tree or self._objects.tree_of(snapshot.head)

    def _names(self, old: str, new: str) -> tuple[str, ...]:
        return tuple(difference.path for difference in self._objects.differences(old, new))

    # -- commits

    def _left(self, since: Snapshot, upto: Snapshot) -> tuple[Difference, ...]:
        """What the session changed and had not committed at `upto`."""
        before, head = self._tree(since), self._objects.tree_of(upto.head)
        uncommitted = self._objects.differences(head, upto.tree)
        if before == head:
            return uncommitted
        # A file that was committed and then restored is as it was before, yet its commit is not.
        committed = self._names(self._objects.tree_of(since.head), head)
        changed = {*self._names(before, upto.tree), *committed}
        return tuple(difference for difference in uncommitted if difference.path in changed)

    def _choose(
        self,
        left: tuple[Difference, ...],
        since: Snapshot,
        upto: Snapshot,
        status: Status,
        keep: frozenset[str],
    ) -> tuple[tuple[Difference, ...], tuple[str, ...]]:
        """Divide what is left into what to commit and what to leave alone."""
        moved = self._objects.differences(
            self._objects.tree_of(upto.head), self._objects.tree_of(status.head)
        )
        newer = {difference.path: difference.new for difference in moved}
        # Committed meanwhile with just this content: then it was us, before a crash.
        open_ones = [
            difference
            for difference in left
            if difference.path not in keep and newer.get(difference.path) != difference.new
        ]
        # A person's changes mixed in; a conflict; somebody's newer commit.
        mixed = {*since.dirty, *(entry.path for entry in status.unmerged), *newer}
        blocked = mixed | {difference.path for difference in left if difference.path in keep}
        untouchable = mixed | {folder for path in blocked for folder in _folders(path)}
        chosen = tuple(
            difference
            for difference in open_ones
            if difference.path not in untouchable and blocked.isdisjoint(_folders(difference.path))
        )
        taken = {difference.path for difference in chosen}
        leftovers = tuple(d.path for d in open_ones if d.path not in taken)
        return chosen, leftovers

    def _as_it_is(
        self, status: Status, paths: frozenset[str]
    ) -> tuple[tuple[Difference, ...], str]:
        """How some files differ from the head now, conflicts aside; and the tree of now."""
        wanted = paths.intersection(status.dirty) - {entry.path for entry in status.unmerged}
        if not wanted:
            return (), ""
        with scratch(self._git) as disk:
            now = self._tree(self._photograph(status, disk))
        found = self._objects.differences(self._objects.tree_of(status.head), now)
        return tuple(difference for difference in found if difference.path in wanted), now

    def _commit(self, status: Status, chosen: tuple[Difference, ...], message: str) -> str:
        entries = [difference.new for difference in chosen]
        parents = (status.head,) if status.head else ()
        ref = f"refs/heads/{status.branch}" if status.branch else "HEAD"
        with scratch(self._git) as old, scratch(self._git) as new:
            new.put(entries)
            others = {*status.staged, *(entry.path for entry in status.unmerged)}
            alone = others <= {entry.path for entry in entries}
            tree = new.tree() if alone else self._tree_without_staged(status, entries)
            commit = self._objects.write_commit(tree, message, parents)
            new.refresh()
            # The index first: killed after it, the work is merely staged. Killed after the ref,
            # the index would show the commit's opposite as staged, ready to undo it.
            replace_index(self._git, new)
            try:
                self._objects.move_ref(ref, commit, status.head, message.partition("\n")[0])
            except TemporaryFailure:
                raise  # it may have moved, and then the new index is the right one
            except RalphError:
                replace_index(self._git, old)
                raise
        return commit

    def _tree_without_staged(self, status: Status, entries: list[Entry]) -> str:
        """The head with the entries, and nothing that a person has staged."""
        with scratch(self._git, copy=False) as index:
            if status.head:
                index.read(status.head)
            index.put(entries)
            return index.tree()


def _folders(path: str) -> list[str]:
    """The directories a path lies in. A file cannot be where another path needs a directory."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]
