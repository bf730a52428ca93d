"""Messages become arguments of programs, and nothing else."""

import os
from pathlib import Path

import pytest

from ralph.adapters.notify.channels import DESKTOP, SPEECH, command_channel, program_channel
from ralph.core.notifications import Notification, NotificationKind
from tests.doubles import FakeExecutor
from tests.doubles.clock import FrozenClock

NEWS = Notification(kind=NotificationKind.FAILED, text='failed: <b>"$(rm -rf /)"</b>')


@pytest.fixture
def executor() -> FakeExecutor:
    return FakeExecutor(FrozenClock())


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def have(programs: Path, name: str) -> str:
    (programs / name).write_text("#!/bin/sh\n")
    (programs / name).chmod(0o755)
    return str(programs / name)


def test_without_such_a_program_there_is_no_channel(executor: FakeExecutor, programs: Path) -> None:
    assert program_channel(executor, DESKTOP, "Ralph", os.environ["PATH"]) is None  # type: ignore[arg-type]


def test_a_desktop_that_reads_markup_gets_none(executor: FakeExecutor, programs: Path) -> None:
    path = have(programs, "notify-send")
    channel = program_channel(executor, DESKTOP, "Ralph in app", os.environ["PATH"])  # type: ignore[arg-type]
    assert channel is not None
    channel(NEWS)
    text = 'failed: &lt;b&gt;"$(rm -rf /)"&lt;/b&gt;'
    assert executor.sent == [(path, "--app-name=Ralph", "--", "Ralph in app", text)]


def test_on_a_mac_the_text_is_an_argument_of_the_script(
    executor: FakeExecutor, programs: Path
) -> None:
    have(programs, "osascript")
    channel = program_channel(executor, DESKTOP, "Ralph in app", os.environ["PATH"])  # type: ignore[arg-type]
    assert channel is not None
    channel(NEWS)
    (argv,) = executor.sent
    assert argv[-3:] == ("--", "Ralph in app", NEWS.text)
    assert not any(NEWS.text in word for word in argv[:-1])


def test_it_speaks_with_what_is_there(executor: FakeExecutor, programs: Path) -> None:
    path = have(programs, "spd-say")
    channel = program_channel(executor, SPEECH, "Ralph in app", os.environ["PATH"])  # type: ignore[arg-type]
    assert channel is not None
    channel(NEWS)
    assert executor.sent == [(path, "--", f"Ralph in app. {NEWS.text}")]


def test_a_persons_command_gets_the_message_as_its_last_argument(executor: FakeExecutor) -> None:
    command_channel(executor, "tell me --loud", "Ralph in app", "/app", "/usr/bin")(NEWS)  # type: ignore[arg-type]
    line = 'PATH="$2"; export PATH; tell me --loud "$1"'
    assert executor.sent == [
        ("/bin/sh", "-c", line, "ralph", f"Ralph in app: {NEWS.text}", "/usr/bin")
    ]
