"""Trees, commits and refs: reading and making them without touching a file of the checkout."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from ralph.adapters.workspace.git import ANY, UNREAD, Git, git_error, raw, text
from ralph.adapters.workspace.status import Entry
from ralph.core.errors import Busy, UnusableData
from ralph.core.safe_text import one_line

RESCUED: Final = "refs/ralph/rescued/"
"""Commits that a branch lost and nothing else leads to."""

GITLINK: Final = "160000"
LARGEST: Final = 1 << 20


class Difference(NamedTuple):
    """One path that two trees disagree about."""

    old: Entry
    new: Entry

    @property
    def path(self) -> str:
        return self.new.path

    @property
    def is_nested(self) -> bool:
        """Another repository's commit on one of the sides, not a file."""
        return GITLINK in (self.old.mode, self.new.mode)


class Objects:
    """The repository behind a checkout."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._trees: dict[str, str] = {}

    def tree_of(self, head: str) -> str:
        """The tree of a commit; the empty one when there is no commit."""
        if not head:
            return self._git.empty_tree
        if head not in self._trees:
            # One head at a time is all a loop needs.
            self._trees = {head: self._git.word("rev-parse", "--verify", f"{head}^{{tree}}")}
        return self._trees[head]

    def differences(self, old: str, new: str) -> tuple[Difference, ...]:
        """What to change in `old` to get `new`, both trees, path by path."""
        if old == new:
            return ()
        args = ("diff-tree", "-r", "-z", "--raw", "--no-renames", UNREAD)
        try:
            return tuple(_differences(self._git.run(*args, old, new)))
        except UnusableData as error:
            raise UnusableData(
                f"a recorded state of the checkout is gone: {error}",
                hint="git keeps unused objects for two weeks unless told otherwise",
            ) from error

    def contents(self, tree: str, paths: Sequence[str]) -> dict[str, bytes]:
        """What files hold, where they are there; nothing of those that are very large."""
        found = dict.fromkeys(paths, b"")
        listed = text(self._git.run("ls-tree", "-r", "-l", "-z", "--full-tree", tree, "--", *paths))
        sizes: dict[str, tuple[str, str]] = {}
        for line in filter(None, listed.split("\0")):
            about, path = line.split("\t", 1)
            _, kind, oid, size = about.split()
            if path in found and kind == "blob":
                sizes[path] = (oid, size)
        for path, (oid, size) in sizes.items():
            if int(size) <= LARGEST:
                found[path] = self._git.run("cat-file", "blob", oid)
        return {path: found[path] for path in sizes}

    def commits(self, old: str, new: str) -> tuple[str, ...]:
        """What `new` has and `old` has not, oldest first."""
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
        without = (f"^{old}",) if old else ()
        args = ("rev-list", "--timestamp", "--topo-order", "--reverse", new, *without)
        lines = self._git.word(*args).splitlines()
        return [(int(made_at), commit) for made_at, _, commit in (o.partition(" ") for o in lines)]

    def write_commit(self, tree: str, message: str, parents: Iterable[str]) -> str:
        """Make a commit that nothing points to yet."""
        options = [part for parent in parents for part in ("-p", parent)]
        content = message.encode("utf-8", "replace")
        return self.signed.word("commit-tree", tree, *options, "-F", "-", stdin=content)

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
            raise Busy(f"{names} was moved by somebody else meanwhile", hint="run it again")

    def contains(self, commit: str, other: str) -> bool:
        """Is `other` part of the commit's history?"""
        args = ("merge-base", "--is-ancestor", other, commit)
        return self._git.ask(*args, ok=(0, 1)).code == 0

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
            names = text(self._git.ask(*args, ok=(0, 129)).stdout).splitlines()
            if any(name not in apart_from for name in names):
                return True
        return False

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


def _differences(output: bytes) -> Iterable[Difference]:
    fields = text(output).split("\0")
    for about, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, old_oid, new_oid, _ = about.removeprefix(":").split(" ")
        yield Difference(Entry(old_mode, old_oid, path), Entry(new_mode, new_oid, path))
