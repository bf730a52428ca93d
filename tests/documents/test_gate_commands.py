"""A gate that plainly cannot fail is refused; a gate that can fail never is."""

import random
import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ralph.documents.gate_commands import cannot_fail

CANNOT_FAIL = [
    "make test || true",
    "make test||true",
    "make test || :",
    "make test || exit 0",
    'make test || exit "0"',
    "make test || /bin/true",
    "make test || /usr/bin/true",
    "make test || echo failed",
    "make test || echo failed > log",
    "make test || echo failed >&2",
    "make test || printf 'no\\n'",
    "make test || { echo failed; true; }",
    "make test || (echo failed)",
    "make test || { echo failed; exit 0; }",
    "make test || true # allowed to fail",
    "make test || true; true",
    "make test || false || true",
    "make test && npm test || true",
    "make test ||\ntrue",
    "make test \\\n  || true",
    "make test || \\\n true",
    "make test > log 2>&1 || true",
    "make test &> log || true",
    "make test || tr'u'e",
    "make test || \\true",
    'make test || "true"',
    "make test || sleep 1",
    "{ make test; npm test; } || true",
    "(make test) || true",
    "(cd web && npm test) || :",
    "! make test || true",
    "make test; true",
    "make test; :",
    "make test; exit 0",
    "make test; echo done",
    "make test\ntrue",
    "make test\nexit 0\n",
    "set +e; make test; true",
    "set -e; make test || true",
    "set -e; make test | tee log",
    "(make test; true)",
    "{ make test; true; }",
    "( make test || true )",
    "make test &",
    "make test && npm test &",
    "{ make test; } &",
    "(make test) &",
    "make test & wait",
    "make test & true",
    "",
    "   \n",
    "# make test",
    "true",
    ":",
    ": make test",
    "true make test",
    "echo ok",
    "echo make test",
    "echo $(make test)",
    'echo "all good" && true',
    "true && true",
    "true || make test",
    "exit 0",
    "! ! true",
    "sleep 5",
    "X=1 true",
    "cd web || true",
    "make test | tee log",
    "make test 2>&1 | tee log",
    "make test |& tee log",
    "make test | tee log | tail -n 20",
    "make test | cat",
    "make test | tail -5",
    "make test | head -100",
    "make test | sort",
    "make test | sort -u",
    "make test | echo",
    "make test | (cat; true)",
    "make test | tee log > /dev/null",
    "set -o pipefail; make test | tee log || true",
    "bash -c 'make test || true'",
    "sh -c 'make test; true'",
    '/bin/sh -c "make test || true"',
    'bash -c "make \\"a b\\" || true"',
    "bash -c \"bash -c 'make test || true'\"",
    "time make test || true",
    "psql <<EOF || true\nselect 1\nEOF",
    "psql <<EOF | tee log\nselect 1\nEOF",
    "psql <<EOF > log || true\nselect 1\nEOF",
    "psql <<EOF\nselect 1\nEOF\ntrue",
    "psql <<EOF | tee log || true\nselect 1\nEOF",
    "psql <<EOF && make test || true\nselect 1\nEOF",
    "cat <<< hello | cat",
    "out=$(make test); echo $out",
    "make test; rc=$?; exit 0",
    "make test | sort -u -k 2",
    "cd web; npm test; cd ..",
]

