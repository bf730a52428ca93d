"""Read what commits have changed, for reports and screens."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from ralph.adapters.workspace.git import Git, find_top, text
from ralph.adapters.workspace.git_objects import GitObjects
from ralph.core.errors import Missing
from ralph.ports.executor import CommandRunner
from ralph.ports.workspace import FileChange

LARGE: Final = ("-c", "core.bigFileThreshold=512k")
"""Larger files count as binary: their text is neither read nor shown."""
ONLY_GIT: Final = ("--no-ext-diff", "--no-textconv")
"""No program that the settings or the files of the repository name is started."""
MOST_CHARS: Final = 400_000
MOST_COMMITS: Final = 5000


class GitCommitDiffs:
    """The `ChangeReader` of a repository."""

    def __init__(self, run: CommandRunner, root: str) -> None:
        self._run = run
        self._root = root

    @cached_property
    def _git(self) -> Git:
        # Only when there is a commit to look at: a project need not have a repository.
        return Git(self._run, find_top(self._run, self._root))

    def on_branches(self, commits: Sequence[str], since: str) -> set[str]:
        wanted = set(commits)
        if not wanted:
            return set()
        listed = text(self._git.run("rev-list", "--branches", f"--since={since}"))
        return wanted & set(listed.split())

    def stat(self, commits: Sequence[str]) -> list[FileChange]:
        found = self._present(commits)
        if not found:
            return []
        args = (*LARGE, "show", *ONLY_GIT, "--format=", "--numstat", "--no-renames", "-z", *found)
        lines: dict[str, tuple[int, int]] = {}
        for entry in filter(None, text(self._git.run(*args)).split("\0")):
            added, removed, path = entry.strip("\n").split("\t", 2)
            before = lines.get(path, (0, 0))
            lines[path] = (before[0] + _count(added), before[1] + _count(removed))
        return [
            FileChange(path=path, added=added, removed=removed)
            for path, (added, removed) in sorted(lines.items())
        ]

    def patch(self, commits: Sequence[str]) -> str:
        found = self._present(commits)
        if not found:
            return ""
        return self._cut("show", "--format=commit %H%n", *found)

    def between(self, start: str, end: str) -> str:
        ends = (start or self._git.empty_tree, end)
        return self._cut("diff", *ends) if len(self._present(ends)) == 2 else ""

    def text_of(self, at: str, path: str) -> str | None:
        if not self._present([at]):
            raise Missing(
                f"git no longer has {at[:10]}, which is what the attempt left",
                hint="git keeps what is on no branch for two weeks",
            )
        found = GitObjects(self._git).contents(at, [path]).get(path)
        return None if found is None else found.decode("utf-8", "replace")

    def _cut(self, command: str, *args: str) -> str:
        shown = text(self._git.run(*LARGE, command, *ONLY_GIT, "--no-color", *args))
        return shown if len(shown) <= MOST_CHARS else f"{shown[:MOST_CHARS]}\n… the rest is cut"

    def _present(self, commits: Sequence[str]) -> list[str]:
        """Those that git still has, oldest first."""
        wanted = list(dict.fromkeys(commits))[:MOST_COMMITS]
        if not wanted:
            return []
        there = GitObjects(self._git).present(wanted)
        return [name for name in wanted if name in there]


def _count(number: str) -> int:
    return int(number) if number.isdigit() else 0
