"""Find and revert commits of a task, without touching the user's checkout until it has worked."""

import os
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from typing import Final

from ralph.adapters.workspace.git import ANY, UNREAD, Git, git_error, raw, text
from ralph.adapters.workspace.git_index import GITLINK, conflicts
from ralph.adapters.workspace.git_objects import GitObjects
from ralph.core.errors import RalphError
from ralph.core.ids import TaskId
from ralph.core.safe_text import first_few_paths, one_line
from ralph.files import remove_tree
from ralph.ports.workspace import LostCommits, TaskCommit

MADE_BY: Final = "Ralph-Task"
UNDOES: Final = "Ralph-Undo"
FIELDS: Final = (
    "%H",
    "%P",
    f"%(trailers:key={MADE_BY},valueonly,separator=%x20)",
    f"%(trailers:key={UNDOES},valueonly,separator=%x20)",
    "%s",
)
BYTECODE: Final = "*__pycache__/*.pyc"
"""Made by whatever ran: the checkout has its own."""
SHOWN: Final = 5


class GitBranchHistory:
    def __init__(self, git: Git) -> None:
        self._git = git
        self._objects = GitObjects(git)

    def commits_of(
        self, tasks: Set[TaskId], recorded: Mapping[str, TaskId], since: str
    ) -> list[TaskCommit]:
        found: list[TaskCommit] = []
        undone: set[str] = set()
        for commit, parents, made_by, undoes, subject in self._entries(since):
            makers = {*made_by.split(), recorded.get(commit, "")} & tasks
            # Newest first: what lies before an undoing of its task has been taken back by it.
            if makers - undone:
                is_merge = " " in parents
                found.append(TaskCommit(id=commit, subject=subject, is_merge=is_merge))
            undone.update(undoes.split())
        return found

    def landed_tasks(self, since: str) -> dict[TaskId, str]:
        found: dict[TaskId, str] = {}
        undone: set[str] = set()
        for commit, _, made_by, undoes, _ in self._entries(since):
            for task in made_by.split():
                if task not in undone:
                    found.setdefault(TaskId(task), commit)
            undone.update(undoes.split())
        return found

    def lost_commits(self, commits: Sequence[str]) -> LostCommits:
        return lost_commits(self._git, commits)

    def _entries(self, since: str) -> Iterator[list[str]]:
        """The fields of each commit, newest first."""
        if not self._objects.read_ref("HEAD"):
            return
        listed = self._git.names(
            "log", "-z", f"--format={'%x1f'.join(FIELDS)}", f"--since={since}", "--topo-order"
        )
        for entry in listed:
            yield entry.split("\x1f", 4)

    def revert(self, commits: Sequence[TaskCommit], message: str) -> str | None:
        head = self._objects.read_ref("HEAD")
        with self._beside(head) as other:
            for commit in commits:
                self._revert(other, commit)
            tree = other.word("write-tree")
        if tree == self._objects.tree_of(head):
            return None
        made = self._objects.write_commit(tree, message, (head,))
        # Forward to it, as git does it: it stops before it would overwrite what is not committed.
        args = ("merge", "--ff-only", "--no-autostash", "--quiet", made)
        got = self._git.ask(*args, ok=ANY, once=True)
        if got.code != 0:
            raise _in_the_way(got.stderr) or git_error(args, got, self._git.top)
        return made

    def apply(self, ref: str, start: str) -> tuple[str, ...]:
        git = self._git
        if not start or git.ask("cat-file", "-e", f"{start}^{{tree}}", ok=ANY).code != 0:
            base = git.ask("merge-base", "HEAD", ref, ok=ANY)
            start = text(base.stdout).strip() if base.code == 0 else git.empty_tree
        between = ("diff", UNREAD, "--no-ext-diff", "--no-textconv", start, ref)
        changed = text(git.run(*between, "--name-only", "-z")).split("\0")[:-1]
        paths = [path for path in changed if not fnmatchcase(path, BYTECODE)]
        patch = git.run(*between, "--binary", "--src-prefix=a/", "--dst-prefix=b/")
        args = ("apply", "--whitespace=nowarn", f"--exclude={BYTECODE}", "-")
        got = git.ask(*args, stdin=patch, ok=ANY, once=True) if paths else None
        if got is not None and got.code != 0:
            why = git_error(args, got, git.top)
            raise RalphError(
                f"{ref} does not apply to the files as they are: {why}",
                hint=f"nothing was changed; `git merge --squash {ref}` lets you resolve conflicts",
            )
        return tuple(paths)

    def _revert(self, other: Git, commit: TaskCommit) -> None:
        mainline = ("-m", "1") if commit.is_merge else ()
        got = other.ask("revert", "--no-commit", *mainline, commit.id, ok=ANY, once=True)
        if got.code == 0:
            return
        names = first_few_paths(conflicts(other), SHOWN)
        if not names:
            raise git_error(("revert",), got, self._git.top)
        raise RalphError(
            f"{commit.id[:10]} ({one_line(commit.subject, 60)}) cannot be taken back: later changes"
            f" are in the way in {names}",
            hint="nothing was changed; undo the tasks that came after it first",
        )

    @contextmanager
    def _beside(self, head: str) -> Iterator[Git]:
        """A checkout of its own, gone afterwards."""
        folder = os.path.join(self._git.git_dir, "ralph", f"undo-{os.urandom(6).hex()}")
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        try:
            args = ("worktree", "add", "--quiet", "--detach", folder, head)
            self._git.run(*args, once=True)
            yield self._git.at(folder)
        finally:
            with suppress(OSError):
                remove_tree(folder)
            self._git.ask("worktree", "prune", ok=ANY)


