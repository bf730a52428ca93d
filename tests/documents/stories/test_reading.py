"""Which lines of a PRD are stories, criteria and dependencies."""

import pytest

from ralph.core.errors import Missing, UnusableData
from ralph.documents.prd import Prd, Story, flaws, read_prd, require_usable

PRD = """\
# Shop

Words before.

## Stories

### [ ] US-001: Sign up
As a visitor I want an account.

- [ ] a form
- [x] a mail

### [x] US-002: Log in
Depends on: US-001

- [x] a session
"""


def only(text: str) -> Story:
    stories = read_prd(text).stories
    assert len(stories) == 1
    return stories[0]


def ids(text: str) -> list[str]:
    return [story.id for story in read_prd(text).stories]


def test_stories_have_an_id_a_title_a_box_criteria_and_dependencies() -> None:
    first, second = read_prd(PRD).stories
    assert (first.id, first.title, first.is_ticked, first.line) == ("US-001", "Sign up", False, 7)
    assert [(one.text, one.box.ticked) for one in first.criteria] == [
        ("a form", False),
        ("a mail", True),
    ]
    assert first.needs == ()
    assert (second.id, second.is_ticked, second.needs) == ("US-002", True, ("US-001",))
    assert second.has_all_criteria
    assert not first.has_all_criteria


def test_the_body_of_a_story_has_no_ticks() -> None:
    first = read_prd(PRD).stories[0]
    assert first.body == "As a visitor I want an account.\n\n- [ ] a form\n- [ ] a mail"


def test_the_block_of_a_story_is_what_stands_there() -> None:
    prd = read_prd(PRD)
    assert prd.block(prd.stories[1]) == PRD[PRD.index("### [x]") :]
    windows = read_prd(PRD.replace("\n", "\r\n"))
    assert windows.block(windows.stories[1]) == prd.block(prd.stories[1])


def test_a_story_ends_where_the_next_section_begins() -> None:
    story = only("### [ ] US-001: a\n- [ ] mine\n#### Notes\n- [ ] mine too\n## Else\n- [ ] not\n")
    assert [one.text for one in story.criteria] == ["mine", "mine too"]
    assert "Else" not in story.body


@pytest.mark.parametrize(
    "decoy",
    [
        "```\n### [ ] US-009: x\n```",
        "~~~\n### [ ] US-009: x\n~~~",
        "- item\n\n  ```\n  ### [ ] US-009: x\n  ```",
        "    ### [ ] US-009: x",
        "\t### [ ] US-009: x",
        "<!--\n### [ ] US-009: x\n-->",
        "<!-- ### [ ] US-009: x -->",
        "<pre>\n### [ ] US-009: x\n</pre>",
        "> ### [ ] US-009: x",
        "- ### [ ] US-009: x",
        "words ### [ ] US-009: x",
        "\\### [ ] US-009: x",
        "### US-009 in other words",
        "## US-009: x",
    ],
)
def test_what_only_looks_like_a_story_is_none(decoy: str) -> None:
    assert ids(f"### [ ] US-001: a\n\n{decoy}\n\n### [ ] US-002: b\n") == ["US-001", "US-002"]


@pytest.mark.parametrize(
    "heading",
    [
        "### [ ] US-001: Sign up",
        "###   [ ]   US-001:   Sign up   ",
        "   ### [ ] US-001: Sign up",
        "### [ ] US-001: Sign up ###",
        "###\t[ ]\tUS-001:\tSign up",
        "### [\t] US-001: Sign up",
    ],
)
def test_spaces_and_tabs_do_not_matter_in_a_heading(heading: str) -> None:
    story = only(f"{heading}\n")
    assert (story.title, story.is_ticked) == ("Sign up", False)


