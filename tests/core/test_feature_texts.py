"""What sessions are told that think a feature out."""

import pytest

from ralph.core import feature_texts as texts
from ralph.core.brief import SIGIL_TAGS
from ralph.core.feature_texts import Subject
from ralph.core.project_context import Context, FeatureRow, describe, shortened
from ralph.core.task import Feature, FeatureStatus

LOGIN = Subject(name="login", spec="features/spec.md", plan="features/plan.md")
REQUEST = "sign in\nby mail"


def asking(**fields: object) -> Subject:
    return Subject(
        name="login",
        spec="features/spec.md",
        plan="features/plan.md",
        **fields,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    "text",
    [
        texts.write_spec(asking(request=REQUEST)),
        texts.write_plan(asking(request=REQUEST)),
        texts.break_down(LOGIN, "t-1"),
        texts.root_description(LOGIN),
    ],
)
def test_no_text_holds_what_would_count_as_a_claim(text: str) -> None:
    assert not any(f"<{tag}" in text for tag in SIGIL_TAGS)


def test_a_request_is_quoted_whole() -> None:
    for text in (
        texts.write_spec(asking(request=REQUEST)),
        texts.write_plan(asking(request=REQUEST)),
    ):
        assert "> sign in\n> by mail" in text


def test_a_document_that_is_there_is_gone_on_from() -> None:
    assert "Revise the specification" in texts.write_spec(asking(has_spec=True))
    assert "revise the plan" in texts.write_plan(asking(has_plan=True))
    assert "There is a spec already" in texts.talk_about_spec(asking(has_spec=True), "").opening
    assert "There is a plan already" in texts.talk_about_plan(asking(has_plan=True), "").opening


def test_who_breaks_it_down_is_told_where_and_how() -> None:
    text = texts.break_down(LOGIN, "t-4f2a1b")
    for words in ("features/spec.md", "features/plan.md", "--parent t-4f2a1b", "task deps add"):
        assert words in text


def test_a_conversation_begins_with_what_the_person_wants() -> None:
    talk = texts.talk_about_spec(asking(request=REQUEST), "## The project\n\n- it is small")
    assert talk.opening.endswith(REQUEST)
    assert "it is small" in talk.rules
    assert texts.talk_about_task("", "").opening


def test_the_projects_own_guide_is_shortened_at_the_end_of_a_line() -> None:
    guide = "\n".join(f"line {number}" for number in range(1000))
    cut = shortened(guide, 100)
    first, last = cut.splitlines()[0], cut.splitlines()[-2]
    assert (first, last in guide.splitlines()) == ("line 0", True)
    assert "more characters in the file" in cut.splitlines()[-1]
    assert shortened("short", 100) == "short"


def test_a_project_is_described_in_a_page() -> None:
    feature = Feature(id="f-1", name="a|b", status=FeatureStatus.READY)
    context = Context(
        guide_name="CLAUDE.md",
        guide="Use uv.\n",
        settings=[("gates", "none")],
        features=[FeatureRow(feature=feature, done=1, total=3)],
    )
    text = describe(context)
    assert "From `CLAUDE.md`:\n\n> Use uv." in text
    assert "| a\\|b | ready | 1 of 3 |" in text


def test_a_project_without_anything_is_not_described() -> None:
    assert describe(Context()) == ""
