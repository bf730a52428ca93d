"""Reviews as people read them: `.ralph/reviews/task-<id>-review.md`, and `.ralph/blockers.md`."""

import re
from typing import Final

from ralph.core.review_thread import Finding, LineComment, ReviewRound, ReviewThread
from ralph.core.safe_text import markdown_quote, one_line
from ralph.core.task import Task

FOLDER: Final = ".ralph/reviews"
BLOCKERS: Final = ".ralph/blockers.md"
HEADING: Final = (
    "# Blockers\n\nWhat only a person can decide. `ralph task unblock` lets a task go on,"
    " `ralph task retry` one that failed.\n"
)


def path_of(task: Task, called: str) -> str:
    """The path of a review, by the number of a code task, otherwise by the task's id: also if
    another goal has a task of that number, and `called` is not the alias."""
    numbered = re.fullmatch(r"(?:[\w.-]+-)?task-[\d.]*\d", called)
    name = numbered[0].removeprefix("task-") if numbered else task.id
    return f"{FOLDER}/task-{name}-review.md"


def review_file_text(task: Task, review_thread: ReviewThread) -> str:
    parts = [f"# Review of {task.name}: {one_line(task.title, 200)}\n"]
    parts += [_round(one, review_thread) for one in review_thread.rounds]
    if review_thread.comments:
        lines = (line for one in review_thread.comments for line in _comment(one))
        parts.append("## Comments\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _round(review: ReviewRound, review_thread: ReviewThread) -> str:
    said = review.word.value if review.word is not None else "no verdict"
    lines = [f"## Round {review.round}", "", f"Verdict: {said}", f"Summary: {review.summary}"]
    if review.closed:
        lines.append(f"Closed: {review.closed}; the work is accepted")
    if not review.assessment and len(review.why.split()) > len(review.summary.split()):
        lines += ["", markdown_quote(review.why)]
    if review.findings:
        lines += ["", *(line for one in review.findings for line in _finding(one, review_thread))]
    if review.assessment:
        lines += ["", "### Assessment", "", markdown_quote(review.assessment)]
    return "\n".join(lines) + "\n"


def _finding(finding: Finding, review_thread: ReviewThread) -> list[str]:
    first, *rest = finding.text.splitlines() or [""]
    again = "" if finding.is_new else " (again)"
    lines = [f"- **{finding.id}**{again} {first}", *(f"  {line}".rstrip() for line in rest)]
    gone = review_thread.dismissed.get(finding.id)
    if gone is not None:
        lines.append(f"  - dismissed by {gone.by}: {one_line(gone.reason, 400)}")
    return lines


def _comment(comment: LineComment) -> list[str]:
    where, answer = one_line(str(comment.lines), 300), comment.answer
    lines = [f"- **{comment.finding}** `{where}` ({comment.state})"]
    lines += [f"  {line}".rstrip() for line in comment.text.splitlines()]
    if comment.dismissal is not None:
        gone = comment.dismissal
        lines.append(f"  - dismissed by {gone.by}: {one_line(gone.reason, 400)}")
    elif answer is not None and answer.lines is not None:
        found = one_line(str(answer.lines), 300)
        lines.append(f"  - answered by attempt {answer.attempt} in `{found}`")
    return lines


def with_blocker(text: str, task: Task, attempt: int, why: str) -> str:
    entry = f"## {task.name}: {one_line(task.title, 200)} (attempt {attempt})"
    if entry in text.splitlines():
        return text
    before = text.rstrip("\n") + "\n" if text.strip() else HEADING
    return f"{before}\n{entry}\n\n{markdown_quote(why)}\n"
