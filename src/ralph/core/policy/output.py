"""What a command prints, where its words already say so: `echo`, `printf`, `cat`."""

import re
from collections.abc import Callable, Sequence
from posixpath import dirname
from typing import Final

from ralph.core.policy.finding import listed
from ralph.core.policy.known import ALL, UNKNOWN, Field
from ralph.core.policy.places import some_of
from ralph.core.policy.processes import FIRST_PROCESS, lists_all
from ralph.core.shell.escapes import ansi

SILENT: Final = (":", "true", "false", "cd", "set", "export", "mkdir", "sleep", "test")
GIT_FOLDERS: Final = ("--git-dir", "--absolute-git-dir", "--git-common-dir")
DIRECTIVE: Final = re.compile(r"%(?:%|[sb]|q|[-0-9.]*[a-zA-Z])")
ESCAPE: Final = re.compile(r"\\[abceEfnrtvxuU0-9\\]")
MOST: Final = 1000


def printed(
    name: str, words: Sequence[Field], stdin: str | None, cwd: str | None, checkout: str
) -> str:
    """What it prints; UNKNOWN for what nobody can tell from here."""
    arguments = [some_of(field) for field in words[1:]]
    place = _place(name, arguments, cwd, checkout)
    if place:
        return f"{place}\n"
    if name in ("which", "command", "type"):
        return _located(name, arguments)
    if files := listed(name, words):
        return "\n".join(files) + "\n"
    if lists_all(name, arguments):
        return f"{FIRST_PROCESS}\n"
    if name in PRINTERS:
        return PRINTERS[name](arguments)
    options = [text for text in arguments if text.startswith("-") and text != "-"]
    files = [text for text in arguments if text not in ("-", "/dev/stdin") and text not in options]
    if name == "tee" or (name == "cat" and not files):
        return UNKNOWN if stdin is None else stdin
    if name == "cat" and len(words) == 2 and words[1].printed is not None:
        return words[1].printed
    return _some_lines(name, arguments, stdin or "")


def _some_lines(name: str, arguments: list[str], stdin: str) -> str:
    """What a filter leaves: of files in known folders, some; of all processes, those it names."""
    if stdin == f"{FIRST_PROCESS}\n":
        program = next((text for text in arguments if not text.startswith("-")), "")
        is_all = name in ("sort", "cut", "tr", "tail") or (name == "awk" and program[:1] == "{")
        return stdin if is_all else UNKNOWN
    lines = {line.replace(ALL, f"/{UNKNOWN}") for line in stdin.splitlines() if UNKNOWN in line}
    return "".join(f"{line}\n" for line in sorted(lines)) or UNKNOWN


def _place(name: str, arguments: list[str], cwd: str | None, checkout: str) -> str | None:
    """The folder that a command prints, if it is one of those."""
    last = arguments[-1] if arguments else ""
    match name:
        case "pwd":
            return cwd
        case "mktemp":
            return f"{dirname(last) or '/tmp'}/{UNKNOWN}"
        case "realpath" | "readlink" if last.startswith("/"):
            return last
        case "dirname" if len(arguments) == 1 and last.startswith("/"):
            return dirname(last.rstrip("/"))
        case "git" if arguments[:1] == ["rev-parse"] and checkout:
            inside = {"--show-toplevel": "", **dict.fromkeys(GIT_FOLDERS, "/.git")}
            return checkout + inside[last] if last in inside else None
    return None


def _located(name: str, arguments: list[str]) -> str:
    """Where a program lies: wherever that is, its name is its own."""
    options = {text for text in arguments if text.startswith("-")}
    names = [text for text in arguments if not text.startswith("-")]
    asks = name == "which" or options in ([{"-v"}] if name == "command" else [{"-p"}, {"-P"}])
    return f"{names[0]}\n" if asks and len(names) == 1 else UNKNOWN


def _echo(arguments: list[str]) -> str:
    escapes = False
    end = "\n"
    while arguments and re.fullmatch("-[neE]+", arguments[0]):
        escapes = escapes or "e" in arguments[0]
        end = "" if "n" in arguments[0] else end
        arguments = arguments[1:]
    text = " ".join(arguments)
    if ESCAPE.search(text) and not escapes:
        # Some shells understand these here without being asked.
        return UNKNOWN
    return (ansi(text) if escapes else text) + end


def _printf(arguments: list[str]) -> str:
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    if not arguments or arguments[0].startswith("-v"):
        return ""
    form, *values = arguments
    form = ansi(form)
    if len(values) > MOST:
        return UNKNOWN
    text = ""
    while True:
        before = len(values)
        text += DIRECTIVE.sub(lambda found: _filled(found.group(), values), form)
        if not values or len(values) == before:
            return text


def _filled(directive: str, values: list[str]) -> str:
    if directive == "%%":
        return "%"
    value = values.pop(0) if values else ""
    value = ansi(value) if directive == "%b" else value
    return value if directive in ("%s", "%b", "%d") else UNKNOWN


PRINTERS: Final[dict[str, Callable[[list[str]], str]]] = {
    "echo": _echo,
    "printf": _printf,
    **dict.fromkeys(SILENT, lambda _arguments: ""),
}
