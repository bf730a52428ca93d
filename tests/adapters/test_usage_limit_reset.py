"""When a limit ends, from what programs say about it."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.adapters.agents.usage_limit_reset import reset_time

NOW = datetime(2026, 11, 15, 6, 0, 30, tzinfo=UTC)
MOMENTS = st.integers(1_704_067_200, 1_893_456_000).map(lambda at: datetime.fromtimestamp(at, UTC))
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")


def read(text: str, now: datetime = NOW) -> str | None:
    moment = reset_time(text, now.timestamp())
    return None if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S}"


@pytest.fixture
def in_new_york() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "America/New_York"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("You've hit your limit · resets 8:27am (UTC)", "2026-11-15 08:27:00"),
        ("You've hit your session limit · resets 8am (Europe/Berlin)", "2026-11-15 07:00:00"),
        ("You've hit your limit · resets 5am (UTC)", "2026-11-16 05:00:00"),
        ("resets 12am (UTC)", "2026-11-16 00:00:00"),
        ("resets 12:30pm (UTC)", "2026-11-15 12:30:00"),
        ("weekly limit · resets Nov 20 at 5pm (Europe/Berlin)", "2026-11-20 16:00:00"),
        ("weekly limit · resets Nov 20, 5:30pm (Asia/Kolkata)", "2026-11-20 12:00:00"),
        ("resets Jan 2, 2027, 5pm (UTC)", "2027-01-02 17:00:00"),
        ("resets Jan 2 at 5pm (UTC)", "2027-01-02 17:00:00"),
        ("resets Feb 29 at 5pm (UTC)", "2028-02-29 17:00:00"),
        ("try again at Nov 16th, 2026 7:44 AM (UTC).", "2026-11-16 07:44:00"),
        ("or try again in 3 hours 20 minutes.", "2026-11-15 09:20:30"),
        ("Try again in 2 days, 3 hours and 4 minutes.", "2026-11-17 09:04:30"),
        ("try again in 5m 3s", "2026-11-15 06:05:33"),
        ("Claude AI usage limit reached|1799924000", "2027-01-14 10:53:20"),
        ("Claude AI usage limit reached|1799924000000", "2027-01-14 10:53:20"),
        ("resets 7:44 p.m. (UTC)", "2026-11-15 19:44:00"),
        ("Please try again in 1.898s. Visit our page", "2026-11-15 06:00:31"),
        ("Please try again in 6m0s.", "2026-11-15 06:06:30"),
        ("Please try again in 650ms.", "2026-11-15 06:00:30"),
        ("resets in about 3 hours", "2026-11-15 09:00:30"),
        ("it never resets by itself; try again at 9am (UTC)", "2026-11-15 09:00:00"),
    ],
)
def test_what_programs_say_is_understood(text: str, moment: str) -> None:
    assert read(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "You've hit your limit",
        "at 8:27am (UTC)",
        "resets soon",
        "resets 8:27am (Mars/Phobos)",
        "resets 8:27am (America)",
        "resets 13pm (UTC)",
        "resets 8:75am (UTC)",
        "resets Feb 30 at 5pm (UTC)",
        "resets Nov 14, 2026 at 5pm (UTC)",
        "try again in less than a minute",
        "try again in 3 blue moons",
        "usage limit reached|1600000000",
        "resets 2026-11-14T03:00:00Z",
        "resets 2026-13-14T03:00:00Z",
    ],
)
def test_what_is_no_moment_to_come_is_none(text: str) -> None:
    assert read(text) is None


def test_a_clock_in_its_own_minute_means_the_end_of_that_minute() -> None:
    assert read("resets 6am (UTC)") == "2026-11-15 06:01:00"


@pytest.mark.usefixtures("in_new_york")
def test_without_a_zone_it_is_the_clock_of_this_machine() -> None:
    assert read("or try again at 7:44 AM.") == "2026-11-15 12:44:00"
    assert read("or try again at Jul 1st, 2027 7:44 AM.") == "2027-07-01 11:44:00"


@given(
    now=MOMENTS,
    wait=st.timedeltas(timedelta(minutes=2), timedelta(hours=23)),
    name=st.sampled_from(ZONES),
)
def test_the_next_time_that_the_clock_shows_it(now: datetime, wait: timedelta, name: str) -> None:
    zone = ZoneInfo(name)
    moment = (now + wait).astimezone(zone)
    found = reset_time(f"resets {moment:%I:%M%p} ({name})", now.timestamp())
    assert found is not None
    seen = datetime.fromtimestamp(found, zone)
    assert (seen.hour, seen.minute, seen.second) == (moment.hour, moment.minute, 0)
    # An hour that the clocks show twice in autumn is read as the first of them.
    assert now.timestamp() < found <= moment.timestamp()
    assert moment.timestamp() - found < 60 + 3600


@given(
    now=MOMENTS,
    wait=st.timedeltas(timedelta(minutes=2), timedelta(days=300)),
    name=st.sampled_from(ZONES),
)
def test_a_day_without_a_year_is_the_next_one(now: datetime, wait: timedelta, name: str) -> None:
    moment = (now + wait).astimezone(ZoneInfo(name))
    found = reset_time(f"resets {moment:%b %d at %I:%M%p} ({name})", now.timestamp())
    assert found is not None
    assert now.timestamp() < found <= moment.timestamp()
    assert moment.timestamp() - found < 60 + 3600


@given(text=st.text(), now=st.floats(0, 4e9))
def test_any_text_gives_a_later_moment_or_none(text: str, now: float) -> None:
    found = reset_time(f"resets {text}", now)
    assert found is None or found > now


@given(
    text=st.from_regex(r"resets (Feb|Nov) \d{1,2},? (\d{4},? )?\d{1,2}:\d\d ?(am|pm)? \(\w+\)"),
    now=st.floats(0, 4e9),
)
def test_any_day_and_clock_gives_a_later_moment_or_none(text: str, now: float) -> None:
    found = reset_time(text, now)
    assert found is None or found > now
