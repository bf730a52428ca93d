"""Errors a person can act on. One line, a way out, an exit code.

    RalphError                 1   something a person can mend
    ├── UsageError            64   the command line does not make sense
    ├── UnusableData          65   a document or a database cannot be used
    ├── Missing               66   something that must exist first does not
    │   └── NoSuchTask        66   no task, feature or run has that name
    ├── Unavailable           69   a program that is needed cannot be had
    ├── CannotWrite           73   a file or a database cannot be written
    ├── Busy                  75   somebody else is at it; try again later
    ├── TemporaryFailure      75   the machine failed, not the data; a run pauses
    ├── BadConfig             78   a setting has a wrong value
    ├── IllegalTransition     64   the task's state does not allow it
    ├── CycleRefused          64   the edge would close a circle
    └── ClaimLost              1   the claim no longer belongs to this worker

Outcomes are values, not errors; everything that is not a RalphError is a bug and may crash: 70.
"""


class RalphError(Exception):
    """something went wrong"""

    exit_code = 1

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        super().__init__(message or (self.__doc__ or "").strip())
        self.hint = hint


class UsageError(RalphError):
    """the command line does not make sense"""

    exit_code = 64


class UnusableData(RalphError):
    """a document or a database cannot be used"""

    exit_code = 65


class Missing(RalphError):
    """something that must exist first does not"""

    exit_code = 66


class NoSuchTask(Missing):
    """no such task"""


class Unavailable(RalphError):
    """a program that is needed cannot be had"""

    exit_code = 69


class CannotWrite(RalphError):
    """cannot write"""

    exit_code = 73


class Busy(RalphError):
    """somebody else is at it"""

    exit_code = 75


class TemporaryFailure(RalphError):
    """the machine failed: nothing is known about the data"""

    exit_code = 75


class BadConfig(RalphError):
    """a setting has a wrong value"""

    exit_code = 78


class IllegalTransition(RalphError):
    """the task's state does not allow it"""

    exit_code = 64


class CycleRefused(RalphError):
    """the edge would close a circle"""

    exit_code = 64


class ClaimLost(RalphError):
    """the claim no longer belongs to this worker"""
