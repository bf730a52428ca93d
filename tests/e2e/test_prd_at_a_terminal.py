"""`ralph story write` at a terminal: asked what they want, talking with an agent, fixing it."""

import os
from pathlib import Path

import pytest

from tests.e2e.conftest import Project
from tests.e2e.terminal import INTERRUPT, Terminal

PRD = ".agents/tasks/prd.md"

TALKER = """
import os, sys
print("told of", "tea" in open(sys.argv[1]).read(), "US-001" in open(sys.argv[1]).read())
print("I listen", flush=True)
for line in sys.stdin:
    word = line.strip()
    if word in ("good", "bad"):
        os.makedirs(os.path.dirname(".agents/tasks/prd.md"), exist_ok=True)
        box = "### [ ] US-001: One" if word == "good" else "### US-001: One"
        open(".agents/tasks/prd.md", "w").write(box + "\\\\n- [ ] a\\\\n")
        print("written", flush=True)
    elif word == "bye":
        break
""".replace("\\\\", "\\")


@pytest.fixture
def talker(project: Project) -> Project:
    script = project.path.parent / "talker.py"
    script.write_text(TALKER)
    project.agent(": {prompt}")
    settings = (project.path / ".ralph.toml").read_text()
    project.write(".ralph.toml", f'{settings}interactive = "python3 {script} {{prompt}}"\n')
    return project


def hear(terminal: Terminal, words: bytes, count: int = 1) -> None:
    terminal.until(lambda: terminal.seen.count(words) >= count, words.decode())


def left(project: Project) -> list[Path]:
    return [path for path in (project.path / ".agents").rglob("*") if path.is_file()]


def test_a_person_is_asked_what_they_want_and_talks_about_it(talker: Project) -> None:
    terminal = Terminal(talker, "story", "write")
    hear(terminal, b"What do you want to build?")
    terminal.type(b"a shop that sells tea\n\n")
    hear(terminal, b"told of True True")
    terminal.type(b"good\n")
    hear(terminal, b"written")
    terminal.type(b"bye\n")
    hear(terminal, b"next: ralph story plan")
    assert terminal.ended() == 0


def test_the_folder_of_the_prd_is_there_for_agents_with_a_sandbox_of_their_own(
    talker: Project,
) -> None:
    # What they may write to is said when they start, and only of folders that are there.
    script = talker.path.parent / "talker.py"
    script.write_text(f"import os\nprint('folder', os.path.isdir({os.path.dirname(PRD)!r}))\n")
    terminal = Terminal(talker, "story", "write", "tea")
    hear(terminal, b"folder True")
    assert terminal.ended() == 1
    assert not left(talker)


def test_what_cannot_be_built_is_shown_and_fixed(talker: Project) -> None:
    terminal = Terminal(talker, "story", "write", "tea")
    hear(terminal, b"I listen")
    terminal.type(b"bad\nbye\n")
    hear(terminal, b"let the agent fix it?")
    assert b"write: ### [ ] US-001: One" in terminal.seen
    terminal.type(b"y\n")
    hear(terminal, b"I listen", 2)
    terminal.type(b"good\nbye\n")
    hear(terminal, b"next: ralph story plan")
    assert terminal.ended() == 0


@pytest.mark.parametrize("keys", [b"\n", INTERRUPT])
def test_whoever_cancels_leaves_nothing_behind(talker: Project, keys: bytes) -> None:
    terminal = Terminal(talker, "story", "write")
    hear(terminal, b"What do you want to build?")
    terminal.type(keys)
    assert terminal.ended() == 130
    assert left(talker) == []
    assert talker.ralph("task", "list", "--json") == "[]"
    assert talker.ralph("feature", "list", "--json") == "[]"


def test_an_agent_that_writes_nothing_leaves_nothing_behind(talker: Project) -> None:
    terminal = Terminal(talker, "story", "write", "tea")
    hear(terminal, b"I listen")
    terminal.type(b"bye\n")
    hear(terminal, b"no PRD was written")
    assert terminal.ended() == 1
    assert left(talker) == []


def test_an_agent_that_a_person_ends_with_ctrl_c_ends_ralph_so(talker: Project) -> None:
    script = talker.path.parent / "talker.py"
    script.write_text("import sys\nprint('I listen', flush=True)\nsys.stdin.read()\n")
    terminal = Terminal(talker, "story", "write", "tea")
    hear(terminal, b"I listen")
    terminal.type(INTERRUPT + INTERRUPT)
    assert terminal.ended() == 130
    assert terminal.is_sane()
    assert left(talker) == []
