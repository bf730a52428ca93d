"""What the page's buttons do: each is a command line of `ralph`, with the same refusals."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple
from urllib.parse import unquote

import msgspec

Fields = Mapping[str, str]


class CommandLine(NamedTuple):
    words: tuple[str, ...]
    stdin: bytes = b""
    is_run: bool = False
    """It goes on for as long as a run does, and is not waited for."""


class BadWrite(Exception):
    """A form that none of our pages sends."""


def command_of(fields: Fields) -> CommandLine:
    make = WRITES.get(fields.get("do", ""))
    if make is None:
        raise BadWrite("there is no such button")
    return make(fields)


def _task(*words: str) -> Callable[[Fields], CommandLine]:
    """A command about one task, with a reason where the form has one."""

    def make(fields: Fields) -> CommandLine:
        reason = fields.get("reason", "").strip()
        options = (f"--reason={reason}",) if reason else ()
        return CommandLine((*words, *options, "--", fields["task"]))

    return make


def _plain(*words: str, is_run: bool = False) -> Callable[[Fields], CommandLine]:
    return lambda _: CommandLine(words, is_run=is_run)


def _add(fields: Fields) -> CommandLine:
    options = [f"--{name}={fields[name]}" for name in ("priority", "parent") if fields.get(name)]
    options += [f"--blocked-by={name}" for name in fields.get("blocked-by", "").split()]
    text = fields.get("description", "").replace("\r\n", "\n")
    words = ("task", "add", *options, "--description=-", "--", fields["title"])
    return CommandLine(words, text.encode())


def _edit(fields: Fields) -> CommandLine:
    text = fields["description"].replace("\r\n", "\n")
    options = (f"--title={fields['title']}", f"--priority={fields['priority']}")
    words = ("task", "update", *options, "--description=-", "--", fields["task"])
    return CommandLine(words, text.encode())


def _inject(fields: Fields) -> CommandLine:
    task = (f"--task={fields['task']}",) if fields.get("task") else ()
    return CommandLine(("session", "inject", *task, "--", "-"), fields["message"].encode())


def _import(fields: Fields) -> CommandLine:
    text = fields["text"].replace("\r\n", "\n")
    return CommandLine(("task", "import", "--", "-"), text.encode())


def _comment(fields: Fields) -> CommandLine:
    """Several comments that the script has collected, or the one that is in the form, where a path
    is written as in an address: a page cannot hold every path."""
    drafts = fields.get("comments", "")
    if not drafts:
        lines = {name: int(fields[name]) for name in ("first", "last")}
        about = {name: fields[name] for name in ("side", "text")}
        path = unquote(fields["path"])
        drafts = msgspec.json.encode([{"path": path, **about, **lines}]).decode()
    attempt = f"--attempt={fields['attempt']}"
    return CommandLine(
        ("review", "comment", attempt, "--from=-", "--", fields["task"]), drafts.encode()
    )


def _dismiss(fields: Fields) -> CommandLine:
    about = (fields["task"], fields["finding"], fields["reason"])
    return CommandLine(("task", "dismiss", "--", *about))


def _apply(fields: Fields) -> CommandLine:
    attempt = (f"--attempt={fields['attempt']}",) if fields.get("attempt") else ()
    return CommandLine(("task", "apply", *attempt, "--", fields["task"]))


WRITES: Final[Mapping[str, Callable[[Fields], CommandLine]]] = {
    "retry": _task("task", "retry"),
    "unblock": _task("task", "unblock"),
    "done": _task("task", "done"),
    "skip": _task("session", "skip"),
    "undo": _task("undo", "--yes"),
    "dismiss": _dismiss,
    "comment": _comment,
    "apply": _apply,
    "edit": _edit,
    "add": _add,
    "import": _import,
    "inject": _inject,
    "run": _plain("run", is_run=True),
    "pause": _plain("pause"),
    "resume": _plain("resume"),
    "stop": _plain("stop"),
    "stop-now": _plain("stop", "--now"),
    "reset": _plain("breaker", "reset"),
}
