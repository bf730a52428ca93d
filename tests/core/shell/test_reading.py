"""Shell text as a tree: what bash takes for shell is shell here, and the other way round."""

import contextlib
import os
import shutil
import subprocess
import tempfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.core.policy.deciding import decide_command
from ralph.core.policy.decision import Deny, Ground, Policy
from ralph.core.shell.reading import TooDeep, read
from ralph.core.shell.tree import Compound, Function, Simple
from tests.core.policy.everyday import EVERYDAY
from tests.core.policy.forbidden import FORBIDDEN

BASH = shutil.which("bash") or "bash"
SKIPPED = ("\0", "\ud800", "\r")
"""What cannot be handed to bash, or what we read as if it were not there."""


def is_shell(text: str) -> bool:
    done = subprocess.run([BASH, "-n", "-c", text], capture_output=True, check=False)
    return done.returncode == 0 and b"syntax error" not in done.stderr


@pytest.mark.parametrize(
    "text",
    [each for each in EVERYDAY + FORBIDDEN if not any(sign in each for sign in SKIPPED)],
)
def test_bash_and_we_agree_on_what_is_shell(text: str) -> None:
    assert (read(text).error == "") == is_shell(text)


def test_a_command_knows_its_words_and_where_they_stand() -> None:
    (pipeline,) = read("echo 'a b' c\\ d").pipelines
    (command,) = pipeline.commands
    assert isinstance(command, Simple)
    assert [word.start for word in command.words] == [0, 5, 11]
    assert [part.start for word in command.words for part in word.parts] == [0, 6, 11, 13, 14]  # type: ignore[union-attr]


def test_lists_keep_what_stands_between_their_parts() -> None:
    script = read("a && b || c; d & e")
    assert [each.after for each in script.pipelines] == ["", "&&", "||", "", ""]
    assert [each.background for each in script.pipelines] == [False, False, False, True, False]


def test_compounds_and_functions_have_a_kind() -> None:
    kinds = {
        "( a )": "(",
        "{ a; }": "{",
        "if a; then b; fi": "if",
        "while a; do b; done": "while",
        "until a; do b; done": "until",
        "for x in y; do z; done": "for",
        "select x in y; do z; done": "select",
        "case x in y) z;; esac": "case",
        "[[ a ]]": "[[",
        "(( 1 ))": "((",
        "coproc a": "coproc",
    }
    for text, kind in kinds.items():
        command = read(text).pipelines[0].commands[0]
        assert isinstance(command, Compound)
        assert command.kind == kind
    assert isinstance(read("f() { a; }").pipelines[0].commands[0], Function)


def test_only_an_odd_number_of_signs_denies() -> None:
    script = read("! a; ! ! b; ! { c; } | d; time ! e; !")
    assert [each.denied for each in script.pipelines] == [True, False, True, True, True]


def test_a_case_knows_its_branches() -> None:
    (command,) = read("case x in a|b) c;& d) e;;& *) f; esac").pipelines[0].commands
    assert isinstance(command, Compound)
    assert [len(each.patterns) for each in command.branches] == [2, 1, 1]
    assert [each.ending for each in command.branches] == [";&", ";;&", ";;"]


def test_commands_know_where_they_stand_without_what_is_redirected() -> None:
    text = "a && ! b c > d | { e; } 2>&1"
    pipelines = read(text).pipelines
    commands = [command for pipeline in pipelines for command in pipeline.commands]
    assert [text[each.start : each.end].strip() for each in commands] == ["a", "b c", "{ e; }"]
    assert text[pipelines[1].start] == "!"


@pytest.mark.parametrize("text", ["a\nb )", "a\n`b )`", "a\nx=$(b; ; )"])
def test_a_mistake_has_a_place(text: str) -> None:
    assert text.count("\n", 0, read(text).error_at) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("echo 'a", "a ' that is never closed"),
        ('echo "a', 'a " that is never closed'),
        ("echo `a", "a ` that is never closed"),
        ("if a; then b", "no `fi`"),
        ("( a", "it stops before it is finished"),
        ("a )", "an unexpected `)`"),
        ("a | | b", "an unexpected `| b`"),
    ],
)
def test_a_mistake_is_named(text: str, why: str) -> None:
    assert read(text).error == why


def test_what_stands_before_and_behind_a_mistake_is_read_all_the_same() -> None:
    assert len(read("ls\nls )\nls").pipelines) == 3


TOKENS = st.sampled_from(
    [
        " ",
        " ",
        "\n",
        ";",
        "&&",
        "||",
        "|",
        "&",
        "(",
        ")",
        "{ ",
        "; }",
        '"',
        "'",
        "$(",
        "`",
        "\\",
        "\\\n",
        "$x",
        "${x}",
        '"$x"',
        "x=",
        "x=git",
        "x='git push'; ",
        "eval ",
        "bash -c ",
        "echo ",
        "<<E\n",
        "\nE\n",
        "<<'E'\n",
        "<<<",
        "cat ",
        "| sh",
        "xargs ",
        "env ",
        "A=b ",
        "$((",
        "))",
        "[[ ",
        " ]]",
        "if ",
        "; then ",
        "; fi",
        "else ",
        "while ",
        "do ",
        "done",
        "case x in ",
        "x) ",
        ";;",
        " esac",
        "#",
        "$'git'",
        "{git,push}",
        "! ",
        "time ",
        ">f",
        "2>&1",
        "<(",
        "a=(",
        "${y:-",
        "}",
        "set -- git push; ",
        '"$@"',
        "command ",
        "*",
        "git",
        "push",
        "git push",
        "g",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(TOKENS, max_size=9), st.lists(TOKENS, max_size=9))
def test_what_a_shell_runs_is_found_in_any_text(before: list[str], after: list[str]) -> None:
    """bash itself is asked: if it calls git, a strict policy must have said no."""
    text = "".join(before) + "git push" + "".join(after)
    verdict = decide_command(text, policy=Policy(strict=True), ground=Ground(checkout="/w"))
    if not isinstance(verdict, Deny):
        assert not calls_git(text), text


def calls_git(text: str) -> bool:
    """Whether bash calls git push; in there, hardly anything else can be called."""
    with tempfile.TemporaryDirectory() as folder:
        mark = os.path.join(folder, "called")
        programs = os.path.join(folder, "bin")
        os.mkdir(programs)
        git = os.path.join(programs, "git")
        with open(git, "w", encoding="utf-8") as file:
            file.write(f'#!{BASH}\n[ "$1" = push ] && : > {mark}\nexit 0\n')
        os.chmod(git, 0o755)
        for name in ("bash", "sh", "cat", "env", "xargs"):
            os.symlink(shutil.which(name) or name, os.path.join(programs, name))
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [BASH, "-c", text],
                cwd=folder,
                env={"PATH": programs, "HOME": folder},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=5,
                check=False,
            )
        return os.path.exists(mark)


def test_asking_bash_works() -> None:
    assert calls_git("g'i't push")
    assert not calls_git("echo git push")


def test_what_is_too_deep_is_refused() -> None:
    with pytest.raises(TooDeep):
        read("$(" * 1000)
