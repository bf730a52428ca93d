"""Long and deep texts: judged in time that grows with their length, or refused in words."""

import pytest

from ralph.core.policy.commands import STEPS, CommandReader
from ralph.core.policy.decide import LONGEST, decide_command
from ralph.core.policy.decision import Allow, Deny, Policy, PolicyContext
from ralph.core.policy.shell_state import ShellState
from ralph.core.policy.words import Field

CONTEXT = PolicyContext(checkout="/w/proj", home="/home/me")


def denied(text: str) -> str:
    verdict = decide_command(text, policy=Policy(), context=CONTEXT)
    return verdict.reason if isinstance(verdict, Deny) else ""


def test_a_megabyte_is_judged() -> None:
    long = "cat > f <<'EOF'\n" + "git push\n" * 110_000 + "EOF\n"
    assert decide_command(long, policy=Policy(strict=True), context=CONTEXT) == Allow()
    assert "git push" in denied(long + "git push")
    assert "git push" in denied("echo " + "a" * 1_000_000 + "; git push")


@pytest.mark.parametrize(
    "text",
    [
        "cat <<E\n" + "a\\\n" * 300_000 + "\nE\n",
        "cat" + " <<E" * 8_000 + " $((1))" * 8_000 + "\n" + "E\n" * 8_000,
        "curl -" + "s" * 300_000,
        "tar " + "v" * 50_000,
        "rm -rf " + "a/" * 300_000 + "x",
    ],
    ids=["body", "bodies", "option", "letters", "path"],
)
def test_a_long_text_of_any_shape_is_judged(text: str) -> None:
    assert denied(text) == ""
    assert "git push" in denied(text + "\ngit push")


def test_what_is_longer_than_any_command_is_refused() -> None:
    assert "too long" in denied("x" * (LONGEST + 1))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100000,
        "$(" * 100000,
        "{ " * 100000,
        "if " * 100000,
        "${x:-" * 100000,
        "( " * 60 + "git push" + " )" * 60,
        "$((" * 50000,
        "`echo " * 1,
        "f() " * 50000,
    ],
)
def test_what_is_too_deep_is_refused_or_no_shell(text: str) -> None:
    strict = decide_command(text, policy=Policy(strict=True), context=CONTEXT)
    assert isinstance(strict, Deny)


@pytest.mark.parametrize("word", ["eval ", "env ", "sudo ", "command ", "nohup nice "])
def test_a_command_after_too_many_others_is_refused(word: str) -> None:
    assert "too involved" in denied(word * 1000 + "git push")


def test_more_commands_than_people_write_are_refused() -> None:
    assert "too involved" in denied("ls; " * 30_000)
    assert denied("ls; " * 5_000) == ""


def test_what_looks_like_a_sum_may_be_subshells() -> None:
    nested = "((ls); " * 12 + "git push" + "; ls)" * 12
    assert "git push" in denied(nested)
    assert denied(nested.replace("git push", "ls")) == ""


def test_both_readings_of_brackets_are_not_tried_at_every_level() -> None:
    assert denied("$((" * 30) == ""


def test_many_variables_and_branches_are_judged() -> None:
    text = "".join(f"x{i}=a; if b; then c; fi; f{i}() {{ ls; }}; f{i}; " for i in range(1_000))
    assert denied(text) == ""
    assert "git push" in denied(text + "git push")


@pytest.mark.parametrize(
    "text",
    [
        "x=aaaaaaaaaa; " + "x=$x$x; " * 60,
        "x=aaaaaaaaaa; " + "x+=$x; " * 60,
        "x=aaaaaaaaaa; for i in 1 2; do " + "x=$(echo $x $x); " * 60 + "done; ",
        "a=" + "a" * 100_000 + "{" + "b," * 1_000 + "c}; ",
    ],
)
def test_a_text_that_grows_as_it_runs_is_judged(text: str) -> None:
    assert "git push" in denied(text + "git push")


def test_more_text_than_people_write_is_refused() -> None:
    assert "too involved" in denied("x=" + "a" * 10_000 + "; echo" + " $x" * 100_000)


@pytest.mark.parametrize(
    "unit",
    [
        "ls -l a b | grep c && echo d\n",
        "x=a; ",
        "echo $(ls) ",
        "a ",
        "'a'\"b\"",
        "ls | cat |",
        "$x",
        "f() { ls; }; f; ",
        "if a; then b; fi; ",
        "{a,b} ",
        "cat <<E\nx\nE\n",
        "for i in a; do x=$i; done; ",
        "bash -c 'ls'; ",
    ],
)
def test_the_steps_grow_with_the_length_and_no_faster(unit: str) -> None:
    def steps(times: int) -> int:
        text = "echo " + unit * times
        reader = CommandReader(text, "/w", STEPS + len(text))
        reader.read_text(Field(text, start=0), ShellState(cwd="/w", variables={}))
        return STEPS + len(text) - reader.left

    assert steps(400) <= 4 * steps(100) + 10
