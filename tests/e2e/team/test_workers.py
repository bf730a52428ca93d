"""Several workers on one repository, as a person sees them."""

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import Project, wait_for
from tests.e2e.crash_points import left_running
from tests.e2e.fault_helpers import CLAIM, Stage, ended, refs, refused, until
from tests.e2e.team.team_project import Yard

WRITES = 'echo x > "$RALPH_TASK_ID.txt"; echo "<task-done>$RALPH_TASK_ID</task-done>"'
"""An agent that gets into nobody's way."""


pytestmark = pytest.mark.timeout(600)
"""For a broken program only: a busy machine takes its time over sixty merges."""


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path / "project")


@pytest.mark.parametrize(
    ("workers", "count"), [(3, 9), pytest.param(8, 60, marks=pytest.mark.soak)]
)
def test_workers_merge_every_task_once(
    yard: Yard, tmp_path: Path, workers: int, count: int
) -> None:
    tasks = yard.plan(count, quarrels=4, nap=0.1)
    events = yard.events("--workers", str(workers))
    assert (events[-1]["outcome"], events[-1]["commits"]) == ("complete", len(tasks))
    yard.check_all_done(tasks)
    merges = [one for one in events if one["event"] == "work_merged"]
    assert sorted(one["task_id"] for one in merges) == sorted(tasks)
    yard.check_every_merge([one["commit"] for one in merges], tmp_path / "again")
    slots = {one["slot"] for one in events if one["event"] == "worker_joined"}
    assert slots == {f"teammate-{number}" for number in range(1, workers + 1)}
    kinds = {ref.split("/")[2] for ref in refs(yard)}
    assert kinds <= {"conflict", "kept", "rescued", "tip", "followed"}, refs(yard)


def test_two_at_a_time(project: Project) -> None:
    one, two = Stage(project, "one"), Stage(project, "two")
    project.agent(
        f'case "$(cat)" in *alpha*) {one.agent(WRITES)};; *) {two.agent(WRITES)};; esac',
        sandbox='mode = "off"',
    )
    tasks = [project.add("alpha"), project.add("beta")]
    run = project.start("run", "--workers", "2")
    one.enter()
    two.enter()
    assert [project.status(task) for task in tasks] == ["in_progress"] * 2
    workers = json.loads(project.ralph("status", "--json"))["team"]["workers"]
    assert {worker["task"] for worker in workers} == set(tasks)
    one.go()
    two.go()
    ended(run)
    assert [project.status(task) for task in tasks] == ["done"] * 2
    assert sorted(project.commits()[:2]) == ["alpha", "beta"]
    assert project.git("status", "--porcelain") == ""


def test_what_is_not_committed_is_an_error_that_says_what_to_do(project: Project) -> None:
    project.agent(WRITES)
    task = project.add("a")
    project.write("README.md", "edited\n")
    refused(project.try_ralph("run", "--workers", "2"), 65, "README.md", "git stash")
    assert project.status(task) == "pending"


def test_a_team_needs_commits(project: Project) -> None:
    project.agent(WRITES)
    project.add("a")
    refused(project.try_ralph("run", "--workers", "2", "--no-commit"), 64, "--no-commit")


def test_a_team_needs_a_branch(project: Project) -> None:
    project.agent(WRITES)
    project.add("a")
    project.git("checkout", "-q", "--detach")
    refused(project.try_ralph("run", "--workers", "2"), 1, "git switch")
    project.ralph("run", "--workers", "2", "--branch", "feature/one")
    assert project.git("symbolic-ref", "--short", "HEAD") == "feature/one"
    assert project.commits()[0] == "a"


def test_no_team_starts_while_abort_is_there(project: Project) -> None:
    project.agent(WRITES)
    project.add("a")
    project.write(".ralph/ABORT", "")
    refused(project.try_ralph("run", "--workers", "2"), 1, ".ralph/ABORT")


