"""What a session leaves to the next one."""

from ralph.core.agent_events import SessionResultEvent, Text, ToolResult, ToolUse
from ralph.core.ids import TaskId
from ralph.documents.memory_file import (
    SECTIONS,
    SessionFacts,
    is_ours,
    memory_from_events,
    memory_from_notes,
    task_of,
    wrap_up_prompt,
)

TASK = TaskId("t-000001")
FACTS = SessionFacts(
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
    text = memory_from_notes(FACTS, "# My notes\n\n## Session summary\n\nHalf.\n")
    assert text.startswith(
        "# Memory of t-000001, attempt 2, session 3\n\n## Session summary\n\nHalf.\n\n## Completed"
    )
    assert text.endswith("\n\n## Files modified\n\n- `src/a.py`\n")
    assert titles(text) == list(SECTIONS)
    assert memory_from_notes(FACTS, text) == text, "once more, it is the same"


def test_what_has_no_heading_is_its_summary() -> None:
    text = memory_from_notes(
        FACTS, "Half of it works.", [ToolUse(name="Bash", summary="make", call="1")]
    )
    assert titles(text) == list(SECTIONS)
    assert "## Session summary\n\nHalf of it works.\n" in text
    assert "- Bash: make" in text, "where it stands, as it was seen"


def test_what_it_has_written_is_not_said_twice() -> None:
    notes = "### Learnings:\n\nNone.\n\n## FILES MODIFIED\n\nall\n"
    text = memory_from_notes(FACTS, notes)
    assert "tabs count" not in text
    assert "src/a.py" not in text


def titles(text: str) -> list[str]:
    return [line[3:] for line in text.splitlines() if line.startswith("## ")]


def test_what_was_seen_has_every_section() -> None:
    output = [
        ToolUse(name="Bash", summary="make", call="1"),
        ToolResult(call="1", text="no", error=True),
        Text(text="It is the lexer."),
        SessionResultEvent(text=""),
    ]
    text = memory_from_events(FACTS, output)  # type: ignore[arg-type]
    assert titles(text) == list(SECTIONS)
    for part in ("61% full", "- Bash: make", "> It is the lexer.", "- tabs count", "abcdef012345"):
        assert part in text
    assert "Tool calls: 1, of which 1 failed" in text


def test_what_the_session_before_left_is_not_lost() -> None:
    first = memory_from_notes(FACTS, "## Session summary\n\nHalf.")
    text = memory_from_events(FACTS, [], first)
    assert "## What the session before it left" in text
    assert "### Session summary\n\nHalf." in text


def test_whose_file_it_is() -> None:
    text = memory_from_events(FACTS, [])
    assert is_ours(text)
    assert task_of(text) == TASK
    assert not is_ours("# What I remember\n")
    assert task_of("# What I remember\n") is None


def test_a_session_is_told_where_to_write_or_to_speak() -> None:
    assert "write MEMORY.md" in wrap_up_prompt("MEMORY.md", "the context is full")
    said = wrap_up_prompt("", "the context is full")
    assert "MEMORY.md" not in said
    assert "last words" in said
    assert "<" not in said, "nothing in it can be taken for a claim"
