"""Documents in a worker's checkout: there to be read. Ralph's lead writes them, in the person's."""

from ralph.core.task import Task
from ralph.engine.kit import Kit
from ralph.ports.document import Left, Passage
from ralph.workflows.one_file import some_of


class Quoted:
    """A `Document` of which every checkout has a copy: what a session does to that is taken back,
    or it would come to the person's as if they had written it."""

    paths: tuple[str, ...] = ()
    """None that a worker writes."""

    def __init__(self, kit: Kit, papers: tuple[str, ...]) -> None:
        self.kit = kit
        self.papers = papers
        """From the project's root."""

    def follow(self) -> tuple[str, ...]:
        """The lead does."""
        return ()

    def passage(self, task: Task) -> Passage | None:
        """The store has it."""
        del task
        return None

    def begin(self, task: Task) -> None:
        """Nothing to hold."""

    def leave(self, task: Task) -> tuple[str, ...]:
        """Take back what it has changed, committed or not."""
        kit = self.kit
        base = kit.store.base(task.id)
        if base is None:
            return ()
        wanted = {kit.workspace.prefix + path for path in self.papers}
        changed = wanted.intersection(kit.workspace.changes(base, kit.workspace.snapshot()).files)
        if not changed:
            return ()
        kit.workspace.put_back(base, sorted(changed))
        now = kit.workspace.snapshot()
        # What the session has committed is taken back by a commit as well.
        kit.workspace.commit(
            now, now, "Leave the documents alone\n", frozenset(), frozenset(changed)
        )
        names = some_of(sorted(changed))
        return (f"{names}: put back, since only Ralph writes there while a team works",)

    def look(self, task: Task) -> Left:
        """What it ticked is gone."""
        del task
        return Left()

    def review(self, task: Task) -> None:
        """The store knows it."""

    def conclude(self, task: Task, *, done: bool) -> None:
        """The lead writes the verdict."""

    def release(self, task: Task) -> None:
        """Nothing was held."""
