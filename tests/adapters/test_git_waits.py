"""A git that waits without end for something that is no file is ended, and the file is named."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace import git as workspace_git
from ralph.adapters.workspace.git import Git
from ralph.core.errors import UnusableData
from ralph.git_layout import find_layout, find_unreadable
from tests.git_user import GitUser, a_project

STATUS = ("status", "--porcelain")
ATTRIBUTES = ("check-attr", "text", "README.md")
"""`status` reads attributes only where a file may have changed, which depends on the clock."""


@pytest.fixture
def hands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitUser:
    monkeypatch.setattr(workspace_git, "LOOK_AFTER_S", (0.3, 0.6, 0.9))
    return a_project(tmp_path / "project")


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_link_to_a_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"))
    path.symlink_to("pipe")


def replaced(hands: GitUser, name: str, put: Callable[[Path], None]) -> Git:
    path = hands.top / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    put(path)
    return Git(ProcessExecutor(SystemClock()), str(hands.top))


@pytest.mark.parametrize(
    "name",
    [
        ".gitignore",
        ".gitattributes",
        "folder/.gitignore",
        ".git/HEAD",
        ".git/config",
        ".git/index",
        ".git/packed-refs",
        ".git/info/exclude",
        ".git/info/attributes",
        ".git/objects/info/alternates",
        "nested/.git/HEAD",
    ],
)
def test_a_pipe_is_named(hands: GitUser, name: str) -> None:
    hands.write("folder/file", "x")
    hands.write("nested/.git/objects/info/x", "x")
    hands.write("nested/.git/refs/x", "x")
    git = replaced(hands, name, a_pipe)
    with pytest.raises(UnusableData, match=rf"{name} is a pipe, and git waits for it"):
        git.run(*STATUS)


def test_a_link_to_a_pipe_is_named(hands: GitUser) -> None:
    git = replaced(hands, ".git/config", a_link_to_a_pipe)
    with pytest.raises(UnusableData, match=r"config is a pipe"):
        git.run(*STATUS)


@pytest.mark.parametrize("key", ["include.path", "core.excludesFile", "core.attributesFile"])
@pytest.mark.parametrize("is_users", [False, True], ids=["repository", "user"])
def test_a_pipe_that_a_setting_names_is_named(
    hands: GitUser, monkeypatch: pytest.MonkeyPatch, key: str, *, is_users: bool
) -> None:
    included = hands.top.parent / "included"
    included.write_text("")
    if is_users:
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(hands.top.parent / "gitconfig"))
    place = "--global" if is_users else "--local"
    hands.git("config", place, "include.path", str(included))
    hands.git("config", "--file", str(included), key, f"{hands.top.parent}/named")
    git = replaced(hands, "../named", a_pipe)
    with pytest.raises(UnusableData, match=r"named is a pipe, and git waits for it"):
        git.run(*(ATTRIBUTES if "attributes" in key else STATUS))


def test_a_pipe_in_place_of_attributes_for_every_repository_is_named(
    hands: GitUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(hands.top.parent))
    git = replaced(hands, "../git/attributes", a_pipe)
    with pytest.raises(UnusableData, match=r"git/attributes is a pipe"):
        git.run(*ATTRIBUTES)


def test_a_device_is_named(hands: GitUser) -> None:
    # Not with a git, which would fill the memory from it.
    replaced(hands, ".git/info/attributes", lambda path: path.symlink_to("/dev/zero"))
    assert "attributes is a device" in find_unreadable(str(hands.top))


@pytest.mark.parametrize(
    "name", [".gitignore", ".git/packed-refs", ".git/refs/tags/x", ".git/CHERRY_PICK_HEAD"]
)
def test_a_file_without_measure_is_named(hands: GitUser, name: str) -> None:
    git = replaced(hands, name, a_hole)
    with pytest.raises(UnusableData, match=rf"{name} has 307200 MB"):
        git.run("for-each-ref") if "ref" in name else git.run(*STATUS)


def test_a_pipe_that_git_writes_to_is_named(hands: GitUser) -> None:
    git = replaced(hands, ".git/logs/HEAD", a_pipe)
    with pytest.raises(UnusableData, match=r"logs/HEAD is a pipe"):
        git.run("commit", "-q", "--allow-empty", "-m", "x")


def a_hole(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(300 << 30)


def test_pipes_for_which_no_git_waits_are_left_alone(hands: GitUser) -> None:
    replaced(hands, "pipe", a_pipe)
    git = replaced(hands, "folder/.mailmap", a_pipe)
    assert find_unreadable(str(hands.top), is_waited_for=True) == ""
    assert "mailmap is a pipe" in find_unreadable(str(hands.top))
    git.run(*STATUS)


def test_a_pointer_to_a_repository_that_is_no_text_is_no_bug(hands: GitUser) -> None:
    nested = hands.top / "nested"
    nested.mkdir()
    (nested / ".git").write_bytes(bytes(100))
    with pytest.raises(UnusableData, match="no text"):
        find_layout(str(nested))
