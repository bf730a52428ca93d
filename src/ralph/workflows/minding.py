"""PRDs and code tasks while a run works on whatever it works on: what a session ticks there is a
claim at most."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from ralph.core.errors import UsageError
from ralph.core.ids import FeatureId
from ralph.core.target import Everything
from ralph.core.task import Task
from ralph.engine.kit import Kit
from ralph.ports.document import Document, Left, Passage
from ralph.ports.papers import Paper, Papers
from ralph.workflows.code_tasks import CodeTasks
from ralph.workflows.errand import errands, retire
from ralph.workflows.goal import approved_goals, code_tasks_of
from ralph.workflows.stories import Stories
from ralph.workflows.uncommitted import uncommitted_edits

NOTED = "documents"
"""The place among Ralph's papers where they are written down."""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A PRD of which there are tasks."""

    feature: FeatureId
    checkout: str
    """Where it was followed last. Another checkout may have another version of it, and what
    differs there is nobody's edit."""


def note(store: Papers, stories: Stories, checkout: str) -> None:
    """Remember that there is such a document. UsageError where another one has its name as a
    feature: `docs/shop.md` and `docs-shop.md` have stories of the same ids."""
    known = Known(feature=stories.tasks.feature.id, checkout=checkout)
    before = _noted(store)
    for path, other in before.items():
        is_namesake = path != stories.path and other.feature == known.feature
        if is_namesake and stories.library.exists(path):
            raise UsageError(
                f"{stories.path} and {path} would be one feature, {stories.tasks.feature.name}",
                hint="give one of them another name",
            )
    if before.get(stories.path) != known:
        content = msgspec.json.encode({**before, stories.path: known})
        store.keep_paper(Paper(path=NOTED, content=content))


def _noted(store: Papers) -> dict[str, Known]:
    kept = store.paper(NOTED)
    return msgspec.json.decode(kept.content, type=dict[str, Known]) if kept is not None else {}


def documents(kit: Kit, max_retries: int, but: str = "") -> tuple[Stories, ...]:
    """The PRDs of this checkout that are there, all or all but one."""
    found = []
    for path, known in _noted(kit.store).items():
        feature = kit.store.feature(known.feature)
        is_here = known.checkout == kit.workspace.path and kit.library.exists(path)
        if path != but and feature is not None and is_here:
            found.append(
                Stories(
                    store=kit.store,
                    library=kit.library,
                    path=path,
                    feature=feature,
                    max_retries=max_retries,
                    is_needed=False,
                )
            )
    return tuple(found)


def goals(kit: Kit, max_retries: int, but: str = "") -> tuple[CodeTasks, ...]:
    """The code tasks of goals that were planned and approved, of all or all but one."""
    found = approved_goals(kit.store, kit.library, but)
    return tuple(code_tasks_of(goal, kit.store, kit.clock, max_retries) for goal in found)


class Minded:
    """`Document` on several: a task stands in one of them at most, and a session is to leave the
    boxes of all others alone."""

    def __init__(self, parts: Sequence[Document]) -> None:
        self.parts = parts

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path for one in self.parts for path in one.paths))

    def follow(self) -> tuple[str, ...]:
        return tuple(line for one in self.parts for line in one.follow())

    def passage(self, task: Task) -> Passage | None:
        found = (one.passage(task) for one in self.parts)
        return next((one for one in found if one is not None), None)

    def begin(self, task: Task) -> None:
        for one in self.parts:
            one.begin(task)

    def leave(self, task: Task) -> tuple[str, ...]:
        return tuple(line for one in self.parts for line in one.leave(task))

    def look(self, task: Task) -> Left:
        left = [one.look(task) for one in self.parts]
        return Left(
            claims=any(one.claims for one in left),
            broken="; ".join(one.broken for one in left if one.broken),
            warnings=tuple(line for one in left for line in one.warnings),
        )

    def review(self, task: Task) -> None:
        for one in self.parts:
            one.review(task)

    def conclude(self, task: Task, *, done: bool) -> None:
        for one in self.parts:
            one.conclude(task, done=done)

    def release(self, task: Task) -> None:
        for one in self.parts:
            one.release(task)


class _Everything(Minded):
    """The same for a run on the whole graph, which takes out what belongs to another command."""

    def __init__(self, kit: Kit, parts: Sequence[Document]) -> None:
        super().__init__(parts)
        self.kit = kit
        self._is_first = True

    def follow(self) -> tuple[str, ...]:
        # Now, since claims of the dead have just been given back.
        is_first, self._is_first = self._is_first, False
        return (*(retire(self.kit) if is_first else ()), *super().follow())


def mind(kit: Kit, max_retries: int) -> None:
    """Have every PRD and every goal of this checkout looked after while the run is at work."""
    parts: tuple[Document, ...] = (*documents(kit, max_retries), *goals(kit, max_retries))
    if isinstance(kit.settings.target, Everything) and (parts or errands(kit.store)):
        kit.document = _Everything(kit, parts)
    elif parts:
        kit.document = Minded(parts)
    if parts:
        told = uncommitted_edits(kit, tuple(path for one in parts for path in one.paths))
        kit.settings = replace(kit.settings, warnings=(*kit.settings.warnings, *told))
