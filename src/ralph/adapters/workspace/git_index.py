"""The index and the status of a checkout, and scratch copies of the index."""

import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from ralph.adapters.workspace.git import UNREAD, Git, raw, text
from ralph.adapters.workspace.locks import MARK, release
from ralph.core.errors import Busy
from ralph.files import open_regular, or_cannot_write, write_regular

COMMAND: Final = (
    *("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--no-renames"),
    "--no-ahead-behind",
    # What is uncommitted inside a submodule cannot be part of a tree of this repository.
    "--ignore-submodules=dirty",
)
"""Options beat what a person has configured for `git status`."""


class IndexEntry(NamedTuple):
    """A file of the index, or none: mode 000000 says that it is absent."""

    mode: str
    oid: str
    path: str


class GitStatus(NamedTuple):
    """A checkout, compared with its head."""

    head: str = ""
    branch: str = ""
    dirty: tuple[str, ...] = ()
    """Everything that differs from the head, on disk or in the index, in order."""
    staged: tuple[str, ...] = ()
    """In the index other than in the head."""
    written: tuple[str, ...] = ()
    """On disk other than in the index."""
    removed: tuple[str, ...] = ()
    """In the index, not on disk."""
    unmerged: tuple[IndexEntry, ...] = ()
    """Conflicts, each with our side."""
    announced: tuple[str, ...] = ()
    """`git add -N`: the index knows the name and no content."""
    untracked: tuple[str, ...] = ()
    """Git knows nothing of them."""

    @property
    def ref(self) -> str:
        """What a commit moves."""
        return f"refs/heads/{self.branch}" if self.branch else "HEAD"


def read_status(git: Git) -> GitStatus:
    """Ask git. Takes no lock and changes nothing."""
    found = parse(git.run(*COMMAND), git.unseen)
    # Where git cannot read its refs it says this, too, and with success.
    is_read = found.head and found.branch != "(unknown)"
    return found if is_read else parse(git.run(*COMMAND), git.unseen)


def parse(output: bytes, unseen: frozenset[str] = frozenset()) -> GitStatus:
    """Read porcelain v2, separated by NUL; `unseen` files count as they are in the head."""
    head = branch = ""
    staged: list[str] = []
    dirty: set[str] = set()
    written: list[str] = []
    removed: list[str] = []
    unmerged: list[IndexEntry] = []
    announced: list[str] = []
    untracked: list[str] = []
    for line in text(output).split("\0"):
        match line[:1]:
            case "#":
                _, name, *value = line.split(" ", 2)
                if name == "branch.oid" and value != ["(initial)"]:
                    head = value[0]
                elif name == "branch.head" and value != ["(detached)"]:
                    branch = value[0]
            case "1" if line.split(" ", 8)[8] not in unseen:
                _, xy, _, _, _, _, _, _, path = line.split(" ", 8)
                dirty.add(path)
                if xy[0] != ".":
                    staged.append(path)
                if xy[1] == "D":
                    removed.append(path)
                elif xy[1] != ".":
                    written.append(path)
                if xy == ".A":
                    announced.append(path)
            case "u":
                _, _, _, _, mode, _, on_disk, _, oid, _, path = line.split(" ", 10)
                dirty.add(path)
                unmerged.append(IndexEntry(mode, oid, path))
                (removed if on_disk == "000000" else written).append(path)
            # A nested repository ends with a slash. It is not ours to look into.
            case "?" if not line.endswith("/") and line[2:] not in unseen:
                dirty.add(line[2:])
                written.append(line[2:])
                untracked.append(line[2:])
            case _:
                pass
    return GitStatus(
        head=head,
        branch=branch,
        dirty=tuple(sorted(dirty)),
        staged=tuple(staged),
        written=tuple(written),
        removed=tuple(removed),
        unmerged=tuple(unmerged),
        announced=tuple(announced),
        untracked=tuple(untracked),
    )


STALE_S: Final = 3600.0
TRIES: Final = 10
"""After a wait for a lock another process may be the next to have it."""
ABSENT: Final = "000000"
GITLINK: Final = "160000"
LARGEST_INDEX: Final = 16 << 30
"""Bytes of a file that git can take in before it is given up."""
LARGEST_COPY: Final = 16 << 20
"""Bytes of an index that is kept in memory."""
HOLE: Final = 1 << 30
"""Bytes of a file that may be missing on disk."""


