"""A person and an agent at one terminal: Ralph hands it over whole and takes it back as it was."""

import os
import shlex
import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import Project
from tests.e2e.ralph_process import RALPH
from tests.e2e.terminal import INTERRUPT, JOB_CONTROL, SUSPEND, Terminal

SPEC = ".ralph/features/login/spec.md"

TALKER = """
import os, signal, subprocess, sys, termios, tty

def say(*words):
    print(*words, end="\\r\\n", flush=True)

prompt = open(sys.argv[1]).read()
say("in front:", os.tcgetpgrp(0) == os.getpgrp())
say("told of", "|".join(word for word in ("login", "BUILD WITH CARE", "by mail") if word in prompt))
signal.signal(signal.SIGINT, lambda *_: say("heard Ctrl-C"))
signal.signal(signal.SIGTERM, lambda *_: (say("heard SIGTERM"), sys.exit(3)))
signal.signal(signal.SIGCONT, lambda *_: say("back again"))
say("I listen")
while True:
    key = os.read(0, 100).decode().strip()
    if key == "raw":
        tty.setraw(0)
        say(" raw")
    elif key == "draw":
        say("\\x1b[?1049h\\x1b[?25l drawn")
    elif key.startswith("write "):
        os.makedirs(os.path.dirname(key[6:]), exist_ok=True)
        open(key[6:], "w").write("# Login")
        say("written")
    elif key.startswith("do "):
        say(subprocess.run(key[3:], shell=True, capture_output=True, text=True).stdout.strip())
    elif key == "stop":
        os.kill(os.getpid(), signal.SIGTSTP)
    elif key == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif key == "bye":
        # Like a program that crashed: whatever it has switched on stays so.
        os._exit(0)
"""


@pytest.fixture
def talker(project: Project) -> Project:
    script = project.path.parent / "talker.py"
    script.write_text(TALKER)
    project.write("CLAUDE.md", "BUILD WITH CARE\n")
    project.agent(
        'echo "<task-done>$RALPH_TASK_ID</task-done>"; : {prompt}',
    )
    settings = (project.path / ".ralph.toml").read_text()
    line = f'interactive = "python3 {script} {{prompt}}"\n'
    project.write(".ralph.toml", settings + line)
    project.git("commit", "-qam", "talk")
    return project


def at(project: Project, *args: str, under: str | None = None) -> Terminal:
    terminal = Terminal(project, *args, **({"under": under} if under else {}))
    terminal.until(lambda: b"I listen" in terminal.seen, "the agent is there")
    return terminal


def hear(terminal: Terminal, words: bytes) -> None:
    terminal.until(lambda: words in terminal.seen, words.decode())


def test_the_terminal_is_handed_over_whole_and_comes_back_sane(talker: Project) -> None:
    terminal = at(talker, "feature", "spec", "login", "--request", "by mail")
    assert b"in front: True" in terminal.seen
    assert b"told of login|BUILD WITH CARE|by mail" in terminal.seen
    terminal.type(f"write {SPEC}\n".encode())
    hear(terminal, b"written")
    terminal.type(b"raw\n")
    hear(terminal, b" raw")
    assert not terminal.is_sane()
    terminal.type(b"bye\n")
    assert terminal.ended() == 0
    assert terminal.is_sane()
    assert f"spec: {SPEC}".encode() in terminal.seen
    assert b"login is draft\r\nnext: ralph feature plan login" in terminal.seen
    assert talker.git("status", "--porcelain", "-uall") == f"?? {SPEC}"


def test_ctrl_c_is_meant_for_the_agent(talker: Project) -> None:
    terminal = at(talker, "feature", "spec", "login")
    terminal.type(INTERRUPT)
    hear(terminal, b"heard Ctrl-C")
    terminal.type(f"write {SPEC}\n".encode())
    hear(terminal, b"written")
    terminal.type(b"bye\n")
    assert terminal.ended() == 0


