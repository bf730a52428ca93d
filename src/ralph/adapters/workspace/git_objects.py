"""Trees, commits and refs: read and made without touching a file of the checkout."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple, TypeVar

from ralph.adapters.workspace.git import ANY, UNREAD, Git, git_error, raw, text
from ralph.adapters.workspace.git_index import GITLINK, IndexEntry, scratch_index
from ralph.core.errors import BadConfig, BranchMoved, CannotWrite, RalphError, UnusableData
from ralph.core.safe_text import one_line
from ralph.core.snapshot import Snapshot

RESCUED: Final = "refs/ralph/rescued/"
"""Commits that a branch lost and nothing else leads to."""
LARGEST_BLOB: Final = 1 << 20
SPARE: Final = 1 << 17
"""For folders, the index, and whatever else is written meanwhile."""
REMEMBERED: Final = 8
MANY: Final = 1000
"""Longer lists are not remembered."""
FETCH_OPTIONS: Final = (
    *("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"),
    "--no-auto-gc",
)
K = TypeVar("K")
V = TypeVar("V")


class Difference(NamedTuple):
    """One path that two trees disagree about."""

    old: IndexEntry
    new: IndexEntry

    @property
    def path(self) -> str:
        return self.new.path

    @property
    def is_nested(self) -> bool:
        """Another repository's commit on one of the sides, not a file."""
        return GITLINK in (self.old.mode, self.new.mode)


