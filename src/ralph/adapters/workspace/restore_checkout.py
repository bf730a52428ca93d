"""Brings a checkout to another state: head, files, index, in that order, each checked."""

import os
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from ralph.adapters.workspace import git_index
from ralph.adapters.workspace.git import ANY, Git, text
from ralph.adapters.workspace.git_objects import GitObjects
from ralph.core.errors import RalphError
from ralph.core.safe_text import first_few_paths
from ralph.core.session_environment import OWN_LOG_ENTRIES
from ralph.core.snapshot import Snapshot

WRITE: Final = ("read-tree", "-m", "-u", "--no-sparse-checkout")
"""It writes and removes only what differs, refuses if a file is no longer what the index says,
follows no symbolic link, and takes directories away that became empty. With sparse rules in force
it would remove a person's files that lie outside of them."""


class FileSwitch:
    """The files between two commits. The caller holds the index lock."""

    def __init__(self, git: Git, objects: GitObjects, old: str, new: str) -> None:
        self._git = git
        self._objects = objects
        names = (f"{old}^{{tree}}", f"{new}^{{tree}}")
        self._old, self._new = git.word("rev-parse", *names).split("\n")
        self.files = objects.differences(self._old, self._new)

    def is_ours(self) -> bool:
        """Is every file as in one of the two?"""
        with git_index.scratch_index(self._git, copy=False) as disk:
            return not self._in_neither_commit(self._tree_on_disk(disk))

    def switch(self) -> None:
        """Write the new files in a checkout that has the old ones; refuses where it has not."""
        with git_index.scratch_index(self._git) as index:
            # A file that was merely touched or copied is as it was.
            index.refresh()
            index.git.run(*WRITE, self._old, self._new, once=True)
            git_index.replace_index(self._git, index)

    def write_files(self, *, forward: bool) -> None:
        """Write the new files, or the old ones, and say so in the index. What is as in neither
        commit is the person's, and stays."""
        entries = [one.new if forward else one.old for one in self.files]
        with git_index.scratch_index(self._git, copy=False) as disk:
            now = self._tree_on_disk(disk)
            others = self._in_neither_commit(now)
            ours = [entry for entry in entries if entry.path not in others]
            disk.git.run(*WRITE, now, self._objects.tree_with(now, ours), once=True)
        with git_index.scratch_index(self._git) as index:
            index.put(entries)
            index.refresh()
            git_index.replace_index(self._git, index)

    def _tree_on_disk(self, disk: git_index.ScratchIndex) -> str:
        """The old commit's tree, with the files between the two as they are on disk."""
        disk.read(self._old)
        put: list[git_index.IndexEntry] = []
        add: list[str] = []
        for one in self.files:
            match git_index.file_kind(self._git.top, one.path):
                # Of a submodule nothing is moved but what the index says about it.
                case "folder" | "nothing" if one.is_nested:
                    put.append(one.old)
                case "file" | "empty":
                    add.append(one.path)
                case _:
                    put.append(git_index.absent(one.path, self._old))
        disk.put(put)
        disk.add(add)
        return disk.tree()

    def _in_neither_commit(self, now: str) -> frozenset[str]:
        """As in neither commit."""
        between = frozenset(one.path for one in self.files)
        kinds = {path: git_index.file_kind(self._git.top, path) for path in between}
        changed = self._objects.changed
        like_none = changed(self._old, now) & changed(self._new, now) & between
        # git takes a file away before it writes it again; after a power cut it may be empty.
        gone = {path for path in like_none if kinds[path] in ("nothing", "empty")}
        return like_none - gone | {path for path in between if kinds[path] == "odd"}


def rebase_base(objects: GitObjects, base: Snapshot, since: Snapshot, now: Snapshot) -> Snapshot:
    """`base` as if what others did between `since` and `now` had been there before. Works on
    recorded states alone; no file of the checkout is looked at."""
    if since == now:
        return base
    # Once a person has committed on top, or gone to another branch, that stays, and with it what
    # the session had committed below.
    stays = (since.head, since.branch) != (now.head, now.branch)
    head = now if stays else base
    changed, tree_of = objects.changed, objects.tree_of
    old, new = tree_of(base.head), tree_of(head.head)
    # What the session changed and others have not touched since. What is merely staged of it is
    # still the session's: Ralph stages it too, when it commits.
    left = changed(tree_of(base), tree_of(since)) - changed(tree_of(since), tree_of(now))

    def without_session_work(view: Callable[[Snapshot], str]) -> str:
        """The files, or what is staged: as now, less what the session did."""
        theirs = changed(view(since), view(now)) - left
        loose = changed(tree_of(now.head), view(now))
        begun = objects.tree_with(view(base), [one.new for one in objects.differences(old, new)])
        lost = objects.differences(view(now), begun)
        back = [one.new for one in lost if _is_independent(one.path, theirs)]
        # What they have made as it is committed stays as it is committed, wherever the head goes.
        committed = objects.differences(view(now), new)
        back += [one.new for one in committed if one.path in theirs and one.path not in loose]
        return objects.tree_with(view(now), back)

    tree, index = without_session_work(tree_of), without_session_work(objects.index_of)
    return Snapshot(
        head=head.head,
        branch=head.branch,
        tree=tree if tree != new else "",
        index=index if index != new else "",
        dirty=tuple(sorted(changed(new, tree) | changed(new, index))),
    )


