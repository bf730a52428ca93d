"""Rebuild the state from the events. The result must equal the stored state."""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from ralph.core import events, session_events
from ralph.core.ids import FeatureId, TaskId
from ralph.core.task import OPEN_REVIEW, Feature, Task, TaskStatus, TaskType

Edge = tuple[TaskId, TaskId]


class ReplayedGraph(msgspec.Struct, kw_only=True):
    """Tasks, edges and features, as the events tell them."""

    tasks: dict[TaskId, Task] = msgspec.field(default_factory=dict)
    edges: set[Edge] = msgspec.field(default_factory=set)
    features: dict[FeatureId, Feature] = msgspec.field(default_factory=dict)


def replay(recorded: Iterable[events.Event]) -> ReplayedGraph:
    """Fold the events from the first."""
    graph = ReplayedGraph()
    for event in recorded:
        _take(graph, event)
    return graph


def _take(graph: ReplayedGraph, event: events.Event) -> None:
    match event:
        case events.TaskAdded(task=task):
            graph.tasks[task.id] = task
        case events.TaskEdited(task_id=task_id, edit=edit):
            changed = {
                name: value
                for name in edit.__struct_fields__
                if (value := getattr(edit, name)) is not msgspec.UNSET
            }
            if "feature_id" in changed:
                is_part = changed["feature_id"] is not None
                changed["task_type"] = TaskType.FEATURE if is_part else TaskType.STANDALONE
            graph.tasks[task_id] = replace(graph.tasks[task_id], **changed)
        case events.TaskDeleted(task_id=task_id):
            del graph.tasks[task_id]
            graph.edges = {edge for edge in graph.edges if task_id not in edge}
        case events.EdgeAdded(blocker_id=blocker, blocked_id=blocked):
            graph.edges.add((blocker, blocked))
        case events.EdgeRemoved(blocker_id=blocker, blocked_id=blocked):
            graph.edges.discard((blocker, blocked))
        case events.FeatureAdded(feature=feature) | events.FeatureChanged(feature=feature):
            graph.features[feature.id] = feature
        case events.FeatureDeleted(feature_id=feature_id):
            del graph.features[feature_id]
        case (
            events.TaskClaimed()
            | events.TaskDone()
            | events.TaskRejected()
            | events.TaskStruck()
            | events.TaskReleased()
            | events.TaskConflicted()
            | events.TaskFailed()
            | events.TaskBlocked()
            | events.TaskUnblocked()
            | events.TaskReopened()
        ):
            _move(graph, event)
        case session_events.ReviewStarted(task_id=task_id):
            found = graph.tasks.get(task_id)
            if found is not None and found.status is TaskStatus.IN_PROGRESS:
                graph.tasks[task_id] = replace(found, review=OPEN_REVIEW)
        case _:
            pass


def _move(graph: ReplayedGraph, event: events.TaskMoved) -> None:
    task = graph.tasks[event.task_id]
    claimed_by = event.worker if isinstance(event, events.TaskClaimed) else None
    # A claim and its return leave the reason of the last attempt alone: the next brief needs it.
    keeps = isinstance(event, events.TaskClaimed | events.TaskReleased)
    graph.tasks[event.task_id] = replace(
        task,
        status=event.status,
        attempt=event.attempt,
        retry_count=event.retry_count,
        strikes=event.strikes,
        claimed_by=claimed_by,
        reason=task.reason if keeps else event.reason,
        verification_status=event.verification_status,
        review=event.review,
    )
