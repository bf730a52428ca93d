"""`config.sh` is read as the shell would read it, and never run."""

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.core.errors import UnusableData
from ralph.documents import shell_variables

BASH = shutil.which("bash") or ""
LINES = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\n\r\0"), max_size=40
)
"""What fits on one line of a file."""


def values(text: str) -> dict[str, str]:
    return {name: each.value for name, each in shell_variables.read(text).items()}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('A="codex exec -"', "codex exec -"),
        ("A='single $HOME \\ quotes'", "single $HOME \\ quotes"),
        ("A=plain", "plain"),
        ("A=", ""),
        ('A=""', ""),
        ("A=''", ""),
        ('export A="x"', "x"),
        ("export   A=x", "x"),
        ("  A=x  ", "x"),
        ("\tA=x", "x"),
        ('A="x" # why', "x"),
        ("A=x #why", "x"),
        ("A=a#b", "a#b"),
        ("A= # nothing", ""),
        ('A="a # b"', "a # b"),
        ('A="a \\"quoted\\" word"', 'a "quoted" word'),
        ('A="claude -p \\"\\$(cat {prompt})\\""', 'claude -p "$(cat {prompt})"'),
        ('A="\\$5 \\\\ \\`x\\`"', "$5 \\ `x`"),
        ('A="a\\nb"', "a\\nb"),
        ("A=a'b c'\"d e\"f", "ab cd ef"),
        ("A=a\\ b", "a b"),
        ("A=\\$X", "$X"),
        ("A=b=c", "b=c"),
        ("A=*.py", "*.py"),
        ('A="~/x"', "~/x"),
        ("A=größe", "größe"),
        ("A=x\r", "x"),
    ],
)
def test_a_plain_line_gives_its_value(line: str, value: str) -> None:
    assert values(line) == {"A": value}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('A="$HOME/x"', 'A holds `"$HOME/x"`, which only a shell can read'),
        ("A=b$HOME", "A holds `$HOME`, which only a shell can read"),
        ('A="costs 5$"', 'A holds `"costs 5$"`, which only a shell can read'),
        ("A=$(date)", "A holds `$(date)`, which only a shell can read"),
        ("A=`date`", "A holds ``date``, which only a shell can read"),
        ("A=(a b)", "A holds `(a b)`, which only a shell can read"),
        ("A=$'a\\n'", "A holds `$'a\\n'`, which only a shell can read"),
        ("A=/x:~/y", "A holds `~/y`, which only a shell can read"),
        ("A=x; B=y", "A holds `; B=y`, which only a shell can read"),
        ("A=x&", "A holds `&`, which only a shell can read"),
        ("A=x|y", "A holds `|y`, which only a shell can read"),
        ("A=x>y", "A holds `>y`, which only a shell can read"),
        ("A=x make test", "A is followed by `make test`; a value with spaces needs quotes"),
        ('export A="x" B="y"', 'A is followed by `B="y"`; a value with spaces needs quotes'),
        ("A=x\\", "A holds `\\`, which only a shell can read"),
        ('A="x\\"', 'A holds `"x\\"`, which only a shell can read'),
        ("A='x", "A holds `'x`, which only a shell can read"),
        ("A=x\0", "A holds `\u2400`, which only a shell can read"),
        ("A = x", "`A = x` is not NAME=value"),
        ("A+=x", "`A+=x` is not NAME=value"),
        ("1A=x", "`1A=x` is not NAME=value"),
        ("A-B=x", "`A-B=x` is not NAME=value"),
        ("export A", "`export A` is not NAME=value"),
        ("=x", "`=x` is not NAME=value"),
        ("set -euo pipefail", "`set -euo pipefail` is not NAME=value"),
        ("f() { true; }", "`f() { true; }` is not NAME=value"),
        ("A[0]=x", "`A[0]=x` is not NAME=value"),
    ],
)
def test_anything_more_is_refused_with_its_line(line: str, message: str) -> None:
    with pytest.raises(UnusableData) as caught:
        shell_variables.read(f"# first\n\n{line}\n", ".ralph/config.sh")
    assert str(caught.value) == f".ralph/config.sh:3: {message}"
    assert caught.value.hint


def test_each_variable_knows_its_line_and_the_last_one_counts() -> None:
    text = '#!/bin/sh\n\nA="1"\r\nexport B=2\nA=3\n'
    assert shell_variables.read(text) == {
        "A": shell_variables.ConfigVariable("3", 5),
        "B": shell_variables.ConfigVariable("2", 4),
    }


def test_a_byte_order_mark_is_no_part_of_a_name() -> None:
    assert values("\ufeffA=1") == {"A": "1"}


@pytest.mark.parametrize("value", ["a\nb", "a\rb", "a\0b"])
def test_a_value_that_needs_two_lines_is_not_written(value: str) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        shell_variables.written("A", value)


@pytest.mark.parametrize("name", ["", "1A", "A B", "A-B", "Ä"])
def test_a_name_that_is_none_is_not_written(name: str) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        shell_variables.written(name, "x")


@given(st.dictionaries(st.from_regex(r"\A[A-Za-z_][A-Za-z0-9_]{0,8}\Z"), LINES))
def test_what_is_written_is_read_back(given_values: dict[str, str]) -> None:
    lines = [shell_variables.written(name, value) for name, value in given_values.items()]
    assert values("\n".join(lines)) == given_values


@given(st.text(max_size=80) | st.text(alphabet="A=\"'\\$`#~ ;x\n", max_size=30))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    error: UnusableData | None = None
    try:
        shell_variables.read(text)
    except UnusableData as refused:
        error = refused
    assert error is None or str(error).startswith("config.sh:")
    assert "\n" not in str(error)


@pytest.mark.skipif(not BASH, reason="bash itself is the judge")
@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="ab=\"'\\$`#~:; (){}*?!&|<>", max_size=12))
def test_what_is_read_is_what_bash_would_have_made_of_it(value: str) -> None:
    """Either the line is refused, or bash gives the same value and does nothing else."""
    line = f"A={value}"
    try:
        expected = values(line).get("A", "")
    except UnusableData:
        return
    result = subprocess.run(
        [BASH, "--norc", "-c", f'{line}\nprintf %s "$A"'],
        env={"PATH": "/nonexistent", "HOME": "/home/someone"},
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    assert result.stdout == expected
    assert not result.stderr
