"""Taking commits back, beside a person's checkout: only what worked reaches it, in one step."""

import os
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from typing import Final

from ralph.adapters.workspace.git import ANY, UNREAD, Git, git_error, text
from ralph.adapters.workspace.lost_commits import lost_commits
from ralph.adapters.workspace.objects import Objects
from ralph.core.errors import RalphError
from ralph.core.ids import TaskId
from ralph.core.safe_text import one_line
from ralph.files import remove_tree
from ralph.ports.past import Commit
from ralph.ports.workspace import Lost

MADE_BY: Final = "Ralph-Task"
UNDOES: Final = "Ralph-Undo"
FIELDS: Final = (
    "%H",
    "%P",
    f"%(trailers:key={MADE_BY},valueonly,separator=%x20)",
    f"%(trailers:key={UNDOES},valueonly,separator=%x20)",
    "%s",
)
SHOWN: Final = 5


class GitPast:
    """The branch of one checkout."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._objects = Objects(git)

    def made_by(
        self, tasks: Set[TaskId], recorded: Mapping[str, TaskId], since: str
    ) -> list[Commit]:
        found: list[Commit] = []
        undone: set[str] = set()
        for commit, parents, made_by, undoes, subject in self._entries(since):
            makers = {*made_by.split(), recorded.get(commit, "")} & tasks
            # Newest first: what lies before an undoing of its task has been taken back by it.
            if makers - undone:
                is_merge = " " in parents
                found.append(Commit(id=commit, subject=subject, is_merge=is_merge))
            undone.update(undoes.split())
        return found

    def landed(self, since: str) -> dict[TaskId, str]:
        found: dict[TaskId, str] = {}
        undone: set[str] = set()
        for commit, _, made_by, undoes, _ in self._entries(since):
            for task in made_by.split():
                if task not in undone:
                    found.setdefault(TaskId(task), commit)
            undone.update(undoes.split())
        return found

    def lost(self, commits: Sequence[str]) -> Lost:
        return lost_commits(self._git, commits)

    def _entries(self, since: str) -> Iterator[list[str]]:
        """The fields of each commit, newest first."""
        if not self._objects.read_ref("HEAD"):
            return
        listed = self._git.run(
            "log", "-z", f"--format={'%x1f'.join(FIELDS)}", f"--since={since}", "--topo-order"
        )
        for entry in filter(None, text(listed).split("\0")):
            yield entry.split("\x1f", 4)

    def take_back(self, commits: Sequence[Commit], message: str) -> str | None:
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

    def _revert(self, other: Git, commit: Commit) -> None:
        mainline = ("-m", "1") if commit.is_merge else ()
        got = other.ask("revert", "--no-commit", *mainline, commit.id, ok=ANY, once=True)
        if got.code == 0:
            return
        paths = text(other.run("diff", UNREAD, "--name-only", "--diff-filter=U", "-z")).split("\0")
        names = ", ".join(one_line(path, 60) for path in filter(None, paths[:SHOWN]))
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
