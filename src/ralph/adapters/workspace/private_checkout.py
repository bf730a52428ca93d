"""A private checkout: a clone that borrows the source's objects."""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from ralph import files
from ralph.adapters.workspace.git import ANY, Git, text
from ralph.adapters.workspace.git_index import submodules
from ralph.adapters.workspace.git_objects import GitObjects
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.errors import Missing, UnusableData
from ralph.core.snapshot import Snapshot
from ralph.git_layout import find_layout

OBJECTS: Final = os.path.join("lfs", "objects")
NAME: Final = re.compile(r"[0-9a-f]{64}")


def copy_large_files_to_source(source_dir: str, clone_dir: str) -> None:
    """Copy what the one git directory lacks from the other."""
    for folder, _, names in files.walk(os.path.join(clone_dir, OBJECTS)):
        for name in filter(NAME.fullmatch, names):
            target = os.path.join(source_dir, OBJECTS, name[:2], name[2:4], name)
            if not os.path.exists(target):
                _copy(os.path.join(folder, name), target)


def _copy(path: str, target: str) -> None:
    """Only what its name says: a session may have put anything there."""
    with files.or_cannot_write(f"copy {path}"), suppress(files.NotRegular):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        fresh = f"{target}.{os.getpid()}"
        with (
            files.open_regular(path, os.O_NOFOLLOW) as original,
            files.create_regular(fresh) as copy,
        ):
            shutil.copyfileobj(original, copy)
            # A commit relies on it.
            os.fsync(copy.fileno())
        with files.open_regular(fresh) as copy:
            is_whole = hashlib.file_digest(copy, "sha256").hexdigest() == os.path.basename(target)
        if is_whole:
            os.replace(fresh, target)
        with suppress(FileNotFoundError):
            os.unlink(fresh)


def fill(source: Git, clone: Git, name: str) -> None:
    """Check out the commits that the clone names in its submodules, where the source has them."""
    for path, commit in _submodules_of(clone):
        theirs, ours = _at(source, path), _at(clone, path)
        if theirs is None or not GitObjects(theirs).read_ref(commit):
            continue
        if ours is None:
            theirs.run("update-ref", f"refs/ralph/base/{name}", commit)
            ours = make_clone(theirs, os.path.join(clone.top, path), commit, f"ralph/{name}")
        elif GitObjects(ours).read_ref("HEAD") != commit:
            # It stays where it is if the session's files are in the way.
            ours.ask("checkout", "-q", "--detach", commit, ok=ANY, once=True)
        fill(theirs, ours, name)


def fetch_submodules(source: Git, clone: Git, name: str) -> None:
    """Fetch what was committed in the clone's submodules into the source's."""
    for path, _ in _submodules_of(clone):
        theirs, ours = _at(source, path), _at(clone, path)
        if theirs is None or ours is None:
            continue
        head = GitObjects(ours).read_ref("HEAD")
        if head and not GitObjects(theirs).is_reachable(head):
            GitObjects(theirs).fetch(ours.top, "HEAD", f"refs/ralph/kept/{name}/{head}")
        fetch_submodules(theirs, ours, name)


def unpin(source: Git, name: str) -> None:
    """Forget what kept the starting points alive."""
    for path, _ in _submodules_of(source):
        theirs = _at(source, path)
        if theirs is not None:
            theirs.ask("update-ref", "-d", f"refs/ralph/base/{name}", ok=ANY)
            unpin(theirs, name)


def _submodules_of(git: Git) -> Iterator[tuple[str, str]]:
    """The submodules, unless git has no list of them."""
    if os.path.isfile(os.path.join(git.top, ".gitmodules")):
        yield from submodules(git)


def _at(git: Git, path: str) -> Git | None:
    """The submodule, if it is checked out."""
    top = os.path.join(git.top, path)
    if os.path.realpath(top) != os.path.join(os.path.realpath(git.top), path):
        return None  # a link leads elsewhere
    return git.at(top) if os.path.lexists(os.path.join(top, ".git")) else None


COPIED_SETTINGS: Final = (
    r"^((user|author|committer)\.(name|email)|core\.(autocrlf|eol)|filter\..*|lfs\..*)$"
)
"""Settings of the source alone that decide what a commit there looks like."""


