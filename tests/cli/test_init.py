"""Making a folder a Ralph project."""

import sqlite3
import subprocess
import tomllib
from pathlib import Path

from tests.cli.conftest import Answer, Cli, assert_one_line
from tests.privileges import ordinary

FOLDERS = (".ralph", ".ralph/runs", ".ralph/features", ".ralph/skills", ".ralph/specs")


def everything(path: Path) -> dict[str, bytes]:
    """Every file and its content, the database aside."""
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in sorted(path.rglob("*"))
        if file.is_file() and not file.name.startswith("progress.db")
    }


def test_it_makes_folders_settings_and_the_database(bare: Cli) -> None:
    answer = bare("init")
    for folder in FOLDERS:
        assert (bare.path / folder).is_dir()
    settings = tomllib.loads((bare.path / ".ralph.toml").read_text())
    assert "gates" not in settings, "an active gate would be one that nobody chose"
    assert "[gates]" in (bare.path / ".ralph.toml").read_text()
    database = sqlite3.connect(bare.path / ".ralph" / "progress.db")
    assert database.execute("SELECT count(*) FROM tasks").fetchone() == (0,)
    database.close()
    assert "yours to commit: .gitignore, .ralph.toml\n" in answer.out
    assert answer.err == ""
    assert bare("status").err == "", "its own settings give no warnings"


def test_twice_is_as_good_as_once(bare: Cli) -> None:
    bare("init")
    task = bare.add("kept")
    (bare.path / ".ralph.toml").write_text("[execution]\nlimit = 3\n")
    before = everything(bare.path)
    answer = bare("init")
    assert "there" in answer.out
    assert "made" not in answer.out
    assert "to commit" not in answer.out
    assert everything(bare.path) == before
    assert bare.status(task) == "pending"


def test_what_was_ignored_before_stays_ignored(bare: Cli) -> None:
    (bare.path / ".gitignore").write_text("build/\n*.pyc")
    bare("init")
    lines = (bare.path / ".gitignore").read_text().splitlines()
    assert lines[:2] == ["build/", "*.pyc"]
    bare("init")
    assert (bare.path / ".gitignore").read_text().splitlines() == lines


def test_git_sees_what_is_to_be_shared_and_nothing_else(bare: Cli) -> None:
    subprocess.run(["git", "init", "-q"], cwd=bare.path, check=True)
    bare("init")
    bare.add("x")
    (bare.path / ".ralph" / "runs" / "run-1-iter-1.log").write_text("x")
    (bare.path / ".ralph" / "features" / "login").mkdir()
    (bare.path / ".ralph" / "features" / "login" / "spec.md").write_text("x")
    done = subprocess.run(
        ["git", "status", "--porcelain", "-uall"],
        cwd=bare.path,
        capture_output=True,
        text=True,
        check=True,
    )
    seen = {line[3:] for line in done.stdout.splitlines()}
    assert seen == {".gitignore", ".ralph.toml", ".ralph/features/login/spec.md"}


def test_a_part_of_a_repository_may_be_a_project(bare: Cli) -> None:
    part = bare.path / "packages" / "one"
    part.mkdir(parents=True)
    bare("-C", str(part), "init")
    assert (part / ".ralph.toml").exists()
    assert not (bare.path / ".ralph.toml").exists()
    assert bare("-C", str(part), "task", "add", "x").out.startswith("t-")


def test_a_project_inside_a_project_is_said(ralph: Cli) -> None:
    part = ralph.path / "part"
    part.mkdir()
    assert str(ralph.path) in ralph("-C", str(part), "init").err


def test_outside_a_repository_there_is_a_way_out(tmp_path: Path, bare: Cli) -> None:
    bare.path = tmp_path / "nowhere"
    bare.path.mkdir()
    answer = bare("init", code=66)
    assert_one_line(answer, hint=True)
    assert "git init" in answer.err
    assert list(bare.path.iterdir()) == []


def test_an_empty_folder_of_that_name_is_no_repository(bare: Cli) -> None:
    (bare.path / ".git" / "HEAD").unlink()
    assert_one_line(bare("init", code=66), hint=True)


def test_gits_own_folder_is_no_place_for_a_project(bare: Cli) -> None:
    bare.path = bare.path / ".git"
    assert_one_line(bare("init", code=66), hint=True)


def test_a_worktree_has_a_file_where_others_have_a_folder(tmp_path: Path, bare: Cli) -> None:
    bare.path = tmp_path / "worktree"
    bare.path.mkdir()
    (bare.path / ".git").write_text("gitdir: elsewhere\n")
    bare("init")


def test_a_file_in_the_way_is_one_line(bare: Cli) -> None:
    (bare.path / ".ralph").write_text("in the way")
    assert_one_line(bare("init", code=73))


def test_a_folder_that_cannot_be_written_is_one_line(bare: Cli) -> None:
    bare.path.chmod(0o500)
    try:
        with ordinary():
            answer: Answer = bare("init", code=73)
    finally:
        bare.path.chmod(0o700)
    assert_one_line(answer)
