"""What may happen in the stories of `test_promises.py`."""

from hypothesis import strategies as st
from msgspec.structs import replace

from ralph.core.task import Task, TaskDraft
from ralph.core.transitions import (
    Accepted,
    Blocked,
    Conflicted,
    GaveUp,
    Postponed,
    Rejected,
    Released,
    Struck,
    Transition,
)
from ralph.store.store import Store
from tests.contracts.store_test_helpers import OTHER, WORKER
from tests.core.graph_model import GraphModel

WORKERS = st.sampled_from([WORKER, OTHER])
SETTLEMENTS: st.SearchStrategy[Transition] = st.sampled_from(
    [
        Accepted(),
        Accepted(),
        Accepted(),
        Rejected("red"),
        Struck("silent"),
        Released("interrupted"),
        Postponed("not judged yet"),
        Conflicted("both in a.py"),
        GaveUp("impossible"),
        GaveUp("impossible"),
        Blocked("needs a key"),
    ]
)


SHAPES = st.lists(
    st.tuples(st.sampled_from([0, 1, 2, 9]), st.frozensets(st.integers(0, 5), max_size=2)),
    min_size=6,
    max_size=6,
)
"""For each task its parent, if that comes before it, and its blockers."""
PLACES = st.integers(0, 9) | st.sampled_from(
    ["same", "same", "parent", "child", "sibling", "blocker", "dependent", "nowhere"]
)
"""Where to look for a task: by number, or near the last one. Trouble is local."""
DEEDS = ["done", "failed", "failed", "reset", "retry", "retry", "retry", "delete"]
WHICH = st.sampled_from([0, 0, 0, 1, 1, 2, 3])
"""Which claim, counted from the newest: the dead may come back and try."""
FILES = st.sampled_from([(), (), (), ("x",), ("x", "y"), ("y",)])
"""What a task will modify."""


def timeless(task: Task) -> Task:
    # Each store makes names for features of its own.
    return replace(task, created_at="", updated_at="", feature_id=None)


def in_a_feature(store: Store | GraphModel, draft: TaskDraft) -> TaskDraft:
    """Every third task is in one, every third in another, as far as its parent is in none."""
    assert draft.id is not None
    name = {0: "a", 1: "b"}.get(int(draft.id[-1]) % 3)
    feature = store.features.get(name) if name is not None else None
    return replace(draft, feature_id=feature.id if feature is not None else None)
