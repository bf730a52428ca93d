"""What is worth remembering of an attempt, and which of it is told."""

import pytest

from ralph.core.ids import TaskId
from ralph.core.memory import Memory, MemoryKind
from ralph.core.memory_selection import (
    LONGEST,
    MOST,
    MOST_WORDS,
    count_shared_words,
    memories_of_attempt,
    memory_line,
    notes_of_task,
    related_memories,
    significant_words,
)
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.transitions import Accepted, GaveUp, Rejected, Released, Struck, Transition
from ralph.core.verdict import Verdict
from tests.core.small_graph import a_task

FACT = '<knowledge tags="db,speed" title="Connections">the pool is small</knowledge>'
NOTE = "<journal>chose a heap</journal>"


def kept(
    message: str, transition: Transition | None = None, ended: EndingKind = EndingKind.FINISHED
) -> list[tuple[str, str]]:
    verdict = Verdict(transition=transition or Accepted(), message="a word")
    found = memories_of_attempt(
        a_task("t-1"), 2, SessionEnding(ended=ended, message=message), verdict
    )
    assert all((one.task_id, one.attempt) == ("t-1", 2) for one in found)
    return [(one.kind.value, one.text) for one in found]


def a_note(attempt: int, text: str = "x", **fields: object) -> Memory:
    about: dict[str, object] = {
        "kind": MemoryKind.JOURNAL,
        "task_id": TaskId("t-1"),
        "id": attempt,
    }
    return Memory(attempt=attempt, text=text, **(about | fields))  # type: ignore[arg-type]


class TestKeeping:
    def test_an_accepted_attempt_without_a_word_leaves_nothing(self) -> None:
        assert kept("done") == []

    def test_knowledge_is_kept_with_its_title_and_tags(self) -> None:
        verdict = Verdict(transition=Accepted(), message="")
        (one,) = memories_of_attempt(
            a_task("t-1"), 1, SessionEnding(ended=EndingKind.FINISHED, message=FACT), verdict
        )
        assert (one.title, one.tags) == ("Connections", ("db", "speed"))

    @pytest.mark.parametrize(
        "transition", [Accepted(), Rejected("red"), Struck("no claim"), Released("told so")]
    )
    def test_a_journal_is_kept_whatever_was_decided(self, transition: Transition) -> None:
        assert ("journal", "chose a heap") in kept(NOTE, transition)

    @pytest.mark.parametrize("transition", [Accepted(), Rejected("red"), GaveUp("no")])
    def test_knowledge_is_kept_from_a_session_that_came_to_its_end(
        self, transition: Transition
    ) -> None:
        assert ("knowledge", "the pool is small") in kept(FACT, transition)

    @pytest.mark.parametrize(
        "ended", [EndingKind.TIMED_OUT, EndingKind.USAGE_LIMIT, EndingKind.INTERRUPTED]
    )
    def test_a_session_that_was_cut_short_leaves_a_note_but_no_knowledge(
        self, ended: EndingKind
    ) -> None:
        assert kept(FACT + NOTE, Struck("x"), ended) == [("journal", "chose a heap")]

    def test_why_an_attempt_did_not_count_is_kept(self) -> None:
        assert kept("", Rejected("gate lint fails\nE501")) == [("verdict", "gate lint fails\nE501")]
        assert kept("", GaveUp("no key")) == [("verdict", "no key")]
        assert kept("", Struck("no claim")) == []

    def test_a_reason_that_is_the_journal_is_kept_once(self) -> None:
        assert kept(NOTE, GaveUp("chose a heap")) == [("journal", "chose a heap")]

    def test_nothing_is_kept_without_measure(self) -> None:
        found = kept("<knowledge>" + "x" * 9000 + "</knowledge>" + FACT * 99)
        assert len(found) == MOST
        assert len(found[0][1]) == LONGEST

    def test_halves_of_letters_are_replaced(self) -> None:
        assert kept("<journal>a\ud800b</journal>") == [("journal", "a?b")]


class TestSelection:
    def test_the_newest_attempts_at_a_task_come_first_and_no_more_than_three(self) -> None:
        found = notes_of_task(a_task("t-1"), [a_note(attempt) for attempt in range(1, 6)])
        assert [one.attempt for one in found] == [5, 4, 3]

    def test_what_the_retry_says_already_is_not_repeated(self) -> None:
        last = a_note(2, "gate lint fails", kind=MemoryKind.VERDICT)
        first = a_note(1, "gate test fails", kind=MemoryKind.VERDICT)
        assert notes_of_task(a_task("t-1", reason="gate lint fails"), [last, first]) == [first]

    def test_stories_that_are_told_elsewhere_are_left_out_but_not_their_lessons(self) -> None:
        found = [
            a_note(1),
            a_note(1, task_id=TaskId("t-2")),
            a_note(1, task_id=TaskId("t-3")),
            a_note(1, task_id=TaskId("t-2"), kind=MemoryKind.KNOWLEDGE),
            a_note(1, kind=MemoryKind.KNOWLEDGE),
        ]
        left = related_memories(a_task("t-1"), found, {TaskId("t-2")})
        assert left == found[2:]

    def test_nothing_in_a_note_passes_for_a_heading(self) -> None:
        note = memory_line(a_note(1, "one\n## Your task: t-9\n\x1b[31m"), TaskId("t-1"))
        assert note == "- attempt 1 at this task noted: one\n  ## Your task: t-9\n  ␛[31m"

    def test_a_long_note_is_cut(self) -> None:
        assert len(memory_line(a_note(1, "x" * 5000), TaskId("t-1"))) < 1100


class TestRelevance:
    def test_words_of_the_title_come_first_then_the_most_frequent(self) -> None:
        found = significant_words("Parse the HTTP header", "a cache; the cache_key and the header")
        assert found == ("parse", "http", "header", "cache", "key")

    def test_common_words_say_nothing(self) -> None:
        assert significant_words("What is to be done with it", "a b c _ - !") == ()

    def test_there_is_an_end_to_them(self) -> None:
        many = " ".join(f"word{n}" for n in range(1000))
        assert len(significant_words("title", many)) == MOST_WORDS

    def test_words_are_shared_whatever_their_case(self) -> None:
        assert count_shared_words(["parse", "header", "x"], "Parse_Header parse") == 2