def test_a_team_pauses_between_tasks_and_goes_on(project: Project) -> None:
    stage = Stage(project)
    project.agent(
        f'case "$(cat)" in *alpha*) {stage.agent(WRITES)};; *) {WRITES};; esac',
        sandbox='mode = "off"',
    )
    first = project.add("alpha")
    second = project.add("beta", "--blocked-by", first)
    run = project.start("run", "--json", "--workers", "2")
    stage.enter()
    project.ralph("pause")
    until(run, "run_paused")  # whoever has nothing to do
    stage.go()
    until(run, "task_done")
    until(run, "run_paused")
    project.ralph("resume")
    rest = [json.loads(line) for line in ended(run).splitlines()]
    assert "error" not in {one["outcome"] for one in rest if one["event"] == "worker_left"}
    assert [project.status(task) for task in (first, second)] == ["done"] * 2


def test_abort_stops_the_team(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent(WRITES), sandbox='mode = "off"')
    task = project.add("a")
    run = project.start("run", "--workers", "2")
    stage.enter()
    project.write(".ralph/ABORT", "")
    ended(run, code=6)
    assert project.status(task) == "pending"
    assert project.task(task)["retry_count"] == 0


def test_a_persons_edits_stay_and_their_checkout_follows_later(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent(f"{WRITES}; echo more >> README.md"), sandbox='mode = "off"')
    task = project.add("a")
    run = project.start("run", "--json", "--workers", "2")
    stage.enter()
    project.write("README.md", "in the middle of something\n")
    stage.go()
    warned = ""
    while "README.md" not in warned:
        warned = until(run, "warned")["message"]
    ended(run)
    assert project.status(task) == "done"
    assert (project.path / "README.md").read_text() == "in the middle of something\n"
    assert not (project.path / f"{task}.txt").exists()
    project.git("checkout", "-q", "README.md")
    project.add("b")
    project.ralph("run", "--workers", "2")
    assert (project.path / f"{task}.txt").exists()


def test_what_a_person_commits_meanwhile_is_built_upon(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent(WRITES), sandbox='mode = "off"')
    task = project.add("a")
    run = project.start("run", "--workers", "2")
    stage.enter()
    project.write("mine.txt", "mine\n")
    project.git("add", "mine.txt")
    project.git("commit", "-q", "-m", "by a person")
    stage.go()
    ended(run)
    assert project.commits()[:2] == ["a", "by a person"]
    assert project.status(task) == "done"


def test_ctrl_c_gives_every_claim_back(project: Project) -> None:
    one, two = Stage(project, "one"), Stage(project, "two")
    project.agent(
        f'case "$(cat)" in *alpha*) {one.agent(WRITES)};; *) {two.agent(WRITES)};; esac',
        sandbox='mode = "off"',
    )
    tasks = [project.add("alpha"), project.add("beta")]
    run = project.start("run", "--workers", "2")
    one.enter()
    two.enter()
    run.send_signal(2)
    ended(run, code=130)
    assert [project.status(task) for task in tasks] == ["pending"] * 2
    assert [project.task(task)["retry_count"] for task in tasks] == [0, 0]
    one.go()
    two.go()
    project.ralph("run", "--workers", "2")
    assert [project.status(task) for task in tasks] == ["done"] * 2


def test_a_second_ctrl_c_does_not_wait_for_agents_and_gives_every_claim_back(
    project: Project,
) -> None:
    one, two = Stage(project, "one"), Stage(project, "two")
    deaf = "trap '' INT TERM HUP;"
    project.agent(
        f'{deaf} case "$(cat)" in *alpha*) {one.agent(WRITES)};; *) {two.agent(WRITES)};; esac',
        sandbox='mode = "off"',
    )
    tasks = [project.add("alpha"), project.add("beta")]
    run = project.start("run", "--workers", "2", "--json")
    one.enter()
    two.enter()
    run.send_signal(2)
    run.send_signal(2)
    ended(run, code=130)
    assert left_running(project) == []
    assert [project.status(task) for task in tasks] == ["pending"] * 2
    assert [project.task(task)["claimed_by"] for task in tasks] == [None, None]


