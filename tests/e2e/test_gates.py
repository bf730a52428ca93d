"""Gates that misbehave: loud, untidy, moody or dishonest."""

import os
import subprocess
from typing import Any

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import CLAIM, refs, refused, warnings


def gates(events: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    return [(event["name"], event["passed"]) for event in events if event["event"] == "gate_ended"]


def test_a_gate_that_prints_megabytes(project: Project) -> None:
    project.agent(
        f"touch bad; {DONE}",
        gates='loud = "yes noise | head -n 2000000; yes | head -n 99999 >&2; [ ! -e bad ]"',
    )
    task = project.add("x", "--max-retries", "0")
    project.ralph("run", code=5)
    shown = project.task(task)
    assert shown["status"] == "failed"
    assert "gate loud fails" in shown["reason"]
    assert len(shown["reason"]) < 20_000, "a brief must stay short"


def test_a_gate_that_prints_bytes_and_escapes(project: Project) -> None:
    project.agent(
        f"touch bad; {DONE}",
        gates="odd = \"head -c 3000 /dev/urandom; printf '\\\\033[2J\\\\007'; [ ! -e bad ]\"",
    )
    project.add("x", "--max-retries", "1")
    out = project.ralph("run", code=5)
    assert "\x1b" not in out
    assert "\x07" not in out


def test_what_gates_drop_is_not_committed(project: Project) -> None:
    """At the baseline, after a rejection, and after an acceptance."""
    task, other = project.add("second try"), project.add("another")
    project.agent(
        f"echo $RALPH_ATTEMPT.$RALPH_TASK_ID > attempt.txt; {DONE}",
        gates=f'untidy = "echo x >> report-$$.xml; ! grep -qs 1.{task} attempt.txt"',
    )
    project.ralph("run")
    assert [project.task(one)["attempt"] for one in (task, other)] == [2, 1]
    tracked = project.git("ls-files").splitlines()
    assert [name for name in tracked if name.startswith("report")] == []
    assert {"attempt.txt", "work.txt"} <= set(tracked)
    assert len(list(project.path.glob("report-*.xml"))) == 4, (
        "nobody's files, so nobody removes them"
    )
    assert project.git("status", "--porcelain", "--untracked-files=no") == ""


def test_a_gate_that_passes_in_an_empty_checkout_is_named_once(project: Project) -> None:
    project.agent(DONE, gates='test = "ls ..; if ls work.txt; then [ -s work.txt ]; fi"')
    for expected in (1, 0):
        project.add("x")
        said = warnings(project.events())
        assert said.count("gate test passes in an empty checkout") == expected
    assert project.git("status", "--porcelain") == ""


def test_a_gate_may_fix_what_the_session_wrote(project: Project) -> None:
    """A formatter as a gate: the retry takes along what it did."""
    project.agent(
        f"[ -e work.txt ] || printf 'badly   written\\n' > work.txt; date +%N > when.txt; {CLAIM}",
        gates="""format = "! grep -qs '  ' work.txt || { sed -i 's/  */ /' work.txt; false; }" """,
    )
    project.add("x")
    project.ralph("run")
    assert project.git("show", "HEAD:work.txt") == "badly written"
    assert project.git("status", "--porcelain") == ""


def test_a_gate_that_leaves_a_daemon_ends_with_it(project: Project) -> None:
    # A number that nobody else waits for.
    seconds = f"1234567.{os.getpid()}"
    project.agent(DONE, gates=f'server = "setsid -f sleep {seconds}; test -e README.md"')
    task = project.add("x")
    project.ralph("run")
    assert project.status(task) == "done"
    left = subprocess.run(["pgrep", "-f", f"^sleep {seconds}"], capture_output=True, check=False)
    assert left.stdout == b""


def test_a_gate_that_becomes_red_for_another_reason_rejects_and_recovers(project: Project) -> None:
    mood = project.path.parent / "mood"
    project.agent(
        f"[ $RALPH_ATTEMPT = 1 ] && echo bad > '{mood}'; [ $RALPH_ATTEMPT = 2 ] && rm '{mood}';"
        f" {DONE}",
        gates=f"""moody = "[ ! -e '{mood}' ] || {{ echo the service is down; exit 4; }}" """,
    )
    task = project.add("x")
    events = project.events()
    (rejected,) = [event for event in events if event["event"] == "task_rejected"]
    assert "gate moody fails (exit 4)" in rejected["reason"]
    assert "the service is down" in rejected["reason"]
    assert project.task(task)["retry_count"] == 1


def test_the_first_gate_that_breaks_ends_the_round_and_red_ones_do_not(project: Project) -> None:
    project.agent(
        f"touch bad; {DONE}",
        gates='red = "test -e never"\ngreen = "[ ! -e bad ]"\nlast = "test -e README.md"',
    )
    project.add("x", "--max-retries", "0")
    events = project.events(code=5)
    assert gates(events) == [
        ("red", False),
        ("green", True),
        ("last", True),
        ("red", False),
        ("green", False),
    ]


def test_a_red_gate_that_turns_green_must_stay_green(project: Project) -> None:
    project.agent(
        f"case $RALPH_TASK_ID in $(cat ../first)) touch fixed;; *) rm -f fixed;; esac; {DONE}",
        gates='test = "test -e fixed"',
    )
    first, second = project.add("fix it"), project.add("break it", "--max-retries", "0")
    (project.path.parent / "first").write_text(first)
    project.ralph("run", code=5)
    assert (project.status(first), project.status(second)) == ("done", "failed")
    assert (project.path / "fixed").exists(), "the tree is back at the last accepted state"
    assert refs(project) == [f"refs/ralph/{second}/1"]


def test_gates_see_the_session_environment_without_its_secrets(project: Project) -> None:
    project.agent(
        DONE,
        gates="env = '[ -z $MY_TOKEN$RALPH_SOCKET$RALPH_TOKEN$CLAUDECODE ] && [ -n $PLAIN ]'",
    )
    project.add("x")
    events = project.events(MY_TOKEN="x", CLAUDECODE="1", PLAIN="1")
    assert gates(events) == [("env", True), ("env", True)]


def test_a_gate_that_edits_the_tree_before_any_work_gives_nobody_credit(project: Project) -> None:
    """A claim without work stays one, whatever the gates write."""
    project.agent(CLAIM, gates='writes = "test -e README.md && date +%N > stamp.txt"')
    task = project.add("lazy", "--max-retries", "0")
    project.ralph("run", code=5)
    assert "nothing in the tree has changed" in project.task(task)["reason"]


@pytest.mark.parametrize("command", ["exit 126", "exit 127", "./README.md", "/no/such/program"])
def test_a_gate_that_cannot_run_is_said_before_any_money_is_spent(
    project: Project, command: str
) -> None:
    project.agent(DONE, gates=f'first = "test -e README.md"\nbroken = "{command}"')
    task = project.add("x")
    refused(project.try_ralph("run"), 69, "gate broken cannot run", "hint: ")
    assert project.task(task)["attempt"] == 0


def test_a_gate_that_kills_itself_is_red_not_fatal(project: Project) -> None:
    project.agent(DONE, gates='suicidal = "kill -9 $$"')
    task = project.add("x")
    events = project.events()
    assert "still fails, so it proves nothing" in warnings(events)
    assert project.status(task) == "done"
