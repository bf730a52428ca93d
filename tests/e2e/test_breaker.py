"""Runs that must not go on: limits, breakers, retries; and what they leave for the next one."""

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import CLAIM, lines, refs

FAIL = 'echo "<task-failed>$RALPH_TASK_ID</task-failed>"'


def test_three_strikes_pause_the_run_and_the_account_says_why(project: Project) -> None:
    project.agent("echo hm")
    task = project.add("x")
    out = project.ralph("run", code=6)
    assert "3 failures in a row" in out
    assert "the session ended without claiming its task" in out
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["retry_count"]) == ("pending", 3, 1)
    assert "3 failures in a row" in project.ralph("status")


def test_strikes_on_several_tasks_count_together(project: Project) -> None:
    project.agent("exit 9", breaker="failures = 2")
    for number in range(3):
        project.add(f"task {number}")
    out = project.ralph("run", code=6)
    assert "2 failures in a row" in out
    assert "the agent exited with 9" in out


def test_stagnation_pauses_the_run_and_the_account_says_why(project: Project) -> None:
    project.agent(f"echo x >> work.txt; {CLAIM}", gates='x = "test ! -e work.txt"')
    task = project.add("never right", "--max-retries", "99")
    out = project.ralph("run", code=6)
    assert "5 iterations without progress" in out
    assert "gate x fails" in out
    assert project.task(task)["attempt"] == 5


def test_a_breaker_can_be_set_and_switched_off(project: Project) -> None:
    project.agent(CLAIM, breaker="stagnation = 2")
    project.add("x", "--max-retries", "99")
    assert "2 iterations without progress" in project.ralph("run", code=6)
    project.agent(FAIL, breaker="failures = 0\nstagnation = 0")
    for number in range(5):
        project.add(f"task {number}")
    project.ralph("run", code=5)


def test_a_pause_is_no_end_the_next_run_has_a_fresh_breaker(project: Project) -> None:
    project.agent("echo hm")
    task = project.add("x")
    project.ralph("run", code=6)
    project.agent(DONE)
    project.ralph("run")
    assert project.task(task)["attempt"] == 4


def test_an_open_breaker_is_shown_and_can_be_reset(project: Project) -> None:
    project.agent("echo hm")
    task = project.add("x")
    project.ralph("run", code=6)
    assert "breaker of teammate-1: open (3 failures in a row" in project.ralph("status")
    shown = json.loads(project.ralph("status", "--json"))["breakers"]["teammate-1"]
    assert (shown["state"], shown["failures"], shown["cause"]) == ("open", 3, "failures")
    project.ralph("run", code=6)
    assert project.task(task)["attempt"] == 4, "one session was tried"
    assert "teammate-1: closed" in project.ralph("breaker", "reset")
    assert json.loads((project.path / ".ralph/failures.json").read_text()) == {"teammate-1": 0}
    assert "breaker of" not in project.ralph("status")
    assert "closed already" in project.ralph("breaker", "reset")
    project.ralph("run", code=6)
    assert project.task(task)["attempt"] == 7
    refused = project.try_ralph("breaker", "reset", "teammate-9")
    assert refused.returncode == 64
    assert "no worker teammate-9" in refused.stderr


def test_a_run_opens_its_breaker_tries_one_session_and_closes_it(project: Project) -> None:
    project.agent(f"[ $RALPH_ATTEMPT -lt 4 ] && exit 9; {DONE}", breaker='cooldown = "1s"')
    project.add("x")
    out = project.ralph("run", "--json")
    answer = [json.loads(line)["event"] for line in out.splitlines()]
    kinds = [kind for kind in answer if kind.startswith("breaker")]
    assert kinds == ["breaker_opened", "breaker_tried", "breaker_closed"]


def test_attempts_only_grow_and_logs_are_never_overwritten(project: Project) -> None:
    project.agent(
        f"echo this is attempt $RALPH_ATTEMPT; touch bad; {DONE}", gates='x = "test ! -e bad"'
    )
    task = project.add("x", "--max-retries", "1")
    project.ralph("run", code=5)
    project.ralph("task", "retry", task)
    project.ralph("run", code=5)
    project.ralph("task", "reset", task)
    project.ralph("run", code=5)
    sessions = json.loads(project.ralph("logs", task, "--json"))
    assert [one["attempt"] for one in sessions] == [1, 2, 3, 4, 5, 6]
    logs = [one["log"] for one in sessions]
    assert len(set(logs)) == 6
    for number, log in enumerate(logs, 1):
        assert f"this is attempt {number}" in Path(log).read_text()
    assert refs(project) == [f"refs/ralph/{task}/{number}" for number in (2, 4, 6)]
    for number in (1, 6):
        assert f"this is attempt {number}" in project.ralph("logs", task, "--attempt", str(number))


def test_four_tries_by_default_and_as_many_as_one_says(project: Project) -> None:
    project.agent(CLAIM)
    task = project.add("x")
    project.ralph("run", code=5)
    assert project.task(task)["attempt"] == 4
    for flag, tries in (("0", 1), ("2", 3)):
        other = project.add("y")
        project.ralph("run", "--max-retries", flag, code=5)
        assert project.task(other)["attempt"] == tries


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("touch bad; " + CLAIM, "the paint is wet"),
        (CLAIM, "nothing in the tree has changed"),
        ("exit 7", "the agent exited with 7"),
        ("kill -9 $$", "killed by signal 9"),
        ("echo '<task-done>t-other</task-done>'", "t-other"),
    ],
)
def test_the_reason_of_the_last_failure_is_in_the_next_brief(
    project: Project, fault: str, words: str
) -> None:
    brief = project.path.parent / "brief"
    project.agent(
        f"if [ $RALPH_ATTEMPT = 1 ]; then {fault};"
        f" else cp {{prompt}} '{brief}'; rm -f bad; {DONE}; fi",
        gates='x = "test ! -e bad || { echo the paint is wet; exit 1; }"',
    )
    project.add("x")
    project.ralph("run")
    assert words in brief.read_text()


