"""What sessions are told that think a feature out."""

import pytest

from ralph.core.brief import TAG_NAMES
from ralph.core.task import Feature, FeatureStatus
from ralph.documents import feature_prompts as texts
from ralph.documents.feature_prompts import (
    FeatureDocument,
    FeatureFacts,
    cut_at_line_end,
    describe_project,
)

SPEC, PLAN = FeatureDocument.SPEC, FeatureDocument.PLAN
REQUEST = "sign in\nby mail"


def asking(**fields: object) -> FeatureFacts:
    return FeatureFacts(
        name="login",
        paths={SPEC: "features/spec.md", PLAN: "features/plan.md"},
        **fields,  # type: ignore[arg-type]
    )


LOGIN = asking()


@pytest.mark.parametrize(
    "text",
    [
        texts.document_task_description(asking(request=REQUEST), SPEC),
        texts.document_task_description(asking(request=REQUEST), PLAN),
        texts.decomposition_task_description(LOGIN, "t-1"),
    ],
)
def test_no_text_holds_what_would_count_as_a_claim(text: str) -> None:
    assert not any(f"<{tag}" in text for tag in TAG_NAMES)


@pytest.mark.parametrize("document", FeatureDocument)
def test_a_document_is_written_as_a_person_asks_and_gone_on_from(
    document: FeatureDocument,
) -> None:
    path = f"features/{document}.md"
    new = texts.document_task_description(asking(request=REQUEST), document)
    assert "> sign in\n> by mail" in new
    assert path in new
    assert "features/spec.md" in new
    assert "Revise it" not in new
    there = asking(written=frozenset({document}))
    assert f"keep what still holds in `{path}`" in texts.document_task_description(there, document)
    talk = texts.interactive_document_prompt(there, document, "")
    assert talk.first_message.startswith(f"There is a {document} already, `{path}`")


def test_who_breaks_it_down_is_told_where_and_how() -> None:
    text = texts.decomposition_task_description(LOGIN, "t-4f2a1b")
    for words in ("features/spec.md", "features/plan.md", "--parent t-4f2a1b", "task deps add"):
        assert words in text


def test_a_conversation_begins_with_what_the_person_wants() -> None:
    talk = texts.interactive_document_prompt(
        asking(request=REQUEST), SPEC, "## The project\n\n- it is small"
    )
    assert talk.first_message.endswith(REQUEST)
    assert "it is small" in talk.rules
    assert texts.interactive_task_prompt("", "").first_message


def test_the_projects_own_guide_is_shortened_at_the_end_of_a_line() -> None:
    guide = "\n".join(f"line {number}" for number in range(1000))
    cut = cut_at_line_end(guide, 100)
    first, last = cut.splitlines()[0], cut.splitlines()[-2]
    assert (first, last in guide.splitlines()) == ("line 0", True)
    assert "more characters in the file" in cut.splitlines()[-1]
    assert cut_at_line_end("short", 100) == "short"


def test_a_project_is_described_in_a_page() -> None:
    feature = Feature(id="f-1", name="a|b", status=FeatureStatus.READY)  # type: ignore[arg-type]
    text = describe_project(
        guide_name="CLAUDE.md",
        guide="Use uv.\n",
        settings=[("gates", "none")],
        features=[(feature, 1, 3)],
    )
    assert "From `CLAUDE.md`:\n\n> Use uv." in text
    assert "| a\\|b | ready | 1 of 3 |" in text


def test_a_project_without_anything_is_not_described() -> None:
    assert describe_project() == ""