HIDDEN_TAGS: Final = ("S", "s", "h")
"""How `git ls-files -v` marks files that bits (`skip-worktree`, `assume-unchanged`) hide."""


class IndexCopy(NamedTuple):
    data: bytes
    age: int
    """When it was written. git believes a file's size and time only if the index is younger than
    the file: a copy that looked younger than it is would hide what changed within one tick of the
    clock."""

    def write(self, path: str) -> None:
        write_regular(path, self.data)
        os.utime(path, ns=(self.age, self.age))


class ScratchIndex:
    def __init__(self, git: Git, file: str) -> None:
        self.file = file
        self.git = git.with_env(GIT_INDEX_FILE=file)

    def put(self, entries: Iterable[IndexEntry]) -> None:
        """Set or remove entries, whatever is on disk."""
        # Removals first: a file may take the place of a directory, or the other way round.
        ordered = sorted(entries, key=lambda entry: entry.mode != ABSENT)
        lines = b"".join(
            f"{entry.mode} {entry.oid}\t".encode() + raw(entry.path) + b"\0" for entry in ordered
        )
        if lines:
            self.git.run("update-index", "-z", "--index-info", stdin=lines)

    def add(self, paths: Iterable[str]) -> None:
        """Take files as they are on disk. A pipe or a device in the place of one is none, nor is
        one without measure."""
        kept: list[bytes] = []
        gone: list[bytes] = []
        for path in paths:
            is_special = _is_special(os.path.join(self.git.top, path))
            (gone if is_special else kept).append(raw(path) + b"\0")
        if gone:
            self.git.run("update-index", "--force-remove", "-z", "--stdin", stdin=b"".join(gone))
        if kept:
            # With the times and sizes of the others, so that a commit need not learn them.
            refresh = ("update-index", "-q", "--refresh")
            args = ("--add", "--remove", "--replace", "-z", "--stdin")
            self.git.run(*refresh, *args, stdin=b"".join(kept))

    def read(self, tree: str) -> None:
        """Hold exactly that tree."""
        self.git.run("read-tree", tree)

    def refresh(self) -> None:
        """Learn the files' times and sizes, so that the next status need not read them."""
        # Its exit code says that some file differs, which is no error.
        self.git.ask("update-index", "-q", "--refresh", ok=(0, 1))

    def tree(self) -> str:
        return self.git.word("write-tree")

    def content(self) -> "IndexCopy | None":
        """What it holds; None of a very large one."""
        with suppress(OSError), open_regular(self.file, os.O_NOFOLLOW) as file:
            age, data = os.fstat(file.fileno()).st_mtime_ns, file.read(LARGEST_COPY + 1)
            return IndexCopy(data, age) if len(data) <= LARGEST_COPY else None
        return None


def _is_special(path: str) -> bool:
    try:
        found = os.lstat(path)
    except OSError:
        return False
    if stat.S_ISREG(found.st_mode):
        # git would read for hours: a hole takes no room on a disk, so no limit stops it.
        return found.st_size > LARGEST_INDEX or found.st_size > 2 * found.st_blocks * 512 + HOLE
    return not (stat.S_ISLNK(found.st_mode) or stat.S_ISDIR(found.st_mode))


def absent(path: str, oid: str) -> IndexEntry:
    """An entry that removes; `oid` gives the length of the repository's names."""
    return IndexEntry(ABSENT, "0" * len(oid), path)


@contextmanager
def scratch_index(
    git: Git, *, copy: bool = True, content: IndexCopy | None = None
) -> Iterator[ScratchIndex]:
    """A scratch index, a copy of the real one so that it knows the files' times already, or one
    with that content."""
    # In the git directory: a sandboxed git sees it there, and /tmp may be another one for it.
    folder = os.path.join(git.git_dir, "ralph")
    file = os.path.join(folder, f"index-{os.urandom(6).hex()}")
    hint = "free some space, or look at its permissions; `ralph run` goes on where it was"
    with or_cannot_write(f"write in {folder}", hint):
        os.makedirs(folder, exist_ok=True)
        _sweep(folder)
        if content is not None:
            content.write(file)
        elif copy:
            _copy(os.path.join(git.git_dir, "index"), file)
    try:
        yield ScratchIndex(git, file)
    finally:
        for leftover in (file, f"{file}.lock"):
            with suppress(FileNotFoundError):
                os.unlink(leftover)