def make_clone(source: Git, top: str, commit: str, branch: str) -> Git:
    """Make it in an empty or absent folder, with the commit checked out on the branch."""
    form, common = (
        source.word("rev-parse", "--show-object-format"),
        find_layout(source.top).common_dir,
    )
    source.run("init", "-q", "--template=", f"--object-format={form}", top)
    with files.or_cannot_write(f"write in {top}"):
        _borrow(common, os.path.join(top, ".git"))
        _copy_settings(source, common, os.path.join(top, ".git"))
    clone = source.at(top)
    # In a way that can be repeated.
    clone.run("checkout", "-q", "-f", "-B", branch, commit)
    return clone


def _borrow(common: str, git_dir: str) -> None:
    folder = os.path.join(git_dir, "objects", "info")
    os.makedirs(folder, exist_ok=True)
    objects = os.fsencode(_quoted_path(os.path.join(common, "objects")))
    files.write_regular(os.path.join(folder, "alternates"), objects + b"\n")
    with suppress(FileNotFoundError):
        # Where the source's own history ends, that of the clone does.
        shutil.copyfile(os.path.join(common, "shallow"), os.path.join(git_dir, "shallow"))


def _quoted_path(path: str) -> str:
    """As git reads it there: a line that begins with a quote is quoted as in C."""
    if "\n" not in path and not path.startswith('"'):
        return path
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _copy_settings(source: Git, common: str, git_dir: str) -> None:
    """Copy what only the source has: settings, and what it ignores locally."""
    settings = _settings_of(source)
    more = "".join(_setting(key, value) for key, value in settings)
    with files.create_regular(os.path.join(git_dir, "config"), os.O_APPEND) as file:
        file.write(more.encode("utf-8", "surrogateescape"))
    info = os.path.join(git_dir, "info")
    os.makedirs(info, exist_ok=True)
    for name in ("exclude", "attributes"):
        with suppress(FileNotFoundError):
            shutil.copyfile(os.path.join(common, "info", name), os.path.join(info, name))
    # Lessons that two have written down at the same time are both kept.
    with files.create_regular(os.path.join(info, "attributes"), os.O_APPEND) as file:
        file.write(b"\n**/.ralph/guardrails.md merge=union\n")


def _settings_of(source: Git) -> list[tuple[str, str]]:
    """Settings of the source's own configuration, and an identity."""
    got = source.ask("config", "--local", "-z", "--get-regexp", COPIED_SETTINGS, ok=(0, 1))
    pairs = [line.partition("\n") for line in text(got.stdout).split("\0") if line]
    settings = [(key, value) for key, _, value in pairs]
    if source.ask("var", "GIT_AUTHOR_IDENT", ok=(0, 128)).code != 0:
        # Without one the agent's own commits would fail.
        settings += [("user.name", "Ralph"), ("user.email", "ralph@localhost")]
    return settings


def _setting(key: str, value: str) -> str:
    section, _, rest = key.partition(".")
    middle, _, name = rest.rpartition(".")
    head = f'{section} "{_escaped(middle)}"' if middle else section
    written = _escaped(value).replace("\n", "\\n").replace("\t", "\\t")
    return f'[{head}]\n\t{name} = "{written}"\n'


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


KEPT: Final = "refs/ralph/kept/"
"""What a checkout still held when it was given up."""
PINS: Final = "refs/ralph/base/"
"""Starting points of checkouts."""
BESIDE: Final = "refs/ralph/beside"
"""How two sides were last put together in a checkout: its parents are base, work and tip."""


def create_private_checkout(
    source: UserCheckout,
    commit: str,
    top: str,
    name: str,
    prepare: Callable[[str], object] = lambda _: None,
) -> "PrivateCheckout":
    """Make one: a commit of the source on a branch `ralph/<name>`, in a folder of its own that is
    empty or not there yet, with the project's directory in it prepared."""
    base = source.objects.read_ref(commit)
    try:
        if not base:
            raise Missing(f"there is no commit {commit} in {source.top}")
        source.git.run("update-ref", pin_ref(name), base)
        fill(source.git, make_clone(source.git, top, base, f"ralph/{name}"), name)
        checkout = PrivateCheckout(source, top, name)
        prepare(checkout.path)
        return checkout
    except BaseException:
        remove_private_checkout(source.git, top, name)
        raise


