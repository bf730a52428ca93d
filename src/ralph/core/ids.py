"""Names of things: short, typed, and made from randomness that someone else supplies."""

from typing import Final, NewType

TaskId = NewType("TaskId", str)
FeatureId = NewType("FeatureId", str)
RunId = NewType("RunId", str)
WorkerId = NewType("WorkerId", str)
SessionId = NewType("SessionId", str)

SHORTEST: Final = 6
"""Hex digits of an id; one more after each collision."""


def task_id(digits: str) -> TaskId:
    """`t-` and the digits."""
    return TaskId(f"t-{digits}")


def feature_id(digits: str) -> FeatureId:
    """`f-` and the digits."""
    return FeatureId(f"f-{digits}")


def worker_id(digits: str) -> WorkerId:
    """`agent-` and the digits."""
    return WorkerId(f"agent-{digits}")


def session_id(task: TaskId, attempt: int) -> SessionId:
    """The unit that moves between machines is the attempt, so a session is named after it."""
    return SessionId(f"{task}:{attempt}")
