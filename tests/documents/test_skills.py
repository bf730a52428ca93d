"""Skills and the front matter that describes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.brief import Skill
from ralph.core.errors import UnusableData
from ralph.documents import markdown, skills


def pairs(text: str) -> dict[str, str]:
    found = markdown.read_front_matter(f"---\n{text}\n---\n")
    assert found is not None
    return found[0]


class TestFrontMatter:
    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("a: plain words", "plain words"),
            ("a:    spaced   ", "spaced"),
            ("a: with: a colon", "with: a colon"),
            ("a: cut # a comment", "cut"),
            ("a: C#-like", "C#-like"),
            ("a: 'it''s quoted' # so", "it's quoted"),
            (r'a: "a \"word\"\nand more"', 'a "word"\nand more'),
            ('a: "goes on\n  below"', "goes on below"),
            ("a: goes on\n  below\n\n  and on", "goes on below and on"),
            ("a: >\n  folded\n  text", "folded text"),
            ("a: >-\n  folded\n  text", "folded text"),
            ("a: |\n  line one\n  line two", "line one\nline two"),
            ("a:\n  below", "below"),
            ("a:\n  - one\n  - two", ""),
            ("a:\n  b: c", ""),
            ("a:", ""),
            ("'a': x", "x"),
            ("b: y\na: x", "x"),
        ],
    )
    def test_values_are_read_as_people_write_them(self, text: str, value: str) -> None:
        assert pairs(text)["a"] == value

    def test_what_is_no_pair_is_passed_over(self) -> None:
        assert pairs("# a: comment\n- a: item\nhttp://a\n  a: deep\nb: x") == {"b": "x"}

    def test_the_text_below_is_kept_apart(self) -> None:
        assert markdown.read_front_matter("---\na: b\n---\n# Title\n---\n") == (
            {"a": "b"},
            "# Title\n---",
        )

    @pytest.mark.parametrize(
        "text", ["", "a: b", "---\na: b", " ---\na: b\n---", "----\na: b\n---"]
    )
    def test_a_file_without_it_has_none(self, text: str) -> None:
        assert markdown.read_front_matter(text) is None

    def test_line_ends_of_other_systems_are_understood(self) -> None:
        assert markdown.read_front_matter("\ufeff---\r\na: b\r\n---\r\ntext") == (
            {"a": "b"},
            "text",
        )

    @given(st.text(), st.text(alphabet="a: >|-'\"#\n\t\\", max_size=60))
    def test_no_text_is_too_odd_to_be_read(self, text: str, jumble: str) -> None:
        markdown.read_front_matter(text)
        markdown.read_front_matter(f"---\n{jumble}\n---\n{text}")


class TestSkills:
    def test_a_skill_says_when_to_use_it(self) -> None:
        text = "---\nname: release\ndescription: Cutting a release\n---\n\n1. tag it\n"
        assert skills.read("rel", text) == Skill(
            name="release", description="Cutting a release", path=".ralph/skills/rel/SKILL.md"
        )

    def test_without_a_name_it_goes_by_its_folder(self) -> None:
        assert skills.read("rel", "---\ndescription: x\n---\n").name == "rel"

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("", "does not begin with ---"),
            ("# Release\n", "does not begin with ---"),
            ("---\ndescription: never closed\n", "does not begin with ---"),
            ("---\nname: x\n---\n", "no description"),
            ("---\ndescription:\n  - a\n---\n", "no description"),
        ],
    )
    def test_a_bad_one_says_what_is_wrong(self, text: str, why: str) -> None:
        with pytest.raises(UnusableData, match=why):
            skills.read("x", text)

    def test_a_description_is_one_line_and_not_endless(self) -> None:
        text = "---\nname: |\n  a\n  b\ndescription: >\n  one\n  two\x1b[31m\n" + "  x\n" * 900
        skill = skills.read("x", f"{text}---\n")
        assert skill.name == "a b"
        assert skill.description.startswith("one two␛[31m x")
        assert len(skill.description) == 500
