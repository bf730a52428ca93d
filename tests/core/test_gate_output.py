"""The decisive lines of recorded outputs of test runners, compilers and linters."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.core.gate_output import MOST_LINES, WIDTH, decisive_lines, headline

RECORDED = Path(__file__).parents[1] / "data" / "gate_output"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("pytest", "test_add: AssertionError: sum is wrong"),
        ("pytest_short", "test_add: AssertionError: sum is wrong"),
        ("unittest", "FAIL: test_u (test_a.T.test_u): AssertionError: 0 != 2"),
        ("tap", "not ok 2 - adds: Expected values to be strictly equal: -1 !== 5"),
        ("gcc", "a.c:1:19: error: 'x' undeclared (first use in this function)"),
        ("make", "a.c:1:19: error: 'x' undeclared (first use in this function)"),
        (
            "mypy",
            'm.py:3: error: Incompatible return value type (got "int", expected "str")'
            "  [return-value]",
        ),
        ("ruff", "I001 [*] Import block is un-sorted or un-formatted --> m.py:1:1"),
        ("cargo", "adds stdout: thread 'adds' (10514) panicked at src/lib.rs:2:12:"),
        ("cargo_e", "error[E0308]: mismatched types --> src/lib.rs:5:14"),
        ("jest", "adds 1 + 2: Expected: 3 Received: -1"),
        (
            "vitest",
            "FAIL  sum.test.js > sum > adds 1 + 2: AssertionError: expected -1 to be 3"
            " // Object.is equality",
        ),
        ("mocha", "1) sum: AssertionError [ERR_ASSERTION]: -1 == 3"),
        ("node", "not ok 2 - adds 1 + 2: error: '-1 == 3'"),
        ("eslint", "/work/x.js: 1:7   error  'a' is assigned a value but never used"),
        ("go_build", './z.go:2:23: cannot use "a" (untyped string constant) as int value'),
        ("go_panic", "FAIL: TestPanic (0.00s): panic: assignment to entry in nil map"),
        ("pytest_syntax", "ERROR collecting test_s.py: SyntaxError: invalid syntax"),
        ("pytest_usage", "pytest: error: unrecognized arguments: --nope"),
    ],
)
def test_the_first_failure_of_a_program_is_found(output: str, expected: str) -> None:
    lines = decisive_lines((RECORDED / f"{output}.txt").read_text())
    assert expected in headline(lines)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            "Failures:\n\n  1) Calc adds\n     Failure/Error: expect(1).to eq 2\n\n"
            "       expected: 2\n            got: 1\n",
            "1) Calc adds: Failure/Error: expect(1).to eq 2",
        ),
        (
            "There was 1 failure:\n\n1) CalcTest::testAdd\nFailed asserting that 1 matches 2.\n",
            "1) CalcTest::testAdd: Failed asserting that 1 matches 2.",
        ),
        (
            "> Task :test FAILED\n\nCalcTest > adds() FAILED\n"
            "    org.opentest4j.AssertionFailedError: expected: <1> but was: <2>\n",
            "CalcTest > adds() FAILED: org.opentest4j.AssertionFailedError: expected: <1>",
        ),
        (
            "[ERROR] Tests run: 1, Failures: 1, Errors: 0\n[ERROR] Failures: \n"
            "[ERROR]   CalcTest.adds:12 expected: <1> but was: <2>\n",
            "[ERROR]   CalcTest.adds:12 expected: <1> but was: <2>",
        ),
        (
            "> x@1.0.0 test\n> jst\n\nsh: 1: jst: not found\n",
            "sh: 1: jst: not found",
        ),
    ],
    ids=["rspec", "phpunit", "gradle", "maven", "npm"],
)
def test_other_programs_are_understood_too(output: str, expected: str) -> None:
    assert headline(decisive_lines(output)).startswith(expected)


def test_what_passing_tests_print_is_not_the_reason() -> None:
    noise = "usage: shop [-h]\nshop: error: unrecognized arguments: --tea\nValueError: caught\n"
    output = noise + (RECORDED / "unittest.txt").read_text()
    assert headline(decisive_lines(output)).startswith("FAIL: test_u (test_a.T.test_u): Assertion")


def test_the_values_that_were_compared_are_among_the_lines() -> None:
    for name, value in [("pytest", "assert -1 == 5"), ("tap", "-1 !== 5"), ("cargo", "left: 1")]:
        lines = decisive_lines((RECORDED / f"{name}.txt").read_text())
        assert any(value in line for line in lines), (name, lines)


def test_the_first_of_several_failures_is_reported() -> None:
    lines = decisive_lines((RECORDED / "pytest.txt").read_text())
    assert not [line for line in lines if "missing" in line or "test_u" in line]


def test_an_output_without_a_reason_is_reported_by_its_last_lines() -> None:
    output = "\n".join(f"step {number}" for number in range(50))
    assert decisive_lines(output)[-1] == "step 49"
    assert headline(decisive_lines("")) == ""


def test_a_summary_without_failures_is_not_a_reason() -> None:
    assert headline(decisive_lines("lint: 0 errors\ncoverage: failed to reach 90 %\n")) == (
        "coverage: failed to reach 90 %"
    )


def test_colours_progress_and_overwritten_lines_are_left_out() -> None:
    output = "\x1b[31m...F..\x1b[0m [ 12%]\n10 %\r50 %\rValueError: x\r\n\x1b]0;title\x07\n"
    assert decisive_lines(output) == ("ValueError: x",)


@given(st.text(max_size=3000))
def test_any_output_is_a_few_short_printable_lines(output: str) -> None:
    lines = decisive_lines(output)
    assert len(lines) <= MOST_LINES
    assert all(len(line) <= WIDTH for line in lines)
    assert all(char.isprintable() or char == "\t" for line in lines for char in line)
    assert "\n" not in headline(lines)
