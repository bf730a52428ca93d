"""Who a session is in the story of a task."""

from enum import StrEnum


class Role(StrEnum):
    """It does the work, or it checks what another one did."""

    WORK = "work"
    VERIFY = "verify"
    REVIEW = "review"
