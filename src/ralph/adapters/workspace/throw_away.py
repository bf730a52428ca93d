"""Private checkouts that are thrown away: for sessions that may look and try, but not change."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from ralph.adapters.workspace.git import Git
from ralph.adapters.workspace.held import hold_folder, is_held
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.preparing import Preparation
from ralph.adapters.workspace.private import clone, forget, new_directory
from ralph.core.snapshot import Snapshot
from ralph.ports.executor import Captures
from ralph.ports.workspace import Workspace

PREFIX: Final = "throw-away-"
"""Tells them from the checkouts of tasks, which are kept in the same folder."""


@contextmanager
def throw_away(
    git: Captures,
    source: InPlace,
    commit: str,
    *,
    name: str,
    folder: str,
    prepare: Callable[[str], None],
) -> Iterator[str]:
    """A checkout of one commit of the source; gone afterwards, with whatever is in it."""
    top = new_directory(folder, PREFIX + name)
    with hold_folder(top):
        checkout = clone(
            git,
            source_top=source.top,
            project_subdir=source.prefix,
            commit=commit,
            top=top,
            name=name,
        )
        try:
            prepare(checkout.path)
            yield checkout.path
        finally:
            checkout.discard()


class ThrowAway:
    """Clones of a checkout, or of a private one, prepared as `[workspace]` says."""

    def __init__(
        self, git: Captures, source: InPlace, *, folder: str, preparation: Preparation
    ) -> None:
        """`git` is for Ralph's own; the `folder` is where the clones are."""
        self._git = git
        self._source = source
        self._folder = folder
        self._preparation = preparation

    @contextmanager
    def of(self, workspace: Workspace, at: Snapshot, name: str) -> Iterator[str]:
        """A checkout of this state; gone afterwards, with whatever is in it."""
        is_own = workspace.path == self._source.path
        source = self._source if is_own else InPlace(self._git, workspace.path)
        with throw_away(
            self._git,
            source,
            source.commit_of(at, name),
            name=name,
            folder=self._folder,
            prepare=self._preparation.prepare,
        ) as path:
            yield path

    def tidy(self) -> None:
        """Remove what a Ralph that was killed has left."""
        if not os.path.isdir(self._folder):
            return
        for name in os.listdir(self._folder):
            top = os.path.join(self._folder, name)
            # Another worker's may be in use.
            if name.startswith(PREFIX) and not is_held(top):
                forget(Git(self._git, self._source.top), top, pinned_as(name))


def pinned_as(folder: str) -> str:
    """What a folder was called when it was asked for."""
    return folder.removeprefix(PREFIX).rpartition("-")[0]
