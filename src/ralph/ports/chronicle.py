"""What is written down about each iteration, beside what the store knows: logs for people."""

from typing import Protocol

import msgspec

from ralph.core.task import Task
from ralph.core.verdict import Verdict
from ralph.ports.history import Session


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """One iteration. Paths are from the top of the checkout."""

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
    """What is left in the tree, a person's own files aside."""


class Chronicle(Protocol):
    """Writes it down. Whatever goes wrong with that ends no run: it is returned, to be said."""

    def accepted(self, account: Account) -> str:
        """Before the work is committed, so that what is written joins the commit."""
        ...

    def iterated(self, account: Account) -> str:
        """When the iteration is over."""
        ...
