"""Each path through a gate counts: with options, functions, traps and values as they are on it."""

import pytest

from ralph.documents.gate_commands import cannot_fail

CANNOT_FAIL = [
    # What a variable is known to be.
    "rc=0; make test; exit $rc",
    "rc=0; make test || true; exit $rc",
    "make test; rc=$?; exit 0",
    "make test; [ $? -ge 0 ]",
    "make test || exit $((0))",
    "cmd=true; make test || $cmd",
    "rc=1; make test; eval rc=0; exit $rc",
    "set -euo pipefail; code=0; make test || code=$?; echo $code",
    'f() { "$@"; }; f true',
    'f() { "$@"; }; make test || f',
    # Where `set -e` looks away.
    "set -e; f() { make test; true; }; f || true",
    "set -e; f() { make test; true; }; if f; then :; fi",
    "set -e; ! { make test; false; }",
    "bash -ec 'x=$(make test; true)'",
    "set -- -e; make test; true",
    # Traps.
    "trap 'exit 0' ERR; make test",
    "trap 'exit 0' DEBUG; make test",
    "trap 'exit 0' ERR; f() { make test && true; }; f",
    "f() { trap 'exit 0' ERR; make test; }; f",
    "bye() { exit 0; }; trap bye EXIT; make test",
    "trap -- 'exit 0' SIGEXIT; make test",
    "trap 'exit 0' INT EXIT; make test",
    "trap 'make check' EXIT; exit 0",
    # Loops and branches.
    "for a in 1; do for b in 1; do break 2; done; make test; done",
    "for a in; do make test; done",
    "for ((;;)); do make test && break; done",
    "until ! make test; do break; done",
    "case a in b) make test;; esac",
    "case a in a) make test;;& *) true;; esac",
    "[[ 1 == 1 && a != b ]]",
    "[ 1 -eq 1 -a 2 -eq 2 ]",
    "! { false; }",
    # Other shells, and programs that run them.
    "set -n; make test",
    "bash -n -c 'make test'",
    "bash -c -e 'make test || true'",
    "bash -ceuo pipefail 'make test || true'",
    "bash -s <<'EOF'\nmake test || true\nEOF",
    "bash <<< 'make test || true'",
    "timeout -s KILL 10 sh -c 'make test || true'",
    "sudo -u somebody sh -c 'make test || true'",
    "env -i bash -c 'make test || :'",
    "coproc make test",
    # Filters.
    "make test | sed 's/quiet/loud/'",
    "make test | sort -u -k 2",
    "make test | cut -d , -f 1",
    "make test || cat <<EOF\nno\nEOF",
    "make test; true < /dev/null",
    # What is done afterwards.
    "cd web; npm test; cd ..",
    "cd web; npm test; cd ../..",
    "cd web; npm test; cd -",
    "cd web; npm test; cd",
    "bash -c 'pushd web; npm test; popd'",
    "make test || touch failed",
    "make test; rm -f tmp",
    "make test; rm -rf tmp",
    "make test || mkdir -p failed",
    "make test; ls -la",
    "make test; git status",
    "make test || env",
    "setsid -f make test",
    # Commands that have no word for what they find.
    "find . -name '*.sh' -exec shellcheck {} \\;",
    "find -name '*.sh' -exec shellcheck {} ';'",
    "make format; git diff",
    "make format; git diff --stat -- src",
    "git status --porcelain",
]

CAN_FAIL = [
    # What the old grammar could not read.
    "! { make test; }",
    "! ( make test )",
    "cat <<EOF >f; make test\nx\nEOF",
    "cat <<A <<B\na\nA\nb\nB\nmake test",
    "grep -q 'größer' notes.txt",
    "grep -q '\x1b' log",
    # What a variable may be.
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
    # Options that hold on one path only, or from the second round on.
    "if x; then set -e; fi; make test; true",
    "set -e; if x; then set +e; fi; make test; true",
    "for i in 1 2; do make test; true; set -e; done",
    ". ./strict.sh; make test; echo done",
    "shopt -so errexit; make test; true",
    "sh -ec 'x=$(make test; true)'",
    # Functions that are not what is called.
    "make() { true; }; command make test",
    "make() { true; }; unset -f make; make test",
    "make() { true; }; env make test",
    "true() { make test; }; true",
    # Ways out of the shell.
    "trap 'exit 0' EXIT; exec make test",
    "trap 'exit 1' ERR; make test; true",
    "f() { trap 'exit 0' ERR; make test && true; }; f",
    "set -e; trap 'make clean' EXIT; true",
    "make test || kill $$; true",
    "( make test || kill -9 $$ ); true",
    "break; make test",
    "case x in x) true;& y) make test;; esac",
    "case x in x) true;;& *) make test;; esac",
    # What is done afterwards, and may fail.
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
    # Filters that look at something.
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


@pytest.mark.parametrize("command", CANNOT_FAIL)
def test_a_gate_is_refused_when_no_path_ends_with_a_failure(command: str) -> None:
    assert cannot_fail(command) is not None


@pytest.mark.parametrize("command", CAN_FAIL)
def test_one_path_that_ends_with_a_failure_is_enough(command: str) -> None:
    assert cannot_fail(command) is None


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("make test\0", "holds a zero byte, which no command can"),
        ("make test\r\n", "holds a carriage return, which a shell takes for a letter"),
        ("echo 'a\nmake", "is not valid shell: line 1 has a ' that is never closed"),
        ("make\necho `if`; make", "is not valid shell: line 2 has no `then`"),
        ("make\necho `(`; make", "is not valid shell: line 2 stops before it is finished"),
        ("echo a && ! { false; }", "is `echo a && ! { false; }`, which always succeeds"),
    ],
)
def test_the_reason_names_the_place(command: str, reason: str) -> None:
    assert cannot_fail(command) == reason


def test_functions_that_call_themselves_in_loops_are_followed_quickly() -> None:
    calls = "f; " * 20
    assert cannot_fail(f"f() {{ for i in 1 2; do {calls} done; }}; f || true") is not None
