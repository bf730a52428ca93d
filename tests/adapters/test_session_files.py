"""The folder of a session: the documents written there are taken over, and nothing else."""

import os
from pathlib import Path

import pytest

from ralph.adapters.sandbox.session_files import SessionFolder, clean_up_session_folders
from ralph.core.sandbox_rules import Access, PathRule, SandboxRules

NAME = "guardrails.md"


class StateFolder:
    """Ralph's folder, and the folder of a session that shows it."""

    def __init__(self, path: Path) -> None:
        self.home = path / "project/.ralph"
        self.state = self.home / ".tmp"
        self.state.mkdir(parents=True)
        self.real = self.home / NAME

    def open(self) -> SessionFolder:
        known = (PathRule(path=str(self.state), access=Access.HIDE, why="others'"),)
        sandbox_rules = SandboxRules(
            top=str(self.home.parent),
            git="",
            home="/home/x",
            paths=known,
            session_folder=str(self.home),
            documents=(NAME, "progress.md"),
        )
        self.session_folder = SessionFolder(str(self.state), sandbox_rules)
        self.top = Path(next(iter(self.session_folder.places())).source)
        return self.session_folder

    def replace(self, text: str) -> None:
        """As most tools write a file."""
        draft = self.top / "draft"
        draft.write_text(text)
        draft.replace(self.top / NAME)


@pytest.fixture
def state_folder(tmp_path: Path) -> StateFolder:
    state_folder = StateFolder(tmp_path)
    state_folder.real.write_text("one\n")
    return state_folder


def test_what_is_written_in_place_is_there_at_once(state_folder: StateFolder) -> None:
    session_folder = state_folder.open()
    with (state_folder.top / NAME).open("a") as file:
        file.write("two\n")
    assert state_folder.real.read_text() == "one\ntwo\n"
    assert session_folder.take_in_and_remove() == []
    assert state_folder.real.read_text() == "one\ntwo\n"


def test_what_was_put_in_its_place_is_taken_in(state_folder: StateFolder) -> None:
    state_folder.real.chmod(0o640)
    session_folder = state_folder.open()
    state_folder.replace("another\n")
    assert state_folder.real.read_text() == "one\n"
    assert session_folder.take_in_and_remove() == []
    assert state_folder.real.read_text() == "another\n"
    assert state_folder.real.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(state_folder.home)) == [".tmp", NAME, f"{NAME}.lock"]


def test_what_was_not_there_may_be_made(state_folder: StateFolder) -> None:
    state_folder.real.unlink()
    session_folder = state_folder.open()
    (state_folder.top / NAME).write_text("new\n")
    (state_folder.top / "config.sh").write_text("GATE_TEST=true\n")
    (state_folder.top / "progress.db-journal").write_text("planted")
    assert session_folder.take_in_and_remove() == []
    assert state_folder.real.read_text() == "new\n"
    assert sorted(os.listdir(state_folder.home)) == [".tmp", NAME, f"{NAME}.lock"]


@pytest.mark.parametrize(
    ("theirs", "others", "both"),
    [
        ("one\ntwo\n", "one\nthree\n", "one\nthree\ntwo\n"),
        ("one\ntwo\n", "three", "three\ntwo\n"),
        ("same\n", "same\n", "same\n"),
    ],
)
def test_what_others_wrote_meanwhile_stays(
    state_folder: StateFolder, theirs: str, others: str, both: str
) -> None:
    session_folder = state_folder.open()
    state_folder.replace(theirs)
    other = state_folder.home / "other"
    other.write_text(others)
    other.replace(state_folder.real)
    assert session_folder.take_in_and_remove() == []
    assert state_folder.real.read_text() == both


def test_what_cannot_be_joined_is_kept_and_said(state_folder: StateFolder) -> None:
    session_folder = state_folder.open()
    state_folder.replace("theirs\n")
    state_folder.real.write_text("others\n")
    (said,) = session_folder.take_in_and_remove()
    assert "it was changed at the same time" in said
    assert state_folder.real.read_text() == "others\n"
    (kept,) = (state_folder.state / "planted").iterdir()
    assert kept.read_text() == "theirs\n"


def test_what_others_wrote_is_not_undone_by_a_session_that_wrote_nothing(
    state_folder: StateFolder,
) -> None:
    session_folder = state_folder.open()
    other = state_folder.home / "other"
    other.write_text("others\n")
    other.replace(state_folder.real)
    assert session_folder.take_in_and_remove() == []
    assert state_folder.real.read_text() == "others\n"


def test_neither_links_nor_pipes_nor_folders_come_back(
    state_folder: StateFolder, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    for plant in (os.mkfifo, os.mkdir, lambda path: os.symlink(tmp_path / "secret", path)):
        session_folder = state_folder.open()
        (state_folder.top / NAME).unlink()
        plant(state_folder.top / NAME)
        (said,) = session_folder.take_in_and_remove()
        assert "it is no file" in said
        assert state_folder.real.read_text() == "one\n"


def test_a_document_that_was_removed_stays(state_folder: StateFolder) -> None:
    session_folder = state_folder.open()
    (state_folder.top / NAME).unlink()
    assert session_folder.take_in_and_remove() == []
    assert state_folder.real.read_text() == "one\n"


def test_the_folder_of_a_killed_session_is_removed_by_the_next(state_folder: StateFolder) -> None:
    session_folder = state_folder.open()
    state_folder.replace("another\n")
    assert clean_up_session_folders(str(state_folder.state)) == [], "it is in use"
    assert state_folder.real.read_text() == "one\n"
    session_folder._lock.close()  # as the kernel does for the dead
    assert clean_up_session_folders(str(state_folder.state)) == []
    assert state_folder.real.read_text() == "another\n"
    assert os.listdir(state_folder.state / "folders") == []


def test_all_else_is_shown_and_no_database(state_folder: StateFolder) -> None:
    for name in ("metrics.json", "progress.db", "progress.db-wal", "a.lock", "config.sh"):
        (state_folder.home / name).touch()
    (state_folder.home / "runs").mkdir()
    places = list(state_folder.open().places())
    assert [place.access for place in places] == [Access.WRITE, *[Access.READ] * 3]
    names = [os.path.basename(place.path) for place in places[1:]]
    assert names == ["config.sh", "metrics.json", "runs"]
