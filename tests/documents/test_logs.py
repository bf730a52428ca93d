"""Logs and summaries that people read: their exact form, and that nothing in them is lost."""

from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from ralph.core.gates import GateResult
from ralph.core.ids import RunId, SessionId, TaskId, WorkerId
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.snapshot import Snapshot
from ralph.core.task import Task
from ralph.core.times import to_iso
from ralph.core.transitions import Accepted
from ralph.core.verdict import Verdict
from ralph.documents import log_files
from ralph.documents.log_files import (
    event_line,
    final_message_text,
    fresh_progress_log,
    with_summary,
)
from ralph.ports.project_files import IterationReport
from ralph.store.sessions import Session
from ralph.workflows.iteration_log import progress_entry, summary_line, summary_text
from ralph.workflows.story_pipeline import StoryPipeline

TIME = "2026-03-01 12:00:00"
START_S = datetime.fromisoformat("2026-03-01 11:59:00").timestamp()


def an_iteration(
    message: str = "", gates: tuple[GateResult, ...] = (), **fields: object
) -> IterationReport:
    session = Session(
        id=SessionId("s"),
        task_id=TaskId("t-1"),
        attempt=1,
        run_id=RunId("20260301-115900-77"),
        worker=WorkerId("w"),
        agent="x",
        log="a.log",
        started_at=to_iso(START_S),
        before=Snapshot(head="aaa"),
        ending=SessionEnding(ended=EndingKind.FINISHED, message=message),
        duration_s=61.4,
        gates=gates,
    )
    about = {
        "iteration": 1,
        "task": Task(id=TaskId("t-1"), title="Sign up", alias="US-001"),
        "session": session,
        "verdict": Verdict(transition=Accepted(), message=""),
    }
    return IterationReport(**about | fields)  # type: ignore[arg-type]


LINE = (
    "- 2026-03-01 12:00:00 | run=20260301-115900-77 | iter=1 | mode=build | story=US-001"
    " | duration=61s | status=success"
)


def test_an_iteration_is_a_line_of_the_summary() -> None:
    assert summary_line(an_iteration(), "build", TIME) == LINE


def test_the_first_line_goes_below_the_heading() -> None:
    assert with_summary(log_files.FRESH_ACTIVITY_LOG, LINE) == (
        f"# Activity Log\n\n## Run Summary\n\n{LINE}\n\n## Events\n\n"
    )


def test_a_log_that_is_missing_is_begun() -> None:
    assert with_summary("", LINE) == with_summary(log_files.FRESH_ACTIVITY_LOG, LINE)


def test_the_newest_line_is_the_first() -> None:
    text = with_summary(with_summary("", "- one"), "- two")
    assert [line for line in text.splitlines() if line.startswith("- ")] == ["- two", "- one"]
    assert text.endswith("\n\n## Events\n\n")


def test_events_are_lines_at_the_end() -> None:
    assert event_line(TIME, "a\nb\x1b[31m") == "[2026-03-01 12:00:00] a b␛[31m\n"


def test_a_bar_in_a_name_begins_no_field() -> None:
    task = Task(id=TaskId("t-1"), title="x", alias="a | b")
    assert "| story=a / b |" in summary_line(an_iteration(task=task), "build", TIME)


def test_a_summary_without_a_blank_line_below_its_heading_gets_one() -> None:
    text = with_summary("## Run Summary\n- old\n## Events\n", LINE)
    assert text == f"## Run Summary\n\n{LINE}\n- old\n## Events\n"


def test_a_section_that_somebody_took_out_is_put_back() -> None:
    assert with_summary("## Events\n\nx\n", LINE) == (
        f"## Run Summary\n\n{LINE}\n\n## Events\n\nx\n"
    )
    assert with_summary("notes\n", LINE) == f"notes\n## Run Summary\n\n{LINE}\n\n"


def test_line_ends_stay() -> None:
    text = log_files.FRESH_ACTIVITY_LOG.replace("\n", "\r\n")
    assert with_summary(text, LINE) == (
        with_summary(log_files.FRESH_ACTIVITY_LOG, LINE).replace("\n", "\r\n")
    )