@pytest.mark.parametrize(
    "lines",
    [
        "- [ ] one\n- [ ] two",
        "* [ ] one\n* [ ] two",
        "1. [ ] one\n2. [ ] two",
        "- [ ] one\n  - [ ] two",
        "- [ ] one\n\n- [ ] two",
        "-\t[ ] one\n-\t[ ] two",
        "- - [ ] one\n  - [ ] two",
        "-\n  [ ] one\n-\n  [ ] two",
        "- Group\n  1. [ ] one\n  2. [ ] two",
        "- [ ] one\n\n  ```\n  - [ ] code\n  ```\n- [ ] two",
        "**Acceptance Criteria:**\n- [ ] one\n- [ ] two",
        "> - [ ] quoted\n\n- [ ] one\n- [ ] two",
    ],
)
def test_criteria_are_list_items_with_boxes_however_they_are_nested(lines: str) -> None:
    story = only(f"### [ ] US-001: a\n\n{lines}\n")
    assert [one.text for one in story.criteria] == ["one", "two"]


@pytest.mark.parametrize(
    "lines",
    ["- [ ]", "- [x](http://a.b) c", "- []one", "- [ ]one", "[ ] one", "- one [ ] two", "- [-] a"],
)
def test_what_only_looks_like_a_criterion_is_none(lines: str) -> None:
    assert only(f"### [ ] US-001: a\n\n{lines}\n").criteria == ()


def test_a_criterion_may_have_several_lines() -> None:
    story = only("### [ ] US-001: a\n- [x] one that\n  goes on\n\n  and a remark\n")
    assert [one.text for one in story.criteria] == ["one that goes on"]


@pytest.mark.parametrize(
    "line",
    [
        "Depends on: US-002, US-003",
        "depends on: US-002 US-003",
        "**Depends on:** US-002 and US-003",
        "**Depends on**: `US-002`, `US-003`",
        "- Depends on: US-002 (sign up), US-003",
        "Depends On : US-002\nDepends on: US-003, US-002",
        "Words first.\nDepends on: [US-002](#b), [US-003](#c)",
        "Depends on US-002, US-003",
        "**Depends on** US-002 and US-003",
    ],
)
def test_a_story_says_what_it_depends_on(line: str) -> None:
    prd = read_prd(f"### [ ] US-001: a\n\n{line}\n\n### [ ] US-002: b\n### [ ] US-003: c\n")
    assert prd.stories[0].needs == ("US-002", "US-003")
    assert (prd.remarks, flaws(prd)) == ((), ())


@pytest.mark.parametrize("words", ["none", "None.", "-", "n/a", "*nothing*"])
def test_a_story_may_say_that_it_depends_on_nothing(words: str) -> None:
    prd = read_prd(f"### [ ] US-001: a\nDepends on: {words}\n")
    assert (prd.stories[0].needs, prd.remarks) == ((), ())


@pytest.mark.parametrize(
    "text",
    ["```\nDepends on: US-009\n```", "> Depends on: US-009", "<!-- Depends on: US-009 -->"],
)
def test_dependencies_in_code_comments_and_quotations_are_none(text: str) -> None:
    assert only(f"### [ ] US-001: a\n\n{text}\n").needs == ()


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("### US-003: Pay", "### [ ] US-003: Pay"),
        ("### [] US-003: Pay", "### [ ] US-003: Pay"),
        ("### [ ] **US-003**: Pay", "### [ ] US-003: Pay"),
        ("### [ ] US-003 Pay", "### [ ] US-003: Pay"),
        ("### [ ] US3: Pay", "### [ ] US-3: Pay"),
        ("### [ ] us-003 - Pay", "### [ ] US-003: Pay"),
        ("### [-] US-003: Pay", "### [ ] US-003: Pay"),
        ("## [ ] US-003: Pay", "### [ ] US-003: Pay"),
        ("#### [ ] US-003: Pay", "### [ ] US-003: Pay"),
        ("[ ] US-003: Pay\n---", "### [ ] US-003: Pay"),
        ("### [ ] US-003:", "### [ ] US-003: Title"),
        ("### [ ] Pay", "### [ ] US-001: Title"),
        ("###[ ] US-003: Pay", "### [ ] US-003: Pay"),
        ("##[] US-003: Pay", "### [ ] US-003: Pay"),
    ],
)
def test_what_was_probably_meant_as_a_story_is_named_with_its_line(line: str, instead: str) -> None:
    prd = read_prd(f"### [ ] US-001: a\n\n{line}\n")
    assert [story.id for story in prd.stories] == ["US-001"]
    (remark,) = prd.remarks
    assert str(remark).startswith("line 3: ")
    assert instead in remark.message


