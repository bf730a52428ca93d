"""The interfaces for reading and writing the project's own files."""

from collections.abc import Callable, Iterable
from typing import Protocol

import msgspec

from ralph.core.brief import Guardrail
from ralph.core.task import Task
from ralph.core.verdict import Verdict
from ralph.store.sessions import Session


class FileText(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a file, or why it cannot be read. Both are empty if there is no such file."""

    text: str | None = None
    trouble: str = ""
    """Why it cannot be read."""


class ProjectFiles(Protocol):
    """Reads and writes files in the project's folder; paths are relative to it. Reading never
    raises, since an odd file must not end a run."""

    def read(self, path: str) -> FileText:
        """The text of a file in the project: a session may have left a link elsewhere."""

    def read_bytes(self, path: str) -> bytes | None:
        """Return the bytes of a file; None: there is no such file. Raises UnusableData if
        something else is in its place."""

    def exists(self, path: str) -> bool: ...

    def write(self, path: str, content: bytes) -> None:
        """Write a file and its folders atomically. Raises CannotWrite."""

    def write_view(self, path: str, pieces: Iterable[bytes]) -> None:
        """Write a file that can be generated again: atomic, but not synced. Raises CannotWrite."""

    def append_after(self, path: str, more: Callable[[bytes], Iterable[bytes]]) -> None:
        """Append to a file what follows from its end (its last 64 KiB; empty if there is none), in
        one step under a lock. Raises CannotWrite or Busy."""

    def remove(self, path: str) -> None:
        """Remove a file. A missing file is not an error."""

    def changed_at(self, path: str) -> float | None:
        """Return when it was last written, in seconds since 1970; None: there is no such file."""

    def append(self, path: str, text: str, *, fresh: str) -> None:
        """Append to a log under a lock; a new one begins with `fresh`. Raises as `change` does."""

    def folders(self, path: str) -> list[str]:
        """Return the names of the folders in a folder, sorted; none if it cannot be read."""

    def files(self, path: str, suffix: str) -> list[str]:
        """Return the names of the files in a folder that end like this, sorted."""

    def change(self, path: str, edit: Callable[[str], str]) -> None:
        """Write what `edit` makes of the text (empty if there is no file), in one step under a
        lock. Raises CannotWrite, Busy or UnusableData."""


class GuardrailWriter(Protocol):
    """Adds guardrails. Inside a session the run writes them, because the sandbox can neither lock
    nor replace the file."""

    def add_guardrail(self, entry: Guardrail) -> Guardrail:
        """Add an entry, unless one says it already; return that entry. The rest stays."""


class IterationReport(msgspec.Struct, frozen=True, kw_only=True):
    """A report of one iteration. Paths are relative to the top of the checkout."""

    iteration: int
    task: Task
    session: Session
    verdict: Verdict
    head: str = ""
    """Where the branch is now."""
    commits: tuple[str, ...] = ()
    """Since the session began, oldest first."""
    committed: tuple[str, ...] = ()
    """The files of these."""
    uncommitted: tuple[str, ...] = ()
    """What is left in the tree, except the user's own files."""


class IterationLog(Protocol):
    """Writes the iteration log. A failure to write is returned as text and never ends a run."""

    def log_accepted(self, account: IterationReport) -> str:
        """Log accepted work before it is committed, so that the entry is part of the commit."""

    def log_iteration(self, account: IterationReport) -> str: ...
