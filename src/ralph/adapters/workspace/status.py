"""What `git status` says: one process that answers for a clean checkout."""

from typing import Final, NamedTuple

from ralph.adapters.workspace.git import Git, text

COMMAND: Final = (
    "status",
    "--porcelain=v2",
    "--branch",
    "-z",
    "--untracked-files=all",
    "--no-renames",
    "--no-ahead-behind",
    # What is uncommitted inside a submodule cannot be part of a tree of this repository.
    "--ignore-submodules=dirty",
)
"""Options beat what a person has configured for `git status`."""


class Entry(NamedTuple):
    """A file of the index, or none: mode 000000 says that it is absent."""

    mode: str
    oid: str
    path: str


class Status(NamedTuple):
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
    unmerged: tuple[Entry, ...] = ()
    """Conflicts, each with our side."""
    announced: tuple[str, ...] = ()
    """`git add -N`: the index knows the name and no content."""


def read_status(git: Git) -> Status:
    """Ask git. Takes no lock and changes nothing."""
    return parse(git.run(*COMMAND), git.unseen)


def parse(output: bytes, unseen: frozenset[str] = frozenset()) -> Status:
    """Read porcelain v2, separated by NUL; `unseen` files count as they are in the head."""
    head = branch = ""
    staged: list[str] = []
    dirty: set[str] = set()
    written: list[str] = []
    removed: list[str] = []
    unmerged: list[Entry] = []
    announced: list[str] = []
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
                unmerged.append(Entry(mode, oid, path))
                (removed if on_disk == "000000" else written).append(path)
            # A nested repository ends with a slash. It belongs to somebody else.
            case "?" if not line.endswith("/") and line[2:] not in unseen:
                dirty.add(line[2:])
                written.append(line[2:])
            case _:
                pass
    return Status(
        head=head,
        branch=branch,
        dirty=tuple(sorted(dirty)),
        staged=tuple(staged),
        written=tuple(written),
        removed=tuple(removed),
        unmerged=tuple(unmerged),
        announced=tuple(announced),
    )
