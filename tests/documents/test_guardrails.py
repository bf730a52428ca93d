"""The file of lessons: read however it is written, changed without touching anything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.brief import Guardrail, GuardrailKind
from ralph.documents.guardrails import FRESH, new_id, read, with_guardrail, without_guardrail

FILE = """\
# Guardrails

> Read before acting.

## Fixes

### fix-1760000000-a1b2
> The port is taken in tests:
> use port 0.
<!-- tags: testing, build | created: 2026-02-10 -->

### fix-1760000001-ffff
> One more
<!-- created: 2026-02-11 -->

## Decisions

## Patterns

- Every query has a name
  and a sentence
- No mocks

## Notes

- nobody's business
"""

SIGNS = """\
# Guardrails (Signs)

> Lessons learned from failures.

---

## Core Signs

### Sign: Read Before Writing
- **Trigger**: Before changing a file
- **Instruction**: Read it first
- **Added after**: the beginning

## Learned Signs

### Sign: Ports
- **Instruction**: use port 0
"""


def a_fix(text: str = "use port 0", **fields: object) -> Guardrail:
    about: dict[str, object] = {
        "id": "fix-1-0001",
        "kind": GuardrailKind.FIX,
        "created": "2026-02-12",
    }
    return Guardrail(text=text, **(about | fields))  # type: ignore[arg-type]


def ids(text: str) -> list[str]:
    return [one.id for one in read(text)]


class TestReading:
    def test_entries_have_an_id_words_tags_and_a_day(self) -> None:
        assert read(FILE)[0] == Guardrail(
            id="fix-1760000000-a1b2",
            kind=GuardrailKind.FIX,
            text="The port is taken in tests:\nuse port 0.",
            tags=("testing", "build"),
            created="2026-02-10",
        )

    def test_what_an_agent_wrote_by_hand_is_an_entry_too(self) -> None:
        by_hand = [one for one in read(FILE) if one.kind is GuardrailKind.PATTERN]
        assert [one.text for one in by_hand] == [
            "Every query has a name\nand a sentence",
            "No mocks",
        ]
        assert all(one.id.startswith("pattern-") for one in by_hand)
        assert ids(FILE) == ids(FILE + "\n## Decisions\n\nanother")[:4]

    def test_what_stands_elsewhere_is_none(self) -> None:
        assert len(read(FILE)) == 4
        assert "nobody's business" not in str(read(FILE))

    def test_text_below_any_heading_is_an_entry_where_it_would_be_lost(self) -> None:
        text = "# Notes\n\n## Lessons\n\n- never use tabs\n\n## Fixes\n\n- use port 0\n"
        found = read(text, GuardrailKind.PATTERN)
        assert [(one.kind, one.text) for one in found] == [
            (GuardrailKind.PATTERN, "never use tabs"),
            (GuardrailKind.FIX, "use port 0"),
        ]

    def test_older_signs_are_read(self) -> None:
        first, second = read(SIGNS)
        assert (first.id, first.kind) == ("sign-read-before-writing", GuardrailKind.SIGN)
        assert first.text == (
            "Read Before Writing: Trigger: Before changing a file\nInstruction: Read it first\n"
            "Added after: the beginning"
        )
        assert second.id == "sign-ports"

    def test_signs_need_no_section(self) -> None:
        assert ids("# Guardrails\n\n### Sign: Ports\nuse port 0\n") == ["sign-ports"]

    def test_a_heading_of_ones_own_is_a_part_of_what_is_said(self) -> None:
        (one,) = read("## Fixes\n\n### Flaky ports\nuse port 0\n")
        assert (one.id, one.text) == ("fix-flaky-ports", "Flaky ports: use port 0")

    def test_code_and_comments_hold_no_entries(self) -> None:
        hidden = "<!--\n### fix-1-0000\n\n- hidden\n-->"
        (one,) = read(f"## Fixes\n\n{hidden}\n\n### fix-1-0001\n```\n# x\n## y\n```\nz\n")
        assert one.id == "fix-1-0001"
        assert "z" in one.text

    @pytest.mark.parametrize("left_open", ["```", "~~~py", "<!-- nothing"])
    def test_what_was_left_open_hides_no_lesson(self, left_open: str) -> None:
        text = f"## Fixes\n### fix-1-0001\nx\n{left_open}\n### fix-1-0002\n> y\n<!-- tags: a -->\n"
        assert ids(text) == ["fix-1-0001", "fix-1-0002"]
        entry = Guardrail(id="fix-1-0003", kind=GuardrailKind.FIX, text="z", created="2026-02-10")
        assert ids(with_guardrail(text, entry)) == ["fix-1-0001", "fix-1-0002", "fix-1-0003"]

    def test_two_of_one_name_can_be_told_apart(self) -> None:
        text = "## Fixes\n### fix-1-0001\n> a\n### fix-1-0001\n> b\n"
        assert ids(text) == ["fix-1-0001", "fix-1-0001.2"]

    @pytest.mark.parametrize("text", ["", "\n", "# Guardrails\n", "## Fixes\n\n### fix-1-0001\n"])
    def test_nothing_is_nothing(self, text: str) -> None:
        assert read(text) == ()

    def test_a_fresh_file_begins_with_two_signs(self) -> None:
        assert ids(FRESH) == ["sign-read-before-writing", "sign-test-before-commit"]

    @given(st.text(), st.text(alphabet="#-> \n`<!fixFes", max_size=80))
    def test_no_file_is_too_odd_to_be_read(self, text: str, jumble: str) -> None:
        read(text)
        read(f"## Fixes\n{jumble}")
        assert len(set(ids(jumble))) == len(ids(jumble))


class TestAdding:
    def test_an_entry_goes_to_the_end_of_its_section(self) -> None:
        after = with_guardrail(FILE, a_fix(tags=("net",)))
        block = "\n### fix-1-0001\n> use port 0\n<!-- tags: net | created: 2026-02-12 -->\n"
        at = FILE.index("\n## Decisions")
        assert after == FILE[:at] + block + FILE[at:]
        assert read(after)[2] == a_fix(tags=("net",))

    def test_a_missing_file_is_made(self) -> None:
        after = with_guardrail("", a_fix())
        assert ids(after) == [*ids(FRESH), "fix-1-0001"]
        assert (
            after.replace("\n### fix-1-0001\n> use port 0\n<!-- created: 2026-02-12 -->\n", "")
            == FRESH
        )

    def test_a_missing_section_is_made(self) -> None:
        after = with_guardrail(SIGNS, a_fix())
        assert after.startswith(SIGNS)
        assert after[len(SIGNS) :].startswith("\n## Fixes\n\n### fix-1-0001\n")

    def test_a_last_line_without_an_end_gets_one(self) -> None:
        assert with_guardrail("## Fixes", a_fix()).startswith("## Fixes\n\n### fix-1-0001\n")

    def test_line_ends_stay_as_they_are(self) -> None:
        after = with_guardrail(FILE.replace("\n", "\r\n"), a_fix("a\nb"))
        assert "\n" not in after.replace("\r\n", "")
        assert [one.text for one in read(after)][2] == "a\nb"

    def test_odd_tags_do_not_end_their_comment(self) -> None:
        after = with_guardrail(FILE, a_fix(tags=("a,b", "--> x", "y|z\n#")))
        assert len(read(after)) == len(read(FILE)) + 1
        assert read(after)[2].tags == ("a b", "-  x", "y z #")

    def test_ids_say_what_when_and_which(self) -> None:
        assert new_id(GuardrailKind.DECISION, 1760000000, "a1b2") == "decision-1760000000-a1b2"

    @given(
        (st.text(min_size=1) | st.text(alphabet="#->*`<! \n", min_size=1)).filter(str.strip),
        st.sampled_from(["", FILE, SIGNS, FRESH]),
    )
    def test_whatever_is_added_is_read_again_and_can_be_removed(self, text: str, file: str) -> None:
        after = with_guardrail(file, a_fix(text))
        assert "fix-1-0001" in ids(after)
        others = [one for one in read(after) if one.id != "fix-1-0001"]
        assert others == list(read(file or FRESH))
        gone = without_guardrail(after, "fix-1-0001")
        assert gone is not None
        assert read(gone) == read(file or FRESH)


class TestRemoving:
    def test_an_entry_goes_and_nothing_else(self) -> None:
        at = FILE.index("\n### fix-1760000001")
        gone = without_guardrail(FILE, "fix-1760000001-ffff")
        assert gone == FILE[:at] + FILE[FILE.index("\n## Decisions") :]

    def test_every_entry_can_be_removed_by_its_id(self) -> None:
        for text in (FILE, SIGNS):
            for name in ids(text):
                gone = without_guardrail(text, name)
                assert gone is not None
                assert ids(gone) == [one for one in ids(text) if one != name]

    def test_what_is_not_there_cannot_be_removed(self) -> None:
        assert without_guardrail(FILE, "fix-9-9999") is None

    def test_adding_and_removing_leaves_the_file_as_it_was(self) -> None:
        for text in (FILE, SIGNS + "\n## Fixes\n", FILE.replace("\n", "\r\n")):
            assert without_guardrail(with_guardrail(text, a_fix()), "fix-1-0001") == text
