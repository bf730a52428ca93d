"""Whatever way a command is dressed up: what must not run does not, and what may run does."""

import shlex
from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ralph.core.policy.decide import decide_command
from ralph.core.policy.decision import (
    Allow,
    Deny,
    Policy,
    PolicyContext,
    Rewrite,
)
from ralph.core.settings import GitAccess
from tests.core.policy.tables import ALLOWED, DENIED

CONTEXT = PolicyContext(checkout="/w/proj", home="/home/me")
STRICT = Policy(strict=True)

FORBIDDEN_WORDS = st.sampled_from(
    [
        "git push",
        "git reset --hard",
        "rm -rf /",
        "git -C x push -f",
        "cat ~/.ssh/id_rsa",
        "git commit --amend",
        "dd if=x of=/dev/sda",
        "git checkout .",
        "chmod -R 777 /",
    ]
)
HARMLESS_WORDS = st.sampled_from(
    [
        "git status",
        "make test",
        "rm -rf build",
        "echo git push",
        "grep -rn 'rm -rf /' .",
        "git commit -m 'git push'",
        "npm test",
        "cat README.md",
        "printf '%s' 'pip install'",
    ]
)
AROUND = [
    "{}",
    "( {}\n)",
    "{{ {}\n}}",
    "ls && {{ {}\n}}",
    "{{ {}\n}} && ls",
    "ls; {}",
    "{{ {}\n}}; ls",
    "ls | {{ {}\n}}",
    "( {}\n) | cat",
    "! {{ {}\n}}",
    "time {{ {}\n}}",
    "( {}\n) &",
    "if true; then {}\nfi",
    "if {}\nthen ls; fi",
    "if false; then :; else {}\nfi",
    "while {}\ndo :; done",
    "until false; do {}\ndone",
    "for i in 1 2; do {}\ndone",
    "for ((i = 0; i < 2; i++)); do {}\ndone",
    "case x in (x) {}\n;; esac",
    "case x in y) ls;; x) {}\nesac",
    "F_U_N() {{ {}\n}}; F_U_N",
    "function F_U_N {{ {}\n}}; F_U_N",
    "F_U_N() ( {}\n); F_U_N a b",
    "coproc {{ {}\n}}",
    "echo $( {}\n)",
    'echo "a $( {}\n) b"',
    "V_A_R=$( {}\n)",
    "cat <( {}\n)",
    "ls > >( {}\n)",
    "echo ${{x:-$( {}\n)}}",
    "echo $((1 + $( {}\n)))",
    "cat <<E_O_F\n$( {}\n)\nE_O_F\n",
    "cat <<'E_O_F'\nx\nE_O_F\n{}",
    "# comment ' \"\n{}",
    "ls \\\n; {}",
    "[[ -f x ]] && {{ {}\n}}",
    "set -e\n{}\n",
    "{}\n#end",
    "a=(1 $( {}\n))",
    "\t{}",
    "ls 2>&1 >/dev/null; {}",
    "export A=$( {}\n)",
]
"""Text around a command: it runs all the same."""

QUOTED: list[Callable[[str], str]] = [
    lambda text: f"bash -c {shlex.quote(text)}",
    lambda text: f"sh -ec {shlex.quote(text)}",
    lambda text: f"eval {shlex.quote(text)}",
    lambda text: f"bash <<< {shlex.quote(text)}",
    lambda text: f"bash <<'E_O_F'\n{text}\nE_O_F\n",
    lambda text: f"cat <<'E_O_F' | sh\n{text}\nE_O_F\n",
    lambda text: f"echo {shlex.quote(text)} | sh",
    lambda text: f"printf %s {shlex.quote(text)} | bash",
    lambda text: f"cat <<E_O_F >f; sh -c {shlex.quote(text)}\nbody\nE_O_F\n",
    lambda text: f"trap {shlex.quote(text)} EXIT",
    lambda text: f"env E_N_V=b sudo -u x nice -n 5 timeout 5 bash -c {shlex.quote(text)}",
    lambda text: f"find . -exec sh -c {shlex.quote(text)} \\;",
    lambda text: f'V_A_R={shlex.quote(text)}; eval "$V_A_R"',
    lambda text: f"watch {shlex.quote(text)}",
    lambda text: f"xargs -n1 bash -c {shlex.quote(text)} < x",
    lambda text: f"eval \"$(cat <<'E_O_F'\n{text}\nE_O_F\n)\"",
]
WRAPPED = st.lists(
    st.sampled_from([template.format for template in AROUND] + QUOTED), min_size=1, max_size=4
)


def dressed(text: str, wrappings: list[Callable[[str], str]]) -> str:
    for wrapping in wrappings:
        # A delimiter that ends one here-document must not end the one around it, and a text must
        # not change the variable from which it is run, nor the function that runs it.
        names = {name: f"{name[0]}_{len(text)}" for name in ("E_O_F", "V_A_R", "F_U_N")}
        text = wrapping(text)
        for name, own in names.items():
            text = text.replace(name, own)
    return text


