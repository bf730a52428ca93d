"""Shell text as a tree: what bash takes for shell is shell here, and the other way round."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from random import Random

import pytest

from ralph.core.policy.decide import decide_command
from ralph.core.policy.decision import Deny, Policy, PolicyContext
from ralph.core.shell.parser import read
from ralph.core.shell.tree import Compound, Function, Simple
from ralph.core.shell.words import TooDeep
from tests.core.policy.tables import ALLOWED, DENIED, DOUBTED

BASH = shutil.which("bash") or "bash"
SKIPPED = ("\0", "\ud800", "\r")
"""What cannot be handed to bash, or what we read as if it were not there."""
NO_SHELL = ["a )", "if a; then b", "echo 'a", "a | | b", "x=$(b; ; )", "fi", "a &&"]


CHECK_SYNTAX = r"""
is_shell() {
    said=$(eval $'set -n\n'"$1" 2>&1) && [[ $said != *"syntax error"* ]]
}
[ -z "$(eval $'set -n\necho executed')" ] || exit 1  # never execute what is only to be read
while IFS= read -r -d '' text; do
    is_shell "$text" </dev/null && echo yes || echo no
done
"""


def are_shell(texts: Sequence[str]) -> list[bool]:
    """What bash says about each text; one process reads all of them."""
    given = "".join(f"{text}\0" for text in texts).encode()
    done = subprocess.run([BASH, "-c", CHECK_SYNTAX], input=given, capture_output=True, check=True)
    return [answer == b"yes" for answer in done.stdout.split()]


def test_bash_and_the_parser_agree_on_what_is_shell() -> None:
    texts = [
        each
        for each in (*ALLOWED, *DENIED, *DOUBTED, *NO_SHELL)
        if not any(sign in each for sign in SKIPPED)
    ]
    answers = are_shell(texts)
    assert len(answers) == len(texts)
    assert not any(answers[-len(NO_SHELL) :])
    pairs = zip(texts, answers, strict=True)
    assert [text for text, answer in pairs if (read(text).error == "") != answer] == []


def test_a_command_knows_its_words_and_their_places() -> None:
    (pipeline,) = read("echo 'a b' c\\ d").pipelines
    (command,) = pipeline.commands
    assert isinstance(command, Simple)
    assert [word.start for word in command.words] == [0, 5, 11]


def test_lists_keep_the_signs_between_their_parts() -> None:
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
    }
    for text, kind in kinds.items():
        command = read(text).pipelines[0].commands[0]
        assert isinstance(command, Compound)
        assert command.kind == kind
    assert isinstance(read("f() { a; }").pipelines[0].commands[0], Function)


def test_only_an_odd_number_of_signs_negates() -> None:
    script = read("! a; ! ! b; ! { c; } | d; time ! e; !")
    assert [each.negated for each in script.pipelines] == [True, False, True, True, True]


def test_a_case_knows_its_patterns_and_scripts() -> None:
    (command,) = read("case x in a|b) c;& d) e;;& *) f; esac").pipelines[0].commands
    assert isinstance(command, Compound)
    assert len(command.words) == 5
    assert len(command.scripts) == 3


def test_a_pipeline_knows_where_it_begins() -> None:
    text = "a && ! b c > d | { e; } 2>&1"
    assert [text[each.start] for each in read(text).pipelines] == ["a", "!"]


def test_a_coprocess_runs_in_the_background_with_or_without_a_name() -> None:
    for text in ("coproc a b", "coproc { a; }", "coproc N { a; }", "coproc N ( a )"):
        (pipeline,) = read(text).pipelines
        assert (pipeline.background, len(pipeline.commands)) == (True, 1)
        assert read(text).error == ""


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


def test_the_text_before_and_after_a_mistake_is_read() -> None:
    assert len(read("ls\nls )\nls").pipelines) == 3


TOKENS = [
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


def test_what_a_shell_runs_is_found_in_any_text() -> None:
    """bash itself is asked: if it calls git, a strict policy must have said no."""
    some = Random(1)
    texts = []
    for _ in range(2_000):
        before, after = (some.choices(TOKENS, k=some.randrange(9)) for _ in "ab")
        text = "".join(before) + "git push" + "".join(after)
        context = PolicyContext(checkout="/w")
        if not isinstance(decide_command(text, policy=Policy(strict=True), context=context), Deny):
            texts.append(text)
    assert len(texts) > 100
    assert calling_git(texts) == []


RUN_ALL = """
while IFS= read -r -d '' text; do
    ( ulimit -t 1; eval "$text" ) </dev/null >/dev/null 2>&1
    if [ -e called ]; then rm called; printf '%s\\0' "$text"; fi
done
"""


def calling_git(texts: list[str]) -> list[str]:
    """Those with which bash calls `git push`; in there, hardly anything else can be called."""
    with tempfile.TemporaryDirectory() as folder:
        programs = os.path.join(folder, "bin")
        os.mkdir(programs)
        git = os.path.join(programs, "git")
        with open(git, "w", encoding="utf-8") as file:
            file.write(f'#!{BASH}\n[ "$1" = push ] && : > {folder}/called\nexit 0\n')
        os.chmod(git, 0o755)
        for name in ("bash", "sh", "cat", "env", "xargs", "rm"):
            os.symlink(shutil.which(name) or name, os.path.join(programs, name))
        done = subprocess.run(
            [BASH, "-c", RUN_ALL],
            cwd=folder,
            env={"PATH": programs, "HOME": folder},
            input="".join(f"{text}\0" for text in texts),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.split("\0")[:-1]


def test_asking_bash_works() -> None:
    assert calling_git(["g'i't push", "echo git push"]) == ["g'i't push"]


def test_what_is_too_deep_is_refused() -> None:
    with pytest.raises(TooDeep, match="it is nested too deeply"):
        read("$(" * 1000)