CAN_FAIL = [
    "make test",
    "pytest -q",
    "npm test && npm run lint",
    "test -f x",
    "[ -f x ]",
    "[[ -f x ]]",
    "[ $X = 1 ]",
    "test",
    "a || b",
    "a || b || c",
    "grep -q true file",
    "cmd || exit 1",
    "cmd || exit",
    "cmd || exit $?",
    "cmd || exit $CODE",
    "cmd || { echo failed; exit 1; }",
    "cmd || (echo no; false)",
    "cmd || { echo no; false; }",
    "cmd || false",
    "cmd || ! true",
    "set -o pipefail; cmd | tee log",
    "set -euo pipefail; cmd | tee log",
    "set -eo pipefail\ncmd | tee log\necho done",
    "bash -o pipefail -c 'cmd | tee log'",
    "bash -euo pipefail -c 'cmd | tee log; echo done'",
    'echo "|| true" && make test',
    "make test # || true",
    "make test '|| true'",
    'make test "; true"',
    "make TARGET=true",
    "echo start; make test",
    "echo start && make test",
    "true && make test",
    "make test && true",
    "make test && echo good",
    "false || make test",
    "false",
    "! true",
    "! grep -rn TODO src",
    "! make test",
    "! make test | tee log",
    "exit 1",
    "make test; exit $?",
    'make test; exit "$?"',
    "make test; code=$?; make clean; exit $code",
    "make test | tee log; exit ${PIPESTATUS[0]}",
    "make test | tee log; [ ${PIPESTATUS[0]} -eq 0 ]",
    "make test; test $? -eq 0",
    "set -e; make test; true",
    "set -e; make test; echo done",
    "set -e\nmake test\nmake lint\nexit 0",
    "set -e; (make test; true)",
    "set -e; out=$(make test); echo $out",
    "set -e; f() { make test; true; }; f",
    "set -e; for f in a b; do make $f; echo $f; done",
    "make test | grep -v warning",
    "make test | sort -c",
    "make test | awk '/FAIL/ {exit 1}'",
    "make test | sed '/FAIL/q1'",
    "make test | while read l; do check $l || exit 1; done",
    "make test | xargs check",
    "make test | bash check.sh",
    "cat file",
    "sort -c file",
    "tail -n 1 log",
    "if make test; then exit 0; else exit 1; fi",
    "if ! make test; then exit 1; fi",
    "if make test; then make lint; fi",
    "if make test; then true; else false; fi",
    "if make test; then true; elif make lint; then true; else false; fi",
    "for f in a b; do make $f || exit 1; done",
    "for f in a b; do make $f; done",
    "while read l; do check $l || exit 1; done < list",
    "until make test; do sleep 1; false && break; exit 1; done",
    "case $X in a) make a;; *) exit 1;; esac",
    "case $X in a) exit 0;; *) false;; esac",
    "make test & wait $!",
    "make test & pid=$!; make lint; wait $pid",
    "make test &\nmake lint",
    "bash -c 'make test'",
    "bash script.sh",
    "bash script.sh || exit 1",
    "sh ./true.sh",
    "./true",
    "bash",
    "env CI=1 make test",
    "timeout 10m make test",
    "command -v node",
    "exec make test",
    "exec > log; make test",
    "eval 'make test'",
    'eval "$GATE"',
    "$GATE",
    '"$GATE" || "$OTHER"',
    "$(cat command)",
    "x=$(make test)",
    "x=$(make test) || exit 1",
    "x=$(make $(true))",
    "case $(make test) in *) exit;; esac",
    'x="$(make test)" && echo "$x"',
    "check() { make test; }; check",
    "check() { make test || return 1; echo good; }; check",
    "check() { true; }; make test",
    "trap 'rm -f tmp' EXIT; make test",
    "trap 'exit 0' EXIT; trap - EXIT; make test",
    "psql <<EOF\nselect 1\nEOF",
    "psql <<EOF && make test\nselect 1\nEOF",
    "cat <<EOF | psql\nselect 1 || true\nEOF",
    "bash <<'EOF'\nmake test\nEOF",
    "psql <<EOF || true && make test\nselect 1\nEOF",
    "psql <<EOF | tee log && make test\nselect 1\nEOF",
    "! ! make test",
    "true < required-file",
    "cd web && npm test",
    "cd web; npm test",
    "(cd web && npm test)",
    "{ make test; make lint; }",
    "make test > log 2>&1",
    "diff <(a) <(b)",
    "(( $(wc -l < log) == 0 ))",
    "make test || make test",
    "recurse() { recurse; }; recurse",
    "python -c 'import sys; sys.exit(0)'",
    "uv run pytest -q && uv run ruff check . && uv run mypy",
    "cargo test --all -- --nocapture",
    "! { make test; }",
    "! ( make test )",
    "cat <<EOF >f; make test\nx\nEOF",
    "cat <<A <<B\na\nA\nb\nB\nmake test",
    "grep -q 'größer' notes.txt",
    "grep -q '\x1b' log",
    "rc=0; make test || rc=1; exit $rc",
    'rc=0; make test || rc=$?; exit "$rc"',
    "rc=0; for t in a b; do make $t || rc=1; done; exit $rc",
    "rc=0; f() { rc=1; }; make test || f; exit $rc",
    "rc=0; rc=1 :; exit $rc",
    "rc=0; eval rc=1; exit $rc",
    'rc=0; eval "$SETTINGS"; exit $rc',
    "rc=0; ((rc += 1)); exit $rc",
    "rc=0; read rc < file; exit $rc",
    "rc=0; . ./settings; exit $rc",
    "make test; rc=$?; rm -f tmp; exit $rc",
    "make test; [ $? -lt 128 ]",
    'make test; sh -c "exit $?"',
    "make test; x=$(exit $?)",
    'make test; eval "exit $?"',
    'f() { "$@"; }; f make test',
    'f() { shift; "$@"; }; f true make',
    'f() { set -- make; "$@"; }; f true',
    ': "${DATABASE_URL:?}"',
    "set -u; echo $VERSION; true",
    "if x; then set -e; fi; make test; true",
    "set -e; if x; then set +e; fi; make test; true",
    "for i in 1 2; do make test; true; set -e; done",
    ". ./strict.sh; make test; echo done",
    "shopt -so errexit; make test; true",
    "sh -ec 'x=$(make test; true)'",
    "make() { true; }; command make test",
    "make() { true; }; unset -f make; make test",
    "make() { true; }; env make test",
    "true() { make test; }; true",
    "trap 'exit 0' EXIT; exec make test",
    "trap 'exit 1' ERR; make test; true",
    "f() { trap 'exit 0' ERR; make test && true; }; f",
    "set -e; trap 'make clean' EXIT; true",
    "make test || kill $$; true",
    "( make test || kill -9 $$ ); true",
    "break; make test",
    "case x in x) true;& y) make test;; esac",
    "case x in x) true;;& *) make test;; esac",
    "make build; cd build",
    "make build; rm build/tmp",
    "make build; mkdir build",
    "make build; ls build",
    "make build; id builder",
    "setsid make test",
    "env make test",
    "find src -name '*.sh' -exec shellcheck {} \\;",
    "find . -name '*.sh' -exec shellcheck {} +",
    "make format; git diff --exit-code",
    "make format; git diff --quiet",
    "git diff main",
    "git diff --check",
    "git merge-base --is-ancestor a b",
    "hash node",
    "declare -f run_tests",
    'printf %d "$COUNT"',
    "make list | sha256sum -c",
    "make page | base64 -d",
    "make page | gzip -t",
    "make list | sort -uc",
    "make list | cat missing",
    "make list | awk -f check.awk",
    'make list | awk "$PROGRAM"',
]

