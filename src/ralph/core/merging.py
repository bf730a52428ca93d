"""How the next attempt at a task begins, where others move the branch meanwhile."""

from collections.abc import Sequence
from enum import StrEnum

from ralph.core.safe_text import one_line
from ralph.core.task import Task
from ralph.core.tried import Judged

SHOWN = 20
"""Files that a brief names."""
TOLD = 4000
"""Characters of another task's description."""


class Beginning(StrEnum):
    """What is done to the task's checkout before a session starts."""

    AS_IT_IS = "as it is"
    SIDE_BY_SIDE = "side by side"
    """Its work did not fit: the session finds both sides in the files."""
    START_OVER = "start over"
    """A session had both sides and could not join them: its work is kept, and the task begins
    again at the branch's tip."""


def beginning(judged: Sequence[Judged | None]) -> Beginning:
    """`judged`: what became of the task's sessions, the newest first; None: not judged yet.

    Decided from the record alone, so that it comes to the same after a crash.
    """
    if not judged or judged[0] in (None, Judged.RELEASED):
        return Beginning.AS_IT_IS
    if judged[0] is Judged.CONFLICT:
        return Beginning.SIDE_BY_SIDE
    if judged[0] in (Judged.REJECTED, Judged.STRUCK) and has_both_sides(judged[1:]):
        return Beginning.START_OVER
    return Beginning.AS_IT_IS


def has_both_sides(judged: Sequence[Judged | None]) -> bool:
    """Does a session that comes after these, the newest first, join two sides?"""
    before = next((word for word in judged if word not in (None, Judged.RELEASED)), None)
    return before is Judged.CONFLICT


def conflict_in_words(files: Sequence[str], others: Sequence[Task]) -> str:
    """Why work does not fit, in a line."""
    names = ", ".join(one_line(path, 80) for path in files[:SHOWN])
    more = f" and {len(files) - SHOWN} more" if len(files) > SHOWN else ""
    theirs = ", ".join(f"{task.name} ({one_line(task.title, 60)})" for task in others)
    whose = f" by {theirs}" if theirs else ""
    return f"its work does not fit what was merged meanwhile{whose}: {names}{more}"


def conflict_for_brief(begins: Beginning, reason: str, others: Sequence[Task], ref: str) -> str:
    """What a session is told when its task begins with a conflict."""
    if begins is Beginning.SIDE_BY_SIDE:
        what = (
            "The work of the last attempt counts by itself, but does not fit what others have"
            " merged meanwhile. It is in the tree, merged into the newest state, not committed;"
            " where both sides changed the same lines, the file holds both between conflict markers"
            " (`<<<<<<<`,"
            " `=======`, `>>>>>>>`; the first side is what was merged, the second is the last"
            " attempt's). A file that cannot hold both (a binary one, one that was renamed or"
            " deleted) is there as one side has it: the last attempt's whole work is"
            f" `{ref}` (`git show {ref}:PATH`). Join them, so that both tasks are served, and"
            " leave no marker."
        )
    else:
        what = (
            "Earlier work on this task did not fit what others have merged meanwhile, and a session"
            " that had both sides could not join them. The tree is the newest state without that"
            f" work; it is kept as `{ref}` (`git show {ref}`). Begin again from what is here."
        )
    sides = [
        f"### Merged meanwhile: {task.name} {one_line(task.title, 200)}\n\n"
        f"{task.description.strip()[:TOLD]}".rstrip()
        for task in others
    ]
    return "\n\n".join([f"{what}\n\n> {reason}", *sides])
