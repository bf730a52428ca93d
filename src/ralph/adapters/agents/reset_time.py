"""When a limit ends, from the words of the program that reports it.

You've hit your limit · resets 8:27am (UTC)
You've hit your weekly limit · resets Oct 9 at 5pm (Europe/Berlin)
… or try again at 7:44 AM.
… or try again at Nov 16th, 2026 7:44 AM.
… or try again in 3 hours 20 minutes.
… Please try again in 1.898s.
"""

import re
import time
from calendar import isleap
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
UNITS: Final = {
    "ms": 0.001,
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600),
    **dict.fromkeys(("d", "day", "days"), 86400),
    **dict.fromkeys(("w", "week", "weeks"), 7 * 86400),
}
LONGEST: Final = 300
"""Characters that are looked at behind the word: a program's sentence is short."""

BEHIND: Final = re.compile(r"(?i)\b(?:resets?|again|retry)\b")
SPAN: Final = re.compile(
    r"(?i)^\W*(?:in|after)\s(?:about\s)?((?:\s*\d{1,6}(?:\.\d{1,6})?\s?[a-z]+(?:,|\s+and)?)+)"
)
PART: Final = re.compile(r"(?i)(\d+(?:\.\d+)?)\s?([a-z]+)")
DAY: Final = re.compile(
    rf"(?i)\b({'|'.join(MONTHS)})[a-z]*\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}})\b)?"
)
NEAR: Final = re.compile(
    r"(?i)\b(?:(mon|tue|wed|thu|fri|sat|sun)(?:s|nes|rs|ur)?(?:day)?|(tomorrow))\b"
)
CLOCK: Final = re.compile(
    r"(?i)(?<![\d:.])(\d{1,2})(?::(\d\d))?(?::\d\d)?\s?([ap])\.?m\b"
    r"|(?<![\d:.])(\d{1,2}):(\d\d)(?![\d:])"
)
ZONE: Final = re.compile(r"^\.? ?(?:\(([\w+/-]+)\)|(UTC|GMT)\b)")
ISO: Final = re.compile(
    r"\b(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:\.\d+)? ?(Z|UTC|GMT|[+-]\d\d:?\d\d)?(?![\w:])"
)
EPOCH: Final = re.compile(r"\|(\d{10})(?:\d{3})?\b")
ABBREVIATED: Final = {
    "EDT": -4, "EST": -5, "CDT": -5, "CST": -6, "MDT": -6, "MST": -7, "PDT": -7, "PST": -8,
    "BST": 1, "CET": 1, "CEST": 2,
}  # fmt: skip
"""Zones that most lists do not have by these names, in hours."""


class _Clock(NamedTuple):
    hour: int
    minute: int
    zone: tzinfo | None
    """None is the clock of this machine."""

    def on(self, day: date) -> float:
        if self.zone is None:
            return time.mktime((*day.timetuple()[:3], self.hour, self.minute, 0, 0, 0, -1))
        at = datetime(day.year, day.month, day.day, self.hour, self.minute, tzinfo=self.zone)
        return at.timestamp()

    def today(self, now: float) -> date:
        if self.zone is None:
            return date(*time.localtime(now)[:3])
        return datetime.fromtimestamp(now, self.zone).date()


def reset_time(text: str, now: float) -> float | None:
    """The moment after `now` that the text speaks of, in seconds since the epoch.

    None where it speaks of none. A clock without a zone is that of this machine; without a day it
    is the next time that the clock shows it.
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
        if found := ISO.search(words):
            moment = _moment(found[1], found[2])
            return moment if moment > now else None
        clock = _clock(words)
        return _next(clock, words, now) if clock else None
    except (ValueError, OverflowError, OSError, ZoneInfoNotFoundError):
        # A day, an hour or a zone that does not exist.
        return None


def _after(span: str, now: float) -> float | None:
    total = sum(float(number) * UNITS.get(unit.lower(), 0) for number, unit in PART.findall(span))
    return now + total if total else None


def _moment(text: str, zone: str | None) -> float:
    at = datetime.fromisoformat(text)
    if zone is None:
        return time.mktime(at.timetuple())
    offset = "+00:00" if zone in ("Z", "UTC", "GMT") else zone
    return datetime.fromisoformat(at.isoformat() + offset).timestamp()


def _clock(words: str) -> _Clock | None:
    found = CLOCK.search(DAY.sub("", words))
    if found is None:
        return None
    named = ZONE.match(found.string[found.end() :])
    zone = _zone(named[1] or named[2]) if named else None
    hour, minute, half, hour_24, minute_24 = found.groups(default="0")
    if half == "0":
        hours, minutes = int(hour_24), int(minute_24)
    else:
        hours, minutes = int(hour) % 12 + 12 * (half.lower() == "p"), int(minute)
    fits = hours < 24 and minutes < 60 and int(hour) <= 12
    return _Clock(hours, minutes, zone) if fits else None


def _zone(name: str) -> tzinfo:
    # Known even where the machine has no list of zones.
    if name in ("UTC", "GMT"):
        return UTC
    if name in ABBREVIATED:
        return timezone(timedelta(hours=ABBREVIATED[name]))
    return ZoneInfo(name)


def _next(clock: _Clock, words: str, now: float) -> float | None:
    for each in _days(clock.today(now), words):
        moment = clock.on(each)
        if moment > now:
            return moment
        if now < moment + 60:
            # A clock without seconds means some moment of that minute.
            return moment + 60
    return None


def _days(today: date, words: str) -> Iterator[date]:
    named = DAY.search(words)
    if named is None:
        yield from _near(today, NEAR.search(words))
        return
    month = MONTHS.index(named[1].lower()) + 1
    if named[3]:
        yield date(int(named[3]), month, int(named[2]))
        return
    leap_only = (month, int(named[2])) == (2, 29)
    for year in range(today.year, today.year + 9):
        if not leap_only or isleap(year):
            yield date(year, month, int(named[2]))


def _near(today: date, named: re.Match[str] | None) -> Iterator[date]:
    """The days to come: all of them, or those that are called so."""
    for days in range(9):
        day = today + timedelta(days=days)
        if named is None or (
            days == 1 if named[2] else day.weekday() == WEEKDAYS.index(named[1].lower())
        ):
            yield day