class PrivateCheckout(UserCheckout):
    """A checkout with a repository of its own. UnusableData if it has lost that."""

    def __init__(self, source: UserCheckout, top: str, name: str) -> None:
        super().__init__(source.git.executor, os.path.join(top, source.prefix), is_private=True)
        self._name = name
        self._source = source
        if os.path.realpath(self.top) != os.path.realpath(top):
            raise UnusableData(f"{top} has no repository of its own any more")
        self.git.check_repository()

    def with_user_commits(self, base: Snapshot, now: Snapshot) -> Snapshot:
        """None are made here."""
        del now
        return base

    def save(self, ref: str, message: str) -> str:
        """As in place; the ref is in the source as well, where it outlives the checkout."""
        self.fetch_back()
        saved = super().save(ref, message)
        self._source.objects.fetch(self.top, ref, ref)
        self._source.sync()
        return saved

    def close(self) -> None:
        """Remove the directory, after everything that only it holds was saved in the source."""
        if os.path.isdir(self.top):
            self.keep()
            self.discard()

    def keep(self) -> None:
        """Save in the source what only the checkout holds.

        That is work of a run that was cut short, so it goes to
        `refs/ralph/kept/<name>/…` and not to a branch.
        """
        objects = self._source.objects
        self.fetch_back()
        now = self.snapshot()
        if now.tree and now.tree not in self._saved_trees():
            self.save(f"{KEPT}{self._name}/files", f"Uncommitted when {self._name} was given up\n")
        for commit, name in self._refs():
            if not objects.is_reachable(commit):
                objects.fetch(self.top, name, f"{KEPT}{self._name}/{commit}")

    def fetch_back(self) -> None:
        """Bring back what commits name and do not hold: those of submodules, and large files."""
        fetch_submodules(self._source.git, self.git, self._name)
        common = find_layout(self._source.top).common_dir
        copy_large_files_to_source(common, os.path.join(self.top, ".git"))

    def fill_submodules(self) -> None:
        """Put submodules on the commits that the head names now."""
        fill(self._source.git, self.git, self._name)

    def discard(self) -> None:
        """Remove the directory with whatever is in it: for checkouts made to be thrown away."""
        remove_private_checkout(self._source.git, self.top, self._name)

    def _saved_trees(self) -> frozenset[str]:
        """What was kept of it, by whichever process."""
        refs = self._source.git.refs("for-each-ref", "--format=%(tree) %(refname)", "refs/ralph/")
        lines = (line.partition(" ") for line in refs)
        return frozenset(tree for tree, _, ref in lines if f"/{self._name}/" in ref)

    def _refs(self) -> list[tuple[str, str]]:
        """Every ref of the clone, the head first, asked for from outside."""
        listed = text(self._source.git.run("ls-remote", "--quiet", self.top))
        pairs = [line.split("\t", 1) for line in listed.splitlines()]
        return [
            (commit, name)
            for commit, name in pairs
            if not name.endswith("^{}") and not name.startswith((PINS, BESIDE))
        ]


def remove_private_checkout(source: Git, top: str, name: str) -> None:
    """Remove a checkout, whole or not, and what kept its starting point alive."""
    # The folder last: if we are killed here, it shows that the removal was begun.
    unpin(source, name)
    source.ask("update-ref", "-d", pin_ref(name), ok=ANY)
    files.remove_tree(top)


def pin_ref(name: str) -> str:
    """The ref that keeps a checkout's starting point alive in the source."""
    return f"{PINS}{name}"


def new_directory(parent: str, name: str) -> str:
    import tempfile

    with files.or_cannot_write(f"write in {parent}"):
        os.makedirs(parent, exist_ok=True)
        readable = re.sub(r"[^A-Za-z0-9._-]", "-", name)
        return os.path.realpath(tempfile.mkdtemp(prefix=f"{readable}-", dir=parent))
