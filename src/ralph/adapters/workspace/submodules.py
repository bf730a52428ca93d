"""Submodules of private checkouts: made of the person's own, without a network.

As the checkout borrows the objects of its source, each submodule borrows those of the same
submodule there; one that the person has not checked out stays empty. What sessions commit in them
is brought back with the rest.
"""

import os
from collections.abc import Iterator

from ralph.adapters.workspace.cloning import make_clone
from ralph.adapters.workspace.fetching import fetch
from ralph.adapters.workspace.git import ANY, Git, text
from ralph.adapters.workspace.objects import GITLINK, Objects


def fill(source: Git, clone: Git, name: str) -> None:
    """Check out, in each submodule of the clone, the commit that the clone names, wherever the
    source's has it."""
    for path, commit in _links(clone):
        theirs, ours = _at(source, path), _at(clone, path)
        if theirs is None or not Objects(theirs).read_ref(commit):
            continue
        if ours is None:
            theirs.run("update-ref", f"refs/ralph/base/{name}", commit)
            ours = make_clone(theirs, os.path.join(clone.top, path), commit, f"ralph/{name}")
        elif Objects(ours).read_ref("HEAD") != commit:
            # It stays where it is if the session's files are in the way.
            ours.ask("checkout", "-q", "--detach", commit, ok=ANY, once=True)
        fill(theirs, ours, name)


def bring_home(source: Git, clone: Git, name: str) -> None:
    """Fetch what was committed in the clone's submodules into the source's."""
    for path, _ in _links(clone):
        theirs, ours = _at(source, path), _at(clone, path)
        if theirs is None or ours is None:
            continue
        head = Objects(ours).read_ref("HEAD")
        if head and not Objects(theirs).is_reachable(head):
            fetch(theirs, ours.top, "HEAD", f"refs/ralph/kept/{name}/{head}")
        bring_home(theirs, ours, name)


def unpin(source: Git, name: str) -> None:
    """Forget what kept the starting points alive."""
    for path, _ in _links(source):
        theirs = _at(source, path)
        if theirs is not None:
            theirs.ask("update-ref", "-d", f"refs/ralph/base/{name}", ok=ANY)
            unpin(theirs, name)


def _links(git: Git) -> Iterator[tuple[str, str]]:
    """Paths of submodules, and the commits that are named for them."""
    if not os.path.isfile(os.path.join(git.top, ".gitmodules")):
        return
    for line in text(git.run("ls-files", "-s", "-z")).split("\0"):
        about, _, path = line.partition("\t")
        if about.startswith(GITLINK):
            yield path, about.split(" ")[1]


def _at(git: Git, path: str) -> Git | None:
    """The submodule, if it is checked out."""
    top = os.path.join(git.top, path)
    if os.path.realpath(top) != os.path.join(os.path.realpath(git.top), path):
        return None  # a link leads elsewhere
    return git.at(top) if os.path.lexists(os.path.join(top, ".git")) else None
