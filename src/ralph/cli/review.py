"""Commands about reviews: comment on lines of a task's change, list what was found."""

from argparse import Namespace
from collections.abc import Iterator

import msgspec

from ralph.cli.command import command, flag, option
from ralph.cli.options import JSON, TASK, at_least, json_option
from ralph.cli.output import TerminalStyle, print_answer, print_json_array
from ralph.cli.project_access import project_with_store
from ralph.cli.prompts import read_bytes, text_of
from ralph.core.errors import UnusableData, UsageError
from ralph.core.ids import TaskId
from ralph.core.line_comments import CommentDraft, read_lines
from ralph.core.review_thread import (
    DiffSide,
    Dismissal,
    Finding,
    FindingState,
    LineComment,
    ReviewThread,
)
from ralph.core.safe_text import multi_line, one_line
from ralph.core.task import TaskStatus
from ralph.wiring.project import open_project_files
from ralph.workflows.line_comments import CommentsAdded

LARGEST = 4 * 1024 * 1024
COLORS = {
    FindingState.OPEN: "33",
    FindingState.ADDRESSED: "32",
    FindingState.DISPUTED: "31",
    FindingState.STALE: "2",
    FindingState.DISMISSED: "2",
}


@command(
    TASK,
    option(
        "lines", "FILE:LINE[-LINE]", "which lines, by their numbers after the change", nargs="?"
    ),
    option("text", "TEXT", "what to say; - reads standard input", nargs="?"),
    option("--attempt", "N", "of what this attempt changed (default: the last)", type=at_least(1)),
    flag("--old", "lines that the change has removed, by their numbers before it"),
    option("--from", "FILE", "several comments, as a JSON array; - is standard input", dest="file"),
    json_option("print the comments as JSON"),
)
def comment(args: Namespace) -> None:
    """Comment on lines of a task's change.

    The comment becomes a finding of the task's review: its next session has to change these lines,
    name others that answer it, or reply why not. A failed task gets a fresh set of tries; if the
    task is done, a new task follows it up. `ralph review list` says what became of it.

    The numbers are those of `ralph diff TASK --attempt N`. With --from, each comment is an object
    with path, first, last, text and, for removed lines, "side": "old".

    examples:
      ralph review comment t-4f2a1b src/app.py:12-14 "read the limit from the settings"
      ralph review comment US-003 src/app.py:40 "why is this gone?" --old --attempt 2
    """
    from ralph.engine.state_files import write_review_file
    from ralph.wiring.git_access import open_changes
    from ralph.workflows.line_comments import comment_on_lines

    drafts = _drafts(args)
    with project_with_store() as (project, store), open_changes(project) as changes:
        added = comment_on_lines(store, changes.text_of, args.task, drafts, args.attempt)
        write_review_file(store, open_project_files(project), added.task)
    print_answer(args, list(map(_object, added.comments)), "\n".join(_answer_lines(added)))


def _drafts(args: Namespace) -> list[CommentDraft]:
    if args.file is not None:
        if args.lines is not None or args.old:
            raise UsageError("--from says which lines, so they cannot be given beside it")
        limit = f"comments may have {LARGEST:,} bytes"
        try:
            return msgspec.json.decode(
                read_bytes(args.file, LARGEST, limit), type=list[CommentDraft]
            )
        except msgspec.DecodeError as error:
            where = "standard input" if args.file == "-" else one_line(args.file, 200)
            hint = '[{"path": "src/a.py", "first": 12, "last": 14, "text": "…"}]'
            raise UnusableData(f"{where} has no comments: {error}", hint=hint) from error
    if args.text is None:
        raise UsageError(
            "which lines, and what about them?",
            hint=f"ralph review comment {args.task} src/app.py:12 TEXT",
        )
    lines = read_lines(args.lines)
    if lines is None:
        raise UsageError(
            f"{one_line(args.lines, 200)} names no lines", hint="such as src/app.py:12-14"
        )
    side = DiffSide.OLD if args.old else DiffSide.NEW
    text = text_of(args.text)
    return [CommentDraft(path=lines.path, first=lines.first, last=lines.last, side=side, text=text)]