def _copy(source: str, target: str) -> None:
    try:
        # An agent may have put a link to a file of yours in its place, or a pipe.
        existing = open_regular(source, os.O_NOFOLLOW)
    except FileNotFoundError:
        return  # nothing was ever staged here
    with existing:
        IndexCopy(existing.read(), os.fstat(existing.fileno()).st_mtime_ns).write(target)


def _sweep(folder: str) -> None:
    """Remove what a Ralph that was killed has left behind."""
    now = time.time()
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.name.startswith("index-") and now - entry.stat().st_mtime > STALE_S:
                    os.unlink(entry.path)


@contextmanager
def index_lock(git: Git, *, waits: bool = True) -> Iterator[None]:
    """Keep every other git from changing the index meanwhile. Busy if another process does that,
    after some time to end if it `waits`."""
    path = os.path.join(git.git_dir, "index.lock")
    handle = _create(path)
    for _ in range(TRIES):
        if handle is None:
            release(path, git.executor, waits=waits)
            handle = _create(path)
    if handle is None:
        raise Busy(f"other git commands hold {path} all the time", hint="run it again")
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            os.unlink(path)
        os.close(handle)


def replace_index(git: Git, new: ScratchIndex) -> None:
    """Put the scratch index in the place of the real one. Only while holding the lock."""
    if os.path.exists(new.file):
        # Synced first: a power cut may leave the new name and nothing in the file.
        with open(new.file, "rb") as written:
            os.fsync(written.fileno())
        os.replace(new.file, os.path.join(git.git_dir, "index"))


def _create(path: str) -> int | None:
    with or_cannot_write(f"write {path}", "free some space, or look at its permissions"):
        try:
            handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            return None
        try:
            os.write(handle, MARK)
        except OSError:
            os.close(handle)
            os.unlink(path)
            raise
    return handle


def hidden_files(git: Git) -> frozenset[str]:
    """Return the files that git does not look at, also those that are not on disk."""
    listed = git.names("ls-files", "-v", "-z")
    return frozenset(line[2:] for line in listed if line.startswith(HIDDEN_TAGS))


def submodules(git: Git) -> Iterator[tuple[str, str]]:
    """Their paths, and the commits that the index names for them."""
    for line in git.names("ls-files", "-s", "-z"):
        about, _, path = line.partition("\t")
        if about.startswith(GITLINK):
            yield path, about.split(" ")[1]


def conflicts(git: Git) -> tuple[str, ...]:
    """The files in which two sides do not fit together."""
    args = ("diff", UNREAD, "--name-only", "--diff-filter=U", "--no-relative", "-z")
    return tuple(dict.fromkeys(git.names(*args)))


def show_files(git: Git, paths: Iterable[str]) -> None:
    """Let git look at them again."""
    names = b"".join(raw(path) + b"\0" for path in paths)
    for option in ("--no-skip-worktree", "--no-assume-unchanged"):
        git.run("update-index", option, "-z", "--stdin", stdin=names)


def file_kind(top: str, path: str) -> str:
    """What a path of the checkout is on disk: a `file` (a link counts as one) or an `empty` one, a
    `folder`, `odd` (a pipe, a device), `elsewhere` (behind a link or a file), or `nothing`."""
    *folders, name = path.split("/")
    for folder in folders:
        top = os.path.join(top, folder)
        if os.path.islink(top) or not os.path.isdir(top):
            return "elsewhere" if os.path.lexists(top) else "nothing"
    try:
        found = os.lstat(os.path.join(top, name))
    except OSError:
        return "nothing"
    if stat.S_ISDIR(found.st_mode):
        return "folder"
    if stat.S_ISREG(found.st_mode):
        return "file" if found.st_size else "empty"
    return "file" if stat.S_ISLNK(found.st_mode) else "odd"


def is_file(top: str, path: str) -> bool:
    return file_kind(top, path) in ("file", "empty")
