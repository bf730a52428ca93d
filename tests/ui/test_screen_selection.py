import fcntl
import io
import os
import pty
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest
from event_lists import FrozenClock, play, the_story

from ralph.ui.live_screen import LiveScreen
from ralph.ui.output_stream import OutputStream
from ralph.ui.plain_screen import JsonLines, PlainScreen
from ralph.ui.screens import choose_screen

XTERM = {"TERM": "xterm-256color"}
STORIES = Path(__file__).parent / "event_lists.py"


@pytest.fixture
def terminal() -> Iterator[TextIO]:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w", encoding="utf-8") as stream:
        yield stream
    os.close(master)


def test_a_terminal_gets_the_live_view(terminal: TextIO) -> None:
    assert isinstance(choose_screen(terminal, clock=FrozenClock(), env=XTERM), LiveScreen)


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {}])
def test_a_terminal_without_a_cursor_gets_plain_lines(
    terminal: TextIO, env: dict[str, str]
) -> None:
    assert isinstance(choose_screen(terminal, clock=FrozenClock(), env=env), PlainScreen)


def test_a_terminal_without_unicode_gets_plain_lines() -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w", encoding="latin-1") as stream:
        assert isinstance(choose_screen(stream, clock=FrozenClock(), env=XTERM), PlainScreen)
    os.close(master)


def test_what_is_asked_for_goes_before_what_fits(terminal: TextIO) -> None:
    clock = FrozenClock()
    assert isinstance(choose_screen(terminal, clock=clock, env=XTERM, json=True), JsonLines)


def test_a_pipe_gets_plain_lines() -> None:
    assert isinstance(choose_screen(io.StringIO(), clock=FrozenClock(), env=XTERM), PlainScreen)


def test_quick_commands_do_not_pay_for_rich() -> None:
    code = (
        "import sys, ralph.ui.formatting, ralph.ui.screens\n"
        "import ralph.ui.plain_screen\n"
        "sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_lists_pay_for_next_to_nothing() -> None:
    code = (
        "import sys, ralph.ui.formatting\n"
        "sys.exit(any(name in sys.modules for name in ('rich', 'unicodedata')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_loses_lines_and_not_the_run() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full, open(os.devnull, "wb") as nowhere:
        out = OutputStream(full)
        out.write("lost\n")
        assert out.is_open
        # What is buffered would fail once more when the file is closed.
        os.dup2(nowhere.fileno(), full.fileno())


def test_a_real_terminal_is_left_as_it_was_found() -> None:
    """Keys pressed during the run are not written into the view, and are echoed again after it."""
    master, slave = pty.openpty()
    fcntl.ioctl(master, termios.TIOCSWINSZ, b"\x18\x00\x50\x00\x00\x00\x00\x00")
    before = termios.tcgetattr(slave)
    code = (
        "import fcntl, runpy, sys, termios\n"
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        f"sys.argv = ['stories', '2000']; runpy.run_path({str(STORIES)!r}, run_name='__main__')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env=os.environ | XTERM | {"PYTHONPATH": str(STORIES.parent)},
    ) as child:
        shown = os.read(master, 65536)
        os.write(master, b"typed\n")
        while b"\x1b[?25h" not in shown:
            shown += os.read(master, 65536)
        assert child.wait() == 0
    after = termios.tcgetattr(slave)
    os.close(master)
    os.close(slave)

    assert b"complete, with failed tasks" in shown
    assert b"typed" not in shown
    assert before == after


def test_a_screen_can_start_from_nothing_but_events() -> None:
    clock = FrozenClock()
    for screen in (PlainScreen(io.StringIO(), clock), LiveScreen(io.StringIO(), clock)):
        play(the_story(), screen, clock)
        screen.close()
