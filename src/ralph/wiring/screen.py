"""The screen of a run, its notifications, and the question to the user."""

import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import TextIO

import msgspec

from ralph.adapters.notify.channels import (
    DESKTOP,
    INSTALL,
    SPEECH,
    command_channel,
    program_channel,
    service_channel,
)
from ralph.config.project import Project
from ralph.core.ids import RunId
from ralph.core.notifications import NotificationKind
from ralph.core.run import Target
from ralph.ports.clock import Clock
from ralph.ports.executor import Executor
from ralph.ports.user_interface import EventSink, NotificationChannel, UserPrompt
from ralph.store.store import Store
from ralph.ui.interrupt_prompt import TerminalPrompt
from ralph.ui.output_stream import OutputStream
from ralph.ui.run_view import RunView
from ralph.ui.screens import NotifyingScreen, bell, choose_screen
from ralph.ui.waiting_tasks import waiting_tasks


class RunOutput(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run is shown, and how."""

    stream: TextIO
    json: bool = False
    color: str = "never"
    again: str = "ralph run"
    """The command that goes on with the run."""
    is_step: bool = False
    """A step of a command that goes on when it is complete, so that needs no summary."""


def open_screen(
    project: Project,
    store: Store,
    target: Target,
    clock: Clock,
    output: RunOutput,
    *,
    interrupted: Callable[[], str | None],
) -> EventSink:
    """The one that suits the terminal, or the lack of one."""

    def upcoming() -> list[str]:
        return [f"{task.name} {task.title}" for task in store.tasks.ready(target, limit=5)]

    run_view = RunView(
        counts=lambda: store.claims.user_counts(target),
        upcoming=upcoming,
        interrupted=interrupted,
        waits=lambda: waiting_tasks(store, target),
        logs=project.runs_dir,
        again=output.again,
        is_step=output.is_step,
    )
    return choose_screen(
        output.stream, clock=clock, run_view=run_view, json=output.json, color=output.color
    )


def with_notifications(
    project: Project,
    screen: EventSink,
    run: RunId,
    executor: Executor,
    stdout: TextIO,
    *,
    path: str,
) -> tuple[EventSink, tuple[str, ...]]:
    """The screen with its notifications, and why some cannot be sent. `path` has the programs."""
    notify, title = project.config.notify, f"Ralph in {os.path.basename(project.root)}"
    wanted = frozenset(map(NotificationKind, notify.on))
    channels: list[NotificationChannel] = []
    missing: list[str] = []
    for key, programs in (("desktop", DESKTOP), ("sound", SPEECH)):
        if not getattr(notify, key):
            continue
        if (program := program_channel(executor, programs, title, path)) is None:
            missing.append(f"notify.{key} is set, but there is no {' or '.join(programs)}")
            continue
        channels.append(program)
        if key == "sound" and NotificationKind.DONE not in wanted:
            # Each task that is done is spoken, for those who have asked for speech.
            screen = NotifyingScreen(screen, run, {NotificationKind.DONE}, [program])
    if notify.command.strip():
        channels.append(command_channel(executor, notify.command, title, project.root, path))
    if notify.urls and find_spec("apprise") is not None:
        channels.append(service_channel(executor, notify.urls, title))
    elif notify.urls:
        missing.append(f"notify.urls is set, but apprise is not installed: {INSTALL}")
    # Beside output that is read by a program the bell is a person's all the same.
    terminal = next((one for one in (stdout, sys.stderr) if one.isatty()), None)
    if notify.bell and terminal is not None:
        channels.append(bell(terminal))
    return NotifyingScreen(screen, run, wanted, channels), tuple(missing)


def user_prompt(
    executor: Executor, screen: EventSink, clear_signal: Callable[[], bool], stdout: TextIO
) -> UserPrompt | None:
    """The person at the terminal, if the run has it for input and output."""
    if sys.stdin is None or not (sys.stdin.isatty() and stdout.isatty()):
        return None
    return TerminalPrompt(
        executor=executor,
        screen=screen,
        keyboard=sys.stdin.fileno(),
        out=OutputStream(stdout),
        clear_signal=clear_signal,
    )
