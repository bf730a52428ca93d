"""Logs and summaries that people read: their exact form, and that nothing in them is lost."""

from hypothesis import given
from hypothesis import strategies as st

from ralph.documents import activity_log, errors_log
from ralph.documents.activity_log import Iteration, event_line, summary_line, with_summary
from ralph.documents.progress_log import Checked, Progress, entry, fresh, last_words
from ralph.documents.run_summary import RunSummary, render

TIME = "2026-03-01 12:00:00"


def an_iteration(number: int = 1, status: str = "success") -> Iteration:
    return Iteration(
        time=TIME,
        run="20260301-115900-77",
        iteration=number,
        mode="build",
        story="US-001",
        duration_s=61.4,
        status=status,
    )


LINE = (
    "- 2026-03-01 12:00:00 | run=20260301-115900-77 | iter=1 | mode=build | story=US-001"
    " | duration=61s | status=success"
)


def test_an_iteration_is_a_line_of_the_summary() -> None:
    assert summary_line(an_iteration()) == LINE


def test_the_first_line_goes_below_the_heading() -> None:
    assert with_summary(activity_log.FRESH, an_iteration()) == (
        f"# Activity Log\n\n## Run Summary\n\n{LINE}\n\n## Events\n\n"
    )


def test_a_log_that_is_missing_is_begun() -> None:
    assert with_summary("", an_iteration()) == with_summary(activity_log.FRESH, an_iteration())


def test_the_newest_line_is_the_first() -> None:
    text = with_summary(with_summary("", an_iteration(1)), an_iteration(2))
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert [line.split(" | ")[2] for line in lines] == ["iter=2", "iter=1"]
    assert text.endswith("\n\n## Events\n\n")


def test_events_are_lines_at_the_end() -> None:
    assert event_line(TIME, "a\nb\x1b[31m") == "[2026-03-01 12:00:00] a b␛[31m\n"


def test_a_bar_in_a_status_begins_no_field() -> None:
    assert summary_line(an_iteration(status="a | b")).endswith("| status=a / b")


def test_a_summary_without_a_blank_line_below_its_heading_gets_one() -> None:
    text = with_summary("## Run Summary\n- old\n## Events\n", an_iteration())
    assert text == f"## Run Summary\n\n{LINE}\n- old\n## Events\n"


def test_a_section_that_somebody_took_out_is_put_back() -> None:
    assert with_summary("## Events\n\nx\n", an_iteration()) == (
        f"## Run Summary\n\n{LINE}\n\n## Events\n\nx\n"
    )
    assert with_summary("notes\n", an_iteration()) == f"notes\n## Run Summary\n\n{LINE}\n\n"


def test_line_ends_stay() -> None:
    text = activity_log.FRESH.replace("\n", "\r\n")
    assert with_summary(text, an_iteration()) == (
        with_summary(activity_log.FRESH, an_iteration()).replace("\n", "\r\n")
    )


@given(
    st.lists(
        st.sampled_from(["a", "- b", "#", "\r\n", "\n", " ", "## Run Summary\n", "## Events\n"])
    ).map("".join)
)
def test_a_line_more_loses_nothing(text: str) -> None:
    after = with_summary(text, an_iteration())
    assert LINE in after
    rest = iter(after.split("\n"))
    assert all(line in rest for line in text.split("\n") if line)


def test_fresh_logs_look_as_expected() -> None:
    assert fresh(TIME) == (
        "# Progress Log\nStarted: 2026-03-01 12:00:00\n\n## Codebase Patterns\n\n---\n\n"
    )
    assert errors_log.FRESH.startswith("# Error Log\n")


def test_a_run_summary_tells_one_iteration() -> None:
    summary = RunSummary(
        run="20260301-115900-77",
        iteration=2,
        mode="build",
        story="US-001: Sign up",
        started="2026-03-01 11:59:00",
        ended=TIME,
        duration_s=60,
        status="success",
        log=".ralph/runs/run-20260301-115900-77-iter-2.log",
        head_before="aaa",
        head_after="bbb",
        commits=("bbb Add a form",),
        committed=("form.py",),
    )
    assert render(summary) == (
        "# Ralph Run Summary\n"
        "\n"
        "- Run ID: 20260301-115900-77\n"
        "- Iteration: 2\n"
        "- Mode: build\n"
        "- Story: US-001: Sign up\n"
        "- Started: 2026-03-01 11:59:00\n"
        "- Ended: 2026-03-01 12:00:00\n"
        "- Duration: 60s\n"
        "- Status: success\n"
        "- Log: .ralph/runs/run-20260301-115900-77-iter-2.log\n"
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


def a_progress(**other: object) -> Progress:
    told = {
        "time": TIME,
        "story": "US-001: Sign up",
        "run": "20260301-115900-77",
        "iteration": 2,
        "log": "a.log",
        "summary": "a.md",
    }
    return Progress(**told | other)  # type: ignore[arg-type]


def test_a_progress_entry_names_everything() -> None:
    told = a_progress(
        commit="bbb Add a form",
        uncommitted=("notes.txt",),
        checked=(
            Checked(command="make test", passed=True),
            Checked(command="make lint", passed=False),
        ),
        files=("form.py",),
        done="A form.\n\n# with a heading",
        learned=("forms live in src/forms",),
    )
    assert entry(told) == (
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
    text = entry(a_progress())
    assert "- Commit: none\n- Post-commit status: clean\n- Verification:\n  - none\n" in text
    assert "- What was done:\n  not said\n" in text


def test_what_a_session_says_at_its_end_is_what_was_done() -> None:
    said = (
        'I have built it.\n\n- a form\n<knowledge title="x">a\nb</knowledge>\n'
        "<task-done>t-1</task-done>\n<promise>COMPLETE</promise>\n"
    )
    assert last_words(said) == "I have built it.\n\n- a form"
    assert last_words("<task-done>t-1</task-done>\n") == ""
    noise = "\n".join(f"line {number} " + "x" * 1000 for number in range(100))
    lines = last_words(noise).splitlines()
    assert [lines[0][:8], lines[-1][:8], len(lines)] == ["line 80 ", "line 99 ", 20]
    assert max(map(len, lines)) == 500


def test_long_lists_are_cut_and_counted() -> None:
    assert "  - and 5 more\n" in entry(a_progress(files=tuple(map(str, range(205)))))
