"""Durations, safe text, moments and ids: small words for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core import ids
from ralph.core.ids import TaskId
from ralph.core.run import EXIT_CODES, RunOutcome
from ralph.core.safe_text import first_few_paths, multi_line, one_line
from ralph.core.snapshot import CheckoutChanges, Snapshot, changed_work_files
from ralph.core.times import format_duration, from_iso, parse_duration, to_iso


class TestDurations:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("30s", 30),
            ("10m", 600),
            ("8h", 28800),
            ("2d", 172800),
            ("1.5m", 90),
            ("0s", 0),
            ("", 0),
            ("  ", 0),
            (" 5 m ", 300),
        ],
    )
    def test_they_are_read_as_people_write_them(self, text: str, value: float) -> None:
        assert parse_duration(text) == value

    @pytest.mark.parametrize("text", ["10", "m", "ten m", "-1s", "nans", "infs", "1e9s", "5 w"])
    def test_anything_else_is_refused_with_an_example(self, text: str) -> None:
        with pytest.raises(ValueError, match="is not a duration such as 30s, 10m or 8h"):
            parse_duration(text)

    @given(st.text(max_size=8))
    def test_a_text_is_a_duration_or_an_error(self, text: str) -> None:
        try:
            value = parse_duration(text)
        except ValueError:
            return
        assert 0 <= value < 1e9 * 86400

    @pytest.mark.parametrize(
        ("duration_s", "text"),
        [
            (0, "0.0s"),
            (1.25, "1.2s"),
            (12.4, "12s"),
            (59.7, "1m 00s"),
            (95, "1m 35s"),
            (3599, "59m 59s"),
            (3600, "1h 00m"),
            (90061, "25h 01m"),
        ],
    )
    def test_they_are_spoken_in_two_units_at_most(self, duration_s: float, text: str) -> None:
        assert format_duration(duration_s) == text


class TestSafeText:
    def test_of_many_paths_the_number_is_told(self) -> None:
        assert first_few_paths(["a", "b", "c"], 2) == "a, b and 1 more"

    def test_a_line_stays_one_line(self) -> None:
        assert one_line("one\n\n  two\tthree\r\n") == "one two three"

    def test_control_characters_become_visible(self) -> None:
        assert one_line("\x1b[31mred\x07\x7f") == "␛[31mred␇␡"
        assert one_line("a\u202eb\ud800") == "a\ufffdb\ufffd"

    def test_a_long_line_is_cut_to_its_width(self) -> None:
        assert one_line("abcdef", 4) == "abc…"
        assert one_line("abcd", 4) == "abcd"

    def test_a_block_keeps_its_lines_and_tabs(self) -> None:
        assert multi_line("a\n\tb\x1b[0m\r\n") == "a\n\tb␛[0m␍\n"

    @given(st.text(alphabet=st.characters()), st.integers(0, 40))
    def test_nothing_gets_through_that_moves_a_cursor(self, text: str, width: int) -> None:
        shown = one_line(text, width)
        assert shown.isprintable()
        assert not width or len(shown) <= width
        assert all(char.isprintable() or char in "\n\t" for char in multi_line(text))


class TestTimes:
    @given(st.integers(0, 4_000_000_000_000_000))
    def test_text_order_is_time_order(self, microseconds: int) -> None:
        moment = microseconds / 1e6
        assert to_iso(moment) <= to_iso(moment + 0.001)
        assert from_iso(to_iso(moment)) == pytest.approx(moment, abs=1e-5)

    def test_a_moment_is_told_in_utc(self) -> None:
        assert to_iso(0.5) == "1970-01-01T00:00:00.500000Z"


class TestIds:
    def test_an_id_says_what_it_names(self) -> None:
        assert ids.task_id("4f2a10") == "t-4f2a10"
        assert ids.feature_id("4f2a10") == "f-4f2a10"
        assert ids.worker_id("4f2a1099") == "agent-4f2a1099"

    def test_a_session_is_named_after_its_attempt(self) -> None:
        assert ids.session_id(TaskId("t-1"), 3) == "t-1:3"


class TestSnapshots:
    def test_ralphs_own_documents_are_not_work(self) -> None:
        own = (".ralph/progress.md", ".ralph.toml", ".agents/tasks/prd.md", "MEMORY.md")
        assert changed_work_files(CheckoutChanges(files=own)) == ()

    def test_everything_else_is(self) -> None:
        files = ("src/a.py", "docs/MEMORY.md", "MEMORY.md.py", ".ralph.toml.py", "x/.ralph/y")
        assert changed_work_files(CheckoutChanges(files=(*files, ".ralph/x"))) == files

    def test_two_checkouts_are_the_same_when_their_files_are(self) -> None:
        here = Snapshot(head="c1", tree="t1", index="i1", dirty=("a",))
        assert here.same_as(Snapshot(head="c1", tree="t1", branch="other"))
        assert not here.same_as(Snapshot(head="c1", tree="t2"))
        assert not here.same_as(Snapshot(head="c2", tree="t1"))


def test_every_outcome_has_an_exit_code() -> None:
    assert set(EXIT_CODES) == set(RunOutcome)
    assert [name for name, code in EXIT_CODES.items() if code == 0] == [RunOutcome.COMPLETE]
