"""Taking a person's uncommitted files out of the commits that a session has made."""

from collections.abc import Iterator

from ralph.adapters.workspace.git import UNREAD, Git, text
from ralph.adapters.workspace.index import index_lock, replace_index, scratch
from ralph.adapters.workspace.objects import Objects
from ralph.adapters.workspace.status import Entry, read_status
from ralph.core.errors import Busy
from ralph.core.snapshot import Snapshot


class CommitFilter:
    """Rewrites what was committed since a snapshot. No file changes, and the commits that are
    replaced stay under `refs/ralph/`."""

    def __init__(self, git: Git, objects: Objects) -> None:
        self._git = git
        self._objects = objects

    def take_out(self, since: Snapshot, paths: frozenset[str]) -> tuple[str, ...]:
        """Make the branch what it would be without these files; return those that were there."""
        head = read_status(self._git).head
        if head == since.head or not paths:
            return ()
        if since.head and not self._objects.contains(head, since.head):
            return ()
        commits = self._objects.commits(since.head, head)
        taken = self._swept_along(commits, paths)
        was = self._objects.tree_of(since.head)
        # What to put in their place: what they were before.
        entries = [
            one.new
            for one in self._objects.differences(self._objects.tree_of(head), was)
            if one.path in taken
        ]
        if not entries:
            return ()
        with index_lock(self._git):
            status = read_status(self._git)
            if status.head != head:
                raise Busy("somebody commits right now", hint="run it again")
            new = self._rewritten(commits, entries)
            self._objects.rescue(head)
            ref = f"refs/heads/{status.branch}" if status.branch else "HEAD"
            self._move(ref, head, new, since, {one.path for one in entries})
        return tuple(sorted(one.path for one in entries))

    def _swept_along(self, commits: tuple[str, ...], paths: frozenset[str]) -> set[str]:
        """The files that were committed together with others. Who commits nothing but such files is
        the person."""
        along: set[str] = set()
        theirs: set[str] = set()
        for commit in commits:
            changed = set(self._changed(commit))
            (theirs if changed <= paths else along).update(changed & paths)
        return along - theirs

    def _changed(self, commit: str) -> Iterator[str]:
        args = ("diff-tree", "-r", "-z", "-m", "--root", "--no-commit-id", "--name-only")
        yield from filter(
            None, text(self._git.run(*args, "--no-renames", UNREAD, commit)).split("\0")
        )

    def _rewritten(self, commits: tuple[str, ...], entries: list[Entry]) -> str:
        made: dict[str, str] = {}
        for commit in commits:
            with scratch(self._git, copy=False) as index:
                index.read(commit)
                index.put(entries)
                tree = index.tree()
            content = _with(self._git.run("cat-file", "commit", commit), tree, made)
            args = ("hash-object", "-t", "commit", "-w", "--stdin")
            made[commit] = self._git.word(*args, stdin=content)
        return made[commits[-1]]

    def _move(self, ref: str, old: str, new: str, since: Snapshot, paths: set[str]) -> None:
        """The branch, and the index: what was staged of them is staged again."""
        staged = since.index or self._objects.tree_of(since.head)
        found = self._objects.differences(self._objects.tree_of(old), staged)
        with scratch(self._git) as before, scratch(self._git) as index:
            index.put(one.new for one in found if one.path in paths)
            index.refresh()
            replace_index(self._git, index)
            try:
                self._objects.move_ref(ref, new, old, "without what is not committed")
            except BaseException:
                replace_index(self._git, before)
                raise


def _with(content: bytes, tree: str, made: dict[str, str]) -> bytes:
    """A commit with another tree and other parents; a signature would not hold any more."""
    head, gap, message = content.partition(b"\n\n")
    lines: list[bytes] = []
    is_signature = False
    for line in head.split(b"\n"):
        name, _, value = line.partition(b" ")
        is_signature = name.startswith(b"gpgsig") or (is_signature and not name)
        if name == b"tree":
            lines.append(b"tree " + tree.encode())
        elif name == b"parent":
            lines.append(b"parent " + made.get(value.decode(), value.decode()).encode())
        elif not is_signature:
            lines.append(line)
    return b"\n".join(lines) + gap + message
