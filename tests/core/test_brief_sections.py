"""How sections give way."""

from ralph.core.brief_sections import (
    CUT,
    BriefSection,
    estimate_tokens,
    fit_sections,
    render_section,
    section_usage,
)


def a_section(name: str, *parts: str, **fields: object) -> BriefSection:
    return BriefSection(name=name, title=name, parts=parts, **fields)  # type: ignore[arg-type]


def test_tokens_are_estimated_at_four_letters() -> None:
    assert [estimate_tokens("x" * n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_a_section_that_may_not_be_cut_is_left_alone() -> None:
    firm, soft = a_section("firm", "x" * 4000), a_section("soft", "x" * 4000)
    left = fit_sections([firm, soft], 1200, ["soft"])
    assert left[0] == firm
    assert len(left[1].parts[0]) < 1000


def test_a_text_is_cut_at_the_end_of_a_line() -> None:
    (left,) = fit_sections([a_section("a", "0123456789\n" * 500)], 200, ["a"])
    text = left.parts[0]
    assert text.endswith(f"0123456789\n{CUT}")
    assert estimate_tokens(render_section(left)) <= 200


def test_a_text_of_one_line_is_cut_anywhere() -> None:
    (left,) = fit_sections([a_section("a", "x" * 5000)], 200, ["a"])
    assert left.parts[0].endswith(f"x\n{CUT}")


def test_an_entry_of_a_list_is_kept_whole_or_not_at_all() -> None:
    section = a_section("a", "x" * 300, "y" * 300, "z" * 300, items=("1", "2", "3"))
    (left,) = fit_sections([section], 180, ["a"])
    assert left.parts == ("x" * 300, "y" * 300)
    assert left.items == ("1", "2")


def test_the_only_entry_of_a_list_may_be_cut() -> None:
    (left,) = fit_sections([a_section("a", "x" * 900, items=("1",))], 100, ["a"])
    assert left.parts[0].endswith(CUT)
    assert left.items == ("1",)


def test_what_would_be_too_short_is_left_out() -> None:
    big = a_section("big", "x" * 4000)
    left = fit_sections([big, a_section("small", "y" * 500)], 20, ["small", "big"])
    assert left == []


def test_what_became_of_each_section_is_told() -> None:
    whole = [a_section("a", "x" * 400, source="here"), a_section("b", "1", "2", items=("1", "2"))]
    kept = [a_section("b", "1", items=("1",))]
    a, b = section_usage(whole, kept)
    assert (a.name, a.tokens, a.source, a.left_out, a.is_cut) == ("a", 0, "here", 1, True)
    assert (b.items, b.left_out, b.is_cut) == (("1",), 1, True)
