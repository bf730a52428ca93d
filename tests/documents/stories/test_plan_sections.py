"""The plan of each story, found in the plan of all."""

import pytest
from hypothesis import given

from ralph.documents.prd import plan_section, read_plan
from tests.documents.stories.writing import SCRAPS

PLAN = """\
# Plan

Words before, which mention US-001.

### US-001: Sign up
- [x] a form
  - Scope: `src/forms`
  - Acceptance: it is shown
  - Verification: `make test`
- [ ] a mail

```
### US-002: code
```

#### Remarks
More.

### US-002: Log in
- [ ] a session

## Risks
None.
"""


def test_a_section_reaches_to_the_next_storys() -> None:
    section = plan_section(PLAN, "US-001")
    assert section.startswith("### US-001: Sign up\n")
    assert section.endswith("#### Remarks\nMore.\n")


def test_a_section_ends_where_something_else_begins() -> None:
    assert plan_section(PLAN, "US-002") == "### US-002: Log in\n- [ ] a session\n"


def test_a_story_without_a_section_has_no_plan() -> None:
    assert plan_section(PLAN, "US-003") == ""


@pytest.mark.parametrize(
    "heading",
    [
        "## US-001 - Sign up",
        "### [ ] US-001: Sign up",
        "### **US-001**: Sign up",
        "# US-001 Sign up",
    ],
)
def test_headings_of_a_plan_are_read_however_they_are_written(heading: str) -> None:
    found = read_plan(f"{heading}\r\n- [ ] a\r\n")
    assert found == (("US-001", f"{heading}\n- [ ] a\n"),)


def test_several_sections_of_a_story_are_all_read() -> None:
    text = "### US-001: a\none\n### US-002: b\ntwo\n### US-001: again\nthree\n"
    assert plan_section(text, "US-001") == "### US-001: a\none\n\n### US-001: again\nthree\n"


@given(SCRAPS)
def test_any_text_can_be_read_as_a_plan(text: str) -> None:
    for _, section in read_plan(text):
        assert section.encode()
