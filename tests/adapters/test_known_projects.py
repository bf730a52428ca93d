"""Which `.ralph.toml` is obeyed: those in the list, which no session can write."""

import os
import subprocess
from pathlib import Path

import pytest

from ralph.adapters.workspace.known_projects import (
    add_project,
    is_project,
    list_projects,
    other_projects,
    sandbox_caches,
)
from ralph.core.errors import UnusableData


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A checkout with two projects of a person, in which a session is about to begin."""
    top = tmp_path / "work"
    top.mkdir()
    _git(top, "init", "-q")
    _project(top)
    _project(top / "apps/web")
    list_projects(str(top), {})
    return top


def _git(folder: Path, *args: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True)


def _project(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".ralph.toml").touch()
    return folder


def _obeyed(folder: Path, **environ: str) -> bool:
    return is_project(str(folder), environ)


def test_what_was_there_before_the_first_session_is_obeyed(top: Path) -> None:
    assert _obeyed(top)
    assert _obeyed(top / "apps/web")
    assert other_projects(str(top)) == ("apps/web",)
    assert other_projects(str(top / "apps/web")) == (".",)


def test_before_the_first_session_everything_is(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    assert _obeyed(_project(tmp_path / "anywhere"))
    assert _obeyed(_project(tmp_path / "no repository"))


@pytest.mark.parametrize("folder", ["pkg", "apps", "apps/web/part", ".ralph/checkouts/t-1", "x/y"])
def test_what_comes_later_is_not(top: Path, folder: str) -> None:
    assert not _obeyed(_project(top / folder))


def test_a_repository_of_a_session_does_not_hide_the_list(top: Path) -> None:
    planted = _project(top / "pkg")
    _git(planted, "init", "-q")
    assert not _obeyed(planted)
    (planted / ".git/ralph").mkdir()
    (planted / ".git/ralph/projects").write_text(".")
    assert not _obeyed(planted)
    inner = _project(planted / "inner")
    (inner / ".git").write_text("gitdir: ../../.git\n")
    assert not _obeyed(inner)
    (inner / ".git").write_text("gitdir: nowhere\n")
    assert not _obeyed(inner)


def test_a_broken_repository_keeps_its_list(top: Path) -> None:
    (top / ".git/HEAD").unlink()
    assert not _obeyed(_project(top / "pkg"))


def test_a_pipe_in_the_place_of_a_list_holds_nobody_up(tmp_path: Path) -> None:
    planted = _project(tmp_path / "pkg")
    (planted / ".git/ralph").mkdir(parents=True)
    os.mkfifo(planted / ".git/ralph/projects")
    with pytest.raises(UnusableData, match="Not a regular file"):
        _obeyed(planted)


def test_a_person_adds_to_the_list(top: Path) -> None:
    added = _project(top / "new")
    assert not _obeyed(added)
    add_project(str(added))
    assert _obeyed(added)
    assert _obeyed(top / "apps/web")
    assert not _obeyed(_project(added / "below"))


def test_the_list_is_made_once(top: Path) -> None:
    planted = _project(top / "pkg")
    list_projects(str(top), {})
    list_projects(str(top / "apps/web"), {})
    assert not _obeyed(planted)


def test_a_link_into_the_cache_of_sessions_leads_to_no_project(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    planted = _project(Path(sandbox_caches(environ)) / "work-1234/x")
    assert not _obeyed(planted, **environ)


def test_a_worktree_in_the_checkout_has_the_projects_of_the_checkout(top: Path) -> None:
    _git(top, "add", "-A")
    _git(top, "commit", "-qm", "first")
    _git(top, "worktree", "add", "-q", "trees/side")
    assert _obeyed(top / "trees/side")
    assert _obeyed(top / "trees/side/apps/web")
    assert not _obeyed(_project(top / "trees/side/pkg"))
    planted = _project(top / "trees/other")
    (planted / ".git").write_text((top / "trees/side/.git").read_text())
    assert not _obeyed(planted), "git knows no worktree there"


def test_a_worktree_elsewhere_has_the_same_list(top: Path, tmp_path: Path) -> None:
    _project(top / "pkg")
    _git(top, "add", "-A")
    _git(top, "commit", "-qm", "with what a session has committed")
    _git(top, "worktree", "add", "-q", str(tmp_path / "side"))
    assert _obeyed(tmp_path / "side/apps/web")
    assert not _obeyed(tmp_path / "side/pkg")


def test_a_project_that_its_own_list_does_not_know_is_not_taken_over(top: Path) -> None:
    outer = top.parent
    _git(outer, "init", "-q")
    _project(outer)
    planted = _project(top / "pkg")
    list_projects(str(outer), {})
    assert _obeyed(outer)
    assert _obeyed(top)
    assert not _obeyed(planted)
