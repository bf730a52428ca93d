"""The lines of `codex exec --json`, as far as Ralph wants to know them."""

from typing import Final

from msgspec import Raw, Struct

from ralph.adapters.agents.lines import Lines


class Change(Struct, frozen=True, kw_only=True, gc=False):
    """A file that a patch touches."""

    path: str = ""
    kind: str = ""


class Step(Struct, frozen=True, kw_only=True, gc=False):
    """One line of its list of things to do."""

    text: str = ""
    completed: bool = False


class Message(Struct, frozen=True, kw_only=True, gc=False):
    """Words of the program."""

    message: str = ""


class Part(Struct, frozen=True, kw_only=True, gc=False):
    """A part of a tool's answer."""

    text: str = ""


class Answer(Struct, frozen=True, kw_only=True, gc=False):
    """What a tool of a server answered."""

    content: list[Part] = []


class Item(Struct, frozen=True, kw_only=True, gc=False):
    """Something said or done; `type` says which of the fields are there."""

    id: str = ""
    type: str = ""
    status: str = ""
    text: str = ""
    message: str = ""
    command: str = ""
    aggregated_output: str = ""
    exit_code: int | None = None
    changes: list[Change] = []
    server: str = ""
    tool: str = ""
    arguments: Raw = Raw(b"{}")
    prompt: str | None = None
    query: str = ""
    result: Answer | None = None
    error: Message | None = None
    items: list[Step] = []


class ThreadStarted(Struct, frozen=True, kw_only=True, gc=False, tag="thread.started"):
    """The session is up."""


class TurnStarted(Struct, frozen=True, kw_only=True, gc=False, tag="turn.started"):
    """The prompt is on its way."""


class ItemStarted(Struct, frozen=True, kw_only=True, gc=False, tag="item.started"):
    """A tool is called."""

    item: Item = Item()


class ItemUpdated(Struct, frozen=True, kw_only=True, gc=False, tag="item.updated"):
    """A list of things to do has changed."""

    item: Item = Item()


class ItemCompleted(Struct, frozen=True, kw_only=True, gc=False, tag="item.completed"):
    """Something is said, or a tool has answered."""

    item: Item = Item()


class Used(
    Struct,
    frozen=True,
    kw_only=True,
    gc=False,
    rename={"read": "input_tokens", "cached": "cached_input_tokens", "written": "output_tokens"},
):
    """Tokens of the whole thread. What was read includes what came from a cache."""

    read: int = 0
    cached: int = 0
    written: int = 0


class TurnCompleted(Struct, frozen=True, kw_only=True, gc=False, tag="turn.completed"):
    """The end, if all is well."""

    usage: Used | None = None


class TurnFailed(Struct, frozen=True, kw_only=True, gc=False, tag="turn.failed"):
    """The end otherwise."""

    error: Message = Message()


class Failed(Struct, frozen=True, kw_only=True, gc=False, tag="error"):
    """A request failed; it may try again."""

    message: str = ""


Line = (
    ItemCompleted
    | ItemStarted
    | ItemUpdated
    | ThreadStarted
    | TurnStarted
    | TurnCompleted
    | TurnFailed
    | Failed
)
LINES: Final[Lines[Line]] = Lines(
    ItemCompleted,
    ItemStarted,
    ItemUpdated,
    ThreadStarted,
    TurnStarted,
    TurnCompleted,
    TurnFailed,
    Failed,
)
