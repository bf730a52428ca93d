"""Other repositories in a tree: git looks into them, and runs what they name. And the list of
those that belong to it, without which it works no more."""

from collections.abc import Iterator, Sequence
from typing import Final

from ralph.adapters.workspace.git import ANY, Git, text
from ralph.adapters.workspace.index import ABSENT
from ralph.adapters.workspace.objects import GITLINK, Difference
from ralph.core.git_settings import LARGEST, is_deadly, odd_settings

PARTS: Final = ("HEAD", "config", "commondir", "config.worktree")
LIST: Final = ".gitmodules"
LINK: Final = "120000"


def nested(git: Git, changed: Sequence[Difference], tree: str) -> tuple[str, ...]:
    """New links to other repositories; folders with the files of one that have changed and in which
    git would run something; and lists of them that git cannot read."""
    links = [one.path for one in changed if one.new.mode == GITLINK != one.old.mode]
    found = [folder for folder in _candidates(changed) if _runs(git, tree, folder)]
    return (*links, *found, *(one.path for one in changed if _is_bad_list(git, one)))


def _is_bad_list(git: Git, one: Difference) -> bool:
    if one.path.rpartition("/")[2].lower() == LIST and one.new.mode == LINK:
        return True  # git checks it out nowhere
    if one.path != LIST or not one.new.mode.startswith("100"):
        return False
    if int(git.word("cat-file", "-s", one.new.oid)) > LARGEST:
        return True
    got = git.ask("config", "--blob", one.new.oid, "--list", "-z", ok=ANY)
    return got.code != 0 or any(map(is_deadly, text(got.stdout).split("\0")))


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
