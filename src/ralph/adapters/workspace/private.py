"""A private checkout: a throw-away clone that borrows the source's objects.

It costs what a linked worktree costs and keeps the source out of an agent's reach.
Results come back by `git fetch` run in the *source*, which executes nothing of the clone's;
everything else here runs git inside the clone, so its executor belongs inside the wall as soon as
there is one.

The clone's objects are borrowed: `refs/ralph/base/<name>` keeps its starting point alive in the
source, whatever is collected there.
"""

import os
import re
from contextlib import suppress
from typing import Final

from ralph.adapters.workspace.git import Git, find_top, text
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.objects import Objects
from ralph.core.errors import CannotWrite, Missing
from ralph.core.snapshot import Changes, Snapshot
from ralph.ports.executor import Captures
from ralph.ports.workspace import Committed, Withheld

KEPT: Final = "refs/ralph/kept/"
"""What a checkout still held when it was given up."""

CARRIED: Final = (
    r"^((user|author|committer)\.(name|email)|core\.(autocrlf|eol)|filter\..*|lfs\..*)$"
)
"""Settings of the source alone that decide what a commit there looks like."""


class PrivateCheckout:
    """One commit of the source on a branch `ralph/<name>`, in a directory of its own."""

    def __init__(
        self,
        executor: Captures,
        *,
        source_top: str,
        project_subdir: str,
        commit: str,
        parent_dir: str,
        name: str,
    ) -> None:
        self._executor = executor
        self._name = name
        self._source = Git(executor, find_top(executor, source_top))
        self._saved = ""
        self._pin = _pin(name)
        base = Objects(self._source).read_ref(commit)
        if not base:
            raise Missing(f"there is no commit {commit} in {self._source.top}")
        self._top = _new_directory(parent_dir, name)
        try:
            self._source.run("update-ref", self._pin, base)
            self._clone(base)
            self._inside = InPlace(executor, os.path.join(self._top, project_subdir))
        except BaseException:
            self.discard()
            raise

    @property
    def path(self) -> str:
        return self._inside.path

    @property
    def prefix(self) -> str:
        return self._inside.prefix

    @property
    def top(self) -> str:
        """The checkout's top directory."""
        return self._top

    def snapshot(self) -> Snapshot:
        return self._inside.snapshot()

    def changes(self, since: Snapshot, now: Snapshot) -> Changes:
        return self._inside.changes(since, now)

    def carry_over(self, base: Snapshot, since: Snapshot, now: Snapshot) -> Snapshot:
        return self._inside.carry_over(base, since, now)

    def commit(
        self,
        since: Snapshot,
        upto: Snapshot,
        message: str,
        keep: frozenset[str],
        own: frozenset[str] = frozenset(),
    ) -> Committed:
        return self._inside.commit(since, upto, message, keep, own)

    def exposed(self, since: Snapshot, now: Snapshot) -> tuple[Withheld, ...]:
        return self._inside.exposed(since, now)

    def save(self, ref: str, message: str) -> str:
        """As in place; the ref is in the source as well, where it outlives the checkout."""
        self._saved = self._inside.save(ref, message)
        _fetch(self._source, self._top, ref, ref)
        return self._saved

    def is_locked(self) -> bool:
        return self._inside.is_locked()

    def break_lock(self) -> str:
        return self._inside.break_lock()

    def restore(self, to: Snapshot) -> None:
        self._inside.restore(to)

    def fetch_into(self, source: str, ref: str) -> str:
        """Import the head into the repository `source` as `ref`; return the commit."""
        return _fetch(Git(self._executor, source), self._top, "HEAD", ref)

    def close(self) -> None:
        """Remove the directory, after everything that only it holds was saved in the source.

        That is work nobody asked for any more (its run was cut short), so it goes to
        `refs/ralph/kept/<name>/…` and not to a branch.
        """
        if not os.path.isdir(self._top):
            return
        objects = Objects(self._source)
        now = self.snapshot()
        if now.tree and not (self._saved and objects.tree_of(self._saved) == now.tree):
            self.save(f"{KEPT}{self._name}/files", f"Uncommitted when {self._name} was given up\n")
        for commit, name in self._refs():
            if not objects.is_reachable(commit):
                _fetch(self._source, self._top, name, f"{KEPT}{self._name}/{commit}")
        self.discard()

    def discard(self) -> None:
        """Remove the directory with whatever is in it: for checkouts made to be thrown away."""
        _remove(self._top)
        self._source.ask("update-ref", "-d", self._pin)

    def _clone(self, commit: str) -> None:
        options = [part for setting in self._carried() for part in ("-c", setting)]
        args = ("--shared", "--no-checkout", "--single-branch", "--no-tags", "--template=")
        self._source.run("clone", "-q", *args, *options, self._source.top, self._top)
        inside = Git(self._executor, self._top)
        # No way back to the source by accident: neither a remote to push to, nor branches that
        # look like the source's and are not (one called `ralph` would also be in our way).
        inside.run("config", "--remove-section", "remote.origin")
        refs = inside.run("for-each-ref", "--format=delete %(refname)")
        inside.run("update-ref", "--no-deref", "--stdin", stdin=refs)
        self._copy_info()
        inside.run("checkout", "-q", "-b", f"ralph/{self._name}", commit)

    def _carried(self) -> list[str]:
        """Settings for the clone: those of the source's own configuration, and an identity."""
        got = self._source.ask("config", "--local", "-z", "--get-regexp", CARRIED)
        pairs = [line.partition("\n") for line in text(got.stdout).split("\0") if line]
        settings = [f"{key}={value}" for key, _, value in pairs]
        if self._source.ask("var", "GIT_AUTHOR_IDENT").code != 0:
            # Without one the agent's own commits would fail.
            settings += ["user.name=Ralph", "user.email=ralph@localhost"]
        return settings

    def _copy_info(self) -> None:
        """Carry over what the source ignores besides its .gitignore files."""
        common = self._source.word("rev-parse", "--git-common-dir")
        source = os.path.join(self._source.top, common, "info")
        target = os.path.join(self._top, ".git", "info")
        os.makedirs(target, exist_ok=True)
        for file in ("exclude", "attributes"):
            with suppress(FileNotFoundError), open(os.path.join(source, file), "rb") as original:
                content = original.read()
                with open(os.path.join(target, file), "wb") as copy:
                    copy.write(content)

    def _refs(self) -> list[tuple[str, str]]:
        """Every ref of the clone, the head first, asked for from outside."""
        listed = text(self._source.run("ls-remote", "--quiet", self._top))
        pairs = [line.split("\t", 1) for line in listed.splitlines()]
        return [(commit, name) for commit, name in pairs if not name.endswith("^{}")]