def _in_the_way(stderr: bytes) -> RalphError | None:
    said = stderr.decode("utf-8", "replace")
    if "would be overwritten" not in said:
        return None
    names = [one_line(line.strip(), 60) for line in said.splitlines() if line.startswith("\t")]
    return RalphError(
        f"your own changes are in the way: {', '.join(names[:SHOWN])}",
        hint="nothing was changed; commit or stash them first",
    )


def lost_commits(git: Git, commits: Sequence[str]) -> LostCommits:
    """Look at each commit and at the objects that it added to those of its parents. The cost does
    not grow with the history: three processes, unless something is broken."""
    if not commits:
        return LostCommits()
    added = _added(git, commits)
    wanted = [*commits, *(one for objects in added.values() for one in objects)]
    objects = GitObjects(git)
    there = objects.present(wanted)
    # git calls missing what it cannot read at the moment, too.
    if doubtful := [one for one in wanted if one not in there]:
        there |= objects.present(doubtful)
    broken = {
        commit for commit in commits if commit not in there or not added.get(commit, set()) <= there
    }
    whole = [commit for commit in commits if commit not in broken]
    return LostCommits(
        broken=tuple(commit for commit in commits if commit in broken),
        unreachable=_unreachable(git, whole),
    )


def _added(git: Git, commits: Sequence[str]) -> dict[str, set[str]]:
    """The objects of each commit that its parents do not have."""
    args = ("diff-tree", "--stdin", "-r", "-t", "-m", "--root", "--raw", "--no-renames")
    lines = raw("".join(f"{commit}\n" for commit in commits))
    got = git.ask(*args, UNREAD, stdin=lines, ok=ANY)
    if got.code != 0 and len(commits) > 1:
        # One of them, or a parent, cannot be read: one by one, the others can.
        return {name: found for one in commits for name, found in _added(git, [one]).items()}
    if got.code != 0:
        is_read = git.ask("ls-tree", "-r", "-t", "-z", commits[0], ok=ANY).code == 0
        # Where its own trees can be read, it is a parent that cannot.
        return {commits[0]: set() if is_read else {""}}
    added: dict[str, set[str]] = {}
    objects: set[str] = set()
    for line in text(got.stdout).splitlines():
        if not line.startswith(":"):
            objects = added.setdefault(line.partition(" ")[0], set())
            continue
        _, mode, _, new, _ = line.removeprefix(":").split(maxsplit=4)
        if mode != GITLINK and new.strip("0"):
            objects.add(new)
    return added


def _unreachable(git: Git, commits: Sequence[str]) -> tuple[str, ...]:
    if not commits:
        return ()
    got = git.ask("rev-list", *commits, "--not", "--all", ok=ANY)
    if got.code != 0:
        return ()  # a ref leads nowhere: git says so when it is used
    found = set(text(got.stdout).splitlines())
    return tuple(commit for commit in commits if commit in found)
