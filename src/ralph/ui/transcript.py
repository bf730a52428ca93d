"""Format a session's events as lines."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ralph.core import agent_events as agent
from ralph.core.safe_text import multi_line, one_line
from ralph.ui.agent_activity import (
    ActivityKind,
    AgentAction,
    action_of,
    result_facts,
    shorten_middle,
)
from ralph.ui.formatting import excerpt, without_colors

ERROR_LINES: Final = 5
MOST_CHARS: Final = 100_000
"""Characters of one message that are shown."""
SUMMARY_WIDTH: Final = 300
KEPT_PIECES: Final = 100_000
BEGUN: Final = (ActivityKind.THINKING, ActivityKind.TEXT)


class LineStyle(NamedTuple):
    """The mark at the start of a line, and its colour on a terminal (an SGR code)."""

    mark: str
    code: str


ANSWER: Final = LineStyle("    ", "2")
MORE: Final = LineStyle("    ", "31")
FACT: Final = LineStyle("- ", "2")
STYLES: Final = {
    ActivityKind.TEXT: LineStyle("  ", ""),
    ActivityKind.THINKING: LineStyle("~ ", "2;3"),
    ActivityKind.TOOL: LineStyle("> ", "36"),
    ActivityKind.ERROR: LineStyle("  ✗ ", "31"),
    ActivityKind.PROBLEM: LineStyle("! ", "31"),
    ActivityKind.DENIED: LineStyle("! ", "31"),
    ActivityKind.NOTE: LineStyle("! ", "33"),
    ActivityKind.RETRY: LineStyle("! ", "33"),
}


class TranscriptLine(NamedTuple):
    """One line, safe to show."""

    tone: LineStyle
    text: str

    @property
    def marked(self) -> str:
        return f"{self.tone.mark}{self.text}".rstrip()


class Transcript:
    """Turns events into lines. Pieces of a message are held until the whole replaces them."""

    def __init__(self) -> None:
        self._pieces: dict[ActivityKind, str] = {}
        self._last_text = ""
        self._last_problem = ""

    def add(self, event: agent.AgentEvent) -> list[TranscriptLine]:
        return list(self._lines(event))

    def begun(self) -> list[TranscriptLine]:
        """Return messages that were begun and are not finished."""
        begun = [(kind, self._pieces.get(kind, "")) for kind in BEGUN]
        return [
            line for kind, text in begun if text.strip() for line in _paragraph(f"{text} …", kind)
        ]

    def end(self) -> list[TranscriptLine]:
        """The same, when they never will be."""
        lines = self.begun()
        self._pieces.clear()
        return lines

    def _lines(self, event: agent.AgentEvent) -> Iterator[TranscriptLine]:
        match event:
            case agent.ToolResult(error=False, text=text):
                if first := text[:4000].strip().split("\n", 1)[0]:
                    yield TranscriptLine(ANSWER, one_line(without_colors(first), SUMMARY_WIDTH))
            case agent.UnknownLine(line=line) if line.strip():
                yield TranscriptLine(ANSWER, one_line(line, SUMMARY_WIDTH))
            case agent.AgentStarted(model=model):
                start = f"started with {one_line(model, 60)}" if model else "started"
                yield TranscriptLine(FACT, start)
            case agent.SessionResultEvent():
                yield from self._result(event)
            case _:
                if action := action_of(event):
                    yield from self._action(action)

    def _action(self, action: AgentAction) -> Iterator[TranscriptLine]:
        text, style = action.text, STYLES[action.kind]
        match action.kind:
            case kind if action.is_partial:
                self._pieces[kind] = (self._pieces.get(kind, "") + text)[-KEPT_PIECES:]
            case ActivityKind.TEXT | ActivityKind.THINKING as kind:
                self._pieces.pop(kind, None)
                if kind is ActivityKind.TEXT:
                    self._last_text = text.strip()
                yield from _paragraph(text, kind)
            case ActivityKind.TOOL:
                words = f"{action.tool}  {one_line(text, SUMMARY_WIDTH)}"
                yield TranscriptLine(style, words.rstrip())
            case ActivityKind.ERROR:
                yield from _error(text, style)
            case ActivityKind.PROBLEM:
                self._last_problem = text
                yield from _error(text, style)
            case ActivityKind.DENIED:
                yield TranscriptLine(style, f"not permitted: {text}")
            case ActivityKind.RETRY | ActivityKind.NOTE as kind:
                if kind is ActivityKind.RETRY:
                    self._pieces.clear()
                yield TranscriptLine(style, text)

    def _result(self, result: agent.SessionResultEvent) -> Iterator[TranscriptLine]:
        yield from self.end()
        if result.error:
            # The program has often reported the reason just before.
            why = result.detail or result.text or self._last_problem or "an error"
            yield from (
                _error(why, STYLES[ActivityKind.PROBLEM]) if why != self._last_problem else ()
            )
        elif result.text.strip() not in ("", self._last_text):
            yield from _paragraph(result.text, ActivityKind.TEXT)
        facts = ", ".join(result_facts(result))
        yield TranscriptLine(FACT, f"ended: {facts}" if facts else "ended")


def transcript_lines(events: Iterable[agent.AgentEvent]) -> list[TranscriptLine]:
    transcript = Transcript()
    lines = [line for event in events for line in transcript.add(event)]
    return lines + transcript.end()


def _paragraph(text: str, kind: ActivityKind) -> Iterator[TranscriptLine]:
    for line in _split(text[:MOST_CHARS].strip("\r\n")):
        yield TranscriptLine(STYLES[kind], line)


def _error(text: str, tone: LineStyle) -> Iterator[TranscriptLine]:
    lines = [line for line in _split(shorten_middle(without_colors(text))) if line]
    for line in excerpt(lines, ERROR_LINES):
        shown = line if len(line) <= SUMMARY_WIDTH else one_line(line, SUMMARY_WIDTH)
        yield TranscriptLine(tone, shown)
        tone = MORE


def _split(text: str) -> list[str]:
    safe = multi_line(text.replace("\r\n", "\n")).expandtabs(4)
    return [line.rstrip() for line in safe.split("\n")]
