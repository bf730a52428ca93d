"""Reviews as people read them: `.ralph/reviews/task-<id>-review.md`, and `.ralph/blockers.md`."""

import re
from typing import Final

from ralph.core.review import Finding, Matter, Review
from ralph.core.safe_text import one_line
from ralph.core.task import Task

FOLDER: Final = ".ralph/reviews"
BLOCKERS: Final = ".ralph/blockers.md"
HEADING: Final = (
    "# Blockers\n\nWhat only a person can decide. `ralph task unblock` lets a task go on.\n"
)


def path_of(task: Task, called: str) -> str:
    """By the number of the code task, else by the id that the graph has given it: also where
    another goal has a task of that number, and `called` is not its alias."""
    numbered = re.fullmatch(r"(?:[\w.-]+-)?task-[\d.]*\d", called)
    name = numbered[0].removeprefix("task-") if numbered else task.id
    return f"{FOLDER}/task-{name}-review.md"


def drawn(task: Task, matter: Matter) -> str:
    """The whole file: one section a round."""
    parts = [f"# Review of {task.name}: {one_line(task.title, 200)}\n"]
    parts += [_round(one, matter) for one in matter.rounds]
    return "\n".join(parts)


def _round(review: Review, matter: Matter) -> str:
    said = review.word.value if review.word is not None else "no verdict"
    lines = [f"## Round {review.round}", "", f"Verdict: {said}", f"Summary: {review.summary}"]
    if review.closed:
        lines.append(f"Closed: {review.closed}; the work is accepted")
    if review.why and len(review.why.split()) > len(review.summary.split()):
        lines += ["", *_quoted(review.why)]
    if review.findings:
        lines += ["", *(line for one in review.findings for line in _finding(one, matter))]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> list[str]:
    return [f"> {line}".rstrip() for line in text.splitlines()]


def _finding(finding: Finding, matter: Matter) -> list[str]:
    first, *rest = finding.text.splitlines() or [""]
    again = "" if finding.is_new else " (again)"
    lines = [f"- **{finding.id}**{again} {first}", *(f"  {line}".rstrip() for line in rest)]
    gone = matter.dismissed.get(finding.id)
    if gone is not None:
        lines.append(f"  - dismissed by {gone.by}: {one_line(gone.reason, 400)}")
    return lines


def with_blocker(text: str, task: Task, attempt: int, why: str) -> str:
    """The list of blockers with this one, once."""
    entry = f"## {task.name}: {one_line(task.title, 200)} (attempt {attempt})"
    if entry in text.splitlines():
        return text
    before = text.rstrip("\n") + "\n" if text.strip() else HEADING
    return f"{before}\n{entry}\n\n" + "\n".join(_quoted(why)) + "\n"
