"""The project's own files, as a session may have left them."""

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.adapters.project_files.folder import FolderFiles
from ralph.core.errors import Busy, CannotWrite, UnusableData
from ralph.core.task import LARGEST_DOCUMENT
from ralph.documents.guardrails import read
from ralph.files import lock_or_busy
from ralph.ports.project_files import FileText
from tests.privileges import ordinary

ADDER = """
import sys
from ralph.adapters.project_files.folder import FolderFiles
library = FolderFiles(sys.argv[1])
for number in range(25):
    library.change("notes.md", lambda text: text + f"{sys.argv[2]}-{number}\\n")
"""

LEARNER = """
import sys
from ralph.adapters.project_files.folder import FolderFiles
from ralph.adapters.project_files.guardrail_file import GuardrailFile
from ralph.core.brief import Guardrail, GuardrailKind
lessons = GuardrailFile(lambda: FolderFiles(sys.argv[1], patience_s=300))
for number in range(250):
    # Every fifth is news; the rest all four writers have to say, again and again.
    says = f"{sys.argv[2]} found {number}" if number % 5 == 0 else f"everybody knows {number % 7}"
    name = f"fix-{sys.argv[2]}-{number:04x}"
    lesson = Guardrail(id=name, kind=GuardrailKind.FIX, text=says, created="2026-02-10")
    lessons.add_guardrail(lesson)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def project_files(root: Path) -> FolderFiles:
    return FolderFiles(str(root))


class TestReading:
    def test_a_file_is_read_as_it_is_now(self, root: Path, project_files: FolderFiles) -> None:
        (root / "a.md").write_text("one")
        assert project_files.read("a.md") == FileText(text="one")
        (root / "a.md").write_text("two")
        assert project_files.read("a.md") == FileText(text="two")

    def test_a_missing_file_is_no_trouble(self, root: Path, project_files: FolderFiles) -> None:
        (root / "file").write_text("")
        for path in ("a.md", "no/such/a.md", "file/a.md"):
            assert project_files.read(path) == FileText()

    def test_odd_bytes_become_question_marks(self, root: Path, project_files: FolderFiles) -> None:
        (root / "a.md").write_bytes(b"\xef\xbb\xbfcaf\xe9\r\nx\r\n")
        assert project_files.read("a.md") == FileText(text="caf\ufffd\nx\n")

    def test_what_is_not_text_is_said(self, root: Path, project_files: FolderFiles) -> None:
        (root / "a.md").write_bytes(b"\x7fELF\0\0")
        assert project_files.read("a.md") == FileText(trouble="a.md is not text")

    def test_a_file_without_measure_is_said(self, root: Path, project_files: FolderFiles) -> None:
        with open(root / "a.md", "wb") as file:
            file.truncate(1 << 30)
        assert project_files.read("a.md") == FileText(trouble="a.md is larger than 1024 KiB")
        (root / "b.md").write_bytes(b"x" * LARGEST_DOCUMENT)
        assert project_files.read("b.md").text is not None

    def test_a_file_that_may_not_be_read_is_said(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        (root / "a.md").write_text("x")
        (root / "a.md").chmod(0)
        with ordinary():
            page = project_files.read("a.md")
        assert page == FileText(trouble="a.md cannot be read: permission denied")

    def test_a_folder_in_its_place_is_said(self, root: Path, project_files: FolderFiles) -> None:
        (root / "a.md").mkdir()
        assert project_files.read("a.md") == FileText(trouble="a.md is not a file")

    def test_a_pipe_that_nobody_writes_does_not_hold_up_anybody(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        os.mkfifo(root / "a.md")
        assert project_files.read("a.md") == FileText(trouble="a.md is not a file")

    def test_a_link_within_the_project_is_followed(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        (root / "docs").mkdir()
        (root / "docs" / "spec.md").write_text("here")
        (root / "features").symlink_to("docs")
        (root / "docs" / "b.md").symlink_to(root / "docs" / "spec.md")
        assert project_files.read("features/spec.md") == FileText(text="here")
        assert project_files.read("features/b.md") == FileText(text="here")

    @pytest.mark.parametrize("path", ["a.md", "folder/secret", "../secret", "..", "."])
    def test_nothing_leads_out_of_the_project(
        self, root: Path, project_files: FolderFiles, path: str
    ) -> None:
        (root.parent / "secret").write_text("a key")
        (root / "a.md").symlink_to(root.parent / "secret")
        (root / "folder").symlink_to(root.parent)
        page = project_files.read(path)
        assert page == FileText(trouble=f"{path} leads out of the project")

    def test_links_in_a_circle_are_said(self, root: Path, project_files: FolderFiles) -> None:
        (root / "a.md").symlink_to("a.md")
        page = project_files.read("a.md")
        assert page.text is None
        assert "cannot be read" in page.trouble

    @pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "\udcff"])
    def test_a_name_that_cannot_be_is_no_accident(
        self, project_files: FolderFiles, path: str
    ) -> None:
        assert project_files.read(path).text is None
        assert project_files.folders(path) == []


class TestListing:
    def test_folders_and_files_are_listed_in_order(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        for name in ("b/x", "a/x", ".hidden/x", "c/y"):
            (root / name).mkdir(parents=True)
        for name in ("b.md", "a.md", "a.txt", ".a.md", "bad\n.md"):
            (root / name).write_text("")
        assert project_files.folders(".") == ["a", "b", "c"]
        assert project_files.files(".", ".md") == ["a.md", "b.md"]

    def test_what_cannot_be_listed_is_empty(self, root: Path, project_files: FolderFiles) -> None:
        (root / "file").write_text("")
        for path in ("nowhere", "file"):
            assert project_files.folders(path) == []
            assert project_files.files(path, ".md") == []

    def test_there_is_an_end_to_a_list(self, root: Path, project_files: FolderFiles) -> None:
        for number in range(1200):
            (root / f"{number:04}.md").touch()
        assert len(project_files.files(".", ".md")) == 1000


class TestChanging:
    def test_a_missing_file_is_made_with_its_folder(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        project_files.change(".ralph/a.md", lambda text: f"[{text}]")
        assert (root / ".ralph" / "a.md").read_text() == "[]"

    def test_everything_else_stays_byte_for_byte(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        before = b"\xef\xbb\xbfcaf\xe9\r\n\x0c\x00end"
        (root / "a.md").write_bytes(before)
        (root / "a.md").chmod(0o640)
        project_files.change("a.md", lambda text: text + "!")
        assert (root / "a.md").read_bytes() == before + b"!"
        assert (root / "a.md").stat().st_mode & 0o777 == 0o640

    def test_what_does_not_change_is_not_written(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        (root / "a.md").write_text("x")
        inode = (root / "a.md").stat().st_ino
        project_files.change("a.md", lambda text: text)
        assert (root / "a.md").stat().st_ino == inode

    def test_an_error_in_between_leaves_the_file_alone(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        (root / "a.md").write_text("x")

        def fails(text: str) -> str:
            raise RuntimeError(text)

        with pytest.raises(RuntimeError):
            project_files.change("a.md", fails)
        assert (root / "a.md").read_text() == "x"
        project_files.change("a.md", lambda text: text + "y")
        assert sorted(os.listdir(root)) == ["a.md", "a.md.lock"]

    def test_many_who_write_at_once_lose_nothing(self, root: Path) -> None:
        writers = [
            subprocess.Popen([sys.executable, "-c", ADDER, str(root), str(number)])
            for number in range(4)
        ]
        assert [writer.wait() for writer in writers] == [0] * 4
        lines = (root / "notes.md").read_text().splitlines()
        assert sorted(lines) == sorted(f"{w}-{n}" for w in range(4) for n in range(25))

    def test_four_who_learn_250_times_each_lose_nothing_and_repeat_nothing(
        self, root: Path
    ) -> None:
        writers = [
            subprocess.Popen([sys.executable, "-c", LEARNER, str(root), str(number)])
            for number in range(4)
        ]
        assert [writer.wait() for writer in writers] == [0] * 4
        found = [one.text for one in read((root / ".ralph" / "guardrails.md").read_text())[2:]]
        own = [f"{writer} found {number}" for writer in range(4) for number in range(0, 250, 5)]
        assert sorted(found) == sorted([*own, *(f"everybody knows {n}" for n in range(7))])
        assert sorted(os.listdir(root / ".ralph")) == ["guardrails.md", "guardrails.md.lock"]

    def test_one_that_is_held_is_waited_for_but_not_for_ever(self, root: Path) -> None:
        path = str(root / "a.lock")
        with open(path, "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            with (
                pytest.raises(Busy, match="another program holds"),
                lock_or_busy(path, patience_s=0),
            ):
                pass
        with lock_or_busy(path, patience_s=0):
            pass

    def test_a_link_out_of_the_project_is_not_written(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        (root.parent / "theirs").write_text("x")
        (root / "a.md").symlink_to(root.parent / "theirs")
        with pytest.raises(UnusableData, match="leads out of the project"):
            project_files.change("a.md", lambda text: text + "y")
        assert (root.parent / "theirs").read_text() == "x"

    def test_a_link_within_the_project_stays_one(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        (root / "b.md").write_text("x")
        (root / "a.md").symlink_to("b.md")
        project_files.change("a.md", lambda text: text + "y")
        assert (root / "a.md").is_symlink()
        assert (root / "b.md").read_text() == "xy"

    def test_what_cannot_be_written_is_said(self, root: Path, project_files: FolderFiles) -> None:
        (root / "file").write_text("")
        with pytest.raises(CannotWrite, match=r"cannot write file/a\.md"):
            project_files.change("file/a.md", lambda text: text + "y")


class TestBytes:
    def test_a_file_is_read_and_written_byte_for_byte(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        data = b"\xff\xfea\r\n\0"
        project_files.write("new/folder/a.md", data)
        assert (root / "new/folder/a.md").read_bytes() == data
        assert project_files.read_bytes("new/folder/a.md") == data

    def test_a_missing_file_has_no_content(self, project_files: FolderFiles) -> None:
        assert project_files.read_bytes("a.md") is None

    def test_permissions_stay_and_nothing_lies_beside_it(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        (root / "a.md").write_text("one")
        (root / "a.md").chmod(0o640)
        project_files.write("a.md", b"two")
        assert (root / "a.md").stat().st_mode & 0o777 == 0o640
        assert os.listdir(root) == ["a.md"]

    def test_a_link_out_of_the_project_is_neither_read_nor_written(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        outside = root.parent / "outside.md"
        outside.write_text("secret")
        (root / "a.md").symlink_to(outside)
        with pytest.raises(UnusableData, match="leads out of the project"):
            project_files.read_bytes("a.md")
        project_files.write("a.md", b"x")
        assert outside.read_text() == "secret"
        assert (root / "a.md").read_text() == "x"
        (root / "folder").symlink_to(root.parent)
        with pytest.raises(UnusableData, match="leads out of the project"):
            project_files.write("folder/a.md", b"x")

    @pytest.mark.parametrize(
        "target", [".git/config", ".git/hooks/new.md", "docs/.claude/a.md", "tools/clean.sh", "run"]
    )
    def test_a_link_to_what_is_no_document_is_neither_read_nor_written(
        self, root: Path, project_files: FolderFiles, target: str
    ) -> None:
        """It may be protected from sessions, and Ralph is not to write it for them."""
        for folder in (".git/hooks", "docs/.claude", "tools"):
            (root / folder).mkdir(parents=True)
        if not target.endswith("new.md"):
            (root / target).write_text("mine")
        (root / "a.md").symlink_to(target)
        with pytest.raises(UnusableData, match=f"leads to {target}"):
            project_files.change("a.md", lambda text: text + "x")
        with pytest.raises(UnusableData, match=f"leads to {target}"):
            project_files.append("a.md", "x\n", fresh="")
        assert project_files.read("a.md").trouble
        project_files.write("a.md", b"x")
        assert not (root / "a.md").is_symlink()
        assert (root / "a.md").read_text() == "x"
        assert not (root / target).exists() or (root / target).read_text() == "mine"

    def test_what_lies_beside_a_document_is_not_written_through(
        self, root: Path, project_files: FolderFiles, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        theirs = root.parent / "theirs"
        theirs.write_text("mine")
        monkeypatch.setattr("os.urandom", bytes)
        for name in (f"a.md.{os.getpid()}.tmp", f"a.md.{bytes(6).hex()}.tmp"):
            (root / name).symlink_to(theirs)
        (root / "a.md.lock").symlink_to(root.parent / "made")
        with pytest.raises(CannotWrite, match=r"^cannot write a\.md: file exists$"):
            project_files.write("a.md", b"x")
        with pytest.raises(
            CannotWrite, match=r"^cannot write a\.md: too many levels of symbolic links$"
        ):
            project_files.change("a.md", lambda text: text + "x")
        assert theirs.read_text() == "mine"
        assert not (root.parent / "made").exists()

    def test_a_link_within_the_project_stays_one(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        (root / "docs").mkdir()
        (root / "docs/a.md").write_text("one")
        (root / "a.md").symlink_to("docs/a.md")
        project_files.write("a.md", b"two")
        assert (root / "a.md").is_symlink()
        assert (root / "docs/a.md").read_bytes() == b"two"

    def test_a_folder_in_its_place_is_said(self, root: Path, project_files: FolderFiles) -> None:
        (root / "a.md").mkdir()
        with pytest.raises(UnusableData, match="is not a file"):
            project_files.read_bytes("a.md")


class TestLogs:
    def test_a_log_begins_with_its_template(self, root: Path, project_files: FolderFiles) -> None:
        project_files.append("logs/a.log", "one\n", fresh="# Log\n")
        project_files.append("logs/a.log", "two\n", fresh="# Log\n")
        assert (root / "logs/a.log").read_text() == "# Log\none\ntwo\n"

    def test_an_open_line_is_ended_first(self, root: Path, project_files: FolderFiles) -> None:
        (root / "a.log").write_bytes(b"mine")
        project_files.append("a.log", "one\n", fresh="")
        assert (root / "a.log").read_bytes() == b"mine\none\n"

    def test_a_log_of_any_length_is_added_to(self, root: Path, project_files: FolderFiles) -> None:
        (root / "a.log").write_bytes(b"x" * (LARGEST_DOCUMENT + 10) + b"\n")
        project_files.append("a.log", "one\n", fresh="")
        assert (root / "a.log").read_bytes().endswith(b"xx\none\n")

    def test_what_others_hold_open_goes_on(self, root: Path, project_files: FolderFiles) -> None:
        with open(root / "a.log", "a") as file:
            file.write("theirs\n")
            file.flush()
            project_files.append("a.log", "ours\n", fresh="")
            file.write("theirs again\n")
        assert (root / "a.log").read_text() == "theirs\nours\ntheirs again\n"

    def test_a_pipe_or_a_folder_in_its_place_is_said(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        os.mkfifo(root / "pipe.log")
        (root / "folder.log").mkdir()
        with pytest.raises(UnusableData, match="is not a file"):
            project_files.append("pipe.log", "x", fresh="")
        with pytest.raises(CannotWrite, match="cannot write"):
            project_files.append("folder.log", "x", fresh="")

    def test_a_link_out_of_the_project_is_not_followed(
        self, root: Path, project_files: FolderFiles
    ) -> None:
        (root / "a.log").symlink_to(root.parent / "elsewhere.log")
        with pytest.raises(UnusableData, match="leads out of the project"):
            project_files.append("a.log", "x", fresh="")
        assert not (root.parent / "elsewhere.log").exists()


def test_what_is_drawn_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    project_files = FolderFiles(str(tmp_path))
    project_files.write_view(".ralph/a.json", [b"{", b"}"])
    assert (tmp_path / ".ralph/a.json").read_bytes() == b"{}"

    def breaks() -> Iterator[bytes]:
        yield b"[1,"
        raise CannotWrite("in the middle")

    with pytest.raises(CannotWrite):
        project_files.write_view(".ralph/a.json", breaks())
    assert (tmp_path / ".ralph/a.json").read_bytes() == b"{}"
    assert list((tmp_path / ".ralph/.tmp").iterdir()) == [], "no draft is left"


def test_a_file_grows_behind_its_end(tmp_path: Path) -> None:
    project_files = FolderFiles(str(tmp_path))
    seen: list[bytes] = []

    def more(tail: bytes) -> list[bytes]:
        seen.append(tail)
        return [b"line\n"]

    project_files.append_after("a.jsonl", more)
    project_files.append_after("a.jsonl", more)
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(b"cut off")
    project_files.append_after("a.jsonl", more)
    assert seen == [b"", b"line\n", b"line\nline\ncut off"]
    assert (tmp_path / "a.jsonl").read_bytes() == b"line\nline\ncut off\nline\n"
    project_files.append_after("a.jsonl", lambda _: [])
    (tmp_path / "a.jsonl").write_bytes(b"x" * 100_000 + b"\n")
    project_files.append_after("a.jsonl", more)
    assert len(seen[-1]) == 64 * 1024


def test_a_folder_makes_room_for_a_file_and_is_kept(tmp_path: Path) -> None:
    project_files = FolderFiles(str(tmp_path))
    (tmp_path / "docs/prd.md").mkdir(parents=True)
    (tmp_path / "docs/prd.md/inside").write_text("something")
    project_files.write("docs/prd.md", b"text")
    assert project_files.read_bytes("docs/prd.md") == b"text"
    (kept,) = (tmp_path / ".ralph/runs").iterdir()
    assert (kept / "inside").read_text() == "something"


def test_a_file_is_taken_away_and_nothing_outside(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / "in").mkdir(parents=True)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/file").touch()
    (root / "out").symlink_to(tmp_path / "theirs")
    project_files = FolderFiles(str(root))
    (root / "MEMORY.md").symlink_to(tmp_path / "theirs/file")
    assert project_files.changed_at("MEMORY.md") is not None
    project_files.remove("MEMORY.md")
    project_files.remove("MEMORY.md")
    assert project_files.changed_at("MEMORY.md") is None
    project_files.remove("out/file")
    project_files.remove("../theirs/file")
    assert (tmp_path / "theirs/file").exists()
