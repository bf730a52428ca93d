"""Rebase the work of a private checkout, and undo a rebase that was interrupted.

All of it happens in the checkout's own files, in which no other process works. Before anything
moves, the ref `BACK` says where to go if we are killed; the next process goes there first.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from ralph.adapters.workspace.commit_changes import with_trailers
from ralph.adapters.workspace.git import ANY, git_error, text
from ralph.adapters.workspace.git_index import conflicts
from ralph.adapters.workspace.git_objects import GitObjects
from ralph.adapters.workspace.locks import clear_locks
from ralph.adapters.workspace.private_checkout import BESIDE, PrivateCheckout
from ralph.adapters.workspace.restore_checkout import forget_unfinished
from ralph.core.errors import RalphError
from ralph.core.ids import TaskId
from ralph.core.snapshot import Snapshot
from ralph.files import sync_all

BACK: Final = "refs/ralph/back"

OPTIONS: Final = (
    *("-c", "rebase.autoSquash=false", "-c", "rebase.autoStash=false"),
    *("-c", "rebase.backend=merge", "-c", "rebase.rebaseMerges=false"),
    *("-c", "rebase.updateRefs=false", "-c", "rerere.enabled=false"),
    *("-c", "merge.conflictStyle=diff3", "-c", "advice.mergeConflict=false"),
    *("-c", "submodule.recurse=false"),
)
"""Instead of a person's habits at their own rebases."""
SHOWN: Final = 50
"""How many steps a message lists."""


class CheckoutWork(NamedTuple):
    """What a checkout holds besides what it was made of."""

    head: str
    base: str
    """Everything behind this is the work."""

    @property
    def commits(self) -> tuple[str, ...]:
        """They, as git lists commits."""
        return (self.head, f"^{self.base}") if self.base else (self.head,)


