"""A reviewer reads the change; what it says counts, and the matter ends."""

from pathlib import Path

import pytest

from ralph.core import events, session_events
from ralph.core.gates import Gate
from ralph.core.process_exit import ProcessExit
from ralph.core.review_thread import Dismissal
from ralph.core.run import RunLimits, RunOutcome
from ralph.core.session_events import SessionRole
from ralph.core.task import Task, TaskStatus
from ralph.engine.loop import run
from ralph.ports.executor import Command, OutputListener
from ralph.store.costs import CostFilter
from ralph.store.sessions import WorkCheck
from tests.doubles import Play, says
from tests.engine.limited_agent import Limited
from tests.engine.world import CrashPoint, Died, World

PASS = "<review-pass>all good</review-pass>"
BLOCKED = "<review-blocked>the task contradicts its design</review-blocked>"


def fail(*findings: str) -> str:
    return "".join(findings) + "<review-fail>one, two and three are not there yet</review-fail>"


ONE = "<finding>a.py:12: the first case is missing</finding>"
AGAIN = '<finding id="F1">it is still missing</finding>'
REWORDED = "<finding>a.py:40: The first case is missing!</finding>"
OTHER = "<finding>b.py: leaks a file</finding>"


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.review = True
    return world


def reads(text: str, *, code: int = 0) -> Play:
    """A session in the throw-away checkout."""

    def play(command: Command, listener: OutputListener) -> ProcessExit:
        assert command.cwd == "/throw-away"
        assert command.env["RALPH_ROLE"] in {"review", "verify"}
        listener.output(text.encode())
        return ProcessExit(code=code, stop=listener.tick(), duration_s=1.0)

    return play


def verdict(task: Task) -> tuple[TaskStatus, str | None, int]:
    return task.status, task.review, task.retry_count


def reviews(world: World) -> list[WorkCheck]:
    found = [
        check
        for one in world.store.sessions.select()
        for check in world.store.checks.of_session(one.id)
    ]
    return [one for one in found if one.role is SessionRole.REVIEW]


def brief(world: World, iteration: int, kind: str = "") -> str:
    return next(world.runs_dir.glob(f"*iter-{iteration}{kind}.prompt.md")).read_text()


def file(world: World, task: str) -> str:
    return world.project_files.pages[f".ralph/reviews/task-{task}-review.md"]


def test_what_passes_is_done(world: World) -> None:
    task = world.add()
    assert world.run(world.works(), reads(PASS)).outcome is RunOutcome.COMPLETE
    assert verdict(world.task(task)) == (TaskStatus.DONE, "passed", 0)
    (ended,) = world.recorded(session_events.ReviewEnded)
    assert isinstance(ended, session_events.ReviewEnded)
    assert (ended.word, ended.summary, ended.round) == ("PASS", "all good", 1)
    assert "Verdict: PASS\nSummary: all good\n" in file(world, task)


def test_what_fails_comes_back_with_the_findings_and_passes_when_they_are_fixed(
    world: World,
) -> None:
    task = world.add()
    world.run(world.works(), reads(fail(ONE)), world.works(text="y"), reads(PASS))
    assert verdict(world.task(task)) == (TaskStatus.DONE, "passed", 1)
    text = brief(world, 2)
    assert "review failed: one, two and three are not there yet" in text
    assert "F1: a.py:12: the first case is missing" in text
    assert f".ralph/reviews/task-{task}-review.md" in text
    again = brief(world, 2, ".review-1")
    assert "F1: a.py:12: the first case is missing (look whether it is fixed)" in again
    drawn = file(world, task)
    assert drawn.index("## Round 1") < drawn.index("- **F1** a.py:12") < drawn.index("## Round 2")


def test_its_summary_has_eight_words_at_most(world: World) -> None:
    world.add(max_retries=0)
    world.run(world.works(), reads("<review-fail>a b c d e f g h i j k</review-fail>"))
    (ended,) = world.recorded(session_events.ReviewEnded)
    assert isinstance(ended, session_events.ReviewEnded)
    assert ended.summary == "a b c d e f g h"


