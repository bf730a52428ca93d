"""How the next attempt at a task starts after a merge conflict, and the conflict in words."""

from collections.abc import Sequence
from enum import StrEnum

from ralph.core.safe_text import first_few_paths, one_line
from ralph.core.task import Task
from ralph.core.verdict import AttemptVerdict
from ralph.prompts import prompt

SHOWN = 20
"""Files that a brief names."""
MAX_DESCRIPTION = 4000
"""Characters of another task's description."""


class CheckoutStart(StrEnum):
    """What happens to the task's checkout before the session starts."""

    AS_IT_IS = "as it is"
    SIDE_BY_SIDE = "side by side"
    """Its work did not fit: the session finds both sides in the files."""
    START_OVER = "start over"
    """A session had both sides and could not join them: its work is kept, and the task begins
    again at the branch's tip."""


def choose_checkout_start(judged: Sequence[AttemptVerdict | None]) -> CheckoutStart:
    """`judged`: what became of the task's sessions, the newest first; None: not judged yet.

    Decided from the record alone, so that it comes to the same after a crash.
    """
    if not judged or judged[0] in (None, AttemptVerdict.RELEASED):
        return CheckoutStart.AS_IT_IS
    if judged[0] is AttemptVerdict.CONFLICT:
        return CheckoutStart.SIDE_BY_SIDE
    if judged[0] in (AttemptVerdict.REJECTED, AttemptVerdict.STRUCK) and joins_two_sides(
        judged[1:]
    ):
        return CheckoutStart.START_OVER
    return CheckoutStart.AS_IT_IS


def joins_two_sides(judged: Sequence[AttemptVerdict | None]) -> bool:
    """Does a session that comes after these, the newest first, join two sides?"""
    before = next((word for word in judged if word not in (None, AttemptVerdict.RELEASED)), None)
    return before is AttemptVerdict.CONFLICT


def conflict_text(files: Sequence[str], others: Sequence[Task]) -> str:
    """Why work does not fit, in a line."""
    names = first_few_paths(files, SHOWN)
    theirs = ", ".join(f"{task.name} ({one_line(task.title, 60)})" for task in others)
    whose = f" by {theirs}" if theirs else ""
    return f"its work does not fit what was merged meanwhile{whose}: {names}"


def conflict_brief_text(begins: CheckoutStart, others: Sequence[Task], ref: str) -> str:
    """What a session reads, beside the reason, when its task begins with a conflict."""
    is_joined = begins is CheckoutStart.SIDE_BY_SIDE
    what = prompt("conflict_side_by_side" if is_joined else "conflict_start_over").format(ref=ref)
    sides = [
        f"### Merged meanwhile: {task.name} {one_line(task.title, 200)}\n\n"
        f"{task.description.strip()[:MAX_DESCRIPTION]}".rstrip()
        for task in others
    ]
    return "\n\n".join([what.rstrip(), *sides])
