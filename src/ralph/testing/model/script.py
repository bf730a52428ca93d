"""What a scripted model is asked and says: requests, turns, faults, scripts, replies."""

import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

MARKER: Final = re.compile(r"\[\[scenario:([^\]\s]+)\]\]")
"""Names the scenario, anywhere in the conversation; the last one wins."""

CWD: Final = re.compile(r"(?:[Ww]orking directory(?:: | is `)|<cwd>\n?|% pwd\n)([^\n<`]+)")
"""How agents tell their model where they work."""

TASK: Final = re.compile(r"^## (?:Your task|The task that is said to be done): (\S+)", re.MULTILINE)
"""How a brief names its task."""

KEPT: Final = 32 * 1024


class ModelRequestLog(msgspec.Struct, frozen=True, kw_only=True):
    """A request, whichever API it is for; long texts are kept in part."""

    method: str = ""
    path: str = ""
    scenario: str = ""
    turn: int = -1
    """The place in the script; -1 for a request outside of one, such as for a title."""
    model: str = ""
    stream: bool = False
    headers: frozenset[str] = frozenset()
    """Their names, in lower case."""
    auth: str = ""
    """The credential that it sent."""
    system: str = ""
    user: str = ""
    results: tuple[str, ...] = ()
    """What tools answered, in order."""
    inputs: Mapping[str, frozenset[str]] = {}
    """The tools that it offers, and the names of the parts of their input."""
    cwd: str | None = None
    task: str | None = None
    size: int = 0
    """Of the body, in bytes."""
    retry: int = 0
    """How many requests came before it for the same turn of the same scenario."""

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(self.inputs)

    @property
    def wants_title(self) -> bool:
        """Return whether the agent asks for a title of the session: such a request has no tools."""
        return not self.tools and "title" in self.system.lower()


class ScriptedCall(msgspec.Struct, frozen=True, kw_only=True):
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


ScriptedAction = ScriptedCall | Write | Shell


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    fresh: int = 100
    """Input that was not read from a cache."""
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
    """How often; None: always. The same for the other faults."""


class StreamFault(msgspec.Struct, frozen=True, kw_only=True):
    """Something that goes wrong in the middle of the stream."""

    after: int = 0
    """How many events come first."""
    times: int | None = 1


class Silent(StreamFault, frozen=True, kw_only=True):
    """No more data, until the agent or the server ends."""

    headers: bool = True
    """False: the response does not even begin."""


class Cut(StreamFault, frozen=True, kw_only=True):
    after: int = 2


class ErrorInStream(StreamFault, frozen=True, kw_only=True):
    kind: str = "overloaded_error"
    message: str = "overloaded"
    after: int = 1


Fault = Refused | Silent | Cut | ErrorInStream


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What the model answers to one request. `say` and `do` make most of them.

    In text and inputs `{cwd}` is the agent's working directory and `{task}` the task that its brief
    names, both read from the request: one script serves many checkouts at once.
    """

    text: str = ""
    thinking: str = ""
    actions: tuple[ScriptedAction, ...] = ()
    tokens: Tokens = Tokens()
    stop: str = ""
    """`max_tokens` or `refusal`; empty: what follows from the rest."""
    delay_s: float = 0.0
    headers: Mapping[str, str] = {}
    """Of the response, such as `anthropic-ratelimit-unified-status`."""
    faults: tuple[Fault, ...] = ()
    """What goes wrong first, each as often as its `times`; then comes the turn."""


def say(text: str, **fields: Any) -> Turn:
    """A turn of text, which ends the session; `fields` are those of a Turn."""
    return Turn(text=text, **fields)


def do(*actions: ScriptedAction, **fields: Any) -> Turn:
    """A turn of tool calls; `fields` are those of a Turn."""
    return Turn(actions=actions, **fields)


Scripted = Turn | Callable[[ModelRequestLog], Turn]
"""A turn, or a function that makes it from the request."""


class OffScript(Exception):
    """The agent asked for something that is not in a script."""


class ModelScript(msgspec.Struct, frozen=True, kw_only=True):
    """The turns of one scenario; `ModelServer.script` explains the options."""

    turns: tuple[Scripted, ...]
    repeat: bool = False
    whole: bool = True

    def place(self, results: int) -> int:
        """Return the turn that follows after so many tool results.

        It follows from the request alone, so retries, parallel agents and continued sessions work.
        """
        before = 0
        for number, turn in enumerate(self.turns):
            if results <= before:
                return number
            before += calls(turn)
        if self.repeat:
            return len(self.turns) - 1
        raise OffScript(f"it has {len(self.turns)} turns, and there are {results} tool results")


def calls(turn: Scripted) -> int:
    """Return how many tool results a turn brings. A function is taken to make one call."""
    return len(turn.actions) if isinstance(turn, Turn) else 1


class Scripts:
    """All scenarios, and how often each turn was asked for. Safe to use from several threads."""

    def __init__(self) -> None:
        self._scripts: dict[str, ModelScript] = {}
        self._asked: Counter[tuple[str, int]] = Counter()
        self._lock = threading.Lock()

    def add(self, name: str, script: ModelScript) -> None:
        if not script.turns:
            raise ValueError(f"scenario {name} has no turns")
        for number, turn in enumerate(script.turns[:-1]):
            if not calls(turn):
                raise ValueError(f"scenario {name} ends at turn {number}, which calls no tool")
        with self._lock:
            self._scripts[name] = script
            for key in [key for key in self._asked if key[0] == name]:
                del self._asked[key]

    def find(self, name: str, results: int) -> tuple[int, Scripted]:
        script = self._scripts.get(name)
        if script is None:
            raise OffScript("there is none of that name")
        number = script.place(results)
        return number, script.turns[number]

    def count(self, name: str, number: int) -> int:
        """Count a request for this turn; return how many came before."""
        with self._lock:
            before = self._asked[name, number]
            self._asked[name, number] += 1
            return before

    def unplayed(self) -> list[str]:
        """Return the turns that were never asked for, of scripts that must be played whole."""
        return [
            f"scenario {name}, turn {number}"
            for name, script in self._scripts.items()
            for number in range(len(script.turns))
            if script.whole and not self._asked[name, number]
        ]


def fault_of(turn: Turn, before: int) -> Fault | None:
    for fault in turn.faults:
        if fault.times is None or before < fault.times:
            return fault
        before -= fault.times
    return None


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A turn, ready to be sent: placeholders filled in, tools chosen."""

    model: str
    text: str = ""
    thinking: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    tokens: Tokens = Tokens()
    stop: str = ""


