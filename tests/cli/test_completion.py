"""Completion scripts are what their shells can read."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ralph.cli.commands import HIDDEN, listed
from tests.cli.conftest import Cli


@pytest.mark.parametrize(
    ("shell", "check"),
    [("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "--no-execute"])],
)
def test_the_script_parses(shell: str, check: list[str], bare: Cli, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(bare("completion", shell).out)
    for name in listed():
        assert name.split()[-1] in script.read_text()
    assert not any(f"'{name}'" in script.read_text() for name in HIDDEN)
    if shutil.which(check[0]) is None:
        pytest.skip(f"there is no {shell} here")
    done = subprocess.run([*check, str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def complete(cli: Cli, tmp_path: Path, *words: str) -> list[str]:
    """What bash would offer after these words, the last of them unfinished."""
    script = tmp_path / "completion.bash"
    script.write_text(cli("completion", "bash").out)
    ids = tmp_path / "bin" / "ralph"
    ids.parent.mkdir(exist_ok=True)
    ids.write_text(
        '#!/bin/sh\n[ "$1 $2 $3" = "task ids --of" ] || exit 1\n'
        '[ "$4" = features ] || printf "t-abc123\\tone\\n"\n'
        '[ "$4" = tasks ] || printf "login\\tready\\n"\n'
    )
    ids.chmod(0o755)
    quoted = " ".join(f"'{word}'" for word in ("ralph", *words))
    program = f"""
        PATH="{ids.parent}:$PATH"; source "{script}"
        COMP_WORDS=({quoted}); COMP_CWORD={len(words)}
        _ralph; printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_bash_offers_what_may_follow(bare: Cli, tmp_path: Path) -> None:
    assert complete(bare, tmp_path, "ta") == ["task"]
    assert "task" in complete(bare, tmp_path, "")
    assert complete(bare, tmp_path, "task", "de") == ["delete", "deps"]
    assert complete(bare, tmp_path, "task", "deps", "") == ["add", "rm", "list"]
    assert complete(bare, tmp_path, "task", "add", "--pri") == ["--priority"]
    assert complete(bare, tmp_path, "task", "show", "t-") == ["t-abc123"]
    assert complete(bare, tmp_path, "task", "add", "x", "--parent", "") == ["t-abc123"]
    assert complete(bare, tmp_path, "feature", "plan", "") == ["login"]
    assert complete(bare, tmp_path, "task", "add", "x", "--feature", "lo") == ["login"]
    assert complete(bare, tmp_path, "run", "") == ["t-abc123", "login"]
    assert complete(bare, tmp_path, "undo", "") == ["t-abc123"]
    assert complete(bare, tmp_path, "task", "list", "--status", "d") == ["done"]
    assert complete(bare, tmp_path, "completion", "f") == ["fish"]
    assert complete(bare, tmp_path, "task", "add", "-d", "x") == []
