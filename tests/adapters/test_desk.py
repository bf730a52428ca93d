"""A session's desk: what was written there comes back, and nothing else."""

import os
from pathlib import Path

import pytest

from ralph.adapters.sandbox.desk import Desk, look_after_desks
from ralph.core.fence import Access, Fence, Place

NAME = "guardrails.md"


class Office:
    """Ralph's folder, and a desk that shows it."""

    def __init__(self, path: Path) -> None:
        self.home = path / "project/.ralph"
        self.state = self.home / ".tmp"
        self.state.mkdir(parents=True)
        self.real = self.home / NAME

    def open(self) -> Desk:
        known = (Place(path=str(self.state), access=Access.HIDE, why="others'"),)
        fence = Fence(
            top=str(self.home.parent),
            git="",
            home="/home/x",
            places=known,
            desk=str(self.home),
            documents=(NAME, "progress.md"),
        )
        self.desk = Desk(str(self.state), fence)
        self.top = Path(next(iter(self.desk.places())).source)
        return self.desk

    def replace(self, text: str) -> None:
        """As most tools write a file."""
        draft = self.top / "draft"
        draft.write_text(text)
        draft.replace(self.top / NAME)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    office = Office(tmp_path)
    office.real.write_text("one\n")
    return office


def test_what_is_written_in_place_is_there_at_once(office: Office) -> None:
    desk = office.open()
    with (office.top / NAME).open("a") as file:
        file.write("two\n")
    assert office.real.read_text() == "one\ntwo\n"
    assert desk.clear() == []
    assert office.real.read_text() == "one\ntwo\n"


def test_what_was_put_in_its_place_is_taken_in(office: Office) -> None:
    office.real.chmod(0o640)
    desk = office.open()
    office.replace("another\n")
    assert office.real.read_text() == "one\n"
    assert desk.clear() == []
    assert office.real.read_text() == "another\n"
    assert office.real.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(office.home)) == [".tmp", NAME, f"{NAME}.lock"]


def test_what_was_not_there_may_be_made(office: Office) -> None:
    office.real.unlink()
    desk = office.open()
    (office.top / NAME).write_text("new\n")
    (office.top / "config.sh").write_text("GATE_TEST=true\n")
    (office.top / "progress.db-journal").write_text("planted")
    assert desk.clear() == []
    assert office.real.read_text() == "new\n"
    assert sorted(os.listdir(office.home)) == [".tmp", NAME, f"{NAME}.lock"]


@pytest.mark.parametrize(
    ("theirs", "others", "both"),
    [
        ("one\ntwo\n", "one\nthree\n", "one\nthree\ntwo\n"),
        ("one\ntwo\n", "three", "three\ntwo\n"),
        ("same\n", "same\n", "same\n"),
    ],
)
def test_what_others_wrote_meanwhile_stays(
    office: Office, theirs: str, others: str, both: str
) -> None:
    desk = office.open()
    office.replace(theirs)
    other = office.home / "other"
    other.write_text(others)
    other.replace(office.real)
    assert desk.clear() == []
    assert office.real.read_text() == both


def test_what_cannot_be_joined_is_kept_and_said(office: Office) -> None:
    desk = office.open()
    office.replace("theirs\n")
    office.real.write_text("others\n")
    (said,) = desk.clear()
    assert "it was changed at the same time" in said
    assert office.real.read_text() == "others\n"
    (kept,) = (office.state / "planted").iterdir()
    assert kept.read_text() == "theirs\n"


def test_what_others_wrote_is_not_undone_by_a_session_that_wrote_nothing(office: Office) -> None:
    desk = office.open()
    other = office.home / "other"
    other.write_text("others\n")
    other.replace(office.real)
    assert desk.clear() == []
    assert office.real.read_text() == "others\n"


def test_neither_links_nor_pipes_nor_folders_come_back(office: Office, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    for plant in (os.mkfifo, os.mkdir, lambda path: os.symlink(tmp_path / "secret", path)):
        desk = office.open()
        (office.top / NAME).unlink()
        plant(office.top / NAME)
        (said,) = desk.clear()
        assert "it is no file" in said
        assert office.real.read_text() == "one\n"


def test_a_document_that_was_removed_stays(office: Office) -> None:
    desk = office.open()
    (office.top / NAME).unlink()
    assert desk.clear() == []
    assert office.real.read_text() == "one\n"


def test_the_desk_of_a_killed_one_is_cleared_by_the_next(office: Office) -> None:
    desk = office.open()
    office.replace("another\n")
    assert look_after_desks(str(office.state)) == [], "it is in use"
    assert office.real.read_text() == "one\n"
    os.close(desk._handle)  # as the kernel does for the dead
    assert look_after_desks(str(office.state)) == []
    assert office.real.read_text() == "another\n"
    assert os.listdir(office.state / "desks") == []


def test_all_else_is_shown_and_no_database(office: Office) -> None:
    for name in ("metrics.json", "progress.db", "progress.db-wal", "a.lock", "config.sh"):
        (office.home / name).touch()
    (office.home / "runs").mkdir()
    places = list(office.open().places())
    assert [place.access for place in places] == [Access.WRITE, *[Access.READ] * 3]
    names = [os.path.basename(place.path) for place in places[1:]]
    assert names == ["config.sh", "metrics.json", "runs"]
