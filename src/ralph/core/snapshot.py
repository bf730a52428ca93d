"""A snapshot: the state of a checkout at one moment, as git objects."""

import msgspec


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """`tree` holds every file as it is on disk (ignored ones aside); `index` what is staged.

    In a clean checkout both are empty: the head says it all.
    """

    head: str = ""
    """Empty in a repository without commits."""
    branch: str = ""
    """Empty when the head is detached."""
    tree: str = ""
    index: str = ""
    dirty: tuple[str, ...] = ()
    """Paths that differ from the head, untracked ones included."""

    def same_as(self, other: "Snapshot") -> bool:
        """Is every file the same?"""
        return (self.head, self.tree) == (other.head, other.tree)


class CheckoutChanges(msgspec.Struct, frozen=True, kw_only=True):
    commits: tuple[str, ...] = ()
    """Oldest first."""
    files: tuple[str, ...] = ()
    """Every path whose content differs, committed or not."""
    nested: tuple[str, ...] = ()
    """Of these, other repositories: links to one, and one in which git would run something; and a
    `.gitmodules` that git cannot read."""


OWN_FOLDERS = (".ralph/", ".agents/")
OWN_FILES = (".ralph.toml", "MEMORY.md")
"""Ralph's own documents: touching them is not work."""


def changed_work_files(changes: CheckoutChanges, prefix: str = "") -> tuple[str, ...]:
    """The changed files that count as work; `prefix` is the project's folder in its repository."""
    named = ((path, path.removeprefix(prefix)) for path in changes.files)
    return tuple(
        path for path, name in named if name not in OWN_FILES and not name.startswith(OWN_FOLDERS)
    )