def test_stop_lets_every_session_end(project: Project) -> None:
    one, two = Stage(project, "one"), Stage(project, "two")
    project.agent(
        f'case "$(cat)" in *alpha*) {one.agent(WRITES)};; *) {two.agent(WRITES)};; esac',
        sandbox='mode = "off"',
    )
    tasks = [project.add("alpha"), project.add("beta")]
    later = project.add("third", "--blocked-by", tasks[0])
    run = project.start("run", "--workers", "2")
    one.enter()
    two.enter()
    project.ralph("stop")
    one.go()
    two.go()
    ended(run, code=6)
    assert [project.status(task) for task in (*tasks, later)] == ["done", "done", "pending"]


def test_a_worker_that_is_killed_leaves_the_others_working(project: Project) -> None:
    stage = Stage(project)
    project.agent(
        f'case "$(cat)" in *slow*) {stage.agent(WRITES)};; *) {WRITES};; esac',
        sandbox='mode = "off"',
    )
    slow = project.add("slow")
    run = project.start("run", "--json", "--workers", "2")
    joined: dict[str, object] = {}
    while len(joined) < 2:
        joined_event = until(run, "worker_joined")
        joined[joined_event["worker"]] = joined_event
    stage.enter()
    holder = project.task(slow)["claimed_by"]
    kill_worker(project, holder)
    quick = project.add("quick")
    wait_for(lambda: project.status(quick) == "done", "the other one worked on")
    stage.go()
    ended(run)
    assert project.status(slow) == "done"
    assert project.task(slow)["retry_count"] == 0


def kill_worker(project: Project, worker: str) -> None:
    """End its process as the kernel would."""
    import os
    import sqlite3

    with sqlite3.connect(project.path / ".ralph/progress.db") as database:
        [(pid,)] = database.execute("SELECT pid FROM workers WHERE id = ?", (worker,)).fetchall()
    os.kill(pid, 9)


def test_the_lead_is_killed_and_nothing_is_lost(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent(WRITES), sandbox='mode = "off"')
    task = project.add("a")
    run = project.start("run", "--workers", "2")
    stage.enter()
    run.kill()
    run.wait()
    stage.go()
    project.ralph("run", "--workers", "2")
    shown = project.task(task)
    assert (shown["status"], shown["retry_count"]) == ("done", 0)
    assert project.commits().count("a") == 1


def test_tasks_that_name_the_same_file_wait_for_one_another(project: Project) -> None:
    stage = Stage(project)
    project.agent(
        f'case "$(cat)" in *alpha*) {stage.agent(WRITES)};; *) {WRITES};; esac',
        sandbox='mode = "off"',
    )
    first = project.add("alpha", "--file", "a.py", "--priority", "0")
    second = project.add("beta", "--file", "a.py", "--priority", "1")
    third = project.add("third", "--file", "b.py", "--priority", "2")
    run = project.start("run", "--workers", "2")
    stage.enter()
    wait_for(lambda: project.status(third) == "done", "what is apart goes on")
    assert project.status(second) == "pending"
    assert project.status(first) == "in_progress"
    stage.go()
    ended(run)
    assert [project.status(task) for task in (first, second, third)] == ["done"] * 3


def test_a_limit_counts_for_the_whole_team(project: Project) -> None:
    project.agent(WRITES, sandbox='mode = "off"')
    for number in range(6):
        project.add(f"task {number}")
    project.ralph("run", "--workers", "3", "--limit", "4", code=4)
    listed = json.loads(project.ralph("task", "list", "--all", "--json"))
    assert [one["status"] for one in listed].count("done") == 4


