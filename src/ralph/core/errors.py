"""Errors for the user: one line, a hint, an exit code.

Outcomes are values, not errors; everything that is not a RalphError is a bug and may crash: 70.
"""


class RalphError(Exception):
    """Something that a person can fix."""

    exit_code = 1
    usual_hint = ""
    """The hint of an error that is raised without one."""

    def __init__(self, message: str = "something went wrong", *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = self.usual_hint if hint is None else hint


class UsageError(RalphError):
    """The command line does not make sense."""

    exit_code = 64


class UnusableData(RalphError):
    """A document or a database cannot be used."""

    exit_code = 65


class Missing(RalphError):
    """Something that must exist first does not."""

    exit_code = 66


class NoSuchTask(Missing):
    """No task, feature or run has that name."""


class Unavailable(RalphError):
    """A program that is needed cannot be had."""

    exit_code = 69


class NotLoggedIn(RalphError):
    """An agent has no login, so a run pauses before it begins."""

    exit_code = 6


class SetupFailed(Unavailable):
    """A setup command fails in a private checkout."""


class CannotWrite(RalphError):
    """A file or a database cannot be written."""

    exit_code = 73
    usual_hint = "look at what is in its place, at its permissions, and at the disk"


class Busy(RalphError):
    """Another process is at work; try again later."""

    exit_code = 75


class BranchMoved(Busy):
    """Another process has moved a branch at this moment."""


class TemporaryFailure(RalphError):
    """The machine failed: nothing is known about the data, and a run pauses."""

    exit_code = 75


class BadConfig(RalphError):
    """A setting has a wrong value."""

    exit_code = 78


class IllegalTransition(RalphError):
    """The task's state does not allow it."""

    exit_code = 64


class CycleRefused(RalphError):
    """The edge would close a cycle."""

    exit_code = 64


class ClaimLost(RalphError):
    """The claim no longer belongs to this worker."""