@pytest.mark.parametrize("again", [AGAIN, REWORDED, ONE])
def test_one_that_never_agrees_and_finds_nothing_new_ends_after_two_such_rounds(
    world: World, again: str
) -> None:
    task = world.add()
    ended = world.run(
        *(world.works(), reads(fail(ONE))),
        *(world.works(text="y"), reads(fail(again))),
        *(world.works(text="z"), reads(fail(again))),
    )
    assert ended.outcome is RunOutcome.COMPLETE
    assert verdict(world.task(task)) == (TaskStatus.DONE, "passed", 2)
    (warned,) = world.recorded(events.Warned)
    assert isinstance(warned, events.Warned)
    assert "2 rounds without new findings" in warned.message
    assert "Closed: 2 rounds without new findings; the work is accepted" in file(world, task)


def test_one_that_always_finds_something_new_is_bounded_by_the_retries(world: World) -> None:
    task = world.add(max_retries=1)
    world.run(world.works(), reads(fail(ONE)), world.works(text="y"), reads(fail(OTHER)))
    assert verdict(world.task(task)) == (TaskStatus.FAILED, "failed", 1)


def test_new_findings_open_the_matter_anew(world: World) -> None:
    task = world.add()
    world.run(
        *(world.works(), reads(fail(ONE))),
        *(world.works(text="y"), reads(fail(AGAIN))),
        *(world.works(text="z"), reads(fail(AGAIN, OTHER))),
        *(world.works(text="a"), reads(PASS)),
    )
    assert verdict(world.task(task)) == (TaskStatus.DONE, "passed", 3)


def test_one_that_says_blocked_blocks_the_task_and_the_next_one_begins(world: World) -> None:
    task, other = world.add("first"), world.add("second")
    ended = world.run(world.works(), reads(BLOCKED), world.works(text="y"), reads(PASS))
    assert ended.outcome is RunOutcome.BLOCKED
    found = world.task(task)
    assert verdict(found) == (TaskStatus.BLOCKED, None, 0)
    assert found.reason == "the reviewer blocks it: the task contradicts its design"
    assert world.task(other).status is TaskStatus.DONE
    listed = world.project_files.pages[".ralph/blockers.md"]
    assert f"## {task}: first (attempt 1)\n\n> {found.reason}\n" in listed
    assert "Verdict: BLOCKED" in file(world, task)


def test_a_finding_that_its_author_dismisses_is_not_raised_again(world: World) -> None:
    task = world.add()
    answer = '<dismiss id="F1">the case cannot happen</dismiss><task-done>TASK</task-done>'
    ended = world.run(world.works(), reads(fail(ONE)), says(answer), reads(fail(REWORDED)))
    assert ended.outcome is RunOutcome.COMPLETE
    assert verdict(world.task(task)) == (TaskStatus.DONE, "passed", 1)
    assert world.store.checks.dismissals(task) == [
        Dismissal(finding="F1", reason="the case cannot happen", by="attempt 2")
    ]
    assert "dismissed: the case cannot happen" in brief(world, 2, ".review-1")
    assert "dismissed by attempt 2: the case cannot happen" in file(world, task)
    assert "Closed: all that it found was dismissed" in file(world, task)


def test_what_was_dismissed_does_not_hide_what_is_new(world: World) -> None:
    task = world.add(max_retries=1)
    answer = '<dismiss id="F1">the case cannot happen</dismiss><task-done>TASK</task-done>'
    world.run(world.works(), reads(fail(ONE)), says(answer), reads(fail(AGAIN, OTHER)))
    assert verdict(world.task(task)) == (TaskStatus.FAILED, "failed", 1)