NOT_SHELL = ["make test ||", "if make test; then", "make test)", "'make", "fi", "a && && b", "done"]


def test_a_gate_that_plainly_cannot_fail_is_refused() -> None:
    assert [command for command in CANNOT_FAIL if cannot_fail(command) is None] == []


def test_a_gate_that_can_fail_is_never_refused() -> None:
    assert {command: why for command in CAN_FAIL if (why := cannot_fail(command))} == {}


def test_text_that_is_not_shell_is_refused_as_such() -> None:
    reasons = {command: cannot_fail(command) or "" for command in NOT_SHELL}
    wrong = {
        command: reason
        for command, reason in reasons.items()
        if not reason.startswith("is not valid shell: line 1: ")
    }
    assert wrong == {}


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("make test || true", "ends with `|| true`, so it cannot fail"),
        ("make test || echo no > log", "ends with `|| echo no`, so it cannot fail"),
        (
            "make test | tee log",
            "ends with `| tee log`, which succeeds whatever comes before (set -o pipefail)",
        ),
        ("make test &", "runs in the background, so its failure is never seen"),
        ("make test; exit 0", "ends with `exit 0`, which always succeeds"),
        ("echo ok", "is `echo ok`, which always succeeds"),
        ("# later", "runs nothing, so it cannot fail"),
        ("if a; then", "is not valid shell: line 1: no `fi`"),
        ("make test ||", "is not valid shell: line 1: it stops before it is finished"),
        ("make test\nfi", "is not valid shell: line 2: an unexpected `fi`"),
        ("make test\0", "holds a zero byte, which no command can"),
        ("make test\r\n", "holds a carriage return, which a shell takes for a letter"),
        ("echo 'a\nmake", "is not valid shell: line 1: a ' that is never closed"),
        ("make\necho `if`; make", "is not valid shell: line 2: no `then`"),
    ],
)
def test_the_reason_points_at_what_is_wrong(command: str, reason: str) -> None:
    assert cannot_fail(command) == reason


