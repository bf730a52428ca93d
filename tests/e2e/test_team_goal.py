"""`ralph team plan` and `ralph team run`: from a sentence to code tasks, and to commits."""

import json

import pytest

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import refused
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
  ralph memory add "learned in $RALPH_STORY_ID"
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
    text = (project.path.parent / "step01-task-02.told").read_text()
    assert "Runbook: sell-tea" in text
    assert "## Overview" in text
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
    file = project.path / ".ralph/checkouts/step01-task-02.told"
    assert "learned in step01-task-01" in file.read_text()
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
    terminal.until(lambda: b"approve the plan of sell-tea?" in terminal.seen, "the question")
    assert b"step01-task-02" in terminal.seen
    terminal.type(b"\n")
    terminal.until(lambda: b"next: ralph team run sell-tea" in terminal.seen, "the end")
    assert terminal.ended() == 0
    assert "- Ours" in (project.path / ".ralph/agents.md").read_text()
    assert project.git("show", f"HEAD:{SPECS}/design/detailed-design.md") == "## Ours"


TEAMMATE = f"""\
cat > /dev/null
case "$RALPH_STORY_ID" in *02) echo "<task-failed>$RALPH_TASK_ID</task-failed> no pot"; exit;; esac
echo x > one.txt
printf '\\n### By hand\\n> boil the water first\\n' >> .ralph/guardrails.md
printf '\\n## Lessons\\n\\n- warm the pot\\n' >> .ralph/guardrails.md
for file in .ralph/agents.md {SPECS}/design/detailed-design.md; do echo other >> $file; done
git add -A; git commit -qm one
sed -i '1i ---\\nStatus: IN_REVIEW\\n---' {TASKS}/task-01-one.code-task.md
"""


def test_what_teammates_write_into_the_files_of_a_goal(project: Project) -> None:
    a_team(project)
    project.ralph("team", "plan", "Sell tea", "--yes")
    project.write("agent.sh", TEAMMATE)
    project.git("commit", "-qam", "other agents")
    guide = (project.path / ".ralph/agents.md").read_text()
    design = (project.path / SPECS / "design/detailed-design.md").read_text()
    args = ("--workers", "2", "--no-review", "--max-retries", "0")
    out = project.ralph("team", "run", "sell-tea", *args, code=5)
    assert stands(project) == {"step01-task-01": "done", "step01-task-02": "failed"}, out
    assert (project.path / ".ralph/agents.md").read_text() == guide
    assert (project.path / SPECS / "design/detailed-design.md").read_text() == design
    lessons = (project.path / ".ralph/guardrails.md").read_text()
    assert lessons.count("boil the water first") == 1
    assert lessons.count("warm the pot") == 1
    assert lessons.count("> Two (step01-task-02) failed: no pot") == 1
    assert [lessons.count(f"\n## {name}\n") for name in ("Fixes", "Patterns")] == [1, 1]
    assert "no pot" in (project.path / ".ralph/blockers.md").read_text()
    assert project.git("status", "--porcelain") == ""


ADDING = f"""\
cat > /dev/null; echo x > $RALPH_STORY_ID.txt
if [ $RALPH_STORY_ID = step01-task-01 ]; then
  cd {TASKS}
  printf -- '---\\nStatus: COMPLETED\\n---\\n# Task: Three\\n' > task-03-three.code-task.md
  echo '# Task: Twice' > task-02-twice.code-task.md
  git add -A; git commit -qm more
fi
{CLAIM}
"""


def test_a_code_task_that_a_session_adds_is_built_or_left_out(project: Project) -> None:
    a_team(project)
    project.ralph("team", "plan", "Sell tea", "--yes")
    project.write("agent.sh", ADDING)
    project.git("commit", "-qam", "other agents")
    out = project.ralph("team", "run", "sell-tea", "--workers", "2", "--no-review")
    assert stands(project) == dict.fromkeys([f"step01-task-0{n}" for n in (1, 2, 3)], "done")
    assert (project.path / "step01-task-03.txt").exists(), "built, whatever its file said"
    assert out.count("task-02-twice.code-task.md is left out") == 1
    project.ralph("team", "run", "sell-tea", "--no-review")
    assert project.git("status", "--porcelain") == ""


OLDER = f"""\
cat > /dev/null
case "$RALPH_STORY_ID" in *02) ralph task block $RALPH_TASK_ID -r "needs a kettle"; exit;; esac
echo x > one.txt
printf '\\n## Fixes\\n### fix-1-a\\n> rinse the pot\\n' >> .ralph/guardrails.md
sed -i 's/^## Status:.*/## Status: IN_REVIEW/' {TASKS}/task-01-one.code-task.md
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_claim_in_an_older_heading_and_a_task_that_blocks_itself(
    project: Project, workers: str
) -> None:
    a_team(project)
    project.ralph("team", "plan", "Sell tea", "--yes")
    one = "# Task: One\n## Status: PENDING\n## Description\n"
    project.write(f"{TASKS}/task-01-one.code-task.md", one)
    project.write(f"{TASKS}/task-02-two.code-task.md", "# Task: Two\n")
    project.write("agent.sh", OLDER)
    project.git("commit", "-qam", "other agents and tasks")
    args = ("--workers", workers, "--no-review", "--max-retries", "0")
    out = project.ralph("team", "run", "sell-tea", *args, code=2)
    assert stands(project) == {"step01-task-01": "done", "step01-task-02": "blocked"}, out
    assert (project.path / f"{TASKS}/task-01-one.code-task.md").read_text().endswith(one)
    lessons = (project.path / ".ralph/guardrails.md").read_text()
    assert (lessons.count("## Fixes\n"), lessons.count("rinse the pot")) == (1, 1)
    assert "needs a kettle" in (project.path / ".ralph/blockers.md").read_text()
