"""`ralph team plan` and `ralph team run`: from a sentence to code tasks, and to commits."""

import json

from tests.e2e.conftest import Project
from tests.e2e.stage import refused
from tests.e2e.terminal import Terminal

CLAIM = 'echo "<task-done>$RALPH_TASK_ID</task-done>"'
SPECS = ".ralph/specs/sell-tea"
TASKS = f"{SPECS}/implementation/step01"
ONE = "# Task: One\\r\\nBlocked-By: none\\r\\n- Files to Modify: `one.txt`\\r\\n"
TWO = "---\\nOwner: me\\nBlocked-By: task-01\\n---\\n# Task: Two\\n"
STEPS = f"""\
prompt=$(cat)
case "$prompt" in
*"modelled on"*)
  mkdir -p {SPECS}/referents; cd {SPECS}/referents
  printf '## Constraints\\n- no cookies\\n\\n## Patterns\\n- small files\\n' > catalog.md;;
*"Design how"*)
  touch stray.txt; mkdir -p {SPECS}/design
  printf '# Design\\n\\n## Overview\\n\\n## Data\\n' > {SPECS}/design/detailed-design.md;;
*"Break the design"*)
  mkdir -p {TASKS}; cd {TASKS}; echo plan > ../plan.md
  printf -- '{ONE}' > task-01-one.code-task.md
  if test -n "$HALF"; then exit 1; fi
  printf -- '{TWO}' > task-02-two.code-task.md;;
*)
  echo "$RALPH_STORY_ID" > "$RALPH_STORY_ID.txt"
  ralph guardrails add "learned in $RALPH_STORY_ID"
  printf '%s\\n' "$prompt" > ../"$RALPH_STORY_ID.told";;
esac
{CLAIM}
"""


def a_team(project: Project) -> None:
    project.ralph("init")
    project.write("Makefile", "test:\n\ttest -e README.md\n")
    project.write("agent.sh", STEPS)
    project.write(".ralph.toml", '[agent]\ncommand = "sh agent.sh"\n')
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "set up")


def stands(project: Project) -> dict[str, str]:
    return {
        one["alias"]: one["status"]
        for one in json.loads(
            project.ralph("task", "list", "--all", "--feature", "sell-tea", "--json")
        )
    }


def test_a_goal_is_planned_step_by_step_and_waits_for_approval(project: Project) -> None:
    a_team(project)
    out = project.ralph("team", "plan", "Sell tea", code=6)
    assert "waits for approval" in out
    assert not (project.path / "stray.txt").exists()
    assert project.git("status", "--porcelain") == ""
    assert project.commits()[:3] == [
        "Plan sell-tea: tasks", "Plan sell-tea: design", "Plan sell-tea: referents",
    ]  # fmt: skip
    out = project.ralph("team", "plan", "sell-tea", "--yes")
    assert out.splitlines()[-1] == "next: ralph team run sell-tea"
    guide = (project.path / ".ralph/agents.md").read_text()
    for words in ("- make", "- Overview", "- no cookies", "`make test`"):
        assert words in guide
    runbook = (project.path / SPECS / "implementation/execution-runbook.md").read_text()
    assert "| step01-task-02 | Two | step01-task-01 | not said |" in runbook
    assert (project.path / ".ralph/config.sh").read_text() == 'GATE_TEST="make test"\n'
    assert project.git("status", "--porcelain") == ""
    assert stands(project) == {"step01-task-01": "pending", "step01-task-02": "pending"}
    feature = json.loads(project.ralph("feature", "show", "sell-tea", "--json"))
    assert feature["spec_path"] == f"{SPECS}/design/detailed-design.md"
    assert project.commits()[0] == "Plan sell-tea"
    project.ralph("run", "sell-tea")
    assert stands(project) == {"step01-task-01": "done", "step01-task-02": "done"}
    assert (
        (project.path / TASKS / "task-02-two.code-task.md")
        .read_text()
        .startswith("---\nStatus: COMPLETED\nCompleted-By: teammate-1\n")
    )
    assert project.git("status", "--porcelain") == ""


def test_planning_goes_on_where_it_stopped(project: Project) -> None:
    a_team(project)
    project.write(f"{SPECS}/referents/catalog.md", "mine\n")
    project.ralph("team", "plan", "Sell tea", "--yes", code=6, HALF="1")
    assert (project.path / TASKS / "task-01-one.code-task.md").exists()
    project.ralph("breaker", "reset")
    project.ralph("team", "plan", "Sell tea", "--yes")
    assert len(stands(project)) == 2
    assert "Plan sell-tea: referents" not in project.commits()
    assert (project.path / SPECS / "referents/catalog.md").read_text() == "mine\n"
    (project.path / SPECS / "design/detailed-design.md").unlink()
    project.ralph("team", "plan", "sell-tea")
    assert (project.path / SPECS / "design/detailed-design.md").exists()
    refused(project.try_ralph("team", "plan", "!!"), 64, "a few letters")


