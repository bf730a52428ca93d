"""`ralph watch` on a terminal of its own, beside a run."""

import signal

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import Stage, refused
from tests.e2e.terminal import INTERRUPT, Terminal

LEAVES = b"q"


def watching(project: Project, *args: str) -> Terminal:
    terminal = Terminal(project, "watch", *args)
    terminal.until(lambda: "? help" in terminal.words, "the view is there")
    return terminal


@pytest.mark.parametrize("key", [LEAVES, INTERRUPT])
def test_it_comes_and_goes_beside_a_run(project: Project, key: bytes) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    task = project.add("Write it")
    run = project.start("run")
    terminal = Terminal(project, "watch")
    terminal.until(lambda: "At work (1)" in terminal.words, "it follows the run")
    terminal.type(key)
    assert terminal.ended() == 0
    assert terminal.is_sane()
    assert run.poll() is None
    assert project.status(task) == "in_progress"
    stage.go()
    assert run.wait() == 0
    assert project.status(task) == "done"


def test_its_keys_run_the_commands(project: Project) -> None:
    project.agent(DONE)
    task = project.add("Write it")
    project.quick("task", "fail", task)
    terminal = watching(project, task)
    terminal.type(b"r")
    terminal.until(lambda: f"{task}: pending" in terminal.words, "the command has said so")
    assert project.status(task) == "pending"
    terminal.type(b"p")
    terminal.until(lambda: "hint: ralph run starts one" in terminal.words, "it is refused")
    terminal.type(b"i")
    terminal.until(lambda: "Tell the next session" in terminal.words, "it asks")
    terminal.type(b"mind the gap\r")
    terminal.until(lambda: "will be told" in terminal.words, "it is noted")
    terminal.type(LEAVES)
    assert terminal.ended() == 0
    shown = project.ralph("task", "brief", task)
    assert "mind the gap" in shown


def test_a_signal_ends_it_and_restores_the_terminal(project: Project) -> None:
    terminal = watching(project, "--no-mouse")
    assert b"\x1b[?1000h" not in terminal.seen
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.ended() == 130
    assert terminal.is_sane()


def test_without_a_terminal_or_with_an_unknown_name_it_is_refused(project: Project) -> None:
    refused(project.try_ralph("watch"), 64, "ralph watch needs a terminal")
    terminal = Terminal(project, "watch", "t-ffffff")
    assert terminal.ended() == 66
    assert "no task or run is called t-ffffff" in terminal.words