def _answer_lines(added: CommentsAdded) -> Iterator[str]:
    for one in added.comments:
        yield f"{one.finding} on {one_line(str(one.lines), 200)}"
    task = added.task.name
    if added.task.status is TaskStatus.BLOCKED:
        yield f"{task} is blocked; `ralph task unblock {task}` lets it go on"
    elif added.is_follow_up:
        yield f"{task} answers, since {added.about} is done; `ralph run` works on it"
    elif added.task.status is TaskStatus.IN_PROGRESS:
        yield f"{task} is in progress; its work does not count without an answer"
    else:
        yield f"the next attempt at {task} answers; `ralph run` works on it"


@command(TASK, JSON)
def list_findings(args: Namespace) -> None:
    """List what reviewers and you found in a task's work, and what became of it.

    open: waits for the next attempt. addressed: an attempt has changed the lines of a comment, or
    others that its session names; they are shown. disputed: a session gives a reason for not fixing
    it; `ralph task dismiss` agrees with it. dismissed: by you. stale: the lines had changed before
    a session could answer.

    examples:
      ralph review list t-4f2a1b
      ralph review list US-003 --json | jq 'map(select(.state == "disputed"))'
    """
    with project_with_store() as (project, store):
        task = store.tasks.find(args.task).id
        thread, comments = store.reviews.thread(task), store.reviews.comments_about(task)
    if args.json:
        found = [_finding_object(task, thread, one) for one in thread.reviewers_findings]
        print_json_array([*found, *map(_object, comments)])
        return
    style = TerminalStyle(args, project)
    lines = [line for one in thread.reviewers_findings for line in _finding(thread, one, style)]
    lines += [line for one in comments for line in _comment(one, task, style)]
    print("\n".join(lines) or f"nothing was found; `ralph review comment {args.task}` comments")


def _finding(thread: ReviewThread, found: Finding, style: TerminalStyle) -> Iterator[str]:
    state = thread.state_of(found.id)
    yield f"{found.id:<4} {style.paint(f'{state:<9}', COLORS[state])}  by a reviewer"
    yield from _indented(found.text)
    yield from _dismissed(thread.dismissed.get(found.id))


def _comment(comment: LineComment, task: str, style: TerminalStyle) -> Iterator[str]:
    state = style.paint(f"{comment.state:<9}", COLORS[comment.state])
    where = style.bold(one_line(str(comment.lines), 200))
    where += " (removed)" if comment.side is DiffSide.OLD else ""
    where += "" if comment.task_id == task else f"  of {comment.task_id}"
    yield f"{comment.finding:<4} {state}  {where}"
    yield from _indented(comment.text)
    yield from _dismissed(comment.dismissal)
    answer = comment.answer
    if comment.dismissal is None and answer is not None:
        what = one_line(str(answer.lines), 200) if answer.lines else "its file is gone"
        if answer.state is FindingState.STALE:
            what = "the lines had changed before it began"
        yield f"     attempt {answer.attempt}: {what}"
        yield from (style.dim(line) for line in _indented(answer.text))


def _dismissed(gone: Dismissal | None) -> Iterator[str]:
    if gone is not None:
        yield f"     dismissed by {one_line(gone.by, 60)}: {one_line(gone.reason, 500)}"


def _indented(text: str) -> list[str]:
    return [f"     {line}".rstrip() for line in multi_line(text).splitlines()]


def _finding_object(task: TaskId, thread: ReviewThread, found: Finding) -> dict[str, object]:
    return {
        "finding": found.id,
        "task_id": task,
        "text": found.text,
        "dismissal": thread.dismissed.get(found.id),
        "state": thread.state_of(found.id),
    }


def _object(comment: LineComment) -> dict[str, object]:
    return msgspec.structs.asdict(comment) | {"state": comment.state}
