"""Ids of tasks, features, runs, workers and sessions."""

from typing import Final, NewType

TaskId = NewType("TaskId", str)
FeatureId = NewType("FeatureId", str)
RunId = NewType("RunId", str)
WorkerId = NewType("WorkerId", str)
SessionId = NewType("SessionId", str)

MIN_ID_DIGITS: Final = 6
"""Hex digits of an id; one more after each collision."""


HEX: Final = frozenset("0123456789abcdef")


def is_task_id(text: str) -> bool:
    """Whether it can be the id of a task. Ids become names of folders and git refs."""
    digits = text.removeprefix("t-")
    return len(digits) < len(text) and MIN_ID_DIGITS <= len(digits) <= 40 and set(digits) <= HEX


def task_id(digits: str) -> TaskId:
    return TaskId(f"t-{digits}")


def feature_id(digits: str) -> FeatureId:
    return FeatureId(f"f-{digits}")


def worker_id(digits: str) -> WorkerId:
    return WorkerId(f"agent-{digits}")


def session_id(task: TaskId, attempt: int) -> SessionId:
    """The unit that moves between machines is the attempt, so a session is named after it."""
    return SessionId(f"{task}:{attempt}")


def kept_ref(task: TaskId, attempt: int) -> str:
    """The ref under which git keeps the work of an attempt that did not count."""
    return f"refs/ralph/{task}/{attempt}"
