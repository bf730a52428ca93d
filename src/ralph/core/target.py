"""What a run works on."""

import msgspec

from ralph.core.ids import FeatureId, TaskId


class Everything(msgspec.Struct, frozen=True, tag=True):
    """The whole graph."""


class OneFeature(msgspec.Struct, frozen=True, tag=True):
    """The tasks of a feature."""

    feature: FeatureId
    name: str


class Subtree(msgspec.Struct, frozen=True, tag=True):
    """A task and everything below it."""

    task: TaskId


Target = Everything | OneFeature | Subtree


def describe(target: Target) -> str:
    """The target in a few words."""
    match target:
        case Everything():
            return "all tasks"
        case OneFeature(name=name):
            return f"feature {name}"
        case Subtree(task):
            return f"task {task}"