class CheckoutRebase:
    """One checkout, on its branch `ralph/<name>`."""

    def __init__(self, checkout: PrivateCheckout, name: str) -> None:
        self._git = checkout.git
        self._checkout = checkout
        self._objects = checkout.objects
        self._branch = f"ralph/{name}"

    def recover(self) -> str:
        """Go where a killed process wanted to go back to; return the head."""
        refs = self._refs()
        head, back = refs.get("HEAD", ""), refs.get(BACK, "")
        if not back:
            return head
        self._unlock()
        forget_unfinished(self._git)
        # What a half-done rebase has made is not needed.
        ref = f"refs/heads/{self._branch}"
        if refs.get(ref) != back:
            self._objects.move_ref(ref, back, refs.get(ref, ""), "back after a crash")
        self._objects.go_to_branch(ref)
        self.put_on(back)
        self._forget_way_back(back)
        return back

    def put_on(self, commit: str) -> None:
        """Make the checkout a clean one of that commit, on its branch. Ignored files stay."""
        self._checkout.restore(Snapshot(head=commit, branch=self._branch))
        self._checkout.fill_submodules()

    def work(self, head: str, tip: str, pinned: str) -> CheckoutWork:
        """Where the work begins: behind what the tip has, and behind what the checkout was put on,
        whatever has become of that since."""
        shared = text(self._git.ask("merge-base", head, tip, ok=(0, 1)).stdout).strip()
        if not pinned or (shared and self._objects.contains(shared, pinned)):
            return CheckoutWork(head, shared or pinned)
        if self._objects.contains(head, pinned) or not shared:
            return CheckoutWork(head, pinned)
        return CheckoutWork(head, shared)

    def with_trailers(self, work: CheckoutWork, trailers: str) -> CheckoutWork:
        head = with_trailers(self._git, work.base, work.head, trailers)
        return self.replace_work(work, CheckoutWork(head, work.base))

    def as_one_commit(self, work: CheckoutWork, message: str) -> CheckoutWork:
        """The same as one commit, which lists the subjects of several; nothing points to it yet."""
        subjects = self._git.word("log", "--reverse", "--format=%s", *work.commits).splitlines()
        if len(subjects) < 2:
            return work
        title, _, trailers = message.partition("\n\n")
        steps = "".join(f"- {one}\n" for one in subjects[-SHOWN:] if one != title)
        whole = f"{title}\n\n{steps}\n{trailers}" if steps else message
        return CheckoutWork(self._as_one(work.base, work.head, whole), work.base)

    def replace_work(self, old: CheckoutWork, new: CheckoutWork) -> CheckoutWork:
        """Put the checkout on the same work in other commits: no file changes, one step."""
        if new.head != old.head:
            self._git.run("update-ref", "-m", "ralph: same work", "HEAD", new.head, old.head)
        return new

    def has_merges(self, work: CheckoutWork) -> bool:
        """Is there a merge in the work? Such commits are not replayed one by one."""
        return bool(self._git.word("rev-list", "--merges", "-1", *work.commits))

    def rebase_onto(self, tip: str, work: CheckoutWork) -> tuple[str, ...]:
        """Put clean, committed work on the tip; return the files in which it does not fit. Then the
        checkout is as it was before."""
        self._unlock()
        forget_unfinished(self._git)
        self._keep_branch(work.head)
        with self._way_back(work.head):
            files = tuple(dict.fromkeys(map(_real_name, self._replay(tip, work))))
            if not files:
                self._git.run(*OPTIONS, "checkout", "-q", "-B", self._branch)
                self._checkout.fill_submodules()
        if files:
            self.recover()
        else:
            self._forget_way_back(work.head)
        return files

    def merge_uncommitted(self, tip: str, base: str, saved: str, name: str) -> tuple[str, ...]:
        """Put the checkout on the tip with what was saved in its files, uncommitted; return the
        files in which both sides are between conflict markers."""
        self._unlock()
        with self._way_back(saved):
            self.put_on(tip)
            # Undated, so that the markers, which name it, are the same when it is done again.
            one = self._as_one(base, saved, f"the work of {name}\n", undated=True)
            files = self._apply("cherry-pick", "--no-commit", one)
            self._checkout.fill_submodules()
            # A conflict in the index could not be committed by the session that fixes the files.
            self._git.run(*OPTIONS, "reset", "-q")
            forget_unfinished(self._git)
            left = self._checkout.snapshot()
            made = self._objects.write_commit(
                self._objects.tree_of(left), "Side by side\n", (base, saved, tip)
            )
            self._git.run("update-ref", BESIDE, made)
        self._forget_way_back(saved)
        return files

    def base_of_unfinished_merge(self, saved: str) -> str:
        """The base of that work, if the checkout is just as it was when the two sides were put
        together: by one who was killed before they could say so."""
        made = self._objects.read_ref(BESIDE)
        now = self._checkout.snapshot()
        if not made or not saved or not now.tree or self._objects.tree_of(made) != now.tree:
            return ""
        base, work, tip = self._git.word("rev-parse", *(f"{made}^{n}" for n in (1, 2, 3))).split()
        return base if (work, tip) == (saved, now.head) else ""

    def start_over(self, tip: str) -> None:
        """Put the checkout on the tip, clean, also if we are killed on the way."""
        self._unlock()
        with self._way_back(tip):
            self.put_on(tip)
        self._forget_way_back(tip)

    def tasks(self, work: CheckoutWork, tip: str, files: tuple[str, ...]) -> tuple[TaskId, ...]:
        """Whose commits on the tip's side have changed the files, newest first."""
        form = "--format=%(trailers:key=Ralph-Task,valueonly,separator=%x20)"
        between = ("log", form, *CheckoutWork(tip, work.base).commits)
        named = text(self._git.run(*between, "--", *files)).split() if files else []
        # What was renamed is found under neither name.
        named = named or text(self._git.run(*between)).split()
        return tuple(TaskId(name) for name in dict.fromkeys(named))

    # -- replaying

    def _replay(self, tip: str, work: CheckoutWork) -> tuple[str, ...]:
        listed = self._git.word("rev-list", "--parents", *work.commits)
        commits = [line.split() for line in listed.splitlines()]
        # A merge can hold what none of its parents has; replaying it would lose that.
        is_plain = all(len(parents) == 1 for _, *parents in commits)
        files: tuple[str, ...] = ()
        if is_plain:
            options = ("-q", "--no-verify", "--no-stat", "--empty=drop", "--reapply-cherry-picks")
            files = self._apply("rebase", *options, "--onto", tip, work.base, work.head)
            if not files or len(commits) == 1:
                return files
            # Commits may collide on the way where all of them together do not.
            forget_unfinished(self._git)
        self._git.run(*OPTIONS, "checkout", "-q", "-f", "--detach", tip)
        message = text(self._git.run("log", "-1", "--format=%B", work.head))
        one = self._as_one(work.base, work.head, message)
        allowed = ("--allow-empty", "--allow-empty-message")
        return self._apply("cherry-pick", *allowed, one)

    def _apply(self, *args: str) -> tuple[str, ...]:
        got = self._objects.signed.ask(*OPTIONS, *args, ok=ANY, once=True)
        if got.code == 0:
            return ()
        files = conflicts(self._git)
        if not files:
            raise git_error(args, got, self._git.top)
        return files

    def _as_one(self, base: str, head: str, message: str, *, undated: bool = False) -> str:
        dates = {f"GIT_{role}_DATE": "@86400 +0000" for role in ("AUTHOR", "COMMITTER")}
        objects = GitObjects(self._git.with_env(**dates)) if undated else self._objects
        return objects.write_commit(self._objects.tree_of(head), message, (base,))

    # -- the way back

    @contextmanager
    def _way_back(self, commit: str) -> Iterator[None]:
        self._git.run("update-ref", BACK, commit)
        try:
            yield
        except RalphError:
            self.recover()
            raise

    def _forget_way_back(self, back: str) -> None:
        # Files of others that a power cut has emptied would look like the work of a session.
        sync_all(self._git.top)
        self._objects.move_ref(BACK, "", back, "done")

    def _refs(self) -> dict[str, str]:
        """Every ref of the clone, which has few, and the head."""
        listed = self._git.refs("show-ref", "--head", ok=(0, 1))
        return {name: commit for commit, _, name in (line.partition(" ") for line in listed)}

    def _keep_branch(self, head: str) -> None:
        """The session may have left its branch, with commits on it that the head has not."""
        left = self._objects.read_ref(f"refs/heads/{self._branch}")
        if left and left != head and not self._objects.contains(head, left):
            self._objects.rescue(left)

    def _unlock(self) -> None:
        """No other process works here, so every lock is that of a git of ours."""
        clear_locks(self._git.git_dir, since=0.0)


def _real_name(path: str) -> str:
    """Where a file and a folder meet, git calls one of them `name~1a2b3c4 (subject)`."""
    return re.sub(r"~(HEAD|[0-9a-f]{7,} \(.*\))$", "", path, flags=re.DOTALL)
