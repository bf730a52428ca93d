"""Coverage, as tools print it."""

import pytest

from ralph.core.gate_output import coverage_percent

PYTHON = """\
Name          Stmts   Miss  Cover
---------------------------------
a.py             10      0   100%
---------------------------------
TOTAL            40      7    83%
7 passed in 0.12s (100%)
"""
JEST = """\
----------|---------|----------|---------|---------|-------------------
File      | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s
----------|---------|----------|---------|---------|-------------------
All files |   85.71 |       70 |     100 |   85.71 |
 a.js     |     100 |      100 |     100 |     100 |
"""
GO = "ok  \texample.com/a\t0.1s\tcoverage: 87.5% of statements\n"
GO_TOTAL = "a.go:3:\tF\t100.0%\ntotal:\t(statements)\t61.2%\n"
RUST = "|| a.rs: 6/7\n||\n85.71% coverage, 6/7 lines covered\n"


@pytest.mark.parametrize(
    ("text", "share"),
    [
        (PYTHON, 83.0),
        (JEST, 85.71),
        (GO, 87.5),
        (GO_TOTAL, 61.2),
        (RUST, 85.71),
        ("\x1b[32mTOTAL  10  0  100%\x1b[0m\n", 100.0),
        ("progress 50%\nprogress 100%\ncovered: 71%\ndone 99%\n", 71.0),
        ("72 %", 72.0),
        ("250%", None),
        ("all fine", None),
        ("", None),
    ],
)
def test_the_share_of_the_whole_is_found(text: str, share: float | None) -> None:
    assert coverage_percent(text) == share
