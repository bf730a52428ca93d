"""Who is told when something happens, and who can be asked: channels and people, joined."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from ralph.config.load import Loaded
    from ralph.core.ids import RunId
    from ralph.ports.channel import Channel
    from ralph.ports.executor import Executor
    from ralph.ports.person import Person
    from ralph.ports.sink import Sink


def with_news(
    loaded: "Loaded",
    screen: "Sink",
    run: "RunId",
    executor: "Executor",
    stdout: TextIO,
    *,
    path: str,
) -> "tuple[Sink, tuple[str, ...]]":
    """The screen, and whoever else is to be told; and why some will not be. Programs are looked for
    on `path`."""
    from ralph.adapters.notify.programs import SPEECH, Program
    from ralph.core.news import Kind
    from ralph.ui.herald import Bell, Herald

    channels, missing = channels_of(loaded, executor, path)
    if loaded.config.notify.bell:
        # Beside output that is read by a program the bell is a person's all the same.
        terminal = next((one for one in (stdout, sys.stderr) if one.isatty()), None)
        channels += [Bell(terminal)] if terminal is not None else []
    wanted = frozenset(map(Kind, loaded.config.notify.on))
    if loaded.config.notify.sound and Kind.DONE not in wanted:
        # Speech disturbs nobody who has asked for it: each task that is done is told.
        title = f"Ralph in {os.path.basename(loaded.root)}"
        if speech := Program.first(executor, SPEECH, title, path):
            screen = Herald(screen, run, {Kind.DONE}, [speech])
    return Herald(screen, run, wanted, channels), missing


def channels_of(
    loaded: "Loaded", executor: "Executor", path: str
) -> "tuple[list[Channel], tuple[str, ...]]":
    """Every way to call a person that is set and can be used; and what cannot."""
    from ralph.adapters.notify.programs import DESKTOP, SPEECH, CommandLine, Program
    from ralph.adapters.notify.services import INSTALL, Services

    notify = loaded.config.notify
    title = f"Ralph in {os.path.basename(loaded.root)}"
    channels: list[Channel] = []
    missing: list[str] = []
    for key, programs in (("desktop", DESKTOP), ("sound", SPEECH)):
        if not getattr(notify, key):
            continue
        if program := Program.first(executor, programs, title, path):
            channels.append(program)
        else:
            missing.append(f"notify.{key} is set, but there is no {' or '.join(programs)}")
    if notify.command.strip():
        channels.append(CommandLine(executor, notify.command, title, loaded.root, path))
    if notify.urls and Services.are_installed():
        channels.append(Services(executor, notify.urls, title))
    elif notify.urls:
        missing.append(f"notify.urls is set, but apprise is not installed: {INSTALL}")
    return channels, tuple(missing)


def a_person(
    executor: "Executor", screen: "Sink", forgive: Callable[[], object], stdout: TextIO
) -> "Person | None":
    """Whoever sits at the terminal, if the run has it for input and output."""
    from ralph.ui.question import AtTerminal

    if sys.stdin is None or not (sys.stdin.isatty() and stdout.isatty()):
        return None
    return AtTerminal(executor, screen, sys.stdin.fileno(), stdout, forgive)
