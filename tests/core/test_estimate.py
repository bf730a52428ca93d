"""What tasks may take, judged by those that are done."""

import pytest

from ralph.core.cost import CostSummary, estimate, session_cost


@pytest.mark.parametrize(
    ("tasks", "done", "spent", "said"),
    [
        (3, 0, [], "at least 6 sessions; cost unknown, no task is done yet"),
        (1, 1, [1.0], "about 1 session and $1.00, judged by 1 task done here"),
        (3, 2, [1.0, 2.0, 3.0], "about 5 sessions and $9.00, judged by 2 tasks done here"),
        (2, 1, [1.0, None], "about 4 sessions and $4.00, judged by 1 task done here"),
        (1, 1, [None], "about 1 session and unknown cost, judged by 1 task done here"),
    ],
)
def test_an_estimate_says_from_how_many_tasks_it_comes(
    tasks: int, done: int, spent: list[float | None], said: str
) -> None:
    total = sum(map(session_cost, spent), start=CostSummary())
    assert estimate(tasks, done, total, least=2) == said
