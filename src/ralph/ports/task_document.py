"""The interface of a document that contains tasks, such as a PRD."""
# ruff: noqa: ARG002 - a document that keeps nothing uses no task

import msgspec

from ralph.core.brief import DocumentText
from ralph.core.session_events import SessionRole
from ralph.core.task import Task


class DocumentClaim(msgspec.Struct, frozen=True, kw_only=True):
    """What a session claims in the document."""

    claims: bool = False
    """The document says that its task is done."""
    broken: str = ""
    """How it damaged the document, which was restored; for the next session to read."""
    warnings: tuple[str, ...] = ()


class TaskText(msgspec.Struct, frozen=True, kw_only=True):
    """What the documents say about one task."""

    text: str
    """Replaces the task's description: the text in the document, with its boxes."""
    plan: DocumentText | None = None
    """The part of the plan about the task."""
    role: SessionRole = SessionRole.WORK
    rules: str = ""
    """Replace the rules for work."""
    checkout: str = ""
    """Where the session works, if not where the run does."""


class TaskDocument:
    """A document that is read before an iteration and written after it. Ralph owns the status of
    the tasks; a box that a session ticks is only a claim. By itself it is one without any status:
    there is nothing to sync, to claim or to write."""

    paths: tuple[str, ...] = ()
    """The files that Ralph itself writes, from the project's root: they are committed with the
    work, and stay when work is set aside."""

    def sync(self) -> tuple[str, ...]:
        """Before an iteration: update the store from what users changed in the document. Returns
        warnings. Raises UnusableData or Missing if no work can begin."""
        return ()

    def task_text(self, task: Task) -> TaskText | None:
        """The text of a task for its brief; None if the task is not in the document."""
        return None

    def session_starts(self, task: Task) -> None:
        """A session begins on the task: from now on, changes may be the session's."""

    def session_ended(self, task: Task) -> tuple[str, ...]:
        """The session has ended, and the checkout was not inspected yet: restore what it was not
        allowed to change. Returns warnings."""
        return ()

    def read_claim(self, task: Task) -> DocumentClaim:
        """Return what the session claims in the document. A damaged document is restored."""
        return DocumentClaim()

    def review_starts(self, task: Task) -> None:
        """A reviewer is about to read the task's work."""

    def write_verdict(self, task: Task, *, done: bool) -> None:
        """Write the verdict, and remove claims that do not count. This may be called before the
        store is updated, and twice after a crash."""

    def end_session(self, task: Task) -> None:
        """The store is updated as well: from now on, changes are the user's."""
