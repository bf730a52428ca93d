"""What a session is to be told: what the store and the project's files know about its task."""

from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core.brief import Material, Prerequisite, Telling, Written, write_brief
from ralph.core.learning import own_notes, related
from ralph.core.relevance import telling_words
from ralph.core.rules import write_rules
from ralph.core.safe_text import one_line
from ralph.core.sigils import read_sigils
from ralph.core.target import Everything, OneFeature, Subtree, Target
from ralph.core.task import Feature, Status, Task
from ralph.documents.progress_log import last_words
from ralph.engine.reading import Reader
from ralph.ports.store import Store

RECALLED: Final = 30
"""Memories to choose from: more than fit."""
OWN: Final = 50
FILES: Final = 10
"""Of a blocker that are named."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """A brief in two parts, and what could not be read for it."""

    rules: str
    written: Written
    troubles: tuple[str, ...]


def tell(material: Material, telling: Telling, commit: str, *, builds: bool = True) -> Told:
    """Put it into words, within the room that there is. `builds`: not for a session that only
    prepares a document."""
    rules = write_rules(
        agent_commits=commit == "auto",
        learn=telling.learn,
        memory=telling.memory,
        builds=builds,
    )
    return Told(
        rules=rules,
        written=write_brief(material, telling, rules),
        troubles=material.shelf.troubles,
    )


def gather(
    store: Store,
    reader: Reader,
    task: Task,
    *,
    telling: Telling,
    target: Target,
    gates: tuple[str, ...] = (),
    guidance: tuple[str, ...] = (),
) -> Material:
    """Everything that the next session of a task may be told."""
    parent = store.find(task.parent_id) if task.parent_id else None
    done = [one for one in store.blockers(task.id) if one.status is Status.DONE]
    known = Material(
        task=task,
        parent=parent,
        prerequisites=tuple(
            Prerequisite(id=one.id, title=one.title, summary=_left_behind(store, one))
            for one in done
        ),
        shelf=reader.shelf(feature_of(store, task, parent, target), telling),
        gates=gates,
        guidance=guidance,
    )
    return _with_memories(store, known) if telling.memory else known


def feature_of(store: Store, task: Task, parent: Task | None, target: Target) -> Feature | None:
    """Whose specification and plan hold for a task: its own feature's, else that of what it is part
    of, else that of the run."""
    for one in (task, parent):
        if one is not None and one.feature_id is not None:
            return store.feature(one.feature_id)
    match target:
        case Everything():
            return None
        case OneFeature(feature=feature):
            return store.feature(feature)
        case Subtree(root):
            top = store.find(root)
            return store.feature(top.feature_id) if top.feature_id is not None else None


def _with_memories(store: Store, known: Material) -> Material:
    task = known.task
    told = {one.id for one in known.prerequisites}
    recalled = store.recall(telling_words(task.title, task.description), RECALLED)
    return replace(
        known,
        notes=tuple(own_notes(task, store.memories(task=task.id, limit=OWN))),
        memories=tuple(related(task, recalled, told)),
    )


def _left_behind(store: Store, task: Task) -> str:
    """Its journal or the last words of its session, and the files that it has changed."""
    session = store.session(task.id, task.attempt)
    message = session.ending.message if session is not None and session.ending else ""
    said = read_sigils(message).journal or last_words(message)
    if not said:
        logs = store.logs(task.id, limit=1)
        said = logs[-1].message if logs else task.description
    files = ", ".join(one_line(path, 80) for path in task.files[:FILES])
    more = f" and {len(task.files) - FILES} more" if len(task.files) > FILES else ""
    return one_line(said, 400) + (f" (files: {files}{more})" if files else "")
