"""Tasks as JSON lines, as values."""

import codecs
import json
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralph.core.errors import NoSuchTask, UnusableData
from ralph.core.ids import TaskId, is_task_id, task_id
from ralph.core.task import Task, TaskDraft, TaskStatus
from ralph.documents.task_import import (
    TaskLine,
    TaskNameIndex,
    read_task_lines,
    resolve_drafts,
    task_to_line,
)


def made(text: bytes, stored: TaskNameIndex | None = None) -> list[TaskDraft]:
    numbers = count()
    return resolve_drafts(
        read_task_lines(text.splitlines()),
        stored or TaskNameIndex(),
        fresh=lambda: task_id(f"{next(numbers):06x}"),
        max_retries=3,
    )


def line(task: Task, blockers: tuple[TaskId, ...] = ()) -> bytes:
    return json.dumps(task_to_line(task, blockers, None)).encode()


def test_every_field_of_a_task_has_its_place_on_a_line() -> None:
    assert set(Task.__struct_fields__) <= set(TaskLine.__struct_fields__)


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[Task, tuple[TaskId, ...]]]:
    """Tasks with parents and blockers among the earlier ones."""
    found: list[tuple[Task, tuple[TaskId, ...]]] = []
    # A blocker must not be above what it blocks, so parents come from one half, blockers from
    # the other.
    for n in range(draw(st.integers(0, 12))):
        ids = [task.id for task, _ in found]
        parents = [one for one in ids if int(one[2:], 16) % 2 == 0]
        blockers = [one for one in ids if int(one[2:], 16) % 2 == 1]
        is_parent = n % 2 == 0
        found.append(
            (
                Task(
                    id=task_id(f"{n:06x}"),
                    title=draw(st.text(min_size=1).map(lambda text: f"x{text}x")),
                    description=draw(st.text()),
                    status=draw(st.sampled_from([s for s in TaskStatus if s != "in_progress"])),
                    parent_id=draw(st.sampled_from(parents)) if parents and is_parent else None,
                    priority=draw(st.integers(-(2**31) + 1, 2**31 - 1)),
                    max_retries=draw(st.integers(0, 2**31 - 1)),
                    alias=draw(st.none() | st.just(f"US-{n}")),
                    needs_change=draw(st.booleans()),
                ),
                tuple(draw(st.lists(st.sampled_from(blockers), unique=True))) if blockers else (),
            )
        )
    return draw(st.permutations(found))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graphs())
def test_what_is_written_is_read_back(graph: list[tuple[Task, tuple[TaskId, ...]]]) -> None:
    text = b"\n".join(line(task, blockers) for task, blockers in graph)
    kept = ("id", "title", "description", "status", "parent_id", "priority", "max_retries")
    for draft, (task, blockers) in zip(made(text), graph, strict=True):
        for name in (*kept, "alias", "needs_change"):
            assert getattr(draft, name) == getattr(task, name)
        assert draft.blocked_by == blockers


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=1))
def test_noise_is_refused_and_never_crashes(noise: list[bytes]) -> None:
    if any(one.removeprefix(codecs.BOM_UTF8).strip() for one in noise):
        with pytest.raises(UnusableData, match=r"^line \d"):
            read_task_lines(noise)
    else:
        assert read_task_lines(noise) == []


def test_only_tasks_that_can_be_named_get_an_id() -> None:
    one, two = made(b'{"title": "a", "alias": "A"}\n{"title": "b"}')
    assert one.id is not None
    assert two.id is None


def test_a_name_in_the_file_comes_before_one_in_the_project() -> None:
    stored = TaskNameIndex()
    stored.add(TaskId("t-aaaaaa"), "A", None)
    stored.add(TaskId("t-bbbbbb"), "B", None)
    text = b'{"title": "a", "alias": "A"}\n{"title": "b", "blockers": ["A", "B", "t-aaaaaa", "B"]}'
    one, two = made(text, stored)
    assert two.blocked_by == (one.id, "t-bbbbbb", "t-aaaaaa")


def test_a_name_that_nobody_has_is_refused_with_its_line() -> None:
    with pytest.raises(NoSuchTask, match=r"^line 2: .*'C'"):
        made(b'{"title": "a"}\n{"title": "b", "blockers": ["C"]}')


def test_the_same_id_twice_is_refused() -> None:
    with pytest.raises(UnusableData, match="line 2: task t-abcdef is on line 1"):
        read_task_lines([b'{"title": "a", "id": "t-abcdef"}'] * 2)


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("t-abcdef", True),
        ("t-0123456789", True),
        ("t-abc", False),
        ("t-ABCDEF", False),
        ("abcdef12", False),
        ("t-abcdef/..", False),
        ("", False),
    ],
)
def test_what_an_id_looks_like(text: str, good: bool) -> None:  # noqa: FBT001
    assert is_task_id(text) is good
