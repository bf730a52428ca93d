"""What counts as a tag in a final message, and what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.message_tags import (
    Knowledge,
    MessageTags,
    Promise,
    normalize_answer,
    read_message_tags,
    shorten_message,
)


def test_an_empty_message_says_nothing() -> None:
    assert read_message_tags("") == MessageTags()
    assert read_message_tags("All done, the task is complete.") == MessageTags()


def test_a_tag_is_found_in_the_middle_of_prose() -> None:
    said = read_message_tags("I am done: <task-done>t-1</task-done>, and the tests pass.")
    assert said.task_done == "t-1"


def test_white_space_inside_is_trimmed() -> None:
    assert read_message_tags("<task-done>\n  t-1\t</task-done>").task_done == "t-1"
    assert read_message_tags("<next-model> opus </next-model>").next_model == "opus"


def test_the_first_of_each_kind_wins() -> None:
    said = read_message_tags(
        "<task-done>t-1</task-done><task-done>t-2</task-done>"
        "<next-model>opus</next-model><next-model>haiku</next-model>"
    )
    assert (said.task_done, said.next_model) == ("t-1", "opus")


def test_done_beats_failed_in_either_order() -> None:
    for message in (
        "<task-done>t-1</task-done> <task-failed>t-1</task-failed>",
        "<task-failed>t-1</task-failed> <task-done>t-1</task-done>",
    ):
        said = read_message_tags(message)
        assert (said.task_done, said.task_failed) == ("t-1", None)


def test_failed_alone_counts() -> None:
    assert read_message_tags("<task-failed>t-1</task-failed>").task_failed == "t-1"


@pytest.mark.parametrize("model", ["opus", "sonnet", "haiku"])
def test_the_three_models_are_understood(model: str) -> None:
    assert read_message_tags(f"<next-model>{model}</next-model>").next_model == model


@pytest.mark.parametrize("model", ["gpt", "Opus", "opus-4", "", "opus sonnet"])
def test_any_other_model_is_ignored(model: str) -> None:
    said = read_message_tags(f"<next-model>{model}</next-model><task-done>t-1</task-done>")
    assert (said.next_model, said.task_done) == (None, "t-1")


@pytest.mark.parametrize(
    "message",
    [
        "<promise>COMPLETE</promise>",
        "first\n  <promise>COMPLETE</promise>  \nlast",
        "<promise> COMPLETE </promise>\r\n<promise>FAILURE</promise>",
        "<promise>PERHAPS</promise>\n<promise>COMPLETE</promise>",
    ],
)
def test_a_promise_counts_on_a_line_of_its_own(message: str) -> None:
    assert read_message_tags(message).promise is Promise.COMPLETE


@pytest.mark.parametrize(
    "message",
    [
        "I will not write <promise>COMPLETE</promise> yet",
        "`<promise>FAILURE</promise>`",
        "- <promise>COMPLETE</promise>",
        "<promise>complete</promise>",
        "<promise>\nCOMPLETE\n</promise>",
        "<promise>COMPLETE</promise><promise>FAILURE</promise>",
        "<promise>COMPLETE",
    ],
)
def test_a_promise_in_a_sentence_is_not_made(message: str) -> None:
    assert read_message_tags(message).promise is None


def test_a_verifier_passes_or_says_why_not() -> None:
    assert read_message_tags("<verify-pass/>").verify_pass
    assert read_message_tags("<verify-pass />").verify_pass
    said = read_message_tags("<verify-fail> the test is red\nin two places </verify-fail>")
    assert (said.verify_pass, said.verify_fail) == (False, "the test is red\nin two places")


def test_notes_are_kept() -> None:
    assert read_message_tags("<journal> chose a heap </journal>").journal == "chose a heap"


def test_knowledge_has_a_title_and_tags_in_any_order() -> None:
    said = read_message_tags(
        '<knowledge tags="git, ,  hooks" title=" Hooks run first ">They do.</knowledge>'
        '<knowledge title="Plain">Text</knowledge>'
        "<knowledge>Bare</knowledge>"
        '<knowledge tags="empty"> </knowledge>'
    )
    assert said.knowledge == (
        Knowledge(text="They do.", title="Hooks run first", tags=("git", "hooks")),
        Knowledge(text="Text", title="Plain"),
        Knowledge(text="Bare"),
    )


@pytest.mark.parametrize(
    "message",
    [
        "<task-done>t-1",
        "t-1</task-done>",
        "<task-done t-1>",
        "</task-done>t-1<task-done>",
        "< task-done>t-1</task-done>",
        "<knowledge title=",
        "<knowledge>never closed",
        "<verify-fail>never closed",
    ],
)
def test_an_unclosed_tag_says_nothing(message: str) -> None:
    assert read_message_tags(message) == MessageTags()


def test_a_tag_that_prose_mentions_does_not_spoil_the_tag() -> None:
    said = read_message_tags("I shall end with <task-done> now.\n<task-done>t-1</task-done>")
    assert said.task_done == "t-1"


@given(st.text())
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    read_message_tags(text)
    read_message_tags(f"<knowledge {text}>{text}</knowledge><task-done>{text}</task-done>")


@given(st.text(alphabet="<>/ abtask-doneknowledge=\"'\n", max_size=80))
def test_no_jumble_of_tags_is_too_odd_to_be_read(text: str) -> None:
    read_message_tags(text)


def test_knowledge_is_read_from_the_last_tag_before_its_end() -> None:
    said = read_message_tags(
        'I use <knowledge> below. <knowledge title="a > b">It is so.</knowledge>'
    )
    assert said.knowledge == (Knowledge(text="It is so.", title="a > b"),)


def test_what_a_brief_leaves_blank_says_nothing() -> None:
    assert read_message_tags("<journal>…</journal><knowledge>…</knowledge>") == MessageTags()
    assert (
        read_message_tags("<task-done>ID</task-done><task-failed>ID</task-failed>") == MessageTags()
    )


def test_an_example_before_a_tag_does_not_spoil_it() -> None:
    said = read_message_tags(
        "I am to end with <task-done>ID</task-done> and may leave a <journal>…</journal>.\n"
        "<journal>chose a heap</journal>\n<task-done>t-1</task-done>"
    )
    assert (said.task_done, said.journal) == ("t-1", "chose a heap")


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("<task-failed>t-1</task-failed> The API is gone.", "The API is gone."),
        ("<task-failed>t-1</task-failed>\nNo key.\n<journal>x</journal>", "No key."),
        ("I looked.\n\nThere is no key.\n<task-failed>t-1</task-failed>\n", "There is no key."),
        ("<task-failed>t-1</task-failed>", ""),
        ("<task-done>t-1</task-done> because", ""),
    ],
)
def test_what_an_agent_says_about_its_failure_is_the_reason(message: str, why: str) -> None:
    assert read_message_tags(message).why_failed == why


@pytest.mark.parametrize("text", ["<finding ", "<", "< /", "<review-pass a", "<a>", "<a"])
def test_what_is_never_closed_is_read_in_linear_time(text: str) -> None:
    for message in (text + " " * 60_000, text * 20_000):
        said = read_message_tags(normalize_answer(message, "") + "<task-failed>t-1</task-failed>")
        assert said.task_failed == "t-1"


def test_a_cut_does_not_make_a_line_of_its_own() -> None:
    message = "x" * 5000 + "<promise>COMPLETE</promise>" + "y" * 5000
    short = shorten_message(message, 100)
    assert "<promise>COMPLETE</promise>" in short
    assert len(short) < 2500
    assert read_message_tags(short).promise is None


def test_a_message_without_tags_is_cut_to_its_end() -> None:
    assert shorten_message("a" * 50 + "b" * 50, 50) == "b" * 50
    assert shorten_message("short", 50) == "short"


def test_many_tags_do_not_crowd_out_others() -> None:
    many = "<finding>this is one</finding>\n" * 100_000
    short = shorten_message(f"{many}<task-done>t-1</task-done>\n{many}", 1000)
    assert len(short) < 100_000
    assert read_message_tags(short).task_done == "t-1"