@given(
    st.lists(
        st.sampled_from(["a", "- b", "#", "\r\n", "\n", " ", "## Run Summary\n", "## Events\n"])
    ).map("".join)
)
def test_a_line_more_loses_nothing(text: str) -> None:
    after = with_summary(text, LINE)
    assert LINE in after
    rest = iter(after.replace("\r", "").split("\n"))
    assert all(line in rest for line in text.replace("\r", "").split("\n") if line)


def test_fresh_logs_look_as_expected() -> None:
    assert fresh_progress_log(TIME) == (
        "# Progress Log\nStarted: 2026-03-01 12:00:00\n\n## Codebase Patterns\n\n---\n\n"
    )
    assert log_files.FRESH_ERRORS_LOG.startswith("# Error Log\n")


def test_a_run_summary_tells_one_iteration() -> None:
    iteration = an_iteration(
        iteration=2, head="bbb", commits=("bbb Add a form",), committed=("form.py",)
    )
    assert summary_text(iteration, "build", TIME, "/root") == (
        "# Ralph Run Summary\n"
        "\n"
        "- Run ID: 20260301-115900-77\n"
        "- Iteration: 2\n"
        "- Mode: build\n"
        "- Story: US-001: Sign up\n"
        "- Started: 2026-03-01 11:59:00\n"
        "- Ended: 2026-03-01 12:00:00\n"
        "- Duration: 61s\n"
        "- Status: success\n"
        "- Log: a.log\n"
        "\n"
        "## Git\n"
        "- Head (before): aaa\n"
        "- Head (after): bbb\n"
        "\n"
        "### Commits\n"
        "- bbb Add a form\n"
        "\n"
        "### Changed Files (commits)\n"
        "- form.py\n"
        "\n"
        "### Uncommitted Changes\n"
        "- none\n"
    )


def an_entry(told: IterationReport, *, no_commit: bool = False) -> str:
    commands = {"test": "make test", "lint": "make lint"}
    return progress_entry(told, StoryPipeline(root="/root", no_commit=no_commit), commands, TIME)


def test_a_progress_entry_names_everything() -> None:
    iteration = an_iteration(
        "<journal>A form.\n\n# with a heading</journal>\n"
        "<knowledge>forms live in src/forms</knowledge>",
        gates=(GateResult(name="test", passed=True), GateResult(name="lint", passed=False)),
        iteration=2,
        commits=("bbb Add a form",),
        committed=("form.py",),
        uncommitted=("notes.txt",),
    )
    assert an_entry(iteration, no_commit=True) == (
        "## 2026-03-01 12:00:00 - US-001: Sign up\n"
        "Run: 20260301-115900-77 (iteration 2)\n"
        "Run log: a.log\n"
        "Run summary: a.md\n"
        "- Commit: bbb Add a form\n"
        "- Post-commit status:\n"
        "  - notes.txt\n"
        "- Verification:\n"
        "  - Command: make test -> PASS\n"
        "  - Command: make lint -> FAIL\n"
        "- Files changed:\n"
        "  - form.py\n"
        "  - notes.txt\n"
        "- What was done:\n"
        "  A form.\n"
        "\n"
        "  # with a heading\n"
        "- **Learnings for future iterations:**\n"
        "  - forms live in src/forms\n"
        "---\n"
        "\n"
    )


def test_an_entry_says_where_there_is_nothing() -> None:
    text = an_entry(an_iteration(), no_commit=True)
    assert "- Commit: none\n- Post-commit status: clean\n- Verification:\n  - none\n" in text
    assert "- What was done:\n  not said\n" in text


def test_what_a_session_says_at_its_end_is_what_was_done() -> None:
    said = (
        'I have built it.\n\n- a form\n<knowledge title="x">a\nb</knowledge>\n'
        "<task-done>t-1</task-done>\n<promise>COMPLETE</promise>\n"
    )
    assert final_message_text(said) == "I have built it.\n\n- a form"
    assert final_message_text("<task-done>t-1</task-done>\n") == ""
    noise = "\n".join(f"line {number} " + "x" * 1000 for number in range(100))
    lines = final_message_text(noise).splitlines()
    assert [lines[0][:8], lines[-1][:8], len(lines)] == ["line 80 ", "line 99 ", 20]
    assert max(map(len, lines)) == 500


def test_long_lists_are_cut_and_counted() -> None:
    assert "  - and 5 more\n" in an_entry(an_iteration(committed=tuple(map(str, range(205)))))