LOOKED_AT: Final = 1000
"""Entries of a log of git's."""
SWITCHED: Final = "checkout: "


class ReflogEntry(NamedTuple):
    commit: str
    why: str

    @property
    def is_users(self) -> bool:
        """Git's plumbing gives no reason, which people do not use."""
        return bool(self.why) and not self.why.startswith(OWN_LOG_ENTRIES)


def _log_of(git: Git, ref: str, head: str) -> list[ReflogEntry]:
    """Newest first, without what came after `head`."""
    args = ("log", "-g", f"-{LOOKED_AT}", "--format=%H %gs", ref, "--")
    lines = (line.partition(" ") for line in text(git.ask(*args, ok=ANY).stdout).splitlines())
    log = [ReflogEntry(commit, why) for commit, _, why in lines]
    heads = [one.commit for one in log]
    return log[heads.index(head) :] if head in heads else log


def with_user_commits(
    git: Git, objects: GitObjects, base: Snapshot, head: str, branch: str
) -> Snapshot:
    """`base` as if what the user did until the head was there had been done before: commits, a
    rebase, another branch. What a session had committed below stays."""
    if not base.branch or (head, branch) == (base.head, base.branch):
        return base
    log = _log_of(git, f"refs/heads/{base.branch}", head)
    heads = [one.commit for one in log]
    since = log[: heads.index(base.head)] if base.head in heads else log if not base.head else []
    on = base.branch
    if branch != base.branch:
        moves = _log_of(git, "HEAD", head)
        last = next((n for n, one in enumerate(moves) if one.why.startswith(SWITCHED)), None)
        if last is not None and moves[last].why.endswith(f" to {branch}"):
            on, log, since = branch, moves, moves[: last + 1]
    newest = next((n for n, one in enumerate(since) if one.is_users), None)
    if newest is None:
        return base
    before = log[newest + 1].commit if newest + 1 < len(log) else base.head
    return rebase_base(
        objects,
        base,
        Snapshot(head=before, branch=base.branch),
        Snapshot(head=since[newest].commit, branch=on),
    )


def _is_independent(path: str, others: frozenset[str]) -> bool:
    """Does it concern none of the others? A file cannot be where they need a directory."""
    return not any(
        path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/")
        for other in others
    )


UNFINISHED: Final = {
    "MERGE_HEAD": ("merge", "--quit"),
    "CHERRY_PICK_HEAD": ("cherry-pick", "--quit"),
    "REVERT_HEAD": ("revert", "--quit"),
    "rebase-merge": ("rebase", "--quit"),
    "rebase-apply": ("rebase", "--quit"),
}
"""What git remembers of an operation, and how to make it forget without touching a file."""


def forget_unfinished(git: Git) -> None:
    """End a merge, rebase or the like that is under way; no file changes."""
    for mark, command in UNFINISHED.items():
        if os.path.exists(os.path.join(git.git_dir, mark)):
            git.ask(*command, ok=ANY)


REBASE_ENDED: Final = ("rebase (finish)", "rebase (abort)", "rebase finished", "rebase: aborting")
"""What the head's log says then, by the version of git."""


