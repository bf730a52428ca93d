"""A folder of code tasks as one graph: who waits for whom."""

from collections.abc import Mapping, Sequence
from posixpath import dirname, join, normpath
from typing import Final

import msgspec

from ralph.core.circles import a_circle
from ralph.core.errors import UnusableData
from ralph.core.named_files import usable
from ralph.core.safe_text import one_line
from ralph.core.task import Status
from ralph.documents.code_tasks.reading import SUFFIX, CodeTask
from ralph.documents.code_tasks.stamp import Word
from ralph.documents.stories.prd import Box, Dependency, Prd, Story
from ralph.documents.task_lines import Numbered, TaskLine

IMPORTED: Final = {Word.COMPLETED: Status.DONE, Word.BLOCKED: Status.BLOCKED}
"""A claim stays where it was made: what is in progress elsewhere is pending here."""


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """A code task and those that must be done before."""

    task: CodeTask
    needs: tuple[str, ...] = ()
    """Their names: what it says itself."""
    after: tuple[str, ...] = ()
    """Those that modify the same files, and stand before it."""


def compiled(tasks: Sequence[CodeTask]) -> tuple[Placed, ...]:
    """All of them, in their order. UnusableData where two have one name, one waits for what is not
    there, or several wait for each other."""
    _refuse_twins(tasks)
    index = _index(tasks)
    needs = {one.name: tuple(_needs(one, index)) for one in tasks}
    _refuse_circles(tasks, needs)
    after = in_order(tasks, needs)
    return tuple(
        Placed(task=one, needs=needs[one.name], after=after.get(one.name, ())) for one in tasks
    )


def in_order(
    tasks: Sequence[CodeTask], needs: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Tasks that modify the same files, one behind the other: each waits for the one before, unless
    it does so already, or that one waits for it."""
    edges: dict[str, set[str]] = {name: set(found) for name, found in needs.items()}
    last: dict[str, list[str]] = {}
    extra: dict[str, list[str]] = {}
    for task in tasks:
        for file in task.files:
            for before in reversed(last.get(file, [])):
                if _waits_for(edges, task.name, before) or _waits_for(edges, before, task.name):
                    continue
                edges[task.name].add(before)
                extra.setdefault(task.name, []).append(before)
            last.setdefault(file, []).append(task.name)
    return {name: tuple(dict.fromkeys(found)) for name, found in extra.items()}


def as_prd(placed: Sequence[Placed]) -> Prd:
    """The same as stories, which the store knows how to follow."""
    return Prd(text="", stories=tuple(map(_story, placed)))


def as_lines(placed: Sequence[Placed], feature: str) -> list[Numbered]:
    """The same as lines of an import."""
    return [
        Numbered(
            place,
            TaskLine(
                title=one.task.title,
                description=one.task.body,
                alias=one.task.name,
                feature=feature,
                priority=place,
                status=IMPORTED.get(one.task.word or Word.PENDING, Status.PENDING),
                reason=f"{one.task.path} says so" if one.task.word is Word.BLOCKED else None,
                blockers=tuple(dict.fromkeys((*one.needs, *one.after))),
                files=usable(one.task.files),
            ),
        )
        for place, one in enumerate(placed, 1)
    ]


def _story(one: Placed) -> Story:
    task = one.task
    return Story(
        id=task.name,
        title=task.title,
        box=Box(at=0, ticked=task.word is Word.COMPLETED),
        line=0,
        start=0,
        end=0,
        body=task.body,
        depends_on=tuple(Dependency(id=name, line=0) for name in (*one.needs, *one.after)),
        files=usable(task.files),
    )


def _refuse_twins(tasks: Sequence[CodeTask]) -> None:
    seen: dict[str, str] = {}
    for task in tasks:
        if task.name in seen:
            raise UnusableData(
                f"{seen[task.name]} and {task.path} are both {task.name}",
                hint="give one of them another number",
            )
        seen[task.name] = task.path


def _index(tasks: Sequence[CodeTask]) -> dict[str, list[CodeTask]]:
    """By everything that somebody may call a task: its own name; and its file's, whole or up to the
    number, with as many of the folders above it as they like."""
    found: dict[str, list[CodeTask]] = {}
    for task in tasks:
        *above, stem = _bare(task.path).split("/")
        short = "-".join(stem.split("-")[:2])
        tails = [[*above[at:], name] for name in (stem, short) for at in range(len(above) + 1)]
        for name in dict.fromkeys((_bare(task.name), *("/".join(tail) for tail in tails))):
            found.setdefault(name, []).append(task)
    return found


def _bare(path: str) -> str:
    """A file however it is written, as names are compared."""
    return path.lower().removesuffix(".md").removesuffix(SUFFIX.removesuffix(".md"))


def _needs(task: CodeTask, index: Mapping[str, Sequence[CodeTask]]) -> list[str]:
    names = []
    for said in task.blocked_by:
        words = normpath(_bare(said)).split("/")
        # Seen from its own folder first, then from wherever it may be named from.
        near = normpath(join(dirname(task.path.lower()), *words))
        ways = (near, *("/".join(words[at:]) for at in range(len(words))))
        found = next((index[way] for way in ways if way in index), None)
        is_bare = len(words) == 1
        here = [one for one in found or () if is_bare and dirname(one.path) == dirname(task.path)]
        if found is None:
            raise UnusableData(
                f"{task.path} is blocked by {one_line(said, 80)}, and there is no such code task",
                hint="Blocked-By: names files beside it, or none",
            )
        if len(found) > 1 and len(here) != 1:
            several = ", ".join(one.path for one in found[:3])
            raise UnusableData(
                f"{task.path} is blocked by {one_line(said, 80)}, which may be {several}",
                hint="write its path",
            )
        names.append((here if len(found) > 1 else found)[0].name)
    return list(dict.fromkeys(names))


def _refuse_circles(tasks: Sequence[CodeTask], needs: Mapping[str, Sequence[str]]) -> None:
    at = {task.name: number for number, task in enumerate(tasks)}
    dependents: list[list[int]] = [[] for _ in tasks]
    for name, found in needs.items():
        for one in found:
            dependents[at[one]].append(at[name])
    if circle := a_circle(dependents):
        names = ", ".join(tasks[number].name for number in sorted(circle)[:10])
        raise UnusableData(
            f"these code tasks wait for each other: {names}", hint="mend their Blocked-By"
        )


def _waits_for(edges: Mapping[str, set[str]], task: str, other: str) -> bool:
    """Does a task, by whatever way, start only after the other one?"""
    seen: set[str] = set()
    to_see = [task]
    while to_see:
        now = to_see.pop()
        if now == other and now != task:
            return True
        if now not in seen:
            seen.add(now)
            to_see += edges.get(now, ())
    return False