def test_a_claim_without_work_fails_without_a_merge(project: Project) -> None:
    project.agent(CLAIM, sandbox='mode = "off"')
    task = project.add("lazy", "--max-retries", "0")
    events = project.events("--workers", "2", code=5)
    assert project.status(task) == "failed"
    assert not [one for one in events if one["event"] == "work_merged"]
    assert list((project.path / ".ralph/checkouts").glob("*")) == []


SCRIPT = """
[[session]]
task = "alpha"
steps = [{ limit = 3 }]
[[session]]
task = "alpha"
steps = [{ write = "alpha.txt", text = "x" }, { done = true }]
[[session]]
task = "beta"
steps = [{ sleep = 1 }, { write = "beta.txt", text = "x" }, { done = true }]
[[session]]
task = "gamma"
steps = [{ write = "gamma.txt", text = "x" }, { done = true }]
"""


def test_a_usage_limit_is_known_to_all(project: Project) -> None:
    project.write("script.toml", SCRIPT)
    project.agent("script.toml")
    project.write(".ralph.toml", '[agent]\nname = "scripted"\ncommand = "script.toml"\n')
    project.git("commit", "-qam", "a script")
    tasks = [project.add(name) for name in ("alpha", "beta", "gamma")]
    events = project.events("--workers", "2")
    assert [project.status(task) for task in tasks] == ["done"] * 3
    ended = [one["ended"] for one in events if one["event"] == "session_ended"]
    assert ended.count("usage_limit") == 1
    until = next(one["until"] for one in events if one["event"] == "run_waiting")
    begun = {one["task_id"]: one["time"] for one in events if one["event"] == "session_started"}
    # Whoever has time for it has been at work on another one before.
    assert begun[tasks[2]] >= until


def test_a_team_is_verified_behind_its_sandboxes(project: Project) -> None:
    script = project.write(
        "agent.sh",
        'case "$RALPH_ROLE" in verify) test -e "$RALPH_TASK_ID.txt" && echo "<verify-pass/>";;'
        f" *) {WRITES};; esac\n",
    )
    # In the person's own checkout, which can be in a folder that is out of sight.
    project.agent(f"sh '{script}'")
    tasks = [project.add("alpha"), project.add("beta")]
    events = project.events(
        "--workers", "2", RALPH_EXECUTION_VERIFY="true", RALPH_SANDBOX_MODE="required"
    )
    assert [project.status(task) for task in tasks] == ["done"] * 2
    assert [one["passed"] for one in events if one["event"] == "verification_ended"] == [True] * 2
    started = next(one for one in events if one["event"] == "run_started")
    assert started["sandbox"] == "bubblewrap"
    assert project.git("status", "--porcelain") == ""


def test_dependencies_are_installed_once(project: Project) -> None:
    log = project.path.parent / "installed"
    project.agent(
        f"test -e deps/one && {WRITES}",
        sandbox='mode = "off"',
        workspace=f'setup = ["mkdir -p deps; touch deps/one; echo x >> {log}"]\nreuse = ["deps"]',
    )
    project.write(".gitignore", "deps/\n")
    project.git("add", ".gitignore")
    project.git("commit", "-qm", "ignore")
    # All at once: whoever comes second waits for what the first one installs.
    tasks = [project.add(name) for name in ("alpha", "beta", "gamma")]
    project.ralph("run", "--workers", "3")
    assert [project.status(task) for task in tasks] == ["done"] * 3
    assert log.read_text() == "x\n"


def test_a_setup_that_fails_ends_the_run_with_its_reason(project: Project) -> None:
    project.agent(WRITES, sandbox='mode = "off"', workspace='setup = ["echo no luck >&2; exit 3"]')
    task = project.add("a")
    done = project.try_ralph("run", "--workers", "2")
    assert done.returncode == 69, done.stdout + done.stderr
    assert "no luck" in done.stdout + done.stderr
    assert project.status(task) == "pending"
