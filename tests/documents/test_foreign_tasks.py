"""Tasks in the files of others."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.errors import RalphError, UnusableData
from ralph.core.task import LONGEST_TEXT, TaskStatus
from ralph.documents.task_import import TaskLine, read_foreign_tasks


def tasks(value: object, name: str = "x.json") -> list[TaskLine]:
    found = read_foreign_tasks(json.dumps(value).encode(), name, "prd")
    assert found is not None
    return [one.task for one in found]


def test_stories_of_a_prd() -> None:
    text = "### [x] US-001: One\n- [x] a\n### [ ] US-002: Two\nDepends on: US-001\n"
    found = read_foreign_tasks(text.encode(), "prd.md", "prd")
    assert found is not None
    one, two = (each.task for each in found)
    assert (one.alias, one.status, one.description) == ("US-001", TaskStatus.DONE, "- [ ] a")
    assert (two.blockers, two.priority, two.feature) == (("US-001",), 2, "prd")


def test_user_stories() -> None:
    (one,) = tasks(
        {
            "project": "Shop",
            "userStories": [
                {
                    "id": "US-001",
                    "title": "Sign up",
                    "description": "As a visitor",
                    "acceptanceCriteria": ["a form", "a mail"],
                    "priority": 3,
                    "passes": True,
                    "notes": None,
                }
            ],
        }
    )
    assert (one.alias, one.priority, one.status) == ("US-001", 3, TaskStatus.DONE)
    assert one.description == "As a visitor\n\n- [ ] a form\n- [ ] a mail"


def test_stories_with_dependencies() -> None:
    one, two = tasks(
        {
            "stories": [
                {"id": "A", "title": "a", "status": "in_progress"},
                {"id": "B", "title": "b", "status": "done", "dependsOn": ["A", "A"]},
            ]
        }
    )
    assert (one.status, two.status, two.blockers) == (TaskStatus.PENDING, TaskStatus.DONE, ("A",))


def test_an_implementation_plan() -> None:
    one, two = tasks(
        {
            "tasks": [
                {
                    "id": "auth-01",
                    "description": "Implement login API\nwith tokens",
                    "priority": 1,
                    "status": "complete",
                    "dependencies": [],
                    "verification_criteria": ["it answers 200"],
                },
                {
                    "id": "auth-02",
                    "description": "b",
                    "status": "blocked",
                    "dependencies": ["auth-01"],
                    "notes": "no key",
                },
            ]
        }
    )
    assert (one.title, one.status) == ("Implement login API", TaskStatus.DONE)
    assert "- [ ] it answers 200" in one.description
    assert (two.status, two.reason, two.blockers) == (TaskStatus.BLOCKED, "no key", ("auth-01",))


def test_issues() -> None:
    one, two = tasks(
        [
            {
                "number": 7,
                "title": "Crash",
                "body": "It crashes.\n\n**Depends on:** #9, #404",
                "labels": [{"name": "bug"}],
                "state": "OPEN",
                "url": "https://example.org/7",
            },
            {"number": 9, "title": "Leak", "body": None, "state": "CLOSED"},
        ]
    )
    assert (one.alias, one.blockers, one.feature) == ("GH-7", ("GH-9",), "issues")
    assert one.description.endswith("Labels: bug\n\nhttps://example.org/7")
    assert two.status is TaskStatus.DONE


@pytest.mark.parametrize("text", ['{"title": "a"}\n{"title": "b"}', '{"title": "a"}', "", "x"])
def test_json_lines_are_none_of_these(text: str) -> None:
    assert read_foreign_tasks(text.encode(), "x.jsonl", "prd") is None


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"id": "A"}, "the title is empty"),
        ({"title": "a"}, "object missing required field `id`"),
        ({"id": "A", "title": " "}, "the title is empty"),
        ({"id": " ", "title": "a"}, "'' cannot be an alias"),
        ({"id": "a\nb", "title": "a"}, "'a b' cannot be an alias"),
        (
            {"id": "A", "title": "a", "priority": "high"},
            "expected `int`, got `str` - at `$.priority`",
        ),
        (
            {"id": "A", "title": "a", "acceptanceCriteria": "b"},
            "expected `array`, got `str` - at `$.acceptanceCriteria`",
        ),
        ("A", "it is not an object"),
    ],
)
def test_what_is_wrong_is_named_with_its_entry(entry: object, why: str) -> None:
    with pytest.raises(UnusableData) as caught:
        tasks({"userStories": [{"id": "X", "title": "x"}, entry]})
    assert str(caught.value) == f"x.json, entry 2: {why}"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"stories": [{"id": "A"', "it is not whole, but ends in the middle"),
        ("[", "it is not whole, but ends in the middle"),
        ("{}", "there is not a list of userStories or stories or tasks in it"),
        ('{"stories": {}}', "there is not a list of userStories or stories or tasks in it"),
    ],
)
def test_a_file_that_is_none_of_these_says_so(text: str, why: str) -> None:
    with pytest.raises(UnusableData) as caught:
        read_foreign_tasks(text.encode(), "x.json", "prd")
    assert str(caught.value) == f"x.json: {why}"


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["userStories", "stories", "tasks", "id", "title", "number", "labels"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(ANYTHING)
def test_any_json_is_read_or_refused(value: object) -> None:
    with suppress(RalphError):
        found = read_foreign_tasks(json.dumps(value).encode(), "x.json", "prd")
        assert found is None or all(one.task.title for one in found)


LONG = "x" * (LONGEST_TEXT + 1)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("prd.md", f"### [ ] US-001: {LONG}\n- [ ] a\n"),
        ("prd.md", f"### [ ] US-001: One\n{LONG}\n- [ ] a\n"),
        ("issues.json", json.dumps([{"number": 1, "title": LONG}])),
        ("issues.json", json.dumps([{"number": 1, "title": "One", "body": LONG}])),
        ("prd.json", json.dumps({"stories": [{"id": "US-001", "title": LONG}]})),
        ("prd.json", json.dumps({"userStories": [{"id": "US-001", "title": LONG}]})),
        ("plan.json", json.dumps({"tasks": [{"id": "1", "description": LONG}]})),
    ],
)
def test_what_is_too_long_is_refused_and_not_cut(name: str, content: str) -> None:
    with pytest.raises(UnusableData, match=r"long, and may have|larger than"):
        read_foreign_tasks(content.encode(), name, "prd")
