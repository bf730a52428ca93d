"""Comment on lines of what an attempt has changed. The sessions that come next answer."""

from collections.abc import Callable, Sequence

import msgspec

from ralph.core.errors import Missing, UsageError
from ralph.core.ids import TaskId
from ralph.core.line_comments import CommentDraft, excerpt_of
from ralph.core.review_thread import DiffSide, LineComment
from ralph.core.task import Task
from ralph.store.sessions import Session
from ralph.store.store import Store

TextReader = Callable[[str, str], str | None]
"""`ChangeReader.text_of`"""


class CommentsAdded(msgspec.Struct, frozen=True, kw_only=True):
    about: TaskId
    task: Task
    """The task whose next attempt answers them: the same, or one that follows up."""
    comments: list[LineComment]

    @property
    def is_follow_up(self) -> bool:
        return self.task.id != self.about


def comment_on_lines(
    store: Store,
    text_of: TextReader,
    name: str,
    drafts: Sequence[CommentDraft],
    attempt: int | None = None,
) -> CommentsAdded:
    """Add all of these comments on what an attempt has changed (by default the last one that has
    ended), or none. The line numbers are those of `ralph diff TASK --attempt N`."""
    task = store.tasks.find(name)
    session = _session(store, task, attempt)
    comments = [_made_of(draft, session, text_of) for draft in drafts]
    answering, added = store.reviews.comment(task.id, comments)
    return CommentsAdded(about=task.id, task=answering, comments=added)


def _session(store: Store, task: Task, attempt: int | None) -> Session:
    if store.tasks.children(task.id):
        raise UsageError(
            f"task {task.name} is done by the tasks below it, so its change is theirs",
            hint=f"ralph task tree {task.id}",
        )
    ended = [one for one in store.sessions.select(task=task.id) if one.after is not None]
    wanted = [one for one in ended if attempt in (None, one.attempt)]
    if not wanted:
        which = "no attempt" if attempt is None else f"no attempt {attempt}"
        known = ", ".join(str(one.attempt) for one in ended)
        hint = f"those that have ended: {known}" if known else f"ralph logs {task.id}"
        raise Missing(f"{which} at task {task.name} has ended, so it has no change", hint=hint)
    return wanted[-1]


def _made_of(draft: CommentDraft, session: Session, text_of: TextReader) -> LineComment:
    is_old = draft.side is DiffSide.OLD
    state = session.before if is_old else session.after
    at = (state.tree or state.head) if state is not None else ""
    moment = f"{'before' if is_old else 'after'} attempt {session.attempt}"
    text = text_of(at, draft.path) if at else None
    return LineComment(
        task_id=session.task_id,
        about=session.task_id,
        attempt=session.attempt,
        side=draft.side,
        lines=draft.lines,
        excerpt=excerpt_of(draft, text, moment),
        text=draft.text.strip(),
        at=at,
    )
