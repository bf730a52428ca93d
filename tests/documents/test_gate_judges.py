"""Gates put together at random, always the same ones: bash runs them and has the last word."""

import os
import random
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from ralph.documents.gate_commands import cannot_fail

GATES = 120
MOST_CHECKS = 2
JUDGES = [["bash", "--posix", "-c"], ["bash", "-c"]]
"""A gate is run by sh; what only bash does counts as well."""

SMALL = [
    *["CHECK"] * 12,
    *["! CHECK", "true", "false", "! false", "exit 0", "exit 1", "exit", "exit $?", "rc=$?"],
    *["rc=0", "rc=1", "[ $? -eq 0 ]", "[ 1 = 2 ]", "[[ a == a ]]", "(( 0 ))", "set -e", "set +e"],
    *["set -o pipefail", "trap 'exit 0' EXIT", "trap 'exit 0' ERR", "trap - EXIT", "break"],
    *["break 2", "export x=$(CHECK)", "x=$(CHECK)", "true $(CHECK)", "exec CHECK"],
    *["exec true", "command true", "env CHECK", "bash -c CHECK", "eval CHECK", "CHECK & wait $!"],
    *["! ! CHECK", "cat <<< x > log", 'bash -c "exit $?"', "CHECK > log"],
]
LARGE = [
    *["{} && {}", "{} || {}", "{} && {} || {}", "{}; {}", "{}\n{}", "{{ {}; {}; }}", "( {}; {} )"],
    *["! {{ {}; }}", "! ( {}; {} )", "{{ {}; }} | {{ {}; }}", "{{ {}; }} | cat"],
    *["set -o pipefail; {{ {}; }} | {{ {}; }}", "set -e; {}; {}", "( set -e; {}; {} ) || {}"],
    *["if {}; then {}; fi", "if {}; then {}; else {}; fi", "for i in 1 2; do {}; {}; done"],
    *["{{ {{ {}; }} & }}", "for i in; do {}; done"],
    *["for i in 1; do for j in 1 2; do {}; {}; done; {}; done"],
    *["while {}; do {}; break; done", "until {}; do {}; break; done"],
    *["case x in x) {};; *) {};; esac", "case x in x) {};& y) {};; esac"],
    *["case $(CHECK; echo $?) in 0) {};; *) {};; esac", "x=$( {}; {} ); {}"],
    *["f() {{ {}; }}; {}; f; {}", "f() {{ {} || return 0; {}; }}; f", 'f() {{ "$@"; }}; f CHECK'],
    *["rc=0; {} || rc=1; exit $rc", "trap 'exit $?' EXIT; {}; {}"],
]
SHELLS = ["bash -c", "bash --posix -c", "bash -ec", "bash -o pipefail -c", "exec bash -c", "eval"]


def a_gate(dice: random.Random, depth: int) -> str:
    """A pattern with CHECK for each command that may succeed or fail."""
    if depth == 0 or dice.random() < 0.15:
        return dice.choice(SMALL)
    if dice.random() < 0.15:
        return f"{dice.choice(SHELLS)} {shlex.quote(a_gate(dice, depth - 1))}"
    pattern = dice.choice(LARGE)
    return pattern.format(*(a_gate(dice, depth - 1) for _ in range(pattern.count("{}"))))


def some_gates() -> list[str]:
    dice = random.Random(2718)
    found: list[str] = []
    while len(found) < GATES:
        pieces = a_gate(dice, dice.choice([1, 2, 2, 3])).split("CHECK")
        gate = pieces[0] + "".join(f"check{n}{piece}" for n, piece in enumerate(pieces[1:]))
        if 0 < len(pieces) - 1 <= MOST_CHECKS:
            found.append(gate)
    return found


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with checks; each one fails if its name is in FAILING."""
    folder = tmp_path_factory.mktemp("programs")
    for number in range(MOST_CHECKS):
        check = folder / f"check{number}"
        check.write_text(f"#!/bin/sh\ncase $FAILING in *{number}*) exit 1;; esac\n")
        check.chmod(0o755)
    return folder


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash itself is the judge")
@pytest.mark.parametrize("gate", some_gates())
def test_bash_has_the_last_word(gate: str, programs: Path, tmp_path: Path) -> None:
    reason = cannot_fail(gate)
    statuses = [
        subprocess.run(
            [*judge, gate],
            env={"PATH": f"{programs}:{os.environ['PATH']}", "FAILING": failing},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        ).returncode
        for judge in JUDGES
        for failing in ("", "0", "1", "01")
    ]
    assert (reason is None) == any(statuses), reason
