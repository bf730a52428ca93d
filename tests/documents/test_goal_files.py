"""Names of goals, and where their documents are."""

import pytest

from ralph.documents.feature_files import GoalFiles, goal_of, slug


@pytest.mark.parametrize(
    ("goal", "name"),
    [
        ("Add a shop", "add-a-shop"),
        ("  Caf\u00e9: M\u00fcller & S\u00f6hne!  ", "cafe-muller-sohne"),
        ("shop", "shop"),
        ("\u5e97\u8217\u641c\u7d22", "\u5e97\u8217\u641c\u7d22"),
        ("\u041f\u043e\u0438\u0441\u043a, v2", "\u043f\u043e\u0438\u0441\u043a-v2"),
        ("\u0928\u0940\u0932\u093e", "\u0928\u0940\u0932\u093e"),
        ("!\u2014\U0001f642", ""),
        ("x" * 80, "x" * 50),
        ("nine-letter " * 9, "nine-letter-nine-letter-nine-letter-nine-letter"),
    ],
)
def test_a_goal_has_a_short_plain_name(goal: str, name: str) -> None:
    assert slug(goal) == name
    assert len(name) <= 50
    assert slug(name) == name


def test_its_documents_lie_below_its_folder() -> None:
    files = GoalFiles(name="shop")
    assert files.plan == ".ralph/specs/shop/implementation/plan.md"
    assert files.runbook == ".ralph/specs/shop/implementation/execution-runbook.md"


@pytest.mark.parametrize(
    ("folder", "goal"),
    [
        ("/home/me/p/.ralph/specs/shop/implementation/step01", "shop"),
        ("/home/me/p/.ralph/specs/shop", "shop"),
        ("/home/me/shop/implementation", "shop"),
        ("/home/me/tasks/", "tasks"),
    ],
)
def test_a_folder_belongs_to_a_goal(folder: str, goal: str) -> None:
    assert goal_of(folder) == goal
