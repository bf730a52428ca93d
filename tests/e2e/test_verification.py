"""The installed command, with a second session that checks the work."""

import json
import os
import shutil
import signal
import subprocess

import pytest

from tests.e2e.conftest import Project
from tests.e2e.crash_points import check_sound
from tests.e2e.fault_helpers import Stage, ended, refused, until

WORK = 'echo x >> work.txt; echo "<task-done>$RALPH_TASK_ID</task-done>"'


@pytest.fixture
def verified(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.delenv("RALPH_EXECUTION_VERIFY")
    return project


def two(project: Project, work: str, check: str, **sections: str) -> None:
    """An agent that works, and another one that checks."""
    project.write(".agents/ralph/agents.sh", f"AGENT_CHECKER_CMD='{check}'\n")
    project.agent(work, verify='agent = "checker"', **sections)


def test_what_passes_is_committed(verified: Project) -> None:
    two(verified, WORK, 'test "$(cat work.txt)" = x && echo "<verify-pass/>"')
    task = verified.add("x")
    events = verified.events()
    shown = verified.task(task)
    assert (shown["status"], shown["verification_status"]) == ("done", "passed")
    assert [one["passed"] for one in events if one["event"] == "verification_ended"] == [True]
    assert verified.commits()[0] == "x"
    assert "verified" in verified.ralph("logs", task)


def test_what_fails_once_passes_on_the_retry_with_the_reason_in_its_brief(
    verified: Project,
) -> None:
    check = (
        'if test "$(wc -l < work.txt)" -ge 2; then echo "<verify-pass/>"; '
        'else echo "<verify-fail>one line is not enough</verify-fail>"; fi'
    )
    two(verified, f"cat > brief.txt; {WORK}", check)
    task = verified.add("x")
    verified.ralph("run")
    shown = verified.task(task)
    assert (shown["status"], shown["verification_status"]) == ("done", "passed")
    assert (shown["attempt"], shown["retry_count"]) == (2, 1)
    assert "one line is not enough" in (verified.path / "brief.txt").read_text()


def test_a_verifier_that_writes_changes_nothing(verified: Project) -> None:
    check = 'rm -rf * .git/hooks; echo mine > work.txt; git commit -qam mine; echo "<verify-pass/>"'
    two(verified, WORK, check)
    verified.add("x")
    verified.ralph("run")
    assert (verified.path / "work.txt").read_text() == "x\n"
    assert verified.git("status", "--porcelain") == ""
    assert verified.commits()[0] == "x"
    assert not list((verified.path / ".ralph" / "checkouts").iterdir())
    assert "verify" not in verified.git("for-each-ref")


def test_it_checks_in_a_prepared_checkout_of_what_was_claimed(verified: Project) -> None:
    verified.write(".gitignore", ".env\n")
    verified.git("add", "-A")
    verified.git("commit", "-q", "-m", "ignore")
    verified.write(".env", "secret")
    check = (
        'test "$(cat .env)" = secret && test -e built && test "$PWD" != "$OLD" '
        '&& echo "<verify-pass/>"'
    )
    two(verified, WORK, check, workspace='include = [".env"]\nsetup = ["touch built"]')
    task = verified.add("x")
    verified.ralph("run", OLD=str(verified.path))
    assert verified.status(task) == "done"
    assert not (verified.path / "built").exists()


def test_without_a_verdict_the_task_fails_when_its_tries_are_spent(verified: Project) -> None:
    two(verified, WORK, "echo fine")
    task = verified.add("x", "--max-retries", "0")
    verified.ralph("run", code=5)
    shown = verified.task(task)
    assert (shown["status"], shown["verification_status"]) == ("failed", "failed")
    assert "no verdict" in shown["reason"]


def test_nobody_checks_if_nobody_wants_it(verified: Project) -> None:
    two(verified, WORK, "echo fine")
    task = verified.add("x")
    verified.ralph("run", "--no-verify")
    assert verified.task(task)["verification_status"] is None


def test_what_a_check_costs_is_counted(verified: Project) -> None:
    verified.write(
        "script.toml",
        """
        [[session]]
        task = "*"
        steps = [{ write = "work.txt", text = "x" }, { done = true, cost = 0.5 }]
        [[session]]
        task = "*"
        role = "verify"
        steps = [{ result = "<verify-pass/>", cost = 0.25 }]
        """,
    )
    verified.write(".ralph.toml", '[agent]\nname = "scripted"\ncommand = "script.toml"\n')
    verified.git("add", "-A")
    verified.git("commit", "-q", "-m", "configure")
    verified.add("x")
    ended = verified.events()[-1]
    assert (ended["attempts"], ended["cost_usd"]) == (1, 0.75)
    assert "0.75" in json.dumps(json.loads(verified.ralph("costs", "--json")))


def test_every_page_about_a_task_tells_who_checked_it(verified: Project) -> None:
    check = (
        'test "$(wc -l < work.txt)" -ge 2 && echo "<verify-pass/>"'
        ' || echo "<verify-fail>one line is not enough</verify-fail>"'
    )
    two(verified, WORK, check)
    task = verified.add("x")
    verified.ralph("run")
    for page in (verified.ralph("logs", task), verified.ralph("task", "show", task)):
        assert "checked  checker  failed after" in page
        assert "cost unknown  one line is not enough" in page
        assert "checked  checker  passed after" in page
    logs = verified.ralph("logs", task)
    assert ".verify-1.log" in logs
    shown = verified.task(task)["attempts"]
    assert [check["reason"] for one in shown for check in one["checks"]] == [
        "one line is not enough",
        "",
    ]
    assert json.loads(verified.ralph("logs", task, "--json"))[1]["checks"][0]["passed"] is True


def test_an_agent_that_cannot_verify_is_named_with_the_way_out(verified: Project) -> None:
    verified.agent(WORK)
    task = verified.add("x", "--max-retries", "0")
    said = verified.ralph("run", code=5)
    assert "command came to no verdict" in said
    assert "[execution] verify = false, --no-verify" in said
    verified.ralph("task", "retry", task)
    verified.ralph("run", "--no-verify")
    assert verified.status(task) == "done"


def test_a_command_can_tell_its_two_roles_apart(verified: Project) -> None:
    verified.agent(f'if [ $RALPH_ROLE = verify ]; then echo "<verify-pass/>"; else {WORK}; fi')
    task = verified.add("x")
    verified.ralph("run")
    assert verified.task(task)["verification_status"] == "passed"


@pytest.mark.parametrize("killed", [1, 2])
def test_a_run_that_is_killed_while_it_verifies_goes_on_with_that(
    verified: Project, killed: int
) -> None:
    """By its first verifier, or also by its second."""
    sessions, checks = (verified.path.parent / name for name in ("sessions", "checks"))
    check = (
        f'echo x >> "{checks}"; if [ $(wc -l < "{checks}") -le {killed} ]; then kill -9 $PPID;'
        ' sleep 100; fi; echo "<verify-pass/>"'
    )
    two(verified, f'echo x >> "{sessions}"; {WORK}', check)
    task = verified.add("x")
    for _ in range(killed):
        assert verified.try_ralph("run").returncode == -9
        assert verified.status(task) == "in_progress"
        assert list((verified.path / ".ralph/checkouts").iterdir())
    verified.ralph("run")
    shown = verified.task(task)
    assert (shown["status"], shown["verification_status"]) == ("done", "passed")
    assert len(sessions.read_text().split()) == 1, "the work is not done again"
    (attempt,) = shown["attempts"]
    ends = [check["ending"]["ended"] for check in attempt["checks"]]
    assert ends == ["lost"] * killed + ["finished"]
    assert shown["spent"]["unknown"] == killed + 2
    assert not list((verified.path / ".ralph/checkouts").iterdir()), "what was left is gone"
    assert "verify" not in verified.git("for-each-ref")
    check_sound(verified)


def test_a_dry_run_and_doctor_say_who_would_check(verified: Project) -> None:
    verified.agent(WORK)
    assert "verify  command" in verified.ralph("run", "--dry-run")
    text = verified.ralph("run", "--dry-run", "--no-verify")
    assert "verify  no verification" in text
    two(verified, WORK, "echo fine")
    verified.write(".ralph.toml", (verified.path / ".ralph.toml").read_text() + 'model = "m-1"\n')
    assert json.loads(verified.ralph("run", "--dry-run", "--json"))["verifier"] == "checker m-1"
    assert "work is checked by the agent checker" in verified.ralph("doctor", code=None)
    verified.agent(WORK, verify='agent = "nobody"')
    assert "verify.agent: there is no agent 'nobody'" in verified.ralph("doctor", code=None)


def test_a_verifier_that_is_not_installed_stops_the_run_before_it_starts(
    verified: Project,
) -> None:
    verified.agent(WORK, verify='agent = "droid"')
    task = verified.add("x")
    git = shutil.which("git")
    assert git is not None
    refused(verified.try_ralph("run", PATH=os.path.dirname(git)), 69, "droid is not installed")
    assert verified.task(task)["attempt"] == 0


@pytest.mark.parametrize("include", ["../outside.txt", "linked/x.txt"])
def test_what_would_leave_the_checkout_is_not_copied_into_it(
    verified: Project, include: str
) -> None:
    """A session may have put a link there."""
    (verified.path.parent / "outside.txt").write_text("mine")
    elsewhere = verified.path.parent / "elsewhere"
    elsewhere.mkdir()
    verified.write(".gitignore", "x.txt\n")
    (verified.path / "linked").symlink_to(elsewhere)
    (elsewhere / "x.txt").write_text("mine")
    two(verified, WORK, 'echo "<verify-pass/>"', workspace=f'include = ["{include}"]')
    verified.add("x")
    refused(verified.try_ralph("run"), 1, "cannot be copied into a private checkout")
    assert (elsewhere / "x.txt").read_text() == "mine"


def staged(project: Project, work: str = WORK) -> tuple[Stage, subprocess.Popen[str]]:
    """A run whose verifier is at work, and waits for its cue."""
    stage = Stage(project)
    project.write("check.sh", stage.agent('echo "<verify-pass/>"'))
    two(project, work, "sh ./check.sh")
    process = project.start("run", "--json")
    stage.enter()
    return stage, process


def test_stop_now_ends_the_check_and_the_next_run_makes_it_anew(verified: Project) -> None:
    task = verified.add("x")
    stage, process = staged(verified)
    verified.ralph("stop", "--now")
    ended(process, 6)
    shown = verified.task(task)
    assert (shown["status"], shown["retry_count"], shown["strikes"]) == ("pending", 0, 0)
    assert not list((verified.path / ".ralph/checkouts").iterdir())
    stage.go()
    verified.ralph("run")
    shown = verified.task(task)
    assert (shown["status"], shown["verification_status"]) == ("done", "passed")
    assert len(shown["attempts"]) == 1, "the work is not done again"


def test_a_signal_ends_the_run_while_it_verifies(verified: Project) -> None:
    task = verified.add("x")
    stage, process = staged(verified)
    process.send_signal(signal.SIGTERM)
    ended(process, 130)
    assert verified.status(task) == "pending"
    stage.go()
    verified.ralph("run")
    assert len(verified.task(task)["attempts"]) == 1


def test_a_task_can_be_skipped_while_it_is_verified(verified: Project) -> None:
    task = verified.add("x")
    _, process = staged(verified)
    verified.ralph("session", "skip", task, "-r", "not now")
    ended(process, 2)
    shown = verified.task(task)
    assert (shown["status"], shown["reason"]) == ("blocked", "not now")
    assert verified.git("status", "--porcelain") == "", "its work is kept aside"


def test_a_pause_waits_until_the_work_is_verified(verified: Project) -> None:
    task = verified.add("x")
    later = verified.add("y", "--priority", "9")
    stage, process = staged(verified)
    verified.ralph("pause")
    stage.go()
    until(process, "run_paused")
    assert (verified.status(task), verified.status(later)) == ("done", "pending")
    verified.ralph("resume")
    ended(process)
    assert verified.status(later) == "done"


def test_a_session_at_work_on_a_check_can_be_followed(verified: Project) -> None:
    task = verified.add("x")
    stage, process = staged(verified)
    shown = verified.ralph("logs", task)
    assert "checked  checker  at work" in shown
    stage.go()
    ended(process)