def test_who_leaves_without_a_spec_is_told_so(talker: Project) -> None:
    terminal = at(talker, "feature", "spec", "login")
    terminal.type(b"bye\n")
    assert terminal.ended() == 1
    assert f"no spec was written: there is no {SPEC}".encode() in terminal.seen


def test_an_agent_that_is_killed_leaves_a_terminal_that_works(talker: Project) -> None:
    terminal = at(talker, "feature", "spec", "login")
    terminal.type(b"raw\n")
    hear(terminal, b" raw")
    terminal.type(b"draw\n")
    hear(terminal, b" drawn")
    terminal.type(b"die\n")
    assert terminal.ended() == 1
    assert terminal.is_sane()
    assert terminal.seen.rfind(b"\x1b[?1049l") > terminal.seen.rfind(b"\x1b[?1049h")
    assert b"command ended with 137" in terminal.seen


def test_a_signal_to_ralph_ends_the_agent_as_well(talker: Project) -> None:
    terminal = at(talker, "feature", "spec", "login")
    os.kill(terminal.process.pid, signal.SIGTERM)
    hear(terminal, b"heard SIGTERM")
    assert terminal.ended() == 1
    assert terminal.is_sane()


def test_ctrl_z_stops_both_and_fg_brings_both_back(talker: Project) -> None:
    terminal = at(talker, "feature", "spec", "login", under=JOB_CONTROL)
    for way in (SUSPEND, b"stop\n", SUSPEND):  # some programs stop themselves alone
        before = len(terminal.seen)
        terminal.type(way)
        terminal.until(lambda b=before: b"[stopped] True" in terminal.seen[b:], "it stopped")  # type: ignore[misc]
        terminal.type(b"fg\n")
        terminal.until(lambda b=before: b"back again" in terminal.seen[b:], "it is back")  # type: ignore[misc]
    terminal.type(f"write {SPEC}\n".encode())
    hear(terminal, b"written")
    terminal.type(b"bye\n")
    assert terminal.ended() == 0


def test_an_idea_becomes_a_task(talker: Project) -> None:
    terminal = at(talker, "task", "create", "fast exports")
    terminal.type(f"do {shlex.quote(RALPH)} task add 'Exports stream'\n".encode())
    hear(terminal, b"t-")
    terminal.type(b"bye\n")
    assert terminal.ended() == 0
    assert b"Exports stream" in terminal.seen.splitlines()[-1]


def test_no_task_is_no_success(talker: Project) -> None:
    terminal = at(talker, "task", "create")
    terminal.type(b"bye\n")
    assert terminal.ended() == 1
    assert b"no task was added" in terminal.seen


def test_sessions_find_ralph_wherever_it_is_installed(
    talker: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = str(Path(RALPH).parent)
    others = [part for part in os.environ["PATH"].split(":") if part != own]
    monkeypatch.setenv("PATH", ":".join(others))
    terminal = at(talker, "task", "create")
    terminal.type(b"do ralph --version\n")
    hear(terminal, b"ralph 0.")
    terminal.type(b"bye\n")
    terminal.ended()


def test_an_agent_that_cannot_talk_is_refused(project: Project) -> None:
    project.agent("cat")
    terminal = Terminal(project, "feature", "spec", "login")
    assert terminal.ended() == 78
    assert b"cannot talk with a person" in terminal.seen


def test_without_a_terminal_there_is_no_conversation(project: Project) -> None:
    done = project.try_ralph("task", "create", "x")
    assert done.returncode == 64
    assert "needs a terminal" in done.stderr


def test_any_agent_can_have_a_command_of_its_own_for_talking(talker: Project) -> None:
    text = (talker.path / ".ralph.toml").read_text()
    talker.write("script.toml", "")
    talker.write(
        ".ralph.toml",
        text.replace("[agent]\n", '[agent]\nname = "scripted"\n').replace(
            "command = ", 'command = "script.toml" #'
        ),
    )
    terminal = at(talker, "feature", "spec", "login")
    assert b"scripted takes over" in terminal.seen
    terminal.type(f"write {SPEC}\n".encode())
    hear(terminal, b"written")
    terminal.type(b"bye\n")
    assert terminal.ended() == 0
