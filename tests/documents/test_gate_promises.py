"""Whatever way a gate is written: what bash does and what Ralph says about it agree."""

import os
import shlex
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.documents.gate_commands import cannot_fail

CHECKS = st.sampled_from(["make test", "pytest -q", "test -f x", "(cd web && npm test)", "$GATE"])
EXCUSES = st.sampled_from(
    ["|| true", "|| :", "|| exit 0", "|| /bin/true", "; true", "; exit 0", "\ntrue", "|| echo no"]
).flatmap(
    lambda excuse: st.sampled_from(
        [excuse, f"\\\n {excuse}", "|| { echo no; true; }", "| tee log", "| cat", "| tail -n 5"]
    )
) | st.sampled_from(
    ["; echo $?", "|| ! false", "|| (exit 0)", "|| bash -c true", "&& true || true", "&"]
)
WRAPPINGS = st.sampled_from(
    [
        "( {}\n)",
        "{{ {}\n}}",
        "if true; then {}\nfi",
        "set +e\n{}",
        "echo start\n{}",
        "{} # the gate",
    ]
) | st.sampled_from(["for x in 1 2; do {}\ndone", "f() {{ {}\n}}; f", "true && {{ {}\n}}"])
HARMLESS = st.sampled_from(
    [
        "echo start\n{}",
        "echo '|| true' && {{ {}\n}}",
        "( {}\n)",
        "{{ {}\n}} && echo good",
        "true\n{}",
    ]
) | st.sampled_from(["( ! ( {}\n) )", "( set -o pipefail\n( {}\n) | tee log )"])
ALSO_HARMLESS = st.sampled_from(
    ["if ! ( {}\n); then exit 1; fi", "( {}\n) || exit 1", "( {}\n) || {{ echo no; exit 1; }}"]
) | st.sampled_from(["{} # || true", "f() {{ {}\n}}; f", "case $X in *) {}\n;; esac"])


@given(CHECKS, EXCUSES, st.lists(WRAPPINGS, max_size=3))
def test_an_excuse_is_found_wherever_it_hides(check: str, excuse: str, around: list[str]) -> None:
    command = f"{check} {excuse}"
    for wrapping in around:
        command = wrapping.format(command)
    assert cannot_fail(command) is not None


@given(CHECKS, EXCUSES, st.sampled_from(["bash -c", "sh -c", "eval", "timeout 5m bash -c"]))
def test_an_excuse_is_found_inside_quotes(check: str, excuse: str, shell: str) -> None:
    assert cannot_fail(f"{shell} {shlex.quote(f'{check} {excuse}')}") is not None


@given(
    CHECKS,
    st.lists(HARMLESS | ALSO_HARMLESS, max_size=3),
    st.sampled_from(["{}", "set -e\n( {}\n)\necho good", "bash -ec '( {}\n); true'"]),
)
def test_a_check_that_counts_is_never_refused(check: str, around: list[str], last: str) -> None:
    command = check
    for wrapping in around:
        command = wrapping.format(command)
    # `set -e` outermost: inside `( … ) && …` the shell ignores it, which few people know.
    assert cannot_fail(last.format(command.replace("'", '"'))) is None


@given(st.text(max_size=60) | st.text(alphabet="ab |&;(){}$'\"!<>\n\\#=", max_size=40))
def test_any_text_gets_an_answer(command: str) -> None:
    reason = cannot_fail(command)
    assert reason is None or (reason.isprintable() and reason)


COMMANDS = st.recursive(
    # Only simple commands are negated: about `set -e` inside `! ( … )` shells disagree.
    st.sampled_from(
        ["CHECK", "CHECK", "! CHECK", "true", ":", "false", "! false", "exit 0", "exit"]
    ),
    lambda inner: st.one_of(
        st.builds("{} && {}".format, inner, inner),
        st.builds("{} || {}".format, inner, inner),
        st.builds("{{ {}; {}; }}".format, inner, inner),
        st.builds("{{ {}; }}".format, inner),
        st.builds("( {} )".format, inner),
        st.builds("( {}; {} )".format, inner, inner),
        st.builds("{{ {}; }} | {{ {}; }}".format, inner, inner),
        st.builds("{{ {}; }} | cat".format, inner),
        st.builds("( set -o pipefail; {{ {}; }} | {{ {}; }} )".format, inner, inner),
        st.builds("( set -e; {}; {} )".format, inner, inner),
        st.builds("if {}; then {}; fi".format, inner, inner),
        st.builds("if {}; then {}; else {}; fi".format, inner, inner, inner),
        st.builds("case $(CHECK && echo 1; true) in 1) {};; *) {};; esac".format, inner, inner),
        st.builds("for i in 1 2; do {}; done".format, inner),
        st.builds("while {}; do {}; break; done".format, inner, inner),
        st.builds("{{ f() {{ {}; return; }}; f; }}".format, inner),
        st.builds("x=$( {} )".format, inner),
        st.builds("{{ {} & }}".format, inner),
        st.builds("{{ {} & wait; }}".format, inner),
        st.builds("( trap '{}' EXIT; {} )".format, st.sampled_from(["exit 0", "true"]), inner),
        inner.map(lambda command: f"bash -c {shlex.quote(command)}"),
        inner.map(lambda command: f"eval {shlex.quote(command)}"),
    ),
    max_leaves=6,
)
MOST_CHECKS = 3


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash itself is the judge")
# The same examples each time: whoever runs all the tests is not looking for rare shells.
@settings(max_examples=120, deadline=None, derandomize=True)
@given(COMMANDS)
def test_bash_agrees(pattern: str) -> None:
    """Run with every combination of results of its checks it fails once, or it is refused."""
    pieces = pattern.split("CHECK")
    checks = len(pieces) - 1
    command = pieces[0] + "".join(
        f"check{min(number, MOST_CHECKS - 1)}{piece}" for number, piece in enumerate(pieces[1:])
    )
    if checks > MOST_CHECKS:
        return
    fails = any(_status(command, results) for results in range(2**checks))
    reason = cannot_fail(command)
    assert (reason is None) == fails, f"{command!r}: {reason}"


def _status(command: str, results: int) -> int:
    """What bash makes of the command when check N fails as bit N says."""
    functions = {
        f"BASH_FUNC_check{number}%%": f"() {{ return {results >> number & 1}; }}"
        for number in range(MOST_CHECKS)
    }
    environment = {"PATH": os.environ["PATH"], **functions}
    return subprocess.run(
        ["bash", "-c", command],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=20,
        check=False,
    ).returncode
