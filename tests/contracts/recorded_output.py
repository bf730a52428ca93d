"""Recorded sessions of real agents, with what Ralph must make of each."""

import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ralph.core.agent_events import AgentEvent
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind, SessionEnding
from ralph.core.session_output import StreamSummary
from ralph.ports.agent import Agent, AgentSetup

FOLDERS = sorted(
    path for path in (Path(__file__).parent / "transcripts").iterdir() if path.is_dir()
)


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line of `endings.toml`."""

    code: int
    ended: EndingKind
    stderr: str = ""
    detail: str = ""
    """It is part of what people are told."""
    resets_at: float | None = None
    denied: tuple[str, ...] = ()


class Recorded(NamedTuple):
    """One session."""

    agent: str
    name: str
    output: bytes
    expected: Expected

    def __str__(self) -> str:
        return f"{self.agent}-{self.name}"

    @property
    def exit(self) -> ProcessExit:
        """How it went away."""
        return ProcessExit(
            code=self.expected.code, stderr=self.expected.stderr, ended_at=1_794_724_026.0
        )


def recorded_in(folder: Path) -> list[Recorded]:
    """The sessions of one folder."""
    text: dict[str, Any] = tomllib.loads((folder / "endings.toml").read_text())
    lines = msgspec.convert(text, dict[str, Expected])
    files = {path.stem: path for path in folder.iterdir() if path.name != "endings.toml"}
    assert files.keys() == lines.keys(), files.keys() ^ lines.keys()
    agent = folder.name.rpartition("-")[0]
    return [
        Recorded(agent, f"{folder.name.rpartition('-')[2]}-{name}", path.read_bytes(), lines[name])
        for name, path in sorted(files.items())
    ]


SESSIONS = [session for folder in FOLDERS for session in recorded_in(folder)]


@cache
def the_agent(name: str) -> Agent:
    """By its registered name."""
    (found,) = entry_points(group="ralph.agents", name=name)
    agent: Agent = found.load()(AgentSetup())
    return agent


def heard(agent: Agent, blocks: Iterable[bytes]) -> tuple[list[AgentEvent], StreamSummary]:
    """What is understood of some output."""
    digest = StreamSummary()
    events = []
    for block in blocks:
        for event in agent.read(block):
            digest.add(event)
            events.append(event)
    return events, digest


def ended(session: Recorded, *blocks: bytes) -> SessionEnding:
    """How a session ended that said this."""
    agent = the_agent(session.agent)
    return agent.ending(heard(agent, blocks)[1], session.exit)
