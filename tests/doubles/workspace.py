"""A checkout without git."""

import math
from collections.abc import Collection, Iterable, Sequence

import msgspec

from ralph.core.snapshot import CheckoutChanges, Snapshot
from ralph.ports.workspace import CommitResult, LikelySecret, LostCommits, Preview


class FakeCommit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit: a name of its own, what it says, and every file."""

    name: str
    message: str
    files: dict[str, str]


class FakeWorkspace:
    """A checkout of dictionaries: what is committed, and what is on disk."""

    prefix = ""

    def __init__(self, path: str = "/checkout") -> None:
        self.path = path
        self.files: dict[str, str] = {}
        self.history = [FakeCommit(name="c0", message="c0", files={})]
        self.saved: dict[str, dict[str, str]] = {}
        self._made = {"c0": self.history}
        """Every commit that ever was, each with those before it: git forgets none."""
        self.trees: dict[str, dict[str, str]] = {}

    @property
    def head(self) -> dict[str, str]:
        """The files of the last commit."""
        return self.history[-1].files

    @property
    def commits(self) -> list[str]:
        """What the commits say, oldest first."""
        return [commit.message for commit in self.history]

    def edit(self, name: str, text: str = "x") -> None:
        """What an agent, or a person, does."""
        self.files[name] = text

    def throw_away(self, name: str) -> None:
        """What a person does with `git checkout`, or `git clean`."""
        self.files = _patched(self.files, self.head, [name])

    def commit_files(self, message: str, names: Iterable[str]) -> str:
        """What an agent, or a person, does with git."""
        return self._commit(message, self.files, names)

    def adopt(self, history: Sequence[FakeCommit]) -> None:
        """Go to the end of another history; nothing is left of what was here."""
        self.history = list(history)
        self.files = dict(self.head)
        for at, commit in enumerate(history, 1):
            self._made.setdefault(commit.name, list(history[:at]))

    def _commit(self, message: str, files: dict[str, str], names: Iterable[str]) -> str:
        made = FakeCommit(
            name=f"c{len(self._made)}{self.path.removeprefix('/checkout')}",
            message=message,
            files=_patched(self.head, files, names),
        )
        self.history = self._made[made.name] = [*self.history, made]
        return made.name

    def snapshot(self) -> Snapshot:
        """Trees are remembered under the text of their content."""
        return self._seen(self.history[-1], self.files)

    def _seen(self, head: FakeCommit, files: dict[str, str]) -> Snapshot:
        dirty = _differing(head.files, files)
        tree = repr(sorted(files.items())) if dirty else ""
        self.trees[tree or head.name] = dict(files)
        return Snapshot(head=head.name, branch="main", tree=tree, dirty=dirty)

    def _tree(self, snapshot: Snapshot) -> dict[str, str]:
        if not snapshot.tree:
            return self._made[snapshot.head][-1].files
        return self.trees[snapshot.tree]

    def changes(self, since: Snapshot, now: Snapshot) -> CheckoutChanges:
        """Commits by name, files by content."""
        files, before = _differing(self._tree(since), self._tree(now)), self._made[since.head]
        made = tuple(commit.name for commit in self._made[now.head] if commit not in before)
        return CheckoutChanges(commits=made, files=files)

    def return_to(self, branch: str) -> bool:
        """There is but one."""
        del branch
        return True

    def uncommitted(self) -> tuple[str, ...]:
        """What differs from a commit that has it."""
        return tuple(name for name in _differing(self.head, self.files) if name in self.head)

    def file_contents(self, at: Snapshot, paths: Sequence[str]) -> dict[str, bytes]:
        """Text is all there is."""
        tree = self._tree(at)
        return {path: tree[path].encode() for path in paths if path in tree}

    def with_files_of(self, then: Snapshot, now: Snapshot, paths: Sequence[str]) -> Snapshot:
        """File by file."""
        files = _patched(self._tree(now), self._tree(then), paths)
        return self._seen(self._made[now.head][-1], files)

    def differing_from_disk(self, at: Snapshot, paths: Sequence[str]) -> tuple[str, ...]:
        """By content."""
        tree = self._tree(at)
        return tuple(path for path in paths if tree.get(path) != self.files.get(path))

    def snapshot_at(self, since: Snapshot, now: Snapshot, moment: float) -> Snapshot:
        """No commit knows its time."""
        del since, moment
        return now

    def rebase_base(self, base: Snapshot, since: Snapshot, now: Snapshot) -> Snapshot:
        """File by file; what they committed stays, and what the session committed below it."""
        old = self._made[base.head][-1]
        head = old if since.head == now.head else self._made[now.head][-1]
        begun = _patched(self._tree(base), head.files, _differing(old.files, head.files))
        theirs = _differing(self._tree(since), self._tree(now))
        files = _patched(begun, self._tree(now), theirs)
        # What they have made as it is committed stays so, wherever the head goes.
        return self._seen(head, _patched(files, head.files, set(theirs) - set(now.dirty)))

    def with_user_commits(self, base: Snapshot, now: Snapshot) -> Snapshot:
        """Its user never commits during a session."""
        del now
        return base

    def commit(
        self,
        since: Snapshot,
        upto: Snapshot,
        message: str,
        keep: frozenset[str],
        own: frozenset[str] = frozenset(),
    ) -> CommitResult:
        """Everything changed in between, less what is a person's, and Ralph's own documents."""
        files = self._tree(upto) | {name: self.files[name] for name in own if name in self.files}
        left = [
            n
            for n in self.changes(since, upto).files
            if n in upto.dirty and self.head.get(n) != files.get(n) and n not in own
        ]
        names = [name for name in left if name not in keep and name not in since.dirty]
        names += [name for name in sorted(own) if self.head.get(name) != files.get(name)]
        if not names:
            return CommitResult(leftovers=tuple(name for name in left if name not in keep))
        made = self._commit(message.splitlines()[0], files, names)
        return CommitResult(commit=made, files=tuple(names))

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
        """As `commit` does it; nothing is ignored here."""
        del times, began
        left = [name for name in upto.dirty if name in keep or name in since.dirty]
        missing = tuple(name for name in left if name not in own)
        if not missing:
            return Preview(at=upto)
        head = self._made[upto.head][-1]
        files = _patched(self._tree(upto), head.files, missing)
        return Preview(at=self._seen(head, files), missing=missing)

    def committed_secrets(self, since: Snapshot, now: Snapshot) -> tuple[LikelySecret, ...]:
        """Nobody has secrets here."""
        del since, now
        return ()

    def remove_from_commits(self, since: Snapshot, paths: frozenset[str]) -> tuple[str, ...]:
        """Its sessions do not commit."""
        del since, paths
        return ()

    def committed_paths(self, since: Snapshot, now: Snapshot) -> tuple[str, ...]:
        """By content: nobody undoes what a commit did."""
        old, new = self._made[since.head][-1], self._made[now.head][-1]
        return _differing(old.files, new.files)

    def withdraw(self, since: Snapshot, paths: Collection[str]) -> None:
        raise AssertionError(f"nothing is protected, not even {paths} of {since}")

    def annotate(self, commits: Sequence[str], text: str) -> None:
        """Its commits have no notes."""
        del commits, text

    def save(self, ref: str, message: str) -> str:
        """Keep a copy."""
        del message
        self.saved[ref] = dict(self.files)
        return ref

    def restore_files(self, to: Snapshot, paths: Sequence[str]) -> None:
        """As they were committed."""
        self.files = _patched(self.files, self._made[to.head][-1].files, paths)

    def same_files(self, place: str, paths: Sequence[str]) -> list[str]:
        """Gates alone change files here."""
        return [*paths]

    def hidden_files(self) -> frozenset[str]:
        return frozenset()

    def show_files(self, paths: Iterable[str]) -> None:
        raise AssertionError(f"nothing is hidden, not even {paths}")

    def clear_locks(self, since: float) -> list[str]:
        """Nobody locks a dictionary."""
        del since
        return []

    def lost_commits(self, commits: Sequence[str]) -> LostCommits:
        """Those that nobody ever made."""
        return LostCommits(broken=tuple(commit for commit in commits if commit not in self._made))

    def recover_lost_head(self, candidates: Sequence[str]) -> str:
        """The head of a list is always there."""
        del candidates
        return ""

    def sync(self) -> None:
        """Nothing is on a disk."""

    def restore(self, to: Snapshot) -> None:
        """Files and commits as they were."""
        self.files = dict(self._tree(to))
        self.history = self._made[to.head]


def _patched(files: dict[str, str], by: dict[str, str], names: Iterable[str]) -> dict[str, str]:
    mixed = {**files, **{name: by.get(name) for name in names}}
    return {name: text for name, text in mixed.items() if text is not None}


def _differing(old: dict[str, str], new: dict[str, str]) -> tuple[str, ...]:
    return tuple(sorted(n for n in old.keys() | new.keys() if old.get(n) != new.get(n)))
