"""Long and deep texts: judged in time that grows with their length, or refused in words."""

import pytest

from ralph.core.policy.calling import STEPS, Caller
from ralph.core.policy.deciding import LONGEST, decide_command
from ralph.core.policy.decision import Allow, Deny, Ground, Policy
from ralph.core.policy.known import Field, Frame, Known
from ralph.core.policy.shells import Shelled

GROUND = Ground(checkout="/w/proj", home="/home/me")


def denied(text: str) -> str:
    verdict = decide_command(text, policy=Policy(), ground=GROUND)
    return verdict.reason if isinstance(verdict, Deny) else ""


def test_a_megabyte_is_judged() -> None:
    long = "cat > f <<'EOF'\n" + "git push\n" * 110_000 + "EOF\n"
    assert decide_command(long, policy=Policy(strict=True), ground=GROUND) == Allow()
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
    strict = decide_command(text, policy=Policy(strict=True), ground=GROUND)
    assert isinstance(strict, Deny)


@pytest.mark.parametrize("word", ["eval ", "env ", "sudo ", "command ", "nohup nice "])
def test_a_command_behind_too_many_others_is_refused(word: str) -> None:
    assert "too involved" in denied(word * 1000 + "git push")


def test_more_commands_than_anybody_writes_are_refused() -> None:
    assert "too involved" in denied("ls; " * 30_000)
    assert denied("ls; " * 5_000) == ""


def test_what_looks_like_a_sum_may_be_subshells() -> None:
    nested = "((ls); " * 12 + "git push" + "; ls)" * 12
    assert "git push" in denied(nested)
    assert denied(nested.replace("git push", "ls")) == ""


def test_both_readings_of_brackets_are_not_tried_at_every_level() -> None:
    assert denied("$((" * 30) == ""


def test_functions_that_call_each_other_are_followed_once() -> None:
    chain = "".join(f"f{i}() {{ f{i + 1}; f{i + 1}; f{i + 1}; }}; " for i in range(15))
    assert denied(chain + "f0") == ""
    assert "git push" in denied(chain + "f15() { git push; }; f0")


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
        "bash -c 'ls'; ",
    ],
)
def test_the_steps_grow_with_the_length_and_no_faster(unit: str) -> None:
    def steps(times: int) -> int:
        text = "echo " + unit * times
        caller = Caller(Known({"HOME": "/h", "PWD": "/w", "IFS": " "}), STEPS + len(text))
        caller.text(Shelled(Field(text, inner=0)), Frame(cwd="/w"))
        return STEPS + len(text) - caller.left

    assert steps(400) <= 4 * steps(100) + 10
