"""People comment on lines of a change; the next attempt has to answer."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from ralph.core.errors import Missing, UsageError
from ralph.core.ids import TaskId
from ralph.core.line_comments import CommentDraft
from ralph.core.review_thread import DiffSide, FindingState, LineComment
from ralph.core.run import RunLimits, RunOutcome
from ralph.core.task import TaskStatus
from ralph.workflows.line_comments import CommentsAdded, comment_on_lines
from tests.doubles import says
from tests.engine.world import World

TEXT = "a\nb\nc\nd\ne\n"
DISPUTED = '<dismiss id="F1">it is meant so</dismiss><task-done>TASK</task-done>'
ONCE = RunLimits(iterations=1)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def comment(world: World, task: str, line: int, **fields: object) -> CommentsAdded:
    """A person writes it; time passes before and after."""
    world.clock.advance(1)
    draft = CommentDraft(path="work.txt", first=line, last=line, text="why?")
    trees = world.workspace.trees
    added = comment_on_lines(
        world.store, lambda at, path: trees[at].get(path), task, [replace(draft, **fields)]
    )
    world.clock.advance(1)
    return added


def comments(world: World, task: str) -> list[LineComment]:
    return world.store.reviews.comments_about(world.store.tasks.find(task).id)


def done(world: World) -> TaskId:
    task = world.add("Write it")
    world.run(world.works(text=TEXT))
    assert world.task(task).status is TaskStatus.DONE
    return task


def test_a_follow_up_answers_by_changing_the_lines(world: World) -> None:
    task = done(world)
    added = comment(world, task, 3)
    assert added.is_follow_up
    assert world.task(task).status is TaskStatus.DONE
    world.run(world.works(text="a\nb\nC\nd\ne\n"))
    assert world.task(added.task.id).status is TaskStatus.DONE
    (known,) = comments(world, task)
    assert known.answer is not None
    assert (known.state, str(known.answer.lines)) == (FindingState.ADDRESSED, "work.txt:3")
    assert known.answer.text == "C"
    review = world.project_files.pages[f".ralph/reviews/task-{added.task.id}-review.md"]
    assert "- **F1** `work.txt:3` (addressed)\n  why?\n  - answered by attempt 1" in review


def test_its_brief_has_the_comment_with_the_lines(world: World) -> None:
    task = done(world)
    comment(world, task, 3)
    world.run(world.works(text="a\nb\nC\nd\ne\n"))
    text = "".join(page.read_text() for page in world.runs_dir.glob("*.prompt.md"))
    assert f"Answer the comments on {task}: Write it" in text
    assert f"F1: `work.txt:3` of {task}, attempt 1\n\n      c\n\n  why?" in text


def test_work_that_leaves_a_comment_without_an_answer_is_rejected(world: World) -> None:
    task = done(world)
    added = comment(world, task, 3)
    world.run(world.works("other.txt"), world.works(text="a\nb\nC\nd\ne\n"))
    follow_up = world.task(added.task.id)
    assert (follow_up.status, follow_up.retry_count) == (TaskStatus.DONE, 1)
    (first, _) = world.store.sessions.select(task=follow_up.id)
    assert first.verdict == (
        "attempt 1: it has no answer to what a person wrote about its lines: F1 (work.txt:3)"
    )
    assert comments(world, task)[0].state is FindingState.ADDRESSED


def test_a_session_may_dispute_and_change_nothing(world: World) -> None:
    task = done(world)
    added = comment(world, task, 3)
    world.run(says(DISPUTED))
    assert world.task(added.task.id).status is TaskStatus.DONE
    (known,) = comments(world, task)
    assert known.state is FindingState.DISPUTED
    assert known.dismissal is not None
    assert known.dismissal.reason == "it is meant so"
    (need,) = world.store.screens.disputes(9)
    assert (need.task_id, need.finding) == (added.task.id, "F1")


def test_a_session_may_name_other_lines_that_answer(world: World) -> None:
    task = done(world)
    comment(world, task, 3)
    message = '<addressed id="f1">test.txt:1, nowhere</addressed><task-done>TASK</task-done>'
    world.run(says(message, does=lambda: world.workspace.edit("test.txt", "a test\n")))
    (known,) = comments(world, task)
    assert known.answer is not None
    assert (known.state, str(known.answer.lines)) == (FindingState.ADDRESSED, "test.txt:1")


def test_a_rejected_attempt_that_answered_is_followed_by_one_that_need_not_again(
    world: World,
) -> None:
    task = done(world)
    added = comment(world, task, 3)
    comment(world, task, 5)
    world.run(
        world.works(text="a\nb\nC\nd\ne\n"),
        world.works(text="a\nb\nC\nd\ne\nand f\n"),
    )
    assert world.task(added.task.id).retry_count == 1
    assert [str(one.answer and one.answer.lines) for one in comments(world, task)] == [
        "work.txt:3",
        "work.txt:5-6",
    ]


def test_a_failed_task_is_tried_again_and_knows_the_comment(world: World) -> None:
    task = world.add(max_retries=0)
    world.run(
        says("<task-failed>TASK</task-failed>", does=lambda: world.workspace.edit("work.txt", TEXT))
    )
    assert world.task(task).status is TaskStatus.FAILED
    added = comment(world, task, 3)
    assert (added.task.id, added.task.status) == (task, TaskStatus.PENDING)
    world.run(world.works(text="a\nb\nC\nd\ne\n"))
    assert world.task(task).status is TaskStatus.DONE
    assert comments(world, task)[0].state is FindingState.STALE


def test_a_comment_during_a_session_keeps_its_work_from_counting(world: World) -> None:
    task = world.add()
    world.limits = ONCE
    world.run(says("nothing", does=lambda: world.workspace.edit("work.txt", TEXT)))
    world.limits = RunLimits()

    def session() -> None:
        world.workspace.edit("other.txt")
        comment(world, task, 3)

    ended = world.run(
        says("<task-done>TASK</task-done>", does=session), world.works(text="a\nb\nC\nd\ne\n")
    )
    assert ended.outcome is RunOutcome.COMPLETE
    assert comments(world, task)[0].state is FindingState.ADDRESSED


def test_removed_lines_can_be_commented_on(world: World) -> None:
    done(world)
    task = world.add("Shorten it")
    world.run(world.works(text="a\nb\n"))
    added = comment(world, task, 4, side=DiffSide.OLD)
    assert added.comments[0].excerpt == "d"
    world.run(world.works(text="a\nb\nd\n"))
    (known,) = comments(world, task)
    assert known.answer is not None
    assert str(known.answer.lines) == "work.txt:3"


def test_a_verifier_reads_the_comments(world: World) -> None:
    task = done(world)
    world.verify = True
    comment(world, task, 3, text="say it better")
    world.run(world.works(text="a\nb\nC\nd\ne\n"), says("<verify-pass/>"))
    (text,) = world.runs_dir.glob("*.verify-1.prompt.md")
    assert "say it better" in text.read_text()


def test_where_there_is_no_change_there_is_no_comment(world: World) -> None:
    task, parent = world.add(), world.add("all")
    world.add("part", parent_id=parent)
    with pytest.raises(Missing, match="no attempt at task"):
        comment(world, task, 1)
    with pytest.raises(UsageError, match="is done by the tasks below it"):
        comment(world, parent, 1)
    world.limits = ONCE
    world.run(world.works(text=TEXT))
    for fields, why in (
        ({"path": "none.txt"}, "there is no file none.txt after attempt 1"),
        ({"last": 99}, "has no lines 1-99 after attempt 1: it has 5"),
        ({"side": DiffSide.OLD}, "there is no file work.txt before attempt 1"),
    ):
        with pytest.raises(UsageError, match=why):
            comment(world, task, 1, **fields)
    with pytest.raises(Missing, match="no attempt 7 at task"):
        comment_on_lines(world.store, lambda _, __: TEXT, task, [], 7)
    assert comments(world, task) == []
