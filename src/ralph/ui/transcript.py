"""A session told line by line, for reading afterwards or along with it."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ralph.core import agent_events as said
from ralph.core.safe_text import block, one_line
from ralph.ui.activity import ends_of
from ralph.ui.saying import denied_words, limit_words, result_facts, retry_words, trouble_words
from ralph.ui.wording import excerpt, uncoloured

ERROR_LINES: Final = 5
MOST_CHARS: Final = 100_000
"""Of one message; nobody reads more of it on a screen."""
SUMMARY_WIDTH: Final = 300
KEPT_PIECES: Final = 100_000


class Tone(NamedTuple):
    """How a line begins, and the colour (an SGR code) that it has on a terminal."""

    mark: str
    code: str


TEXT: Final = Tone("  ", "")
THINKING: Final = Tone("~ ", "2;3")
TOOL: Final = Tone("> ", "36")
ANSWER: Final = Tone("    ", "2")
ERROR: Final = Tone("  ✗ ", "31")
MORE: Final = Tone("    ", "31")
TROUBLE: Final = Tone("! ", "31")
NOTE: Final = Tone("! ", "33")
FACT: Final = Tone("- ", "2")


class Line(NamedTuple):
    """One line, safe to show."""

    tone: Tone
    text: str

    @property
    def marked(self) -> str:
        """The line with its mark."""
        return f"{self.tone.mark}{self.text}".rstrip()


class Transcript:
    """Turns events into lines. Pieces of a message wait for the whole, which stands for them."""

    def __init__(self) -> None:
        self._pieces: dict[type, str] = {}
        self._last_text = ""
        self._last_trouble = ""

    def take(self, event: said.AgentEvent) -> list[Line]:
        """What one event adds."""
        return list(self._lines(event))

    def end(self) -> list[Line]:
        """What was begun and never finished."""
        return [
            *self._rest(said.Thinking, THINKING),
            *self._rest(said.Text, TEXT),
        ]

    def _rest(self, kind: type, tone: Tone) -> Iterator[Line]:
        begun = self._pieces.pop(kind, "")
        if begun.strip():
            yield from _paragraph(f"{begun} …", tone)

    def _lines(self, event: said.AgentEvent) -> Iterator[Line]:  # noqa: C901 - one table
        match event:
            case said.Text(partial=True, text=text) | said.Thinking(partial=True, text=text):
                begun = self._pieces.get(type(event), "")
                self._pieces[type(event)] = (begun + text)[-KEPT_PIECES:]
            case said.Text(text=text):
                self._pieces.pop(said.Text, None)
                self._last_text = text.strip()
                yield from _paragraph(text, TEXT)
            case said.Thinking(text=text):
                self._pieces.pop(said.Thinking, None)
                yield from _paragraph(text, THINKING)
            case said.ToolUse(name=name, summary=summary):
                words = f"{one_line(name, 40)}  {one_line(summary, SUMMARY_WIDTH)}"
                yield Line(TOOL, words.rstrip())
            case said.ToolResult(error=True, text=text):
                yield from _error(text, ERROR)
            case said.ToolResult(text=text):
                if text.strip():
                    yield Line(ANSWER, one_line(uncoloured(_first(text)), SUMMARY_WIDTH))
            case said.Denied():
                yield Line(TROUBLE, f"not permitted: {denied_words(event)}")
            case said.Trouble():
                self._last_trouble = trouble_words(event)
                yield from _error(self._last_trouble, TROUBLE)
            case said.Retry():
                self._pieces.clear()
                yield Line(NOTE, retry_words(event))
            case said.Limit(status=status):
                if status is not said.LimitStatus.ALLOWED:
                    yield Line(NOTE, limit_words(event))
            case said.Started(model=model):
                yield Line(FACT, f"started with {one_line(model, 60)}" if model else "started")
            case said.Result():
                yield from self._result(event)
            case said.Unknown(line=line):
                if line.strip():
                    yield Line(ANSWER, one_line(line, SUMMARY_WIDTH))
            case said.Usage() | said.Request():
                pass

    def _result(self, result: said.Result) -> Iterator[Line]:
        yield from self.end()
        if result.error:
            # The program has often said why just before.
            why = result.detail or result.text or self._last_trouble or "an error"
            yield from _error(why, TROUBLE) if why != self._last_trouble else ()
        elif result.text.strip() not in ("", self._last_text):
            yield from _paragraph(result.text, TEXT)
        facts = ", ".join(result_facts(result))
        yield Line(FACT, f"ended: {facts}" if facts else "ended")


def transcript(events: Iterable[said.AgentEvent]) -> list[Line]:
    """All that was said, in lines."""
    told = Transcript()
    lines = [line for event in events for line in told.take(event)]
    return lines + told.end()


def _paragraph(text: str, tone: Tone) -> Iterator[Line]:
    for line in _split(text[:MOST_CHARS].strip("\r\n")):
        yield Line(tone, line)


def _error(text: str, tone: Tone) -> Iterator[Line]:
    lines = [line for line in _split(ends_of(uncoloured(text))) if line]
    for line in excerpt(lines, ERROR_LINES):
        yield Line(tone, line if len(line) <= SUMMARY_WIDTH else one_line(line, SUMMARY_WIDTH))
        tone = MORE


def _split(text: str) -> list[str]:
    safe = block(text.replace("\r\n", "\n")).expandtabs(4)
    return [line.rstrip() for line in safe.split("\n")]


def _first(text: str) -> str:
    return text[:4000].strip().split("\n", 1)[0]
