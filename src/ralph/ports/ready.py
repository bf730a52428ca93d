"""Which tasks of a target could be handed out now."""

from ralph.core.target import Everything, OneFeature, Subtree, Target
from ralph.core.task import Task
from ralph.ports.store import Filter, Store


def ready_in(store: Store, target: Target, limit: int) -> list[Task]:
    """The first of them, in the order of their turn."""
    match target:
        case Everything():
            return store.tasks(Filter(ready=True, limit=limit))
        case OneFeature(feature):
            return store.tasks(Filter(ready=True, feature=feature, limit=limit))
        case Subtree(root):
            inside = {one.id for one in store.subtree(root)}
            return [one for one in store.tasks(Filter(ready=True)) if one.id in inside][:limit]
