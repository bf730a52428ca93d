"""Other repositories in a tree: git looks into them, and runs what they name."""

from collections.abc import Iterator, Sequence
from typing import Final

from ralph.adapters.workspace.git import ANY, Git, text
from ralph.adapters.workspace.index import ABSENT
from ralph.adapters.workspace.objects import GITLINK, Difference
from ralph.core.git_settings import LARGEST, odd_settings

PARTS: Final = ("HEAD", "config", "commondir", "config.worktree")


def nested(git: Git, changed: Sequence[Difference], tree: str) -> tuple[str, ...]:
    """New links to other repositories; and folders with the files of one that have changed and in
    which git would run something."""
    links = [one.path for one in changed if one.new.mode == GITLINK != one.old.mode]
    found = [folder for folder in _candidates(changed) if _runs(git, tree, folder)]
    return (*links, *found)


def _candidates(changed: Sequence[Difference]) -> Iterator[str]:
    folders: dict[str, None] = {}
    for one in changed:
        if one.new.mode == ABSENT:
            continue
        folder, _, name = one.path.rpartition("/")
        above, _, last = folder.rpartition("/")
        if name in PARTS:
            folders[folder] = None
        if last == "hooks":
            folders[above] = None
    yield from folders


def _runs(git: Git, tree: str, folder: str) -> bool:
    place = f"{tree}:{folder}"
    got = git.ask("ls-tree", "-z", place, ok=ANY)
    entries = {
        path: about.split(" ")
        for about, _, path in (line.partition("\t") for line in text(got.stdout).split("\0"))
        if path
    }
    if "HEAD" not in entries or not ("commondir" in entries or {"objects", "refs"} <= {*entries}):
        return False
    if {"commondir", "config.worktree"} & {*entries}:
        return True
    if "hooks" in entries:
        names = text(git.run("ls-tree", "-z", "--name-only", f"{place}/hooks")).split("\0")
        if any(name and not name.endswith(".sample") for name in names):
            return True
    if "config" not in entries:
        return False
    mode, kind, oid = entries["config"]
    is_file = kind == "blob" and mode.startswith("100")
    return not is_file or bool(odd_settings(git.run("cat-file", "blob", oid)[: LARGEST + 1]))