def forget(executor: Captures, source_top: str, top: str) -> None:
    """Remove a checkout whose Ralph was killed, and what kept its starting point alive."""
    _remove(top)
    name = os.path.basename(top).rpartition("-")[0]
    Git(executor, source_top).ask("update-ref", "-d", _pin(name))


def _pin(name: str) -> str:
    return f"refs/ralph/base/{name}"


def _fetch(source: Git, clone: str, name: str, ref: str) -> str:
    """Bring one ref of the clone into the source; what `ref` led to before stays reachable."""
    objects = Objects(source)
    before = objects.read_ref(ref)
    options = ("--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc")
    source.run("fetch", "-q", *options, clone, f"+{name}:{ref}")
    if before and not objects.is_reachable(before):
        objects.rescue(before)
    after = objects.read_ref(ref)
    if not after:
        raise Missing(f"{name} of {clone} did not arrive")
    return after


def _new_directory(parent: str, name: str) -> str:
    import tempfile

    try:
        os.makedirs(parent, exist_ok=True)
        readable = re.sub(r"[^A-Za-z0-9._-]", "-", name)
        return os.path.realpath(tempfile.mkdtemp(prefix=f"{readable}-", dir=parent))
    except OSError as error:
        raise CannotWrite(f"cannot write in {parent}: {error.strerror}") from error


def _remove(top: str) -> None:
    import shutil

    try:
        shutil.rmtree(top)
    except FileNotFoundError:
        return
    except PermissionError:
        # Some tools write directories that not even their owner may change (Go's module cache).
        for folder, names, _ in os.walk(top):
            for path in (os.path.join(folder, name) for name in names):
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
        shutil.rmtree(top)
