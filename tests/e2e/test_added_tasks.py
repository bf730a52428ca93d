"""Tasks that sessions add belong to what the run works on."""

import json
import os

import pytest

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import CLAIM
from tests.e2e.ralph_process import RALPH
from tests.e2e.test_build import AGENT, PLAN, stories

ADD = f'[ -e added ] || {{ touch added; "{RALPH}" task add "One more thing" >/dev/null; }}'
"""Adds a task, the first time; that file is nobody's work."""
MCP = f"""[ -e added ] || {{ touch added; "{os.path.dirname(RALPH)}/python" - <<'END'
from ralph.inside.socket_client import call_run
more = {{"task_id": "more-01", "description": "One more thing"}}
call_run("use_tool", {{"name": "ralph_add_task", "arguments": more}})
END
}}
"""


def outcome(text: str) -> dict[str, object]:
    return json.loads(text.splitlines()[-1])  # type: ignore[no-any-return]


@pytest.mark.parametrize("add", [ADD, MCP], ids=["command", "tool"])
def test_a_task_added_while_stories_are_built_is_built_before_it_is_complete(
    project: Project, add: str
) -> None:
    stories(project, agent=f"{add}\n{AGENT}; echo $RALPH_TASK_ID >> work.txt; {CLAIM}")
    project.write(".gitignore", "added\n.ralph/\n")
    text = project.ralph("story", "build", "--json")
    assert outcome(text)["done"] == 3
    assert "no longer in" not in text
    tasks = json.loads(project.quick("task", "list", "--all", "--json"))
    added = next(one for one in tasks if one["title"] == "One more thing")
    assert added["status"] == "done"
    assert added["feature_id"] == project.task("US-001")["feature_id"]


def test_a_task_added_while_planning_is_built_by_the_build(project: Project) -> None:
    stories(project, agent=f"{ADD}; echo more >> {PLAN}; {CLAIM}")
    project.ralph("story", "plan", "1")
    task = next(
        one
        for one in json.loads(project.quick("task", "list", "--all", "--json"))
        if one["title"] == "One more thing"
    )
    assert task["status"] == "pending"
    project.agent(f"echo $RALPH_TASK_ID >> work.txt; {CLAIM}")
    assert outcome(project.ralph("story", "build", "--json"))["done"] == 3
    assert project.status(task["id"]) == "done"


def test_a_task_added_below_the_planning_task_outlives_it(project: Project) -> None:
    below = ADD.replace('more thing"', 'more thing" --parent "$RALPH_TASK_ID"')
    stories(project, agent=f"{below}; echo more >> {PLAN}; {CLAIM}")
    project.ralph("story", "plan", "1")
    project.agent(f"echo $RALPH_TASK_ID >> work.txt; {CLAIM}")
    assert outcome(project.ralph("story", "build", "--json"))["done"] == 3
    tasks = json.loads(project.quick("task", "list", "--all", "--json"))
    assert [one["status"] for one in tasks if one["title"] == "One more thing"] == ["done"]


def test_a_run_of_one_task_also_does_what_its_session_adds(project: Project) -> None:
    project.write(".gitignore", "added\n.ralph/\n")
    project.agent(f"{ADD}; echo $RALPH_TASK_ID >> work.txt; {CLAIM}")
    mine, other = project.add("mine"), project.add("another")
    ended = outcome(project.ralph("run", mine, "--json"))
    assert (ended["outcome"], ended["done"]) == ("complete", 2)
    assert project.status(other) == "pending"
