"""The stream beside a session's log: what screens read afterwards."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from ralph.adapters.agents.command_agent import CommandAgent
from ralph.core.agent_events import (
    AgentEvent,
    AgentStarted,
    SessionResultEvent,
    Text,
    Thinking,
    ToolDenied,
    ToolUse,
)
from ralph.core.events import SessionEnded
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import SessionEnding
from ralph.core.session_output import StreamSummary, classify_ending
from ralph.ports.agent import AgentSetup
from tests.doubles import says
from tests.engine.world import World


class Fluent(CommandAgent):
    """Speaks in events, whatever its program prints."""

    def __init__(self, *events: AgentEvent) -> None:
        super().__init__(AgentSetup(command="agent"))
        self.events = events

    def read(self, block: bytes) -> Iterable[AgentEvent]:
        return self.events

    def ending(self, digest: StreamSummary, exit_: ProcessExit) -> SessionEnding:
        return classify_ending(digest, exit_)


def the_stream(folder: Path) -> list[AgentEvent]:
    (path,) = folder.glob("*.jsonl")
    decode = msgspec.json.Decoder(AgentEvent).decode
    return [decode(line) for line in path.read_bytes().splitlines()]


def test_whole_messages_are_kept_and_their_pieces_only_shown(tmp_path: Path) -> None:
    world = World(tmp_path)
    text = (
        AgentStarted(model="m"),
        Thinking(text="Hm", partial=True),
        Thinking(text="Hm."),
        *(Text(text="x" * 1_000_000, partial=True) for _ in range(20)),
        Text(text="I do it."),
        ToolUse(name="Bash", summary="make", call="1"),
        SessionResultEvent(text="so", error=False),
    )
    world.agents = (Fluent(*text),)  # type: ignore[arg-type]
    world.add("Write it")
    world.limits = msgspec.structs.replace(world.limits, iterations=1)
    world.run(says("…"))

    assert [event for _, event in world.sink.heard] == list(text)
    assert the_stream(tmp_path) == [one for one in text if not getattr(one, "partial", False)]


def test_what_was_not_permitted_is_told_with_the_sessions_end(tmp_path: Path) -> None:
    world = World(tmp_path)
    denials = (ToolDenied(name="Bash"), ToolDenied(name="Write\x1b"), ToolDenied(name="Bash"))
    world.agents = (Fluent(*denials, SessionResultEvent(text="so")),)
    world.add("Write it")
    world.limits = msgspec.structs.replace(world.limits, iterations=1)
    world.run(says("…"))

    (ended,) = [event for event in world.sink.events if isinstance(event, SessionEnded)]
    assert ended.denied == ("Bash", "Write\u241b", "Bash")