def fill(turn: Turn, asked: ModelRequestLog) -> Reply:
    """Make the reply, or raise OffScript if the request lacks what the script needs."""
    calls = [_tool_call(action, asked) for action in turn.actions]
    return Reply(
        model=asked.model,
        text=_filled(turn.text, asked),
        thinking=_filled(turn.thinking, asked),
        calls=tuple(replace(call, input=_deep(call.input, asked)) for call in calls),
        tokens=turn.tokens,
        stop=turn.stop,
    )


def _deep(value: Any, asked: ModelRequestLog) -> Any:
    match value:
        case str():
            return _filled(value, asked)
        case dict():
            return {key: _deep(inner, asked) for key, inner in value.items()}
        case list() | tuple():
            return [_deep(inner, asked) for inner in value]
        case _:
            return value


def _filled(text: str, asked: ModelRequestLog) -> str:
    for place, found in (("{cwd}", asked.cwd), ("{task}", asked.task)):
        if place in text:
            if found is None:
                raise OffScript(f"the script has {place}, but the request does not say it")
            text = text.replace(place, found)
    return text


def _patch(write: Write) -> str:
    lines = "".join(f"+{line}\n" for line in write.text.splitlines())
    return f"*** Begin Patch\n*** Add File: {write.path}\n{lines}*** End Patch\n"


def _create(write: Write) -> dict[str, object]:
    return {"file_path": write.path, "content": write.text}


WRITERS: Final[Mapping[str, Callable[[Write], dict[str, object] | str]]] = {
    **dict.fromkeys(("Write", "Create", "create", "write", "write_file"), _create),
    "apply_patch": _patch,
}

ALIASES: Final = {"file_path": ("path", "filePath"), "content": ("file_text",)}
"""Agents have the same tools, and their own names for the parts of the input."""

RISK: Final = {"riskLevel": "medium", "riskLevelReason": "as scripted", "timeout": 600}


def _run(shell: Shell) -> dict[str, object]:
    return {"command": shell.command, "description": "as scripted"}


SHELLS: Final[Mapping[str, Callable[[Shell], dict[str, object] | str]]] = {
    "Bash": _run,
    "bash": _run,
    "run_shell_command": _run,
    "Execute": lambda shell: {"command": shell.command, **RISK},
    "exec_command": lambda shell: {"cmd": shell.command},
}


def _tool_call(action: ScriptedAction, asked: ModelRequestLog) -> ScriptedCall:
    """Return the call for an action, by the tools that the agent offers."""
    match action:
        case ScriptedCall():
            return action
        case Write():
            return _first_offered(WRITERS, action, asked)
        case Shell():
            return _first_offered(SHELLS, action, asked)


def _first_offered(known: Mapping[str, Any], action: Any, asked: ModelRequestLog) -> ScriptedCall:
    for name, input_of in known.items():
        if name in asked.tools:
            return ScriptedCall(name=name, input=_declared(input_of(action), asked.inputs[name]))
    offered = ", ".join(sorted(asked.tools))
    raise OffScript(f"none of {', '.join(known)} is offered, only {offered}")


def _declared(given: dict[str, object] | str, declared: frozenset[str]) -> dict[str, object] | str:
    """Return the input with the names that the tool declares for its parts."""
    if isinstance(given, str):
        return given
    return {
        next((name for name in (key, *ALIASES.get(key, ())) if name in declared), key): value
        for key, value in given.items()
    }