def test_a_reason_is_one_short_line_whatever_the_command_contains() -> None:
    reason = cannot_fail("make test || echo '\x1b[31m\n" + "x" * 500 + "'")
    assert reason is not None
    assert reason.isprintable()
    assert len(reason) < 120


def test_a_command_nested_deeper_than_pythons_stack_is_refused_not_a_crash() -> None:
    assert cannot_fail("( " * 5000 + "make" + " )" * 5000) == "is nested too deeply to be checked"


@given(st.text(max_size=60) | st.text(alphabet="ab |&;(){}$'\"!<>\n\\#=", max_size=40))
def test_any_text_gets_an_answer(command: str) -> None:
    reason = cannot_fail(command)
    assert reason is None or (reason.isprintable() and reason)


SMALL = [
    *["check0", "check1"] * 6,
    *["! check0", "true", "false", "! false", "exit 0", "exit 1", "exit", "exit $?", "rc=$?"],
    *["rc=0", "rc=1", "[ $? -eq 0 ]", "[ 1 = 2 ]", "[[ a == a ]]", "(( 0 ))", "set -e", "set +e"],
    *["set -o pipefail", "trap 'exit 0' EXIT", "trap 'exit 1' EXIT", "trap 'exit 0' ERR", "break"],
    *[
        "export x=$(check0)",
        "x=$(check0)",
        "true $(check0)",
        "exec check0",
        "echo ${x:?}",
        "set -u",
    ],
    *["exec true", "command true", "env true", "bash -c check0", "eval check0", "check0 & wait $!"],
    *["! ! check0", "cat <<< x", 'bash -c "exit $?"', "echo $y", "return 1", "check0 &", "wait"],
]
LARGE = [
    *["{} && {}", "{} || {}", "{} && {} || {}", "{}; {}", "{}\n{}", "{{ {}; {}; }}", "( {}; {} )"],
    *["! {{ {}; }}", "! ( {}; {} )", "{{ {}; }} | {{ {}; }}", "{{ {}; }} | cat", "{} || true"],
    *["set -o pipefail; {{ {}; }} | {{ {}; }}", "set -e; {}; {}", "( set -e; {}; {} ) || {}"],
    *["if {}; then {}; fi", "if {}; then {}; else {}; fi", "for i in 1 2; do {}; {}; done"],
    *["while {}; do {}; break; done", "case x in x) {};; *) {};; esac", "x=$( {}; {} ); {}"],
    *["f() {{ {}; }}; {}; f; {}", "f() {{ {} || return 0; {}; }}; f", "true() {{ {}; }}; {}; true"],
    *["rc=0; {} || rc=1; exit $rc", "trap 'exit $?' EXIT; {}; {}", "{}; true", "{}; exit 0"],
]
SHELLS = ["bash -c", "sh -c", "bash -ec", "bash -o pipefail -c", "exec bash -c", "eval"]


def a_gate(dice: random.Random, depth: int) -> str:
    """A command with check0 and check1, each of which may succeed or fail."""
    if depth == 0 or dice.random() < 0.15:
        return dice.choice(SMALL)
    if dice.random() < 0.15:
        return f"{dice.choice(SHELLS)} {shlex.quote(a_gate(dice, depth - 1))}"
    pattern = dice.choice(LARGE)
    return pattern.format(*(a_gate(dice, depth - 1) for _ in range(pattern.count("{}"))))


def test_bash_never_fails_a_gate_that_is_refused() -> None:
    """The gates are always the same ones; one bash process runs all of them."""
    dice = random.Random(2718)
    gates = [a_gate(dice, dice.choice([1, 2, 2, 3])) for _ in range(1500)]
    refused = [gate for gate in gates if " valid " not in (cannot_fail(gate) or " valid ")]
    assert len(refused) > 100
    script = ["check0() { return $FAILS0; }; check1() { return $FAILS1; }"]
    script += ["export -f check0 check1; export FAILS0 FAILS1"]
    for number, gate in enumerate(refused):
        for fails in ("FAILS0=0 FAILS1=0", "FAILS0=0 FAILS1=1", "FAILS0=1 FAILS1=0"):
            script += [f"{fails}; ( eval {shlex.quote(gate)} ) </dev/null >/dev/null 2>&1"]
            script += [f"[ $? = 0 ] || echo {number}"]
    ran = subprocess.run(
        ["bash"], input="\n".join(script), capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert {refused[int(number)] for number in ran.stdout.split()} == set()
