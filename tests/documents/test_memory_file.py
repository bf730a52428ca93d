"""What a session leaves to the next one."""

from ralph.core.agent_events import Result, Text, ToolResult, ToolUse
from ralph.core.ids import TaskId
from ralph.documents.memory_file import SECTIONS, Facts, drawn, is_about, is_ours, wrap_up, written

TASK = TaskId("t-000001")
FACTS = Facts(
    task=TASK,
    title="The parser",
    attempt=2,
    number=3,
    ending="the context is 61% full",
    commits=("abcdef0123456789",),
    files=("src/a.py",),
    learnings=("tabs count",),
)


def test_what_a_session_wrote_is_kept_and_facts_are_added() -> None:
    text = written(FACTS, "# My notes\n\n## Session summary\n\nHalf.\n")
    assert text.startswith(
        "# Memory of t-000001, attempt 2, session 3\n\n## Session summary\n\nHalf.\n\n## Completed"
    )
    assert text.endswith("\n\n## Files modified\n\n- `src/a.py`\n")
    assert titles(text) == list(SECTIONS)
    assert written(FACTS, text) == text, "once more, it is the same"


def test_what_has_no_heading_is_its_summary() -> None:
    text = written(FACTS, "Half of it works.", [ToolUse(name="Bash", summary="make", call="1")])
    assert titles(text) == list(SECTIONS)
    assert "## Session summary\n\nHalf of it works.\n" in text
    assert "- Bash: make" in text, "where it stands, as it was seen"


def test_what_it_has_written_is_not_said_twice() -> None:
    notes = "### Learnings:\n\nNone.\n\n## FILES MODIFIED\n\nall\n"
    text = written(FACTS, notes)
    assert "tabs count" not in text
    assert "src/a.py" not in text


def titles(text: str) -> list[str]:
    return [line[3:] for line in text.splitlines() if line.startswith("## ")]


def test_what_was_seen_has_every_section() -> None:
    told = [
        ToolUse(name="Bash", summary="make", call="1"),
        ToolResult(call="1", text="no", error=True),
        Text(text="It is the lexer."),
        Result(text=""),
    ]
    text = drawn(FACTS, told)
    assert titles(text) == list(SECTIONS)
    for part in ("61% full", "- Bash: make", "> It is the lexer.", "- tabs count", "abcdef012345"):
        assert part in text
    assert "one tool, 1 of them in vain" in text


def test_what_the_session_before_left_is_not_lost() -> None:
    first = written(FACTS, "## Session summary\n\nHalf.")
    text = drawn(FACTS, [], first)
    assert "## What the session before it left" in text
    assert "### Session summary\n\nHalf." in text


def test_whose_file_it_is() -> None:
    text = drawn(FACTS, [])
    assert is_ours(text)
    assert is_about(text, TASK)
    assert not is_about(text, TaskId("t-0000012"))
    assert not is_ours("# What I remember\n")


def test_a_session_is_told_where_to_write_or_to_speak() -> None:
    assert "write MEMORY.md" in wrap_up("MEMORY.md", "the context is full")
    said = wrap_up("", "the context is full")
    assert "MEMORY.md" not in said
    assert "last words" in said
    assert "<" not in said, "nothing in it can be taken for a claim"
