"""Parse the time when a usage limit resets from the agent's message.

You've hit your limit · resets 8:27am (UTC)
You've hit your weekly limit · resets Oct 9 at 5pm (Europe/Berlin)
… or try again at 7:44 AM.
… or try again at Nov 16th, 2026 7:44 AM.
… or try again in 3 hours 20 minutes.
… Please try again in 1.898s.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
UNITS: Final = {
    "ms": 0.001,
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
    **dict.fromkeys(("w", "week", "weeks"), 7 * 86400),
}
LONGEST: Final = 300
"""Characters after the word that are read: a program's sentence is short."""

BEHIND: Final = re.compile(r"(?i)\b(?:resets?|again|retry)\b")
SPAN: Final = re.compile(
    r"(?i)^\W*(?:in|after)\s(?:about\s)?((?:\s*\d{1,6}(?:\.\d{1,6})?\s?[a-z]+(?:,|\s+and)?)+)"
)
PART: Final = re.compile(r"(?i)(\d+(?:\.\d+)?)\s?([a-z]+)")
DAY: Final = re.compile(
    rf"(?i)\b({'|'.join(MONTHS)})[a-z]*\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}})\b)?"
)
CLOCK: Final = re.compile(r"(?i)(?<![\d:.])(\d{1,2})(?::(\d\d))?\s?([ap])\.?m\b")
ZONE: Final = re.compile(r"^\.? ?(?:\(([\w+/-]+)\)|(UTC|GMT)\b)")
EPOCH: Final = re.compile(r"\|(\d{10})(?:\d{3})?\b")


def reset_time(text: str, now: float) -> float | None:
    """The moment after `now` that the text names, in seconds since the epoch; None without one.

    A clock without a zone is that of this machine; without a day it is the next time that the clock
    shows it.
    """
    if found := EPOCH.search(text):
        return float(found[1]) if float(found[1]) > now else None
    *_, last = (None, *BEHIND.finditer(text))
    if last is None:
        return None
    words = " ".join(text[last.end() :][:LONGEST].split())
    if found := SPAN.match(words):
        return _after(found[1], now)
    try:
        clock = _clock(words)
        return _next(clock, words, now) if clock else None
    except (ValueError, OverflowError, OSError, ZoneInfoNotFoundError):
        # A day, an hour or a zone that does not exist.
        return None


def _after(span: str, now: float) -> float | None:
    total = sum(float(number) * UNITS.get(unit.lower(), 0) for number, unit in PART.findall(span))
    return now + total if total else None


def _clock(words: str) -> time | None:
    """The time of day that the text names; without a zone it is that of this machine."""
    found = CLOCK.search(DAY.sub("", words))
    if found is None:
        return None
    named = ZONE.match(found.string[found.end() :])
    zone = _zone(named[1] or named[2]) if named else None
    hours, minutes = int(found[1]), int(found[2] or 0)
    if hours > 12 or minutes >= 60:
        return None
    return time(hours % 12 + 12 * (found[3].lower() == "p"), minutes, tzinfo=zone)


def _zone(name: str) -> tzinfo:
    # Known even if the machine has no list of zones.
    return UTC if name in ("UTC", "GMT") else ZoneInfo(name)


def _next(clock: time, words: str, now: float) -> float | None:
    for day in _days(datetime.fromtimestamp(now, clock.tzinfo).date(), words):
        moment = datetime.combine(day, clock).timestamp()
        if moment > now:
            return moment
        if now < moment + 60:
            # A clock without seconds means some moment of that minute.
            return moment + 60
    return None


def _days(today: date, words: str) -> Iterator[date]:
    """The days that the text may mean: the one that it names, or the next ones."""
    if named := DAY.search(words):
        years = [int(named[3])] if named[3] else range(today.year, today.year + 9)
        for year in years:
            with suppress(ValueError):  # not every year has such a day
                yield date(year, MONTHS.index(named[1].lower()) + 1, int(named[2]))
    else:
        yield from (today, today + timedelta(days=1))
