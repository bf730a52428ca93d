"""Putting the work of a private checkout on another commit, and undoing it when that is cut short.

All of it happens in the checkout's own files, in which nobody else works. Before anything moves,
the ref `BACK` says where to go if we are killed; whoever comes next goes there first.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from ralph.adapters.workspace.git import ANY, UNREAD, Git, git_error, text
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.locks import clear_locks
from ralph.adapters.workspace.objects import Objects
from ralph.adapters.workspace.private import BESIDE
from ralph.adapters.workspace.restore import UNFINISHED
from ralph.adapters.workspace.trailers import with_trailers
from ralph.core.errors import RalphError
from ralph.core.ids import TaskId
from ralph.core.snapshot import Snapshot

BACK: Final = "refs/ralph/back"

QUIETLY: Final = (
    "rebase.autoSquash=false",
    "rebase.autoStash=false",
    "rebase.backend=merge",
    "rebase.rebaseMerges=false",
    "rebase.updateRefs=false",
    "rerere.enabled=false",
    "merge.conflictStyle=diff3",
    "advice.mergeConflict=false",
    "submodule.recurse=false",
)
"""A person's habits at their own rebases."""
SHOWN: Final = 50
"""How many steps a message lists."""
OPTIONS: Final = tuple(part for setting in QUIETLY for part in ("-c", setting))


class Work(NamedTuple):
    """What a checkout holds besides what it was made of."""

    head: str
    base: str
    """Everything behind this is the work."""