def test_a_heading_without_a_space_is_named_also_where_it_went_into_a_criterion() -> None:
    prd = read_prd("### [ ] US-001: a\n- [ ] b\n###[ ] US-002: c\n")
    assert [remark.line for remark in prd.remarks] == [3]
    assert read_prd("See #[x] and a#[ ] US-001: b\n`###[ ] US-001: c`\n").remarks == ()


def test_a_story_that_became_part_of_a_list_is_named_with_its_line() -> None:
    prd = read_prd("### [ ] US-001: a\n- [ ] b\n  ### [ ] US-002: c\n> - ### [ ] US-003: d\n")
    assert [(remark.line, "part of a list" in remark.message) for remark in prd.remarks] == [
        (3, True)
    ]


def test_a_dependency_without_a_story_is_doubtful() -> None:
    prd = read_prd("### [ ] US-001: a\nDepends on: the login\n")
    assert [remark.line for remark in prd.remarks] == [2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Nothing\n", "line 1: there are no stories; one begins with ### [ ] US-001: Title"),
        ("", "line 1: there are no stories; one begins with ### [ ] US-001: Title"),
        (
            "a\n\n## [ ] US-001: b\n",
            "line 3: there are no stories: it is not read as a story; write: ### [ ] US-001: b",
        ),
        (
            "### [ ] US-001: a\n### [x] US-001: b\n",
            "line 2: there is a story US-001 on line 1 already",
        ),
        (
            "### [ ] US-001: a\n\nDepends on: US-009\n",
            "line 3: US-001 depends on US-009, and there is no such story",
        ),
        ("### [ ] US-001: a\nDepends on: US-001\n", "line 2: US-001 depends on itself"),
        (
            "### [ ] US-001: a\nDepends on: US-003\n### [ ] US-002: b\nDepends on: US-001\n"
            "### [ ] US-003: c\nDepends on: US-002\n",
            "line 1: these stories wait for each other: US-001, US-002, US-003",
        ),
    ],
)
def test_a_prd_that_cannot_be_built_says_why_and_on_which_line(text: str, said: str) -> None:
    assert [str(one) for one in flaws(read_prd(text))] == [said]
    with pytest.raises((UnusableData, Missing), match=r"^prd\.md, line \d+: "):
        require_usable(read_prd(text), "prd.md")


def test_a_prd_without_stories_lacks_what_must_be_there_first() -> None:
    with pytest.raises(Missing) as caught:
        require_usable(read_prd("# Nothing\n"), "prd.md")
    assert "ralph story write" in caught.value.hint


def test_several_flaws_are_counted() -> None:
    prd = read_prd("### [ ] US-001: a\n### [ ] US-001: b\n### [ ] US-001: c\n")
    with pytest.raises(UnusableData, match=r"line 2: .* \(and 1 more\)"):
        require_usable(prd, "prd.md")


def test_titles_and_criteria_hold_nothing_that_a_screen_or_a_database_refuses() -> None:
    story = only("### [ ] US-001: a\ud800b\x07\n- [ ] c\ud800\0\n")
    assert story.title.isprintable()
    assert story.criteria[0].text.isprintable()
    assert (story.title + story.body).encode()


def test_a_long_chain_of_stories_is_no_circle() -> None:
    lines = ["### [ ] US-0: a"]
    lines += [f"### [ ] US-{n}: a\nDepends on: US-{n - 1}" for n in range(1, 2000)]
    assert flaws(read_prd("\n".join(lines))) == ()


def test_an_empty_document_has_no_stories() -> None:
    assert read_prd("") == Prd(text="")