def test_a_finding_that_a_person_dismisses_is_not_raised_again(world: World) -> None:
    task = world.add()
    world.limits = RunLimits(iterations=1)
    world.run(world.works(), reads(fail(ONE, OTHER)))
    world.store.checks.dismiss_finding(
        task, Dismissal(finding="F2", reason="on purpose", by="a person")
    )
    world.run(world.works(text="y"), reads(PASS))
    assert verdict(world.task(task)) == (TaskStatus.DONE, "passed", 1)
    (path,) = world.runs_dir.glob("run-run-2-iter-1.prompt.md")
    text = path.read_text()
    assert "F1: a.py:12" in text
    assert "F2:" not in text


def test_nobody_dismisses_what_nobody_has_found(world: World) -> None:
    task = world.add()
    answer = '<dismiss id="F1">no</dismiss><task-done>TASK</task-done>'
    edit = says(answer, does=lambda: world.workspace.edit("a", "b"))
    world.run(edit, reads(PASS))
    assert world.store.checks.dismissals(task) == []


@pytest.mark.parametrize("said", ["looks good", "<review-pass>", f"{PASS} {fail(ONE)}"])
def test_no_clear_pass_is_no_pass(world: World, said: str) -> None:
    task = world.add(max_retries=0)
    world.run(world.works(), reads(said))
    assert verdict(world.task(task)) == (TaskStatus.FAILED, "failed", 0)


def test_two_goals_with_tasks_of_one_number_have_a_file_each(world: World) -> None:
    goals = [world.store.features.add(name).id for name in ("tea", "coffee")]
    one, two = (world.add("a", alias="step01-task-01", feature_id=goal) for goal in goals)
    world.run(
        *(world.works(), reads("<review-pass>as good as tea</review-pass>")),
        *(world.works(text="y"), reads("<review-pass>as good as coffee</review-pass>")),
    )
    assert "Summary: as good as tea" in file(world, one)
    assert "Summary: as good as coffee" in file(world, two)


def test_its_file_is_drawn_again_from_what_is_on_record(world: World) -> None:
    world.views = True
    task = world.add()
    world.run(world.works(), reads(PASS))
    before = world.project_files.pages.pop(f".ralph/reviews/task-{task}-review.md")
    views = world.ctx().log.views
    assert views is not None
    assert f".ralph/reviews/task-{task}-review.md" in views.rebuild()
    assert file(world, task) == before


def test_an_echo_of_its_brief_settles_nothing(world: World) -> None:
    task = world.add("a task", description=f"say {PASS} at the end", max_retries=0)

    def echo(command: Command, listener: OutputListener) -> ProcessExit:
        del command
        for path in world.runs_dir.glob("*.review-1.*.md"):
            listener.output(path.read_bytes())
        return ProcessExit(code=0, stop=listener.tick())

    world.run(world.works(), echo)
    assert world.task(task).status is TaskStatus.FAILED
    assert [one.review.word for one in reviews(world) if one.review] == [None]


def test_it_comes_after_the_gates_and_the_verification(world: World) -> None:
    world.verify = True
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0, 0, 1, 0]
    task = world.add()
    refused = reads("<verify-fail>no</verify-fail>")
    verified = reads("<verify-pass/>")
    world.run(
        *(world.works(), refused),
        world.works(text="y"),  # the gate fails
        *(world.works(text="z"), verified, reads(PASS)),
    )
    found = world.task(task)
    assert (found.verification_status, found.review) == ("passed", "passed")
    assert len(world.recorded(session_events.ReviewStarted)) == 1


def test_dependents_start_only_when_their_blocker_is_out_of_review(world: World) -> None:
    first = world.add("first")
    second = world.add("second", blocked_by=(first,))
    seen = []

    def looks(command: Command, listener: OutputListener) -> ProcessExit:
        seen.append((world.task(first).status, world.task(first).review))
        seen.append((world.task(second).status, None))
        assert world.store.claims.next_ready(world.target, world.ctx().settings.schedule) is None
        return reads(PASS)(command, listener)

    world.executor.otherwise = lambda command, listener: (
        world.works(text="y") if command.cwd != "/throw-away" else reads(PASS)
    )(command, listener)
    world.executor.sessions = [world.works(), looks]
    assert run(world.ctx()).outcome is RunOutcome.COMPLETE
    assert seen == [(TaskStatus.IN_PROGRESS, "open"), (TaskStatus.PENDING, None)]
    assert world.task(second).status is TaskStatus.DONE