class CheckoutRestore(msgspec.Struct, frozen=True):
    """One way back. The caller holds the index lock."""

    git: Git
    objects: GitObjects
    snapshot_of: Callable[[git_index.GitStatus, git_index.ScratchIndex], Snapshot]

    def back_to(self, to: Snapshot) -> None:
        status = git_index.read_status(self.git)
        with git_index.scratch_index(self.git) as disk:
            now = self.snapshot_of(status, disk)
            if now == to:
                return
            tree, wanted = self._prepare(disk, now, to)
            found = self.objects.differences(tree, wanted)
            self.objects.check_room(one.new for one in found)
            self._head(now, to)
            disk.git.run(*WRITE, tree, wanted, once=True)
        if not to.dirty:
            # Left in place, the next commit would become a merge. It is the session's if the
            # checkout was clean before; otherwise it may be a person's and stays.
            forget_unfinished(self.git)
        self._index(status, now, to)
        self._remove_hidden_files(to)

    # -- files

    def _prepare(
        self, disk: git_index.ScratchIndex, now: Snapshot, to: Snapshot
    ) -> tuple[str, str]:
        """Make the scratch index know every file in the way; fail while nothing is changed. Returns
        the trees between which the files go."""
        tree, wanted = map(self.objects.tree_of, (now, to))
        found = self.objects.differences(tree, wanted)
        # What Ralph and its caller write meanwhile stays, also if it was committed.
        if own := [one.old for one in found if one.path in self.git.unseen]:
            wanted = self.objects.tree_with(wanted, own)
        missing = [
            one
            for one in found
            if one.path not in self.git.unseen and git_index.is_file(self.git.top, one.path)
        ]
        # What existed then and is ignored now is no part of the tree, and of no saved one.
        hidden = [one.path for one in missing if one.old.mode == git_index.ABSENT]
        # Nor is what bits of the index keep git from looking at.
        unseen = git_index.hidden_files(disk.git)
        shown = [one.path for one in missing if one.path in unseen]
        if shown:
            git_index.show_files(disk.git, shown)
            hidden += shown
        if hidden:
            disk.add(hidden)
            tree = disk.tree()
            if not self.objects.changed(tree, wanted).isdisjoint(hidden):
                kept = self.objects.write_commit(tree, "Ignored files, overwritten\n", (now.head,))
                self.objects.rescue(kept)
        disk.refresh()
        disk.git.run(*WRITE, "-n", tree, wanted)
        return tree, wanted

    def _remove_hidden_files(self, to: Snapshot) -> None:
        """Remove what only the session's own .gitignore hid, then look whether all is well."""
        for last in (False, True):
            status = git_index.read_status(self.git)
            if not status.dirty and not to.tree:
                return
            with git_index.scratch_index(self.git) as disk:
                now = self.snapshot_of(status, disk)
                trees = self.objects.tree_of(now), self.objects.tree_of(to)
                # A submodule's own checkout is left alone, so it may be at another commit.
                wrong = [one.path for one in self.objects.differences(*trees) if not one.is_nested]
                if not wrong:
                    return
                if last:
                    raise RalphError(f"could not bring back: {first_few_paths(wrong)}")
                disk.refresh()
                disk.git.run(*WRITE, *trees, once=True)

    # -- head

    def _head(self, now: Snapshot, to: Snapshot) -> None:
        """Put the branch back where it was, and the head on that branch."""
        if not to.branch:
            if now.branch and self._has_rebase_ended(to.head):
                raise RalphError("a rebase of yours, in the middle of which it began, has ended")
            self._move("HEAD", now.head, to.head)
            return
        ref = f"refs/heads/{to.branch}"
        # The session may have gone to another branch; that one stays as it is.
        tip = now.head if now.branch == to.branch else self.objects.read_ref(ref)
        if not now.branch:
            self._keep(now.head, "HEAD")
        self._move(ref, tip, to.head)
        if now.branch != to.branch:
            self.objects.go_to_branch(ref)

    def _has_rebase_ended(self, since: str) -> bool:
        """Is the head on a branch because a rebase is over? Then it stays there."""
        listed = text(self.git.run("log", "-g", "-100", "--format=%H %gs", "HEAD", "--"))
        for commit, _, why in (line.partition(" ") for line in listed.splitlines()):
            if why.startswith(REBASE_ENDED):
                return True
            if commit == since:
                break
        return False

    def _move(self, ref: str, old: str, new: str) -> None:
        if old == new:
            # The same commit, but the head may be on a branch that it should not be on.
            if ref == "HEAD":
                self.objects.move_ref(ref, new, old, "detached as before")
            return
        self._keep(old, ref)
        self.objects.move_ref(ref, new, old, "back to where it was")

    def _keep(self, commit: str, ref: str) -> None:
        """See to it that a commit is not lost with its ref."""
        if commit and not self.objects.is_reachable(commit, apart_from=(ref,)):
            self.objects.rescue(commit)

    # -- index

    def _index(self, status: git_index.GitStatus, now: Snapshot, to: Snapshot) -> None:
        """Change just the entries that differ: the others keep their flags (sparse, unchanged)."""
        staged, wanted = map(self.objects.index_of, (now, to))
        with git_index.scratch_index(self.git) as index:
            index.put(_entries_without_tree(status, to, wanted))
            index.put(difference.new for difference in self.objects.differences(staged, wanted))
            index.refresh()
            git_index.replace_index(self.git, index)


def _entries_without_tree(
    status: git_index.GitStatus, to: Snapshot, oid: str
) -> list[git_index.IndexEntry]:
    """The session's conflicts and announced files, which no tree shows."""
    before = frozenset(to.dirty)
    conflicts = [entry for entry in status.unmerged if entry.path not in before]
    announced = [git_index.absent(path, oid) for path in status.announced if path not in before]
    return [*conflicts, *announced]
