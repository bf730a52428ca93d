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

KEPT_CHARS: Final = 2000
KEPT_DOINGS: Final = 12


class Kind(StrEnum):
    """What sort of thing the agent does."""

    THINKING = "thinking"
    TEXT = "text"
    TOOL = "tool"
    ERROR = "error"
    NOTE = "note"


class Doing(msgspec.Struct, kw_only=True):
    """One thing the agent does or says. The text is bounded, and not yet safe to show."""

    kind: Kind
    text: str
    tool: str = ""
    is_partial: bool = False


class Activity:
    """The last few doings of a session."""

    def __init__(self) -> None:
        self.doings: deque[Doing] = deque(maxlen=KEPT_DOINGS)
        self.model = ""

    def clear(self) -> None:
        """Another session begins."""
        self.doings.clear()
        self.model = ""

    def take(self, event: AgentEvent) -> None:  # noqa: C901 - one table
        """Fold in one more."""
        match event:
            case Text(text=text, partial=partial):
                self._say(Kind.TEXT, text, is_partial=partial)
            case Thinking(text=text, partial=partial):
                self._say(Kind.THINKING, text, is_partial=partial)
            case ToolUse(name=name, summary=summary):
                self._do(Kind.TOOL, summary[:KEPT_CHARS], one_line(name, 40))
            case ToolResult(error=True, text=text):
                self._do(Kind.ERROR, text[:KEPT_CHARS])
            case Result(error=True, text=text, detail=detail):
                self._do(Kind.ERROR, (detail or text)[:KEPT_CHARS])
            case Denied(name=name, summary=summary):
                self._do(Kind.ERROR, f"not permitted: {one_line(name, 40)} {summary[:KEPT_CHARS]}")
            case Trouble(message=message):
                self._do(Kind.ERROR, message[:KEPT_CHARS])
            case Retry(message=message):
                self._do(Kind.NOTE, f"tries again: {message[:KEPT_CHARS]}")
            case Limit(status=status, window=window):
                if status is not LimitStatus.ALLOWED:
                    self._do(Kind.NOTE, f"{limit_words(status)} {window[:100]}")
            case Started(model=model):
                self.model = one_line(model, 60)
            case ToolResult() | Result() | Usage() | Unknown():
                pass

    def _say(self, kind: Kind, text: str, *, is_partial: bool) -> None:
        if not text:
            return
        last = self.doings[-1] if self.doings else None
        if last is None or last.kind is not kind or not last.is_partial:
            self._do(kind, text[-KEPT_CHARS:], is_partial=is_partial)
        elif is_partial:
            last.text = (last.text + text[-KEPT_CHARS:])[-KEPT_CHARS:]
        else:
            # The whole message follows its pieces.
            last.text, last.is_partial = text[-KEPT_CHARS:], False

    def _do(self, kind: Kind, text: str, tool: str = "", *, is_partial: bool = False) -> None:
        self.doings.append(Doing(kind=kind, text=text, tool=tool, is_partial=is_partial))


def limit_words(status: LimitStatus) -> str:
    """What the provider says about the allowance, in a few words."""
    match status:
        case LimitStatus.ALLOWED:
            return "the allowance lasts"
        case LimitStatus.WARNING:
            return "the allowance is nearly used up"
        case LimitStatus.REJECTED:
            return "the allowance is used up"
