"""One turn of the scripted model: what it says, what it calls, and what goes wrong before."""

from collections.abc import Mapping

import msgspec


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A tool call, by the name that the agent offers."""

    name: str
    input: dict[str, object] | str
    """A string is a call of a tool that takes free text, such as a patch."""
    namespace: str = ""


class Write(msgspec.Struct, frozen=True, kw_only=True):
    """Make a file, with whichever tool this agent offers for it."""

    path: str
    text: str


class Shell(msgspec.Struct, frozen=True, kw_only=True):
    """Run a command line, with whichever tool this agent offers for it."""

    command: str


Deed = Call | Write | Shell


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn is said to have used."""

    fresh: int = 100
    """Read, and not from a cache."""
    cached: int = 1000
    stored: int = 200
    """Written into a cache."""
    output: int = 20


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """The request is answered with a failure."""

    status: int
    kind: str = ""
    """The error's type, such as `rate_limit_error`."""
    message: str = "no"
    headers: Mapping[str, str] = {}
    body: str | None = None
    """Instead of the error as this API spells it."""
    times: int | None = 1
    """None is always, here and below."""


class Silent(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing comes, until the agent or the server goes away."""

    headers: bool = True
    """Whether the answer begins at all."""
    after: int = 0
    """How many events of the stream come first."""
    times: int | None = 1


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """The connection breaks in the middle of the stream."""

    after: int = 2
    """How many events come first."""
    times: int | None = 1


class Broken(msgspec.Struct, frozen=True, kw_only=True):
    """The answer begins well, then the stream itself tells of an error."""

    kind: str = "overloaded_error"
    message: str = "overloaded"
    after: int = 1
    """How many events come first."""
    times: int | None = 1


Fault = Refused | Silent | Cut | Broken


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What the model answers to one request. `say` and `do` make most of them.

    In text and inputs `{cwd}` is the agent's working directory and `{task}` the task that its brief
    names, both read from the request: one script serves any number of checkouts at once.
    """

    text: str = ""
    thinking: str = ""
    deeds: tuple[Deed, ...] = ()
    tokens: Tokens = Tokens()
    stop: str = ""
    """`max_tokens` or `refusal`; empty is what follows from the rest."""
    delay_s: float = 0.0
    headers: Mapping[str, str] = {}
    """Of the response, such as `anthropic-ratelimit-unified-status`."""
    faults: tuple[Fault, ...] = ()
    """What goes wrong first: each as often as it says, then the turn itself."""


def say(
    text: str,
    *,
    thinking: str = "",
    tokens: Tokens = Tokens(),  # noqa: B008 - a frozen value
    stop: str = "",
    delay_s: float = 0.0,
    headers: Mapping[str, str] | None = None,
    faults: tuple[Fault, ...] = (),
) -> Turn:
    """A turn of words: the session's last one."""
    return Turn(
        text=text,
        thinking=thinking,
        tokens=tokens,
        stop=stop,
        delay_s=delay_s,
        headers=headers or {},
        faults=faults,
    )


def do(*deeds: Deed, text: str = "", thinking: str = "", faults: tuple[Fault, ...] = ()) -> Turn:
    """A turn of tool calls."""
    return Turn(deeds=deeds, text=text, thinking=thinking, faults=faults)