class GitObjects:
    """The repository behind a checkout."""

    def __init__(self, git: Git) -> None:
        self._git = git
        # Each git process costs more than all the rest, and what a name stands for never changes.
        self._trees: dict[str, str] = {}
        self._differences: dict[tuple[str, str], tuple[Difference, ...]] = {}
        self._commits: dict[tuple[str, str], list[tuple[int, str]]] = {}
        self._written: dict[str, str] = {}
        """Commits of our own with one parent, and that parent."""

    def tree_with(self, tree: str, entries: Sequence[IndexEntry]) -> str:
        """A tree with some entries set or removed."""
        if not entries:
            return tree
        with scratch_index(self._git, copy=False) as index:
            index.read(tree)
            index.put(entries)
            return index.tree()

    def tree_of(self, at: Snapshot | str) -> str:
        """The tree of a snapshot or of a commit; the empty one when there is no commit."""
        head = at.head if isinstance(at, Snapshot) else at
        if isinstance(at, Snapshot) and at.tree:
            return at.tree
        if not head:
            return self._git.empty_tree
        if head in self._trees:
            return self._trees[head]
        tree = self._git.word("rev-parse", "--verify", f"{head}^{{tree}}")
        return _remember(self._trees, head, tree)

    def index_of(self, at: Snapshot) -> str:
        """The tree of what is staged in a snapshot."""
        return at.index or self.tree_of(at.head)

    def differences(self, old: str, new: str) -> tuple[Difference, ...]:
        """What to change in `old` to get `new`, both trees, path by path."""
        if old == new:
            return ()
        if (old, new) in self._differences:
            return self._differences[old, new]
        args = ("diff-tree", "-r", "-z", "--raw", "--no-renames", UNREAD)
        try:
            found = tuple(_differences(self._git.run(*args, old, new)))
        except UnusableData as error:
            said = f"a recorded state of the checkout cannot be read: {error}"
            hint = f"{error.hint}; git keeps unused objects for two weeks"
            raise UnusableData(said, hint=hint) from error
        return _remember(self._differences, (old, new), found) if len(found) < MANY else found

    def changed(self, old: str, new: str) -> frozenset[str]:
        """The paths that two trees disagree about."""
        return frozenset(one.path for one in self.differences(old, new))

    def contents(self, tree: str, paths: Sequence[str]) -> dict[str, bytes]:
        """What files hold, where they are there; nothing of those that are very large."""
        found: dict[str, bytes] = {}
        for line in self._git.names("ls-tree", "-r", "-l", "-z", "--full-tree", tree, "--", *paths):
            about, path = line.split("\t", 1)
            _, kind, oid, size = about.split()
            if path in paths and kind == "blob":
                is_small = int(size) <= LARGEST_BLOB
                found[path] = self._git.run("cat-file", "blob", oid) if is_small else b""
        return found

    def present(self, names: Iterable[str]) -> set[str]:
        """The objects of these whose beginning git can read."""
        wanted = list(dict.fromkeys(filter(None, names)))
        lines = raw("".join(f"{name}\n" for name in wanted))
        got = self._git.ask("cat-file", "--batch-check", stdin=lines, ok=ANY)
        if got.code != 0:
            # One is so broken that git gives up: the others are asked for one by one.
            sizes = {one: self._git.ask("cat-file", "-s", one, ok=ANY) for one in wanted}
            return {one for one, size in sizes.items() if size.code == 0}
        answers = (line.split(" ") for line in text(got.stdout).splitlines())
        return {words[0] for words in answers if words[-1] != "missing"}

    def check_room(self, entries: Iterable[IndexEntry]) -> None:
        """See that files of these contents fit on the disk: git that runs out of space in the
        middle of a file leaves the beginning of it."""
        oids = "".join(f"{one.oid}\n" for one in entries if one.mode not in ("000000", GITLINK))
        if not oids:
            return
        args = ("cat-file", "--batch-check=%(objectsize)")
        needed = sum(map(int, text(self._git.run(*args, stdin=oids.encode())).split()))
        disk = os.statvfs(self._git.top)
        if disk.f_bavail * disk.f_frsize < needed + SPARE:
            raise CannotWrite(
                f"the disk is too full to write the files in {self._git.top}",
                hint="free some space; `ralph run` goes on where it was",
            )

    def commits(self, old: str, new: str) -> tuple[str, ...]:
        """What `new` has and `old` has not, oldest first."""
        if old and self._written.get(new) == old:
            return (new,)
        return tuple(commit for _, commit in self._since(old, new))

    def head_at(self, old: str, new: str, moment: float) -> str:
        """Where a branch was at a moment, which was at `old` before and is at `new` now."""
        head = old
        for made_at, commit in self._since(old, new):
            if made_at > moment:
                return head
            head = commit
        return new

    def _since(self, old: str, new: str) -> list[tuple[int, str]]:
        """Commits with the time when each was made."""
        if old == new or not new:
            return []
        if (old, new) in self._commits:
            return self._commits[old, new]
        without = (f"^{old}",) if old else ()
        args = ("rev-list", "--timestamp", "--topo-order", "--reverse", new, *without)
        lines = (line.partition(" ") for line in self._git.word(*args).splitlines())
        found = [(int(made_at), commit) for made_at, _, commit in lines]
        return _remember(self._commits, (old, new), found) if len(found) < MANY else found

    def write_commit(self, tree: str, message: str, parents: Iterable[str]) -> str:
        """Make a commit that nothing points to yet. An empty parent is none."""
        options = [part for parent in filter(None, parents) for part in ("-p", parent)]
        content = message.encode("utf-8", "replace")
        commit = self.signed.word("commit-tree", tree, *options, "-F", "-", stdin=content)
        _remember(self._trees, commit, tree)
        if len(options) == 2:
            _remember(self._written, commit, options[1])
        return commit

    def move_ref(self, ref: str, new: str, old: str, reason: str) -> None:
        """Point a ref at `new` (nowhere when empty), provided that it points at `old` now."""
        options = ("--no-deref",) if ref == "HEAD" else ()
        target = ("-d", ref, old) if not new else (ref, new, old)
        args = ("update-ref", "-m", f"ralph: {one_line(reason)}", *options, *target)
        self._move(args, {ref: new})

    def move_refs(self, moves: Mapping[str, tuple[str, str]], reason: str) -> None:
        """Point several refs at new commits, all or none of them; each with what it points at now,
        empty for one that is not there."""
        lines = "".join(
            f"update {ref} {new} {old}\n" if old else f"create {ref} {new}\n"
            for ref, (new, old) in moves.items()
        )
        args = ("update-ref", "-m", f"ralph: {one_line(reason)}", "--stdin")
        self._move(args, {ref: new for ref, (new, _) in moves.items()}, raw(lines))

    def _move(self, args: Sequence[str], wanted: Mapping[str, str], stdin: bytes = b"") -> None:
        got = self.signed.ask(*args, stdin=stdin, ok=ANY)
        if got.code == 0:
            return
        if not any(sign in got.stderr for sign in _MOVED):
            raise git_error(args, got, self._git.top)
        # By a git of ours that was killed when it had done it, perhaps.
        if any(self.read_ref(ref) != new for ref, new in wanted.items()):
            names = " or ".join(wanted)
            raise BranchMoved(f"{names} was moved by another process", hint="run it again")

    def contains(self, commit: str, other: str) -> bool:
        """Is `other` part of the commit's history?"""
        args = ("merge-base", "--is-ancestor", other, commit)
        return self._git.ask(*args, ok=(0, 1)).code == 0

    def check_out(self, branch: str) -> str:
        """Check a branch out, new if there is none; return what that changed, in a line."""
        name = one_line(branch)
        checked = self._git.ask("check-ref-format", f"refs/heads/{branch}", ok=(0, 1))
        if checked.code != 0 or branch.startswith("-"):
            raise BadConfig(
                f"no branch can be called {name!r}",
                hint="--branch NAME, or [git] branch in .ralph.toml",
            )
        before = self.branch_ref().removeprefix("refs/heads/")
        if before == branch:
            return ""
        is_there = bool(self.read_ref(f"refs/heads/{branch}"))
        try:
            self._git.run("switch", "-q", *(() if is_there else ("-c",)), branch, once=True)
        except RalphError as error:
            raise type(error)(
                f"cannot go to branch {name}: {error}",
                hint=error.hint or "commit or stash what is in the way, or go there yourself",
            ) from error
        made, was = "" if is_there else "new ", one_line(before) or "none"
        return f"your checkout is on the {made}branch {name} now; it was on {was}"

    def return_to(self, branch: str) -> bool:
        """Put a branch on the head's commit, and the head on the branch; no file changes. False
        where that would leave commits of the branch behind."""
        ref = f"refs/heads/{branch}"
        head, tip = self.read_ref("HEAD"), self.read_ref(ref)
        if tip and not self.contains(head, tip):
            return False
        if tip != head:
            self.move_ref(ref, head, tip, "forward to what the session did")
        self.go_to_branch(ref)
        return True

    def go_to_branch(self, ref: str) -> None:
        """Put the head on a branch; no file changes."""
        self.signed.run("symbolic-ref", "-m", "ralph: back to the branch", "HEAD", ref)

    def branch_ref(self) -> str:
        """The branch that is checked out, as a ref; empty when the head is detached."""
        return text(self._git.ask("symbolic-ref", "-q", "HEAD", ok=(0, 1)).stdout).strip()

    def read_ref(self, ref: str) -> str:
        """The commit a ref points at, empty when there is no such ref."""
        args = ("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        return text(self._git.ask(*args, ok=(0, 1)).stdout).strip()

    def is_reachable(self, commit: str, *, apart_from: Sequence[str] = ()) -> bool:
        """Does any ref lead to the commit?"""
        # 129: the commit is unknown, so nothing leads to it.
        # Saved work is looked up first: there are few such refs, and it is the usual answer.
        for place in ("refs/ralph/", "refs/"):
            args = ("for-each-ref", "--format=%(refname)", "--contains", commit, place)
            if any(name not in apart_from for name in self._git.refs(*args, ok=(0, 129))):
                return True
        return False

    def fetch(self, clone: str, name: str, ref: str) -> None:
        """Bring one ref of a clone, running nothing there; what `ref` led to stays reachable."""
        before = self.read_ref(ref)
        self._git.run("fetch", *FETCH_OPTIONS, clone, f"+{name}:{ref}")
        if before and not self.is_reachable(before):
            self.rescue(before)

    def rescue(self, commit: str) -> None:
        """Keep a commit that is about to lose its branch."""
        # Named after the commit, so that doing it twice does it once.
        self.signed.run("update-ref", f"{RESCUED}{commit}", commit)

    @cached_property
    def signed(self) -> Git:
        """git with an identity: the person's, or ours where git knows none."""
        missing = {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            if self._git.ask("var", f"GIT_{role}_IDENT", ok=(0, 128)).code != 0
            for part, value in (("NAME", "Ralph"), ("EMAIL", "ralph@localhost"))
        }
        return self._git.with_env(**missing)


_MOVED: Final = (b"but expected", b"already exists", b"unable to resolve reference")


def _remember(cache: dict[K, V], key: K, value: V) -> V:
    if len(cache) >= REMEMBERED:
        del cache[next(iter(cache))]
    cache[key] = value
    return value


def _differences(output: bytes) -> Iterable[Difference]:
    fields = text(output).split("\0")
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, old_oid, new_oid, _ = about.removeprefix(":").split(" ")
        yield Difference(IndexEntry(old_mode, old_oid, path), IndexEntry(new_mode, new_oid, path))
