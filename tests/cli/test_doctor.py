"""What is checked, and what is said about it."""

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.cli.running import a_run


def findings(cli: Cli, state: str) -> list[dict[str, Any]]:
    import json

    return [
        check
        for check in json.loads(cli("doctor", "--json", code=None).out)
        if check["state"] == state
    ]


def test_a_fresh_project_is_sound(ralph: Cli) -> None:
    answer = ralph("doctor")
    assert "✓ Python" in answer.out
    assert "✓ git version" in answer.out
    assert "✓ database" in answer.out
    assert "✗" not in answer.out
    assert findings(ralph, "failed") == []


def test_every_complaint_has_a_way_out(ralph: Cli) -> None:
    (ralph.path / ".ralph.toml").write_text(
        '[gates]\ntest = "make test || true"\n[execution]\nlimitt = 1\n'
    )
    answer = ralph("doctor", code=1)
    assert "✗ gate test" in answer.out
    assert "limitt" in answer.out
    assert "limitt" not in answer.err, "it is a finding here, not a warning"
    for check in [*findings(ralph, "failed"), *findings(ralph, "warning")]:
        assert check["way_out"], check


def test_a_gate_that_passes_in_an_empty_checkout_is_a_warning(ralph: Cli) -> None:
    (ralph.path / "here.txt").touch()
    (ralph.path / ".ralph.toml").write_text(
        '[gates]\ntest = "test -f here.txt"\nlint = "if ls *.txt; then ls; fi"\n'
    )
    said = [check["what"] for check in findings(ralph, "warning") if "gate" in check["what"]]
    assert said == ["gate lint passes in an empty checkout, so it may prove nothing"]


def test_it_wants_the_sqlite_that_the_store_wants(
    ralph: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 37, 2))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.37.2")
    said = [check["what"] for check in findings(ralph, "failed")]
    assert said.count("SQLite 3.37.2 is older than 3.38") == 2


def test_outside_a_project(bare: Cli) -> None:
    answer = bare("doctor", code=1)
    assert "ralph init" in answer.out


def test_broken_settings_are_a_finding(ralph: Cli) -> None:
    (ralph.path / ".ralph.toml").write_text("[execution\n")
    assert "✗" in ralph("doctor", code=1).out


def test_a_pipe_where_git_reads_is_a_finding(ralph: Cli) -> None:
    (ralph.path / ".gitignore").unlink()
    os.mkfifo(ralph.path / ".gitignore")
    assert any(".gitignore is a pipe" in check["what"] for check in findings(ralph, "failed"))


def test_what_is_in_place_of_a_folder_keeps_no_other_check_from_being_made(ralph: Cli) -> None:
    (ralph.path / ".ralph.toml").write_text('[gates]\ntest = "test -f here.txt"\n')
    (ralph.path / ".ralph").rename(ralph.path / "elsewhere")
    os.mkfifo(ralph.path / ".ralph")
    assert any("/.ralph: " in check["what"] for check in findings(ralph, "failed"))
    assert "✓ git repository" in ralph("doctor", code=1).out


def test_a_damaged_database_is_a_finding(ralph: Cli) -> None:
    (ralph.path / ".ralph" / "progress.db").write_bytes(b"this is no database" * 100)
    assert "✗" in ralph("doctor", code=1).out


def test_a_database_that_is_a_link_to_itself_is_a_finding(ralph: Cli) -> None:
    database = ralph.path / ".ralph" / "progress.db"
    database.unlink()
    database.symlink_to(database.name)
    assert f"{database} cannot be read" in ralph("doctor", code=1).out


def test_a_missing_database_is_not_made_by_looking(ralph: Cli) -> None:
    database = ralph.path / ".ralph" / "progress.db"
    for path in ralph.path.glob(".ralph/progress.db*"):
        path.unlink()
    assert "ralph init" in ralph("doctor").out
    assert not database.exists()


def test_claims_of_the_dead_are_found(ralph: Cli) -> None:
    task = ralph.add("x")
    with a_run(ralph, alive=False) as running:
        running.start(running.claim())
    assert any(task in check["what"] for check in findings(ralph, "warning"))
    assert "ralph run" in ralph("doctor").out


def test_claims_of_the_living_are_not(ralph: Cli) -> None:
    task = ralph.add("x")
    with a_run(ralph) as running:
        running.start(running.claim())
        assert not any(task in check["what"] for check in findings(ralph, "warning"))


def test_counters_that_are_wrong_are_put_right(ralph: Cli) -> None:
    import sqlite3

    ralph.add("x")
    database = sqlite3.connect(ralph.path / ".ralph" / "progress.db")
    with database:
        database.execute("UPDATE tasks SET unmet = 5")
    database.close()
    assert "✗" in ralph("doctor", code=1).out
    assert "✗" not in ralph("doctor").out


def test_a_missing_git_is_a_finding(ralph: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(ralph.path))
    assert "✗ git cannot be run" in ralph("doctor", code=1).out


def _a_bubblewrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")


def test_the_sandbox_is_tried(ralph: Cli) -> None:
    assert "ways through the sandbox tried, none is open" in ralph("doctor").out


def test_a_sandbox_that_is_none_is_found_out(
    ralph: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes all the options, and heeds none of them."""
    bare = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"'
    _a_bubblewrap(tmp_path, monkeypatch, bare)
    answer = ralph("doctor", code=1)
    assert "✗ bubblewrap lets a session do this: " in answer.out
    for words in ("write", ".ralph.toml", "make a file in", "reach the process outside"):
        assert words in answer.out
    assert not list(Path(os.environ["HOME"]).glob(".ralph-trial*")), "what it made is gone again"


def test_a_sandbox_that_cannot_be_built_is_a_finding_with_a_way_out(
    ralph: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = next(one for one in findings(ralph, "failed") if "bubblewrap" in one["what"])
    assert "bubblewrap is not installed" in found["what"]
    assert "bubblewrap" in found["way_out"]


def test_no_sandbox_at_all_is_a_warning(ralph: Cli) -> None:
    (ralph.path / ".ralph.toml").write_text('[sandbox]\nmode = "off"\n')
    assert any("without a sandbox" in one["what"] for one in findings(ralph, "warning"))


def test_locks_of_git_are_named_with_their_holder(ralph: Cli) -> None:
    git_dir = ralph.path / ".git"
    private = ralph.path / ".ralph/checkouts/t-1/.git"
    private.mkdir(parents=True)
    (private / "index.lock").write_bytes(b"held by ralph\n")
    with (git_dir / "index.lock").open("wb"):
        said = {check["what"]: check["way_out"] for check in findings(ralph, "warning")}
    (held,) = [what for what in said if what.startswith(f"lock {git_dir}/index.lock, ")]
    assert f"is held by process {os.getpid()} (" in held
    (stale,) = [what for what in said if what.startswith(f"lock {private}/index.lock, ")]
    assert stale.endswith("is stale")
    assert "ralph run" in said[stale]
    assert (git_dir / "index.lock").exists()
