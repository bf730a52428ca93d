"""What a task began with, once others have changed the checkout under its unfinished work."""

from collections.abc import Callable, Sequence

from ralph.adapters.workspace.git import Git
from ralph.adapters.workspace.index import scratch
from ralph.adapters.workspace.objects import Objects
from ralph.adapters.workspace.status import Entry
from ralph.core.snapshot import Snapshot


class Carry:
    """Works on recorded states alone; no file of the checkout is looked at."""

    def __init__(self, git: Git, objects: Objects) -> None:
        self._git = git
        self._objects = objects

    def over(self, base: Snapshot, since: Snapshot, now: Snapshot) -> Snapshot:
        """`base` as if what others did between `since` and `now` had been there before."""
        if since == now:
            return base
        # Once somebody has committed on top, or gone to another branch, that stays, and with it
        # what the session had committed below.
        stays = (since.head, since.branch) != (now.head, now.branch)
        head = now if stays else base
        old, new = self._objects.tree_of(base.head), self._objects.tree_of(head.head)
        tree = self._carried(self._tree, base, since, now, (old, new))
        index = self._carried(self._index, base, since, now, (old, new))
        return Snapshot(
            head=head.head,
            branch=head.branch,
            tree=tree if tree != new else "",
            index=index if index != new else "",
            dirty=tuple(sorted(self._names(new, tree) | self._names(new, index))),
        )

    def _carried(
        self,
        view: Callable[[Snapshot], str],
        base: Snapshot,
        since: Snapshot,
        now: Snapshot,
        heads: tuple[str, str],
    ) -> str:
        """The files, or what is staged: as now, less what the session did."""
        # Staging what the session left makes it nobody else's: we do that too, when we commit.
        theirs = self._names(view(since), view(now)) - self._left(base, since, now)
        loose = self._names(self._objects.tree_of(now.head), view(now))
        begun = self._with(view(base), [one.new for one in self._objects.differences(*heads)])
        back = [
            one.new
            for one in self._objects.differences(view(now), begun)
            if _is_apart(one.path, theirs)
        ]
        # What they have made as it is committed stays as it is committed, wherever the head goes.
        back += [
            one.new
            for one in self._objects.differences(view(now), heads[1])
            if one.path in theirs and one.path not in loose
        ]
        return self._with(view(now), back)

    def _with(self, tree: str, entries: Sequence[Entry]) -> str:
        if not entries:
            return tree
        with scratch(self._git, copy=False) as index:
            index.read(tree)
            index.put(entries)
            return index.tree()

    def _tree(self, snapshot: Snapshot) -> str:
        return snapshot.tree or self._objects.tree_of(snapshot.head)

    def _index(self, snapshot: Snapshot) -> str:
        return snapshot.index or self._objects.tree_of(snapshot.head)

    def _left(self, base: Snapshot, since: Snapshot, now: Snapshot) -> frozenset[str]:
        """What the session changed and nobody has touched since."""
        changed = self._names(self._tree(base), self._tree(since))
        return changed - self._names(self._tree(since), self._tree(now))

    def _names(self, old: str, new: str) -> frozenset[str]:
        return frozenset(one.path for one in self._objects.differences(old, new))


def _is_apart(path: str, others: frozenset[str]) -> bool:
    """Does it concern none of the others? A file cannot be where they need a directory."""
    return not any(
        path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/")
        for other in others
    )
