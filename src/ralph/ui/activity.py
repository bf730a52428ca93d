"""What the agent does right now: the newest of what it says, whatever the flood."""

from collections import deque
from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.agent_events import (
    AgentEvent,
    Denied,
    Limit,
    LimitStatus,
    Request,
    Result,
    Retry,
    Started,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Trouble,
    Unknown,
    Usage,
)
from ralph.core.safe_text import one_line
from ralph.ui.saying import denied_words, limit_words, retry_words, trouble_words

KEPT_CHARS: Final = 2000
KEPT_DOINGS: Final = 24
CALL_CHARS: Final = 100
ALIKE: Final = 3
"""An error that comes again within so many doings is the same one, told twice."""


class Kind(StrEnum):
    """What sort of thing the agent does."""

    THINKING = "thinking"
    TEXT = "text"
    TOOL = "tool"
    ERROR = "error"
    DENIED = "denied"
    NOTE = "note"
    RETRY = "retry"


class Doing(msgspec.Struct, kw_only=True):
    """One thing the agent does or says. The text is bounded, and not yet safe to show."""

    kind: Kind
    text: str
    tool: str = ""
    call: str = ""
    """Set while the tool is at work."""
    since: float | None = None
    is_partial: bool = False


class Activity:
    """The last few doings of a session."""

    def __init__(self) -> None:
        self.doings: deque[Doing] = deque(maxlen=KEPT_DOINGS)
        self.model = ""
        self.heard: float | None = None
        """When it last said anything."""
        self._in_pieces = False

    def clear(self) -> None:
        """Another session begins."""
        self.doings.clear()
        self.model, self.heard, self._in_pieces = "", None, False

    def end(self) -> None:
        """The session is over, and with it whatever it was at."""
        for doing in self.doings:
            doing.call = ""

    @property
    def is_in_tool(self) -> bool:
        """Is a tool at work?"""
        return any(doing.call for doing in self.doings)

    def take(self, event: AgentEvent, now: float | None = None) -> None:  # noqa: C901 - one table
        """Fold in one more."""
        self.heard = now
        match event:
            case Text(text=text, partial=partial):
                self._say(Kind.TEXT, text, is_partial=partial)
            case Thinking(text=text, partial=partial):
                self._say(Kind.THINKING, text, is_partial=partial)
            case ToolUse(name=name, summary=summary, call=call):
                self._do(
                    Kind.TOOL, summary[:KEPT_CHARS], tool=name, call=call[:CALL_CHARS], since=now
                )
            case ToolResult(call=call, error=error, text=text):
                self._answer(call)
                if error:
                    self._fail(text)
            case Result(error=True, text=text, detail=detail):
                self._fail(detail or text)
            case Denied():
                self._do(Kind.DENIED, denied_words(event))
            case Trouble():
                self._fail(trouble_words(event))
            case Retry():
                self._retry(event)
            case Limit(status=status):
                if status is not LimitStatus.ALLOWED:
                    self._do(Kind.NOTE, limit_words(event, now))
            case Started(model=model):
                self.model = one_line(model, 60) or self.model
            case Result() | Usage() | Request() | Unknown():
                pass

    def _say(self, kind: Kind, text: str, *, is_partial: bool) -> None:
        if not text:
            return
        last = self.doings[-1] if self.doings else None
        if not is_partial:
            # The whole message follows its pieces.
            self._forget_pieces(kind)
            self._do(kind, text[-KEPT_CHARS:])
        elif last is not None and last.kind is kind and last.is_partial:
            last.text = (last.text + text[-KEPT_CHARS:])[-KEPT_CHARS:]
        else:
            self._in_pieces = True
            self._do(kind, text[-KEPT_CHARS:], is_partial=True)

    def _forget_pieces(self, *kinds: Kind) -> None:
        if not self._in_pieces:
            return
        kept = [one for one in self.doings if not one.is_partial or one.kind not in kinds]
        self.doings = deque(kept, maxlen=KEPT_DOINGS)
        self._in_pieces = any(one.is_partial for one in kept)

    def _answer(self, call: str) -> None:
        for doing in self.doings:
            if doing.call == call[:CALL_CHARS]:
                doing.call = ""

    def _fail(self, text: str) -> None:
        words = ends_of(text.strip())
        recent = list(self.doings)[-ALIKE:]
        if words and not any(one.kind is Kind.ERROR and one.text == words for one in recent):
            self._do(Kind.ERROR, words)

    def _retry(self, event: Retry) -> None:
        # What it had begun to say it will say again, from the beginning.
        self._forget_pieces(Kind.TEXT, Kind.THINKING)
        words = retry_words(event)
        if self.doings and self.doings[-1].kind is Kind.RETRY:
            self.doings[-1].text = words
        else:
            self._do(Kind.RETRY, words)

    def _do(
        self,
        kind: Kind,
        text: str,
        *,
        tool: str = "",
        call: str = "",
        since: float | None = None,
        is_partial: bool = False,
    ) -> None:
        doing = Doing(
            kind=kind,
            text=text,
            tool=one_line(tool, 40),
            call=call,
            since=since,
            is_partial=is_partial,
        )
        self.doings.append(doing)


def ends_of(text: str) -> str:
    """The beginning and the end of a text that is too long: both say what went wrong."""
    half = KEPT_CHARS // 2
    return text if len(text) <= KEPT_CHARS else f"{text[: half - 2]}\n…\n{text[1 - half :]}"
