"""Code tasks, read and put in order."""

import pytest

from ralph.core.errors import UnusableData
from ralph.documents.code_task_file import (
    CodeTask,
    CodeTaskStatus,
    name_of,
    order_code_tasks,
    read_code_task,
)

FOLDER = ".ralph/specs/shop/implementation"
TEXT = """\
---
Status: PENDING
---
# Task: Parse the header

Blocked-By: `task-01-setup.code-task.md`, ../step01/task-03-types.code-task.md

## Description
Write the parser.

```
# Task: not this one
Blocked-By: nor this
```

## Acceptance Criteria
1. Given a header, When it is parsed, Then a value

## Metadata
- **Complexity**: Low
- **Files to Modify**: `src/parser.py`, `src/types.py` (new)
- **Files to Read**: README.md
"""


def at(name: str) -> str:
    return f"{FOLDER}/{name}.code-task.md"


def a_task(name: str, text: str = "") -> CodeTask:
    return read_code_task(at(name), text, FOLDER)


def needs(*tasks: CodeTask) -> dict[str, tuple[str, ...]]:
    return {one.name: one.needs for one in order_code_tasks(tasks)}


def test_a_file_is_read() -> None:
    task = a_task("step02/task-02-parse-header", TEXT)
    assert (task.name, task.title, task.status) == (
        "step02-task-02",
        "Parse the header",
        CodeTaskStatus.PENDING,
    )
    assert task.blocked_by == (
        "task-01-setup.code-task.md",
        "../step01/task-03-types.code-task.md",
    )
    assert task.files == ("src/parser.py", "src/types.py")
    assert task.body.startswith("Blocked-By:")
    assert "Status" not in task.body


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("step01/task-02-a-b", "step01-task-02"),
        ("task-02", "task-02"),
        ("Task-2.1-x", "task-2.1"),
        ("notes/fix the bug", "notes-fix the bug"),
    ],
)
def test_a_name_comes_from_where_it_lies(path: str, name: str) -> None:
    assert name_of(at(path), FOLDER) == name


@pytest.mark.parametrize(
    ("said", "blockers"),
    [
        ("Blocked-By: none", ()),
        ("Blocked-By: []", ()),
        ("## Blocked-By: task-01", ("task-01",)),
        ("- **Blocked-By:** `a.md`, `b.md`", ("a.md", "b.md")),
        ("Blocked-By:\n- task-01 (types)\n- task-02\n\nmore", ("task-01", "task-02")),
        ("---\nBlocked-By: [task-01, \"task-02\"]\n---\n", ("task-01", "task-02")),
        ("---\nStatus: PENDING\nBlocked-By:\n  - task-01\n---\nBlocked-By: other", ("task-01",)),
        ("Blocked-By hardware we do not have", ()),
    ],
)  # fmt: skip
def test_what_it_waits_for_is_written_in_many_ways(said: str, blockers: tuple[str, ...]) -> None:
    assert a_task("task-09", said).blocked_by == blockers


def test_a_file_without_a_title_has_the_words_of_its_name() -> None:
    assert a_task("step01/task-01-parse-the-header").title == "Parse the header"
    assert a_task("step01/task-01", "text").title == "Task 01"


def test_blockers_are_found_by_path_name_and_number() -> None:
    tasks = [
        a_task("step01/task-01-setup"),
        a_task("step01/task-02-types", "Blocked-By: task-01"),
        a_task("step02/task-01-parse", "Blocked-By: ../step01/task-02-types.code-task.md"),
        a_task("step02/task-02-print", f"Blocked-By: {at('step01/task-01-setup')}, task-01"),
        a_task("step02/task-03-all", "Blocked-By: step01-task-02, task-02-print"),
        a_task("step03/task-01-setup", "Blocked-By: step01/task-01-setup.code-task.md"),
        a_task("step03/task-02-types", "Blocked-By: `implementation/step01/Task-02`, task-01.md"),
        a_task("step03/task-03 (x) - y", "Blocked-By: step02/task-02-print"),
        a_task("step03/task-04", "Blocked-By: `task-03 (x) - y.code-task.md`"),
    ]
    assert needs(*tasks) == {
        "step01-task-01": (),
        "step01-task-02": ("step01-task-01",),
        "step02-task-01": ("step01-task-02",),
        "step02-task-02": ("step01-task-01", "step02-task-01"),
        "step02-task-03": ("step01-task-02", "step02-task-02"),
        "step03-task-01": ("step01-task-01",),
        "step03-task-02": ("step01-task-02", "step03-task-01"),
        "step03-task-03": ("step02-task-02",),
        "step03-task-04": ("step03-task-03",),
    }


@pytest.mark.parametrize(
    ("texts", "why"),
    [
        ({"task-01-a": "Blocked-By: task-07"}, "there is no such code task"),
        ({"task-01-a": "", "task-01-b": ""}, "are both task-01"),
        ({"task-01": "Blocked-By: task-02", "task-02": "Blocked-By: task-01"}, "wait for each"),
        (
            {"s1/task-01": "", "s2/task-01": "", "s3/task-02": "Blocked-By: task-01"},
            "which may be",
        ),
        (
            {"s1/task-01": "", "s2/task-01": "", "s2/task-02": "Blocked-By: s9/task-01"},
            "which may be",
        ),
    ],
)
def test_what_cannot_be_built_is_refused(texts: dict[str, str], why: str) -> None:
    with pytest.raises(UnusableData, match=why):
        order_code_tasks([a_task(name, text) for name, text in texts.items()])