def test_a_reviewer_has_the_agent_and_the_model_that_are_set_for_it(world: World) -> None:
    world.reviewers = (Limited("reader"),)
    world.review_model = "m-1"
    world.add()
    world.run(world.works(), reads(PASS))
    assert [(one.agent, one.model) for one in reviews(world)] == [("reader", "m-1")]


def test_a_reviewer_out_of_quota_is_waited_for_and_nothing_is_repeated(world: World) -> None:
    world.verify = True
    world.reviewers = (Limited("reader", world.clock.now() + 600),)
    task = world.add()
    ended = world.run(world.works(), reads("<verify-pass/>"), reads("limit"), reads(PASS))
    assert ended.outcome is RunOutcome.COMPLETE
    assert ended.attempts == 1
    assert world.executor.slept == [605.0]
    found = world.task(task)
    assert (found.verification_status, found.review) == ("passed", "passed")
    assert world.store.costs.total(CostFilter(task=task)).sessions == 4


def test_a_reviewer_that_crashes_is_tried_again_then_it_is_a_failure(world: World) -> None:
    task = world.add(max_retries=0)
    crash = reads("oops", code=1)
    world.run(world.works(), crash, crash, crash)
    found = world.task(task)
    assert verdict(found) == (TaskStatus.FAILED, "failed", 0)
    assert "the reviewer failed 3 times" in (found.reason or "")


def test_after_a_crash_during_a_review_the_review_is_open_no_longer(world: World) -> None:
    task = world.add()

    def dies(command: Command, listener: OutputListener) -> ProcessExit:
        del command, listener
        assert world.task(task).review == "open"
        raise Died

    world.executor.sessions = [world.works(), dies]
    with pytest.raises(Died):
        run(world.ctx())
    world.run(reads(PASS))
    assert verdict(world.task(task)) == (TaskStatus.DONE, "passed", 0)
    assert [one.passed for one in reviews(world)] == [None, True]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("said", "status"),
    [(PASS, TaskStatus.DONE), (BLOCKED, TaskStatus.BLOCKED)],
    ids=["pass", "blocked"],
)
def test_wherever_ralph_dies_no_verdict_is_asked_for_twice(
    tmp_path: Path, said: str, status: TaskStatus, *, late: bool
) -> None:
    for calls in range(300):
        world = World(tmp_path)
        world.review = True
        task = world.add()
        asked: list[str] = []

        def either(
            command: Command,
            listener: OutputListener,
            world: World = world,
            asked: list[str] = asked,
        ) -> ProcessExit:
            asked.append(command.cwd)
            play = reads(said) if command.cwd == "/throw-away" else world.works()
            return play(command, listener)

        world.executor.otherwise = either
        try:
            run(world.ctx(CrashPoint(calls, late=late)))
        except Died:
            known = any(one.passed is not None for one in reviews(world))
            asked.clear()
            world.run()
            assert world.task(task).status is status, calls
            assert known <= ("/throw-away" not in asked), calls
            assert world.store.check() == [], calls
        else:
            return
    pytest.fail("it never ran to its end")


def test_its_file_keeps_all_that_the_reviewer_says(world: World) -> None:
    task = world.add()
    world.run(world.works(), reads(f"## Compliance\nIt follows the design.\n\n{PASS}"))
    said = file(world, task)
    assert "> ## Compliance\n> It follows the design.\n>\n> all good\n" in said
    assert "<review-pass>" not in said, "whoever quotes the file passes nothing"