class Rebasing:
    """One checkout, on its branch `ralph/<name>`."""

    def __init__(self, git: Git, inside: InPlace, name: str, fill: Callable[[], None]) -> None:
        """`fill` puts submodules on what the index names."""
        self._git = git
        self._fill = fill
        self._inside = inside
        self._objects = Objects(git)
        self._branch = f"ralph/{name}"

    def recover(self) -> str:
        """Go where a killed process wanted to go back to; return the head."""
        refs = self._refs()
        head, back = refs.get("HEAD", ""), refs.get(BACK, "")
        if not back:
            return head
        self._unlock()
        self._forget_unfinished()
        # What a half-done rebase has made is nothing that anybody would miss.
        ref = f"refs/heads/{self._branch}"
        if refs.get(ref) != back:
            self._objects.move_ref(ref, back, refs.get(ref, ""), "back after a crash")
        self._objects.go_to_branch(ref)
        self.put_on(back)
        self._arrived(back)
        return back

    def put_on(self, commit: str) -> None:
        """Make the checkout a clean one of that commit, on its branch. Ignored files stay."""
        self._inside.restore(Snapshot(head=commit, branch=self._branch))
        self._fill()

    def work(self, head: str, tip: str, pinned: str) -> Work:
        """Where the work begins: behind what the tip has, and behind what the checkout was put on,
        whatever has become of that since."""
        shared = text(self._git.ask("merge-base", head, tip, ok=(0, 1)).stdout).strip()
        if not pinned or (shared and self._objects.contains(shared, pinned)):
            return Work(head, shared or pinned)
        if self._objects.contains(head, pinned) or not shared:
            return Work(head, pinned)
        return Work(head, shared)

    def attributed(self, work: Work, trailers: str) -> Work:
        """The same, with trailers on every commit."""
        head = with_trailers(self._git, work.base, work.head, trailers)
        return self.replaced(work, Work(head, work.base))

    def as_one_commit(self, work: Work, message: str) -> Work:
        """The same as one commit, which lists the subjects of several; nothing points to it yet."""
        without = (f"^{work.base}",) if work.base else ()
        listed = self._git.word("log", "--reverse", "--format=%s", work.head, *without)
        subjects = listed.splitlines()
        if len(subjects) < 2:
            return work
        title, _, trailers = message.partition("\n\n")
        steps = "".join(f"- {one}\n" for one in subjects[-SHOWN:] if one != title)
        whole = f"{title}\n\n{steps}\n{trailers}" if steps else message
        return Work(self._as_one(work.base, work.head, whole), work.base)

    def replaced(self, old: Work, new: Work) -> Work:
        """Put the checkout on the same work in other commits: no file changes, and the head in one
        step."""
        if new.head != old.head:
            self._git.run("update-ref", "-m", "ralph: same work", "HEAD", new.head, old.head)
        return new

    def onto(self, tip: str, work: Work) -> tuple[str, ...]:
        """Put clean, committed work on the tip; return the files in which it does not fit. Then the
        checkout is as it was before."""
        self._unlock()
        self._forget_unfinished()
        self._keep_branch(work.head)
        with self._way_back(work.head):
            files = tuple(dict.fromkeys(map(_real_name, self._replay(tip, work))))
            if not files:
                self._git.run(*OPTIONS, "checkout", "-q", "-B", self._branch)
                self._fill()
        if files:
            self.recover()
        else:
            self._arrived(work.head)
        return files

    def beside(self, tip: str, base: str, saved: str, name: str) -> tuple[str, ...]:
        """Put the checkout on the tip with what was saved in its files, uncommitted; return the
        files in which both sides are between conflict markers."""
        self._unlock()
        with self._way_back(saved):
            self.put_on(tip)
            # Undated, so that the markers, which name it, are the same when it is done again.
            one = self._as_one(base, saved, f"the work of {name}\n", undated=True)
            files = self._pick("cherry-pick", "--no-commit", one)
            self._fill()
            # A conflict in the index could not be committed by whoever mends the files.
            self._git.run(*OPTIONS, "reset", "-q")
            self._forget_unfinished()
            left = self._inside.snapshot()
            made = self._objects.write_commit(
                left.tree or self._objects.tree_of(tip), "Side by side\n", (base, saved, tip)
            )
            self._git.run("update-ref", BESIDE, made)
        self._arrived(saved)
        return files

    def left_beside(self, saved: str) -> str:
        """The base of that work, if the checkout is just as it was when the two sides were put
        together: by one who was killed before they could say so."""
        made = self._objects.read_ref(BESIDE)
        now = self._inside.snapshot()
        if not made or not saved or not now.tree or self._objects.tree_of(made) != now.tree:
            return ""
        base, work, tip = self._git.word("rev-parse", *(f"{made}^{n}" for n in (1, 2, 3))).split()
        return base if (work, tip) == (saved, now.head) else ""

    def start_over(self, tip: str) -> None:
        """Put the checkout on the tip, clean; whoever is killed on the way gets there."""
        self._unlock()
        with self._way_back(tip):
            self.put_on(tip)
        self._arrived(tip)

    def tasks(self, work: Work, tip: str, files: tuple[str, ...]) -> tuple[TaskId, ...]:
        """Whose commits on the tip's side have changed the files, newest first."""
        form = "--format=%(trailers:key=Ralph-Task,valueonly,separator=%x20)"
        between = ("log", form, tip, f"^{work.base}") if work.base else ("log", form, tip)
        named = text(self._git.run(*between, "--", *files)).split() if files else []
        # What was renamed is found under neither name.
        named = named or text(self._git.run(*between)).split()
        return tuple(TaskId(name) for name in dict.fromkeys(named))

    # -- replaying

    def _replay(self, tip: str, work: Work) -> tuple[str, ...]:
        without = (f"^{work.base}",) if work.base else ()
        listed = self._git.word("rev-list", "--parents", work.head, *without)
        commits = [line.split() for line in listed.splitlines()]
        # A merge can hold what none of its parents has; replaying it would lose that.
        is_plain = all(len(parents) == 1 for _, *parents in commits)
        files: tuple[str, ...] = ()
        if is_plain:
            options = ("-q", "--no-verify", "--no-stat", "--empty=drop", "--reapply-cherry-picks")
            files = self._pick("rebase", *options, "--onto", tip, work.base, work.head)
            if not files or len(commits) == 1:
                return files
            # Commits may collide on the way where all of them together do not.
            self._forget_unfinished()
        self._git.run(*OPTIONS, "checkout", "-q", "-f", "--detach", tip)
        message = text(self._git.run("log", "-1", "--format=%B", work.head))
        one = self._as_one(work.base, work.head, message)
        allowed = ("--allow-empty", "--allow-empty-message")
        return self._pick("cherry-pick", *allowed, one)

    def _pick(self, *args: str) -> tuple[str, ...]:
        got = self._objects.signed.ask(*OPTIONS, *args, ok=ANY, once=True)
        if got.code == 0:
            return ()
        files = self._unmerged()
        if not files:
            raise git_error(args, got, self._git.top)
        return files

    def _unmerged(self) -> tuple[str, ...]:
        args = ("diff", UNREAD, "--name-only", "--diff-filter=U", "--no-relative", "-z")
        return tuple(dict.fromkeys(filter(None, text(self._git.run(*args)).split("\0"))))

    def _as_one(self, base: str, head: str, message: str, *, undated: bool = False) -> str:
        parents = (base,) if base else ()
        dates = {f"GIT_{role}_DATE": "@86400 +0000" for role in ("AUTHOR", "COMMITTER")}
        objects = Objects(self._git.with_env(**dates)) if undated else self._objects
        return objects.write_commit(self._objects.tree_of(head), message, parents)

    # -- the way back

    @contextmanager
    def _way_back(self, commit: str) -> Iterator[None]:
        self._git.run("update-ref", BACK, commit)
        try:
            yield
        except RalphError:
            self.recover()
            raise

    def _arrived(self, back: str) -> None:
        self._objects.move_ref(BACK, "", back, "done")

    def _refs(self) -> dict[str, str]:
        """Every ref of the clone, which has few, and the head."""
        listed = text(self._git.ask("show-ref", "--head", ok=(0, 1)).stdout).splitlines()
        return {name: commit for commit, _, name in (line.partition(" ") for line in listed)}

    def _keep_branch(self, head: str) -> None:
        """The session may have left its branch, with commits on it that the head has not."""
        left = self._objects.read_ref(f"refs/heads/{self._branch}")
        if left and left != head and not self._objects.contains(head, left):
            self._objects.rescue(left)

    def _unlock(self) -> None:
        """Nobody else is at work here, so every lock is that of a git of ours."""
        clear_locks(self._git.git_dir, since=0.0)

    def _forget_unfinished(self) -> None:
        for mark, command in UNFINISHED.items():
            if os.path.exists(os.path.join(self._git.git_dir, mark)):
                self._git.ask(*command, ok=ANY)


def _real_name(path: str) -> str:
    """Where a file and a folder meet, git calls one of them `name~1a2b3c4 (subject)`."""
    return re.sub(r"~(HEAD|[0-9a-f]{7,} \(.*\))$", "", path, flags=re.DOTALL)
