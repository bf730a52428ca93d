"""Commands as a person types them, run inside this process in a temporary repository."""

import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ralph.__main__ import main
from ralph.store.store import Store
from ralph.wiring.project import find_project, open_store


class Answer(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str


class Keyboard(io.TextIOWrapper):
    """What a person types."""

    def __init__(self, typed: bytes) -> None:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this
        file.write(typed)
        file.seek(0)
        super().__init__(file, encoding="utf-8")
        self.is_person = True

    def isatty(self) -> bool:
        return self.is_person


class Cli:
    """A terminal in a project."""

    def __init__(
        self, path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.path = path
        self.capsys = capsys
        self.monkeypatch = monkeypatch

    def __call__(
        self, *argv: str, code: int | None = 0, stdin: "bytes | Keyboard | None" = None
    ) -> Answer:
        """Run a command; it has to end with `code`, unless that is None."""
        self.monkeypatch.chdir(self.path)
        self.capsys.readouterr()
        with self.monkeypatch.context() as patch, ExitStack() as stack:
            if stdin is not None:
                stream = Keyboard(stdin) if isinstance(stdin, bytes) else stdin
                stream.is_person = stream is stdin
                patch.setattr(sys, "stdin", stack.enter_context(stream))
            got = main(list(argv))
        self.monkeypatch.chdir(self.path)
        answer = Answer(got, *self.capsys.readouterr())
        assert code is None or got == code, f"{argv}: {answer}"
        return answer

    def json(self, *argv: str, stdin: bytes | None = None) -> Any:
        """Run a command with --json and return what it said."""
        return json.loads(self(*argv, "--json", stdin=stdin).out)

    def add(self, title: str, *args: str) -> str:
        """Add a task and return its id."""
        return self("task", "add", title, *args).out.strip()

    def status(self, name: str) -> str:
        """A task's status."""
        return str(self.json("task", "show", name)["status"])

    @contextmanager
    def store(self) -> Iterator[Store]:
        """The project's store, behind the commands' back."""
        self.monkeypatch.chdir(self.path)
        with open_store(find_project()) as store:
            yield store


@pytest.fixture
def bare(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Cli:
    """A terminal in a git repository without Ralph."""
    return Cli(in_git(tmp_path / "a project"), capsys, monkeypatch)


@pytest.fixture
def ralph(bare: Cli) -> Cli:
    """A terminal in a Ralph project."""
    bare("init")
    return bare


def assert_one_line(answer: Answer, *, hint: bool | None = None) -> None:
    """An error is one line, perhaps with a hint, and no traceback."""
    lines = answer.err.splitlines()
    assert lines, answer
    assert lines[0].startswith("ralph: "), answer
    assert len(lines) <= 2, answer
    assert all(line.startswith("hint: ") for line in lines[1:]), answer
    assert "Traceback" not in answer.err
    if hint is not None:
        assert (len(lines) == 2) == hint, answer


def in_git(path: Path) -> Path:
    """Make a folder a repository, as far as commands look."""
    os.makedirs(path / ".git", exist_ok=True)
    (path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return path
