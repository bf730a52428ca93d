"""How simple commands may end: which always succeed, which only pass a status on."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ralph.documents.shell.interpreter import DEEPEST, Shell
from ralph.documents.shell.ways import ANY, FAIL, OK, How, Ways, caught, negated, with_status
from ralph.documents.shell.words import constant, literal, parse, script_text, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

Words = Sequence["Node"]

SUCCEEDS: Final = frozenset(
    {"true", ":", "echo", "printf", "sleep", "date", "pwd", "umask", "alias", "times", "jobs"}
    | {"hash", "clear", "coproc"}
)
"""Nothing about the work can make these fail."""

FILTERS: Final[dict[str, tuple[str, ...]]] = {
    "awk": ("exit",),
    "sed": ("q", "Q"),
    "sort": ("-c", "-C", "--check"),
    **dict.fromkeys(("tee", "cat", "tail", "head", "uniq", "wc", "tr", "cut", "nl", "fold"), ()),
    **dict.fromkeys(("fmt", "column", "tac", "rev", "ts", "less", "more", "pr", "expand"), ()),
    **dict.fromkeys(("base64", "md5sum", "sha256sum", "gzip"), ()),
}
"""These succeed at the end of a pipe, unless an argument contains one of the signs."""

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
WRAPPERS: Final = frozenset(
    {"command", "builtin", "env", "nohup", "nice", "time", "timeout", "sudo", "stdbuf", "setsid"}
    | {"ionice", "chronic"}
)
"""These end with the status of the command in their arguments."""

SYSTEM_FOLDERS: Final = ("/bin/", "/usr/bin/", "/usr/local/bin/")


def run(shell: Shell, words: Words) -> Ways:
    """A name and its arguments."""
    name = literal(words[0]) if words else None
    if name is None:
        return ANY
    if (body := shell.functions.get(name)) is not None:
        return caught(shell.deeper(lambda: shell.statement(body)), "return")
    for folder in SYSTEM_FOLDERS:
        name = name.removeprefix(folder)
    arguments = words[1:]
    if name in BUILTINS:
        return BUILTINS[name](shell, arguments)
    if name in SHELLS:
        return _inner_shell(shell, arguments)
    if name in WRAPPERS:
        return _wrapped(shell, arguments)
    if shell.piped and name in FILTERS:
        given = [literal(word) or "" for word in arguments]
        return ANY if any(sign in word for word in given for sign in FILTERS[name]) else OK
    return OK if name in SUCCEEDS else ANY


def _wrapped(shell: Shell, arguments: Words) -> Ways:
    """`env A=1 make`, `timeout 10m make`, `nice -n 5 make`."""
    for index, word in enumerate(arguments):
        text = literal(word)
        if text in ("-v", "-V", "--version", "--help"):
            return ANY
        if text is None or not (text[:1] in "-0123456789" or "=" in text):
            return run(shell, arguments[index:])
    return ANY


def _inner_shell(shell: Shell, arguments: Words) -> Ways:
    """`bash -c '…'`, `bash <<EOF`; what stands in a file may do anything."""
    inner = shell.inner()
    script = shell.heredoc
    waiting = list(arguments)
    while waiting:
        option = literal(waiting.pop(0)) or ""
        if option[:1] not in ("-", "+"):
            return ANY
        value = literal(waiting.pop(0)) if option.endswith("o") and waiting else None
        inner.options([option, value or ""])
        if "c" in option and not option.startswith("--") and waiting:
            script = script_text(waiting[0])
            break
    if script is None or inner.depth > DEEPEST:
        return ANY
    return with_status(inner.leaves(parse(script).children))


def _leave(how: How) -> Callable[[Shell, Words], Ways]:
    def leave(shell: Shell, arguments: Words) -> Ways:
        if not arguments or text_of(arguments[0]).strip('"') == "$?":
            return with_status(shell.last, how)
        status = literal(arguments[0])
        if status is None:
            return with_status((True, False), how)
        return with_status({status.isdecimal() and int(status) % 256 == 0}, how)

    return leave


def _always(ways: Ways) -> Callable[[Shell, Words], Ways]:
    return lambda _shell, _arguments: ways


def _not(shell: Shell, arguments: Words) -> Ways:
    """The second one of `! ! make`, which the grammar takes for a command."""
    return negated(run(shell, arguments))


def _set(shell: Shell, arguments: Words) -> Ways:
    shell.options([literal(word) or "" for word in arguments])
    return OK


def _eval(shell: Shell, arguments: Words) -> Ways:
    return shell.script(" ".join(script_text(word) for word in arguments))


def _exec(shell: Shell, arguments: Words) -> Ways:
    """Nothing that follows is reached; without a command it only redirects."""
    if not arguments:
        return OK
    return with_status((ok for _, ok in _wrapped(shell, arguments)), "exit")


def _wait(_shell: Shell, arguments: Words) -> Ways:
    """Without a job's number it waits for all of them, and succeeds."""
    return ANY if arguments else OK


def _trap(shell: Shell, arguments: Words) -> Ways:
    if any(literal(word) in ("EXIT", "0") for word in arguments[1:]):
        script = script_text(arguments[0])
        shell.on_exit = "" if script == "-" else script
    return OK


def _test(_shell: Shell, arguments: Words) -> Ways:
    answer = constant([literal(word) for word in arguments])
    return ANY if answer is None else with_status({answer})


BUILTINS: Final[dict[str, Callable[[Shell, Words], Ways]]] = {
    "exit": _leave("exit"),
    "return": _leave("return"),
    "break": _always(with_status({True}, "loop")),
    "continue": _always(with_status({True}, "loop")),
    "false": _always(FAIL),
    "!": _not,
    "set": _set,
    "eval": _eval,
    "exec": _exec,
    "wait": _wait,
    "trap": _trap,
    "test": _test,
}
