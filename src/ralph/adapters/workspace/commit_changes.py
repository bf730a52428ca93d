"""Rewrites commits of a session: adds trailers, takes a person's files out. Finds in changes what
must not be committed: likely secrets, and repositories that git would enter."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from typing import Final

from ralph.adapters.workspace import git_index
from ralph.adapters.workspace.git import ANY, UNREAD, Git, raw, text
from ralph.adapters.workspace.git_objects import Difference, GitObjects
from ralph.adapters.workspace.uncommitted_files import content_on_disk
from ralph.core.errors import BranchMoved, RalphError, TemporaryFailure
from ralph.core.secret_files import SIGNS, secret_in, suspicious_name
from ralph.core.snapshot import Snapshot
from ralph.core.unsafe_git_config import LARGEST as LARGEST_CONFIG
from ralph.core.unsafe_git_config import breaks_git, unsafe_settings
from ralph.ports.workspace import LikelySecret

MOST: Final = 100
"""Of a longer row the last one alone says it: every commit costs two processes."""
UNTITLED: Final = b"Without a message"
TRAILER: Final = re.compile(rb"[A-Za-z0-9-]+: .*|[ \t].*")


def with_trailers(git: Git, base: str, head: str, trailers: str) -> str:
    """The head with trailers on the commits behind `base`; of a merge only the first side."""
    key = trailers.partition(":")[0]
    form = f"--format=%H %(trailers:key={key},valueonly,separator=%x20)"
    without = (f"^{base}",) if base else ()
    listed = git.names("log", "-z", "--first-parent", "--reverse", form, head, *without)
    row = [entry.partition(" ") for entry in listed]
    made: dict[str, str] = {}
    for commit, _, named in row[-1:] if len(row) > MOST else row:
        if not named or made:
            made[commit] = _rewrite(git, commit, made, trailers="" if named else trailers)
            head = made[commit]
    return head


def _rewrite(
    git: Git, commit: str, made: Mapping[str, str], *, tree: str = "", trailers: str = ""
) -> str:
    """Write a commit again with the parents that were `made` from its own, another tree, or more
    trailers. Author and date stay; a signature goes, since it would not hold any more."""
    header, _, message = git.run("cat-file", "commit", commit).partition(b"\n\n")
    lines: list[bytes] = []
    is_signature = False
    for line in header.split(b"\n"):
        name, _, value = text(line).partition(" ")
        is_signature = name.startswith("gpgsig") or (is_signature and not name)
        if name == "tree" and tree:
            lines.append(raw(f"tree {tree}"))
        elif name == "parent":
            lines.append(raw(f"parent {made.get(value, value)}"))
        elif not is_signature:
            lines.append(line)
    if trailers:
        message = _signed_off(message, raw(trailers))
    content = b"\n".join(lines) + b"\n\n" + message
    return git.word("hash-object", "-t", "commit", "-w", "--stdin", stdin=content)


def _signed_off(message: bytes, trailers: bytes) -> bytes:
    """Behind those that are there already, otherwise in a paragraph of their own."""
    body = message.strip(b"\n") or UNTITLED
    _, is_more, last = body.rpartition(b"\n\n")
    has_some = is_more and all(TRAILER.fullmatch(line) for line in last.split(b"\n"))
    return body + (b"\n" if has_some else b"\n\n") + trailers + b"\n"


def take_out(
    git: Git, objects: GitObjects, since: Snapshot, paths: frozenset[str]
) -> tuple[str, ...]:
    """Make the branch what it would be without these files since a snapshot; return those that were
    there. No file changes, and the commits that are replaced stay under `refs/ralph/`."""
    head = git_index.read_status(git).head
    if head == since.head or not paths or (since.head and not objects.contains(head, since.head)):
        return ()
    commits = objects.commits(since.head, head)
    was = objects.tree_of(since.head)
    # What to put in their place: what they were before. A later commit may have done that, and
    # they would still be in the history.
    before = [
        {one.path: one.new for one in objects.differences(objects.tree_of(commit), was)}
        for commit in commits
    ]
    taken = _committed_with_others(git, commits, paths, before[-1].keys())
    entries = [*{path: one[path] for one in before for path in taken & one.keys()}.values()]
    if not entries:
        return ()
    with git_index.index_lock(git):
        status = git_index.read_status(git)
        if status.head != head:
            raise BranchMoved("another process is committing", hint="run it again")
        made: dict[str, str] = {}
        for commit in commits:
            made[commit] = _rewrite(git, commit, made, tree=objects.tree_with(commit, entries))
        objects.rescue(head)
        # What was staged of the files is staged again.
        staged = objects.differences(objects.tree_of(head), objects.index_of(since))
        with git_index.scratch_index(git) as index:
            index.put(one.new for one in staged if one.path in {entry.path for entry in entries})
            index.refresh()
            move_head(objects, status, index, made[head], "without what is not committed")
    return tuple(sorted(one.path for one in entries))


def committed_paths(git: Git, since: str, head: str) -> list[str]:
    """What the commits that `head` has and `since` has not have changed, also to undo it again."""
    if head in ("", since):
        return []
    without = (f"^{since}",) if since else ()
    args = ("log", "-z", "--format=", "--name-only", "--no-renames", "-m", UNREAD)
    return git.names(*args, head, *without)


def withdraw(git: Git, objects: GitObjects, since: Snapshot, paths: Collection[str]) -> None:
    """Stage files as they were in a snapshot; if a commit since has others, put the branch back on
    the snapshot's. No file changes, and the commits stay under `refs/ralph/`."""
    with git_index.index_lock(git):
        status = git_index.read_status(git)
        then = objects.tree_of(since.head)
        changed = objects.changed(objects.tree_of(status.head), then)
        changed |= {*committed_paths(git, since.head, status.head)}
        if is_committed := not changed.isdisjoint(paths):
            if status.head:
                objects.rescue(status.head)
            if since.branch and since.branch != status.branch:
                objects.go_to_branch(f"refs/heads/{since.branch}")
                status = git_index.read_status(git)
        staged = objects.differences(git.empty_tree, objects.index_of(since))
        before = {one.path: one.new for one in staged if one.path in paths}
        with git_index.scratch_index(git) as index:
            index.put(before.get(path, git_index.absent(path, then)) for path in paths)
            index.refresh()
            head = since.head if is_committed else status.head
            move_head(objects, status, index, head, "without protected files")


