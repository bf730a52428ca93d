"""`config.sh` and variables: people's habits keep working."""

import pytest

from tests.config.conftest import ProjectFolder

TEAM = """\
MODEL="opus"
MAX_TEAMMATES=5
GATE_COVERAGE="make coverage"
GATE_TEST="npm test"
GATE_TYPECHECK=""
GATE_LINT="npm run lint"
export MIN_TEST_COVERAGE=90
MAX_CONSECUTIVE_FAILURES="4"
MEMORIES_ENABLED=false
"""

STORIES = """\
PRD_PATH=".agents/tasks/prd.md"
AGENT_CMD="codex exec --yolo -"
PRD_AGENT_CMD="claude"
NO_COMMIT=true
MAX_ITERATIONS=25
STALE_SECONDS=0
"""


def test_a_teams_file(project: ProjectFolder) -> None:
    project.write(".ralph/config.sh", TEAM)
    loaded = project.load()
    config = loaded.config
    assert loaded.warnings == ()
    assert config.models.model == "opus"
    assert config.models.strategy == "fixed"
    assert config.workers.count == 5
    assert list(config.gates.commands) == ["test", "lint", "coverage"], "in the documented order"
    assert config.gates.min_coverage == 90
    assert config.breaker.failures == 4
    assert config.memory.enabled is False


def test_the_file_of_the_stories(project: ProjectFolder) -> None:
    project.write(".agents/ralph/config.sh", STORIES)
    loaded = project.load()
    assert loaded.warnings == ()
    assert loaded.config.agent.command == "codex exec --yolo -"
    assert loaded.config.agent.name == "command"
    assert loaded.config.agent.interactive == "claude"
    assert loaded.config.git.commit == "none"
    assert loaded.config.execution.limit == 25
    assert loaded.variables["PRD_PATH"] == ".agents/tasks/prd.md"


def test_logs_go_to_a_folder_of_ralphs_own(project: ProjectFolder) -> None:
    project.write(".agents/ralph/config.sh", 'RUNS_DIR=".ralph/logs/of-runs/"\n')
    loaded = project.load()
    assert loaded.warnings == ()
    assert loaded.runs_dir == f"{loaded.root}/.ralph/logs/of-runs"


@pytest.mark.parametrize(
    "place", ["logs", "/var/log", ".ralph", ".ralph/../logs", ".ralph/features", ".ralph/.tmp"]
)
def test_logs_that_sessions_could_reach_stay_where_they_are(
    project: ProjectFolder, place: str
) -> None:
    project.write(".agents/ralph/config.sh", f"RUNS_DIR={place}\n")
    loaded = project.load()
    (warning,) = loaded.warnings
    assert "logs stay in .ralph/runs" in warning
    assert loaded.runs_dir == f"{loaded.root}/.ralph/runs"


def test_what_is_known_and_has_no_effect_is_said(project: ProjectFolder) -> None:
    project.write(".agents/ralph/config.sh", "TMP_DIR=.ralph/.tmp/\nSTALE_SECONDS=0\n")
    assert project.load().warnings == ()
    project.write(".agents/ralph/config.sh", "TMP_DIR=/tmp\nSTALE_SECONDS=600\n")
    first, second = project.load().warnings
    assert "TMP_DIR has no effect: sessions' folders hold logins" in first
    assert "STALE_SECONDS has no effect: what a dead run held is given back at once" in second


def test_gates_of_both_files_are_joined(project: ProjectFolder) -> None:
    project.write(".agents/ralph/config.sh", "GATE_LINT=a\nGATE_TEST=b\n")
    project.write(".ralph/config.sh", "GATE_TEST=c\nGATE_BUILD=d\n")
    assert project.load().config.gates.commands == {"test": "c", "lint": "a", "build": "d"}


@pytest.mark.parametrize("text", ["", "false", "0", "no", "False"])
def test_commits_stay_on_unless_they_are_switched_off(project: ProjectFolder, text: str) -> None:
    project.write(".ralph/config.sh", f"NO_COMMIT={text}\n")
    assert project.load().config.git.commit == "auto"
    assert project.load(environ={"NO_COMMIT": text}).config.git.commit == "auto"


@pytest.mark.parametrize("text", ["true", "1", "yes", "TRUE"])
def test_commits_are_switched_off(project: ProjectFolder, text: str) -> None:
    assert project.load(environ={"NO_COMMIT": text}).config.git.commit == "none"


def test_a_variable_answers_the_file_but_not_the_settings(project: ProjectFolder) -> None:
    project.write(".ralph/config.sh", "NO_COMMIT=true\n")
    assert project.load(environ={"NO_COMMIT": "false"}).config.git.commit == "auto"
    settings = '[git]\ncommit = "none"\n'
    assert project.load(settings, {"NO_COMMIT": "false"}).config.git.commit == "none"


def test_long_and_short_variables(project: ProjectFolder) -> None:
    config = project.load(
        environ={
            "RALPH_AGENT": "claude",
            "RALPH_MODEL_STRATEGY": "escalate",
            "RALPH_EXECUTION_MAX_RETRIES": " 7 ",
            "RALPH_EXECUTION_FAIL_FAST": "yes",
            "RALPH_AGENT_PASS_ENV": "GH_TOKEN, NPM_TOKEN,",
            "RALPH_BUDGET_RUN_USD": "2.5",
            "RALPH_TIMEOUTS_AFTER_RESULT": "5s",
            "RALPH_NOTIFY_ON": "",
        }
    ).config
    assert config.agent.name == "claude"
    assert config.models.strategy == "escalate"
    assert config.execution.max_retries == 7
    assert config.execution.fail_fast is True
    assert config.agent.pass_env == ("GH_TOKEN", "NPM_TOKEN")
    assert config.budget.run_usd == 2.5
    assert config.timeouts.after_result == "5s"
    assert config.notify.on == ("complete", "failed", "paused")


def test_editors_that_mark_their_files_do_no_harm(project: ProjectFolder) -> None:
    project.write(".ralph/config.sh", b"\xef\xbb\xbfMODEL=opus\r\n")
    loaded = project.load(b"\xef\xbb\xbf[execution]\r\nlimit = 3\r\n")
    assert loaded.config.execution.limit == 3
    assert loaded.source("execution.limit").line == 2
    assert loaded.config.models.model == "opus"