def test_a_first_brief_knows_of_no_failure_and_names_what_was_done_before(
    project: Project,
) -> None:
    briefs = project.path.parent
    project.agent(
        f"cp {{prompt}} '{briefs}'/$RALPH_TASK_ID; {DONE};"
        " echo '<journal>the door is painted blue</journal>'"
    )
    first = project.add("paint the door")
    second = project.add("hang the door", "--blocked-by", first)
    project.ralph("run")
    assert "did not count" not in (briefs / first).read_text()
    assert "the door is painted blue" in (briefs / second).read_text()


def test_a_failed_child_fails_its_parent_when_the_others_are_through(project: Project) -> None:
    log = project.path.parent / "log"
    project.agent(
        f"echo $RALPH_TASK_ID >> '{log}';"
        f" case $RALPH_TASK_ID in $(cat ../bad)) {FAIL};; *) {DONE};; esac"
    )
    parent = project.add("parent")
    bad = project.add("bad", "--parent", parent)
    good = project.add("good", "--parent", parent)
    (project.path.parent / "bad").write_text(bad)
    project.ralph("run", code=5)
    assert lines(log) == [bad, good], "its other children go on"
    assert [project.status(one) for one in (parent, bad, good)] == ["failed", "failed", "done"]


def test_fail_fast_fails_the_parent_at_once(project: Project) -> None:
    log = project.path.parent / "log"
    project.agent(f"echo $RALPH_TASK_ID >> '{log}'; {FAIL}", execution="fail_fast = true")
    parent = project.add("parent")
    bad = project.add("bad", "--parent", parent)
    good = project.add("good", "--parent", parent)
    project.ralph("run", code=None)
    assert lines(log) == [bad]
    assert [project.status(one) for one in (parent, bad, good)] == ["failed", "failed", "pending"]


def test_blocked_is_an_outcome_of_its_own(project: Project) -> None:
    project.agent(DONE)
    first = project.add("first")
    project.add("second", "--blocked-by", first)
    project.ralph("task", "block", first, "-r", "no design yet")
    out = project.ralph("run", code=2)
    assert "blocked" in out
    assert "2 open" in out


def test_a_target_is_judged_alone(project: Project) -> None:
    project.agent(DONE)
    mine = project.add("mine")
    other = project.add("other")
    project.ralph("task", "block", other)
    project.ralph("run", mine)
    assert project.status(mine) == "done"
    project.ralph("run", other, code=2)
    project.ralph("run", mine)


def test_a_limit_of_iterations_counts_strikes_and_rejections(project: Project) -> None:
    project.agent(f"[ $RALPH_ATTEMPT = 1 ] && exit 3; {CLAIM}")
    task = project.add("x")
    project.ralph("run", "--limit", "3", code=4)
    assert project.task(task)["attempt"] == 3
    project.ralph("run", code=4, RALPH_LIMIT="1")
    assert project.task(task)["attempt"] == 4


def test_a_limit_that_is_enough_is_not_reached(project: Project) -> None:
    project.agent(DONE)
    project.add("x")
    project.ralph("run", "--limit", "1")


def test_a_chain_of_two_thousand_tasks(project: Project) -> None:
    """A sanity check, not a measurement: the next task is found among many."""
    project.agent(DONE)
    drafts = [
        {"id": f"t-{number:06x}", "title": f"task {number}"}
        | ({"blockers": [f"t-{number - 1:06x}"]} if number else {})
        for number in range(2000)
    ]
    file = project.path.parent / "tasks.jsonl"
    file.write_text("".join(json.dumps(draft) + "\n" for draft in drafts))
    project.ralph("task", "import", str(file))
    project.ralph("run", "--limit", "3", code=4)
    done = json.loads(project.ralph("task", "list", "--status", "done", "--json"))
    assert [task["title"] for task in done] == ["task 0", "task 1", "task 2"]
    assert "3 done" in project.ralph("status")
    first, last = drafts[0]["id"], drafts[-1]["id"]
    assert project.try_ralph("task", "deps", "add", str(last), str(first)).returncode == 64
    project.ralph("task", "reset", str(first))
    assert project.status(str(first)) == "pending"


@pytest.mark.parametrize(("limit", "code"), [("6", 4), ("25", 2)])
def test_what_the_breaker_puts_aside_is_in_the_account_and_built_again(
    project: Project, limit: str, code: int
) -> None:
    titles = {"US-001": "Good", "US-002": "Bad", "US-003": "Good too", "US-004": "After all"}
    project.write(
        ".agents/tasks/prd.md",
        "".join(f"### [ ] {name}: {title}\n- [ ] x\n\n" for name, title in titles.items()),
    )
    project.write(".ralph/IMPLEMENTATION_PLAN.md", "x\n")
    bad = '[ "$RALPH_STORY_ID" = US-002 ] && { echo hm; exit 0; }'
    project.agent(f"{bad}; echo $RALPH_TASK_ID >> work.txt; {CLAIM}", breaker='cooldown = "1s"')
    text = project.ralph("story", "build", limit, code=code)
    assert "○ US-002 Bad is blocked: put aside: 3 failures in a row" in text
    assert "1 blocked" in text
    assert "ralph task unblock US-002" in text
    assert "US-002  Bad" in project.quick("status")
    project.agent(DONE)
    project.ralph("story", "build")
    assert project.status("US-002") == "done"