def move_head(
    objects: GitObjects,
    at: git_index.GitStatus,
    index: git_index.ScratchIndex,
    new: str,
    reason: str,
) -> None:
    """Put the head and its branch on a commit, with this index, whose lock the caller holds."""
    with git_index.scratch_index(index.git) as old:
        # The index first: killed after it, the work is merely staged. Killed after the ref, the
        # index would show the commit's opposite as staged, ready to undo it.
        git_index.replace_index(index.git, index)
        try:
            objects.move_ref(at.ref, new, at.head, reason)
        except TemporaryFailure:
            raise  # it may have moved, and then the new index is the right one
        except RalphError:
            git_index.replace_index(index.git, old)
            raise


def _committed_with_others(
    git: Git, commits: tuple[str, ...], paths: frozenset[str], left: Set[str]
) -> set[str]:
    """The files that were committed together with others. Who commits nothing but such files, and
    leaves them there, is the person."""
    along: set[str] = set()
    theirs: set[str] = set()
    args = ("diff-tree", "-r", "-z", "-m", "--root", "--no-commit-id", "--name-only")
    for commit in commits:
        changed = {*git.names(*args, "--no-renames", UNREAD, commit)}
        (theirs if changed <= paths else along).update(changed & paths)
    return along - (theirs & left)


LARGEST: Final = 16 * 1024 * 1024
"""A larger file is not read to make sure: git has seen the sign of a key in it."""
FILES: Final = ("100644", "100755")
ANY_SIGN: Final = re.compile(SIGNS.encode())


def likely_secrets(
    git: Git, chosen: Sequence[Difference], old: str, new: str
) -> tuple[LikelySecret, ...]:
    """Look closer at those with a name for secrets, and at those where git finds a sign of one."""
    files = [one for one in chosen if one.new.mode in FILES]
    if not files:
        return ()
    signed: set[str] = set()
    if not _are_without_sign(git, files):
        # One process for all of them, which looks at changed lines alone.
        args = ("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--text", "--no-textconv")
        signed = {*git.names(*args, UNREAD, f"-G{SIGNS}", old, new)}
    suspects = [one for one in files if one.path in signed or suspicious_name(one.path)]
    found = ((one.path, _why(git, one)) for one in suspects)
    return tuple(LikelySecret(path=path, why=why) for path, why in found if why is not None)


def _are_without_sign(git: Git, files: Sequence[Difference]) -> bool:
    """Is that to be seen on disk, where the files are as git has them? Then git is not asked."""
    left = LARGEST
    for one in files:
        content = content_on_disk(git.top, one, most=left)
        if content is None or ANY_SIGN.search(content):
            return False
        left -= len(content)
    return True


def _why(git: Git, one: Difference) -> str | None:
    if int(git.word("cat-file", "-s", one.new.oid)) > LARGEST:
        return "it is large, and something in it looks like a key"
    before = _content(git, one.old) if one.old.mode in FILES else None
    return secret_in(one.path, _content(git, one.new), before)


def _content(git: Git, entry: git_index.IndexEntry) -> bytes:
    return git.run("cat-file", "blob", entry.oid)


PARTS: Final = ("HEAD", "config", "commondir", "config.worktree")
LIST: Final = ".gitmodules"
LINK: Final = "120000"


def nested_repositories(git: Git, changed: Sequence[Difference], tree: str) -> tuple[str, ...]:
    """New links to other repositories; folders with the files of one that have changed and in which
    git would run something; and lists of them that git cannot read."""
    links = [one.path for one in changed if one.new.mode == git_index.GITLINK != one.old.mode]
    found = [folder for folder in _candidates(changed) if _runs(git, tree, folder)]
    return (*links, *found, *(one.path for one in changed if _is_bad_list(git, one)))


def _is_bad_list(git: Git, one: Difference) -> bool:
    if one.path.rpartition("/")[2].lower() == LIST and one.new.mode == LINK:
        return True  # git checks it out nowhere
    if one.path != LIST or not one.new.mode.startswith("100"):
        return False
    if int(git.word("cat-file", "-s", one.new.oid)) > LARGEST_CONFIG:
        return True
    got = git.ask("config", "--blob", one.new.oid, "--list", "-z", ok=ANY)
    return got.code != 0 or any(map(breaks_git, text(got.stdout).split("\0")))


def _candidates(changed: Sequence[Difference]) -> Iterator[str]:
    folders: dict[str, None] = {}
    for one in changed:
        if one.new.mode == git_index.ABSENT:
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
        names = git.names("ls-tree", "-z", "--name-only", f"{place}/hooks")
        if not all(name.endswith(".sample") for name in names):
            return True
    if "config" not in entries:
        return False
    mode, kind, oid = entries["config"]
    is_file = kind == "blob" and mode.startswith("100")
    return not is_file or bool(
        unsafe_settings(git.run("cat-file", "blob", oid)[: LARGEST_CONFIG + 1])
    )