def test_what_is_redone_or_broken_is_not_run(project: Project) -> None:
    a_team(project)
    refused(project.try_ralph("team", "run", "sell-tea"), 66, "no goal", "ralph team plan")
    project.ralph("team", "run", "Sell tea", "--dry-run")
    assert not (project.path / SPECS).exists()
    for name in ("referents/catalog", "design/detailed-design", "implementation/plan"):
        project.write(f"{SPECS}/{name}.md", "mine\n")
    project.write(f"{TASKS}/task-02-two.code-task.md", "# Task: Two\n")
    project.ralph("team", "plan", "Sell tea", "--yes")
    refused(project.try_ralph("team", "run", "sel-tea", "--yes"), 66, "did you mean sell-tea?")
    project.ralph("team", "plan", "sell-tea", "--redo", "design", code=6)
    project.ralph("team", "run", "sell-tea", code=6)
    project.ralph("team", "plan", "sell-tea", "--yes")
    commits = project.commits()
    two = project.path / TASKS / "task-02-two.code-task.md"
    two.write_text("Blocked-By: task-07\n")
    refused(project.try_ralph("team", "run", "sell-tea"), 65, "there is no such code task")
    assert (two.read_text(), project.commits()) == ("Blocked-By: task-07\n", commits)


def test_a_goal_is_run_by_one_worker_and_its_files_are_stamped(project: Project) -> None:
    a_team(project)
    project.ralph("team", "run", "Sell tea", "--yes", "--workers", "1")
    assert stands(project) == {"step01-task-01": "done", "step01-task-02": "done"}
    one, two = (
        (project.path / SPECS / f"implementation/step01/{name}.code-task.md").read_bytes()
        for name in ("task-01-one", "task-02-two")
    )
    assert one.startswith(b"---\r\nStatus: COMPLETED\r\nCompleted-By: teammate-1\r\n")
    assert one.endswith(
        b"---\r\n# Task: One\r\nBlocked-By: none\r\n- Files to Modify: `one.txt`\r\n"
    )
    assert two.endswith(b"\nOwner: me\nBlocked-By: task-01\n---\n# Task: Two\n")
    assert project.git("status", "--porcelain") == ""
    told = (project.path.parent / "step01-task-02.told").read_text()
    assert "Runbook: sell-tea" in told
    assert "## Overview" in told
    metrics = json.loads((project.path / ".ralph/metrics.json").read_text())
    assert metrics["per_teammate"] == {"teammate-1": {"completed": 2, "failed": 0}}


def test_a_goal_is_run_by_several_workers(project: Project) -> None:
    a_team(project)
    project.ralph("team", "plan", "Sell tea", "--yes")
    project.ralph("team", "run", "sell-tea", "--workers", "2")
    assert stands(project) == {"step01-task-01": "done", "step01-task-02": "done"}
    assert (project.path / "step01-task-02.txt").exists()
    lessons = (project.path / ".ralph/guardrails.md").read_text()
    assert "learned in step01-task-01" in lessons
    assert "learned in step01-task-02" in lessons
    told = project.path / ".ralph/checkouts/step01-task-02.told"
    assert "learned in step01-task-01" in told.read_text()
    text = (project.path / SPECS / "implementation/step01/task-02-two.code-task.md").read_text()
    assert "Status: COMPLETED\nCompleted-By: teammate-" in text
    assert project.git("status", "--porcelain") == ""
    metrics = json.loads((project.path / ".ralph/metrics.json").read_text())
    assert metrics["successful_tasks"] == 2
    commits = project.commits()
    project.ralph("team", "run", "sell-tea", "--workers", "2")
    assert project.commits() == commits


TALKER = f"""
import os, sys
print("told of", "sell tea" in open(sys.argv[1]).read().lower(), flush=True)
sys.stdin.readline()
os.makedirs("{SPECS}/design", exist_ok=True)
open("{SPECS}/design/detailed-design.md", "w").write("## Ours\\n")
"""


def test_a_person_designs_with_an_agent_looks_and_approves(project: Project) -> None:
    a_team(project)
    talker = project.path.parent / "talker.py"
    talker.write_text(TALKER)
    settings = (project.path / ".ralph.toml").read_text()
    talks = f'interactive = "python3 {talker} {{prompt}}"\n'
    project.write(".ralph.toml", settings + talks)
    terminal = Terminal(project, "team", "plan", "Sell tea")
    terminal.until(lambda: b"told of True" in terminal.seen, "the agent")
    terminal.type(b"go\n")
    terminal.until(lambda: b"approve, look, redo" in terminal.seen, "the question")
    terminal.type(b"l\n")
    terminal.until(lambda: terminal.seen.count(b"approve, look, redo") == 2, "what is planned")
    assert b"step01-task-02" in terminal.seen
    terminal.type(b"a\n")
    terminal.until(lambda: b"next: ralph team run sell-tea" in terminal.seen, "the end")
    assert terminal.ended() == 0
    assert "- Ours" in (project.path / ".ralph/agents.md").read_text()
    assert project.git("show", f"HEAD:{SPECS}/design/detailed-design.md") == "## Ours"
