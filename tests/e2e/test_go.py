"""`ralph "what you want"`: from a wish to commits, whatever its size."""

import json
import signal

import pytest

from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.fault_helpers import refused
from tests.e2e.logins import log_in
from tests.e2e.terminal import INTERRUPT, Terminal
from tests.e2e.test_init import fresh, install, settings
from tests.e2e.test_team_goal import a_team
from tests.e2e.test_validate_and_auto import END, everything, ran

__all__ = ["fresh"]
WISH = "add a dark mode"
ASKED = b"build it? [Y/n]"


def tasks(project: Project) -> list[str]:
    return [one["title"] for one in json.loads(project.ralph("task", "list", "--all", "--json"))]


def test_one_command_makes_a_project_and_builds_a_wish(fresh: Project) -> None:
    said = fresh.ralph(WISH, "--yes", AGENT_CMD=DONE)
    assert "gate     test: make test  passes" in said
    assert "plan     one task: add a dark mode" in said
    unknown = "at least 1 session; cost unknown, no task is done yet; [budget] run_usd is $50.00"
    assert f"expect   {unknown}" in said
    assert "complete: task t-" in said
    assert settings(fresh) == {"gates": {"test": "make test"}}
    assert fresh.commits()[0] == WISH
    said = fresh.ralph("add a light mode", "--yes", AGENT_CMD=DONE)
    assert "expect   about 1 session and unknown cost, judged by 1 task done here" in said


def test_an_agent_that_was_named_is_not_asked_for(fresh: Project) -> None:
    install(fresh, "claude")
    install(fresh, "codex")
    log_in()
    log_in(".codex/auth.json", '{"OPENAI_API_KEY": "x"}')
    (fresh.path / "Makefile").unlink()
    terminal = Terminal(fresh, WISH, "--agent", "claude")
    terminal.until(lambda: b"?" in terminal.seen, "it asks")
    assert ASKED in terminal.seen
    assert "agent claude sandbox off gates none" in terminal.words
    terminal.type(b"n\n")
    assert terminal.ended() == 1
    assert settings(fresh) == {}, "that was for this run"


def test_in_a_folder_below_the_repository_becomes_the_project(fresh: Project) -> None:
    (fresh.path / "src").mkdir()
    fresh.ralph("-C", "src", WISH, "--yes", AGENT_CMD=DONE)
    assert (fresh.path / ".ralph.toml").exists()
    assert not (fresh.path / "src/.ralph.toml").exists()


def test_outside_a_repository_it_says_what_to_do(fresh: Project) -> None:
    done = fresh.try_ralph("-C", "..", WISH, "--yes")
    refused(done, 66, "is not in a git repository", "git init")


def test_nothing_is_planned_while_the_agent_is_logged_out(fresh: Project) -> None:
    install(fresh, "codex")
    refused(fresh.try_ralph(WISH, "--yes"), 6, "codex is not logged in", "codex login")
    assert tasks(fresh) == []


def test_without_a_terminal_it_does_not_build_without_a_yes(project: Project) -> None:
    project.agent(DONE)
    refused(project.try_ralph(WISH), 64, "build it needs a yes", "add --yes")
    assert tasks(project) == []


def test_events_are_alone_on_standard_output(project: Project) -> None:
    project.agent(DONE)
    done = project.try_ralph(WISH, "--yes", "--json")
    assert [json.loads(line)["event"] for line in done.stdout.splitlines()][-1] == "run_ended"
    assert "plan     one task" in done.stderr


def test_a_dry_run_shows_the_plan_and_keeps_nothing(project: Project) -> None:
    project.agent(DONE)
    assert "plan     one task" in project.ralph(WISH, "--dry-run")
    assert tasks(project) == []
    refused(project.try_ralph("go"), 66, "what is wanted", 'ralph "what you want"')


@pytest.mark.parametrize("argv", [["go", ""], [""], ["go", "-"], ["go", "--file", "../empty"]])
def test_an_empty_wish_is_refused_and_not_taken_for_the_last_one(
    project: Project, argv: list[str]
) -> None:
    project.agent(DONE)
    project.ralph(WISH, "--dry-run")
    project.write("../empty", "\n")
    done = project.try_ralph(*argv, "--yes")
    assert done.returncode == 64
    assert "is empty" in done.stderr
    assert tasks(project) == []


