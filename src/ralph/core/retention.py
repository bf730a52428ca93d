"""Decide which session files and other records are old enough to be removed."""

from collections.abc import Iterable
from typing import Final

import msgspec

DAY_S: Final = 86_400.0


class RetainedFiles(msgspec.Struct, frozen=True, kw_only=True):
    """Files that stay or go together, such as those of one session."""

    paths: tuple[str, ...]
    name: str
    changed_at: float
    bytes: int
    is_failed: bool = False
    """Of an attempt that did not count: people want to know why."""
    is_needed: bool = False
    """Of an open task, or of a run that is at work: it never goes."""


class RetentionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much may stay; 0 is without limit."""

    days: float = 0
    failed_days: float = 0
    count: int = 0
    bytes: int = 0


def files_to_remove(
    kept: Iterable[RetainedFiles], limits: RetentionLimits, now: float
) -> list[RetainedFiles]:
    """What is too old; then, while there is too much, the oldest. Of those that are not too old,
    failed attempts go last."""
    everything = sorted(kept, key=lambda one: (one.changed_at, one.name))
    gone = [one for one in everything if not one.is_needed and _is_old(one, limits, now)]
    names = {one.name for one in gone}
    left = [one for one in everything if one.name not in names]
    count, size = len(left), sum(one.bytes for one in left)
    for one in sorted(left, key=lambda one: one.is_failed):
        if not ((limits.count and count > limits.count) or (limits.bytes and size > limits.bytes)):
            break
        if not one.is_needed:
            gone.append(one)
            count, size = count - 1, size - one.bytes
    return gone


def _is_old(one: RetainedFiles, limits: RetentionLimits, now: float) -> bool:
    days = limits.failed_days if one.is_failed else limits.days
    return bool(days) and now - one.changed_at > days * DAY_S