@settings(max_examples=150, deadline=None)
@given(FORBIDDEN_WORDS, WRAPPED)
def test_a_forbidden_command_is_found_wherever_it_hides(
    command: str, wrappings: list[Callable[[str], str]]
) -> None:
    text = dressed(command, wrappings)
    assert isinstance(decide_command(text, policy=STRICT, context=CONTEXT), Deny), text


@pytest.mark.parametrize("quoted", QUOTED, ids=lambda quoted: quoted("…"))
def test_a_forbidden_text_in_quotes_stays_forbidden(quoted: Callable[[str], str]) -> None:
    texts = [quoted(command.replace("\0", "")) for command in DENIED]
    decided = {text: decide_command(text, policy=STRICT, context=CONTEXT) for text in texts}
    assert [text for text, decision in decided.items() if not isinstance(decision, Deny)] == []


@settings(max_examples=150, deadline=None)
@given(HARMLESS_WORDS, WRAPPED)
def test_a_harmless_command_runs_however_it_is_dressed(
    command: str, wrappings: list[Callable[[str], str]]
) -> None:
    text = dressed(command, wrappings)
    assert decide_command(text, policy=STRICT, context=CONTEXT) == Allow(), text


NAMES = st.sampled_from(["git push", "pip install x", "git reset --hard"])
SPELLINGS: list[Callable[[str], str]] = [
    lambda word: word,
    lambda word: f"'{word}'",
    lambda word: f'"{word}"',
    lambda word: "".join(f"\\{sign}" for sign in word),
    lambda word: "".join(f"'{sign}'" for sign in word),
    lambda word: "$'" + "".join(f"\\x{ord(sign):02x}" for sign in word) + "'",
    lambda word: "$'" + "".join(f"\\{ord(sign):03o}" for sign in word) + "'",
    lambda word: f'$"{word}"',
    lambda word: f"{word[:1]}''{word[1:]}",
    lambda word: f'{word[:1]}""{word[1:]}',
    lambda word: f"{word[:1]}\\\n{word[1:]}",
    lambda word: f"{word[:1]}$nothing{word[1:]}",
    lambda word: f"$(echo {word})",
    lambda word: f"`printf %s {word}`",
    lambda word: f"${{nothing:-{word}}}",
    lambda word: "{" + word + ",}",
]
"""Ways to write one word."""


@settings(max_examples=150, deadline=None)
@given(NAMES, st.lists(st.sampled_from(SPELLINGS), min_size=2, max_size=2))
def test_a_forbidden_command_is_found_however_it_is_spelled(
    command: str, spellings: list[Callable[[str], str]]
) -> None:
    words = command.split()
    spelled = [spell(word) for spell, word in zip(spellings, words, strict=False)]
    text = " ".join([*spelled, *words[2:]])
    policy = Policy(uses_uv=True, strict=True)
    assert isinstance(decide_command(text, policy=policy, context=CONTEXT), Deny), text


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["echo {}", "printf '%s' {}", "git commit -m {}", "grep -rn -- {} ."])
    | st.sampled_from(["echo {} > notes.md", "make NAME={}", 'x={}; echo "$x"', "test {} = a"]),
    st.sampled_from([text for text in DENIED if "\0" not in text]) | st.text(max_size=30),
)
def test_what_is_only_said_is_no_command(template: str, said: str) -> None:
    text = template.format(shlex.quote(said.replace("\0", "")))
    assert decide_command(text, policy=STRICT, context=CONTEXT) == Allow(), text


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([text for text in DENIED if "\0" not in text]))
def test_what_is_written_to_a_file_is_no_command(script: str) -> None:
    text = f"cat > run.sh <<'THE_END'\n{script}\nTHE_END\nchmod +x run.sh"
    assert decide_command(text, policy=STRICT, context=CONTEXT) == Allow()


SIGNS = st.text(alphabet="git push x=$(){}[];|&<>\"'`\\#!~*?\n\t\r\0-@%^é\ud800", max_size=60)


@settings(max_examples=150, deadline=None)
@given(
    SIGNS | st.text(max_size=60),
    st.builds(Policy, git=st.sampled_from(get_args(GitAccess)), uses_uv=st.booleans()),
)
@example(">&$'a$(b)'", Policy())
@example("${", Policy())
@example("$((((", Policy())
@example("<<a <<b", Policy())
@example("f() f | f &", Policy())
@example("alias a=a; a", Policy())
@example("git -c", Policy())
@example("find -exec", Policy())
@example("xargs -I", Policy())
@example("set -o", Policy())
@example("printf -v", Policy())
def test_any_text_gets_a_decision(text: str, policy: Policy) -> None:
    for only_reads in (False, True):
        verdict = decide_command(text, policy=policy, context=CONTEXT, only_reads=only_reads)
        assert isinstance(verdict, Allow | Deny | Rewrite)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(ALLOWED), min_size=2, max_size=5))
def test_harmless_lines_are_harmless_together(lines: list[str]) -> None:
    """Unless one defines what another calls, or moves to where another removes files."""
    kept = [line for line in lines if not any(sign in line for sign in ("cd ", "()", "set -", "="))]
    text = "\n".join(kept)
    assert decide_command(text, policy=STRICT, context=CONTEXT) == Allow(), text