def test_the_last_wish_can_be_planned_in_another_way(project: Project) -> None:
    a_team(project)
    refused(project.try_ralph("go", "--plan", "task"), 66, "what is wanted")
    refused(project.try_ralph("sell tea"), 64, "needs a yes")
    assert "plan     2 code tasks" in project.ralph("go", "--plan", "goal", code=6)


def test_it_asks_once_and_what_was_left_can_be_gone_on_with(project: Project) -> None:
    project.agent(DONE)
    for answer, code in ((INTERRUPT, 130), (b"n\n", 1), (b"\x04", 1)):
        terminal = Terminal(project, *([WISH] if answer == INTERRUPT else ["go"]))
        terminal.until(lambda: ASKED in terminal.seen, "it asks")  # noqa: B023
        terminal.type(answer)
        assert terminal.ended() == code
        assert b"Traceback" not in terminal.seen
        assert terminal.is_sane()
        assert tasks(project) == []
    terminal = Terminal(project, "go")
    terminal.until(lambda: ASKED in terminal.seen, "it asks")
    terminal.type(b"\n")
    assert terminal.ended() == 0
    assert project.commits()[0] == WISH
    assert "is done: add a dark mode" in project.ralph("go")


def test_at_a_terminal_it_asks_what_is_wanted(project: Project) -> None:
    project.agent(DONE)
    terminal = Terminal(project, "go")
    terminal.until(lambda: b"What do you want to build?" in terminal.seen, "it asks")
    terminal.type(b"add a dark mode\n\n")
    terminal.until(lambda: ASKED in terminal.seen, "it asks")
    terminal.type(b"y\n")
    assert terminal.ended() == 0
    assert project.commits()[0] == WISH


def test_a_killed_wish_goes_on_with_its_task(project: Project) -> None:
    begun = project.path.parent / "begun"
    project.agent(f"if test -e '{begun}'; then {DONE}; else touch '{begun}'; sleep 1000; fi")
    killed = project.start(WISH, "--yes")
    wait_for(begun.exists, "the session begins")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    project.ralph(WISH)
    assert tasks(project) == [WISH]
    assert project.commits()[0] == WISH


def test_the_same_wish_gives_a_failed_task_a_fresh_set_of_tries(project: Project) -> None:
    project.agent(f"if test -e '{project.path}/../ok'; then {DONE}; else exit 3; fi")
    project.ralph(WISH, "--yes", "--max-retries", "0", code=None)
    (project.path.parent / "ok").touch()
    project.ralph("breaker", "reset")
    project.ralph(WISH)
    assert tasks(project) == [WISH]
    assert project.commits()[0] == WISH


def test_a_page_becomes_stories_that_are_built_and_validated(project: Project) -> None:
    everything(project)
    project.write("../page.md", "# A shop\n\nIt sells tea.\n")
    said = project.ralph("go", "--file", "../page.md", "--yes")
    assert "plan     2 stories: .agents/tasks/prd.md, .ralph/IMPLEMENTATION_PLAN.md" in said
    assert "         US-001  One" in said
    assert said.splitlines()[-1] == END
    assert ran(project)[:2] == ["prd-prd", "prd-plan"]


def test_at_a_terminal_stories_are_shown_and_asked_about(project: Project) -> None:
    everything(project)
    terminal = Terminal(project, "go", "tea", "--plan", "stories")
    terminal.until(lambda: ASKED in terminal.seen, "it asks")
    assert "US-002 Two" in terminal.words
    terminal.type(b"n\n")
    assert terminal.ended() == 6
    assert "--from build" in terminal.words
    assert ran(project) == ["prd-prd", "prd-plan"]


def test_a_wish_for_several_workers_becomes_a_goal(project: Project) -> None:
    a_team(project)
    said = project.ralph("sell tea", "--workers", "2", code=6)
    assert "plan     2 code tasks: .ralph/specs/sell-tea/design/detailed-design.md" in said
    assert "waits for approval" in said
    assert "complete:" not in said, "the steps of a plan have no summaries of their own"
    said = project.ralph("go", "--workers", "2", "--yes")
    assert "complete: feature sell-tea is done" in said
