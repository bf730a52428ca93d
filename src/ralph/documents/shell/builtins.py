"""What a shell's own commands do: leave, set, trap, test, or run something else."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from ralph.core.shell.tree import Variable, Word
from ralph.documents.shell import programs
from ralph.documents.shell.conditions import FAILED, constant
from ralph.documents.shell.interpreter import Around, Interpreter
from ralph.documents.shell.options import Options, switched
from ralph.documents.shell.ways import (
    How,
    State,
    Way,
    Ways,
    either,
    ended,
    failed,
    succeeded,
    with_entry,
)
from ralph.documents.shell.words import literal, script_text

Words = Sequence[Word]

HERE: Final = frozenset({"$$", "$PPID", "$BASHPID", "0", "-1"})
"""Whom to kill in order to end oneself."""
HARMLESS: Final = ("/activate", ".env", "rc", "profile")
"""Files with these names set variables, and no options."""
ALWAYS_THERE: Final = re.compile(r"-|/|\.{1,2}(/\.{1,2})*/?")
"""Folders to go back to."""


def _leave(how: How) -> "Builtin":
    def leave(_shell: Interpreter, arguments: Words, state: State, _around: Around) -> Ways:
        status = literal(arguments[0], state) if arguments else ""
        if status == "":
            return frozenset({Way(how, state)})
        if status is None:
            return frozenset({Way(how, way.state) for way in either(state)})
        ok = status != FAILED and status.isdecimal() and int(status) % 256 == 0
        return frozenset({Way(how, state._replace(ok=ok))})

    return leave


def _loop(how: How) -> "Builtin":
    def leave(_shell: Interpreter, arguments: Words, state: State, around: Around) -> Ways:
        here = succeeded(state)
        if around.astray and not around.loops:
            return here if around.is_bash else here | {Way("exit", state._replace(ok=True))}
        if not around.loops:
            return here
        levels = literal(arguments[0], state) if arguments else "1"
        number = int(levels) if levels and levels.isdecimal() else 1
        return frozenset({Way(how, state._replace(ok=True), min(number, around.loops))})

    return leave


def _succeed(_shell: Interpreter, _arguments: Words, state: State, _around: Around) -> Ways:
    """`export A=$(b)` succeeds whatever b does."""
    return succeeded(state)


def _fail(_shell: Interpreter, _arguments: Words, state: State, _around: Around) -> Ways:
    return failed(state)


def _declare(shell: Interpreter, arguments: Words, state: State, around: Around) -> Ways:
    """Sets something, or tells about it, which fails if it is not there."""
    first = literal(arguments[0], state) if arguments else None
    if first is not None and first.startswith("-") and set(first) & set("pfF"):
        return either(state)
    return _succeed(shell, arguments, state, around)


def _unset(_shell: Interpreter, arguments: Words, state: State, _around: Around) -> Ways:
    given = [literal(word, state) for word in arguments]
    kept = tuple(each for each in state.functions if each[0] not in given)
    without = succeeded(state._replace(functions=kept))
    # Without a sign it is a variable, or else, in some shells, a function.
    return without if "-f" in given else without | succeeded(state)


def _go(_shell: Interpreter, arguments: Words, state: State, _around: Around) -> Ways:
    """`cd web; npm test; cd ..`: the way back is always open."""
    words = [literal(word, state) for word in arguments]
    is_open = all(word is not None and ALWAYS_THERE.fullmatch(word) for word in words)
    return succeeded(state) if is_open else either(state)


def _back(_shell: Interpreter, arguments: Words, state: State, around: Around) -> Ways:
    """Only bash has it."""
    return succeeded(state) if around.is_bash and not arguments else either(state)


def _set(_shell: Interpreter, arguments: Words, state: State, _around: Around) -> Ways:
    options = Options()
    options.take([literal(word, state) for word in arguments])
    now = switched(state, options)
    if not options.is_unknown:
        return succeeded(now)
    return succeeded(now._replace(errexit=True)) | succeeded(now._replace(errexit=False))


def _shopt(_shell: Interpreter, arguments: Words, state: State, around: Around) -> Ways:
    """Only bash has it."""
    given = [literal(word, state) or "" for word in arguments]
    signs = "".join(word for word in given if word.startswith("-"))
    if "s" not in signs and "u" not in signs:
        return either(state)
    on = "s" in signs
    if "inherit_errexit" in given:
        state = state._replace(inherits=on)
    if "o" in signs:
        options = Options()
        options.take([word for name in given for word in ("-o" if on else "+o", name)])
        state = switched(state, options)
    return succeeded(state) if around.is_bash else either(state)


def _eval(shell: Interpreter, arguments: Words, state: State, around: Around) -> Ways:
    text = " ".join(script_text(word, state) for word in arguments)
    if any(literal(word, state) is None for word in arguments):
        state = state._replace(values=())
    return shell.text(text, state, around)


def _source(_shell: Interpreter, arguments: Words, state: State, _around: Around) -> Ways:
    """What stands in the file may also make the shell a strict one."""
    name = literal(arguments[0], state) if arguments else None
    state = state._replace(values=())
    if name is not None and name.endswith(HARMLESS):
        return either(state)
    return either(state) | either(state._replace(errexit=True, pipefail=True))


def _command(shell: Interpreter, arguments: Words, state: State, around: Around) -> Ways:
    """Without functions of that name."""
    waiting = list(arguments)
    while waiting and (text := literal(waiting[0], state) or "").startswith("-"):
        if "v" in text.lower():
            return either(state)
        waiting.pop(0)
    return shell.run(waiting, state, around, functions=False)


def _exec(shell: Interpreter, arguments: Words, state: State, around: Around) -> Ways:
    """Nothing that follows is reached, no trap either; without a command it only redirects."""
    if not arguments:
        return succeeded(state)
    return frozenset(
        Way("gone", way.state) for way in wrapped(shell, "exec", arguments, state, around)
    )


def wrapped(shell: Interpreter, name: str, arguments: Words, state: State, around: Around) -> Ways:
    """`env A=1 make`, `timeout 10m make`, `nice -n 5 make`."""
    waiting = list(arguments)
    valued = programs.VALUES.get(name, "")
    while waiting:
        text = literal(waiting[0], state)
        if text is None or not (text.startswith("-") or "=" in text):
            break
        if text in ("-S", "--split-string", "--version", "--help"):
            return either(state)
        del waiting[: 2 if programs.takes_value(text, valued) else 1]
        if text == "--":
            break
    if name == "timeout":
        del waiting[:1]
    if not waiting and name == "env":
        return succeeded(state)  # prints the environment
    if programs.leaves_it(name, [literal(word, state) for word in arguments]):
        return succeeded(state)
    return shell.run(waiting, state, around, functions=False, builtins=False)


def _wait(_shell: Interpreter, arguments: Words, state: State, _around: Around) -> Ways:
    """Without a job's number it waits for all of them, and succeeds."""
    return either(state) if arguments else succeeded(state)


def _kill(shell: Interpreter, arguments: Words, state: State, _around: Around) -> Ways:
    asks = any(literal(word, state) in ("-0", "-l", "-L") for word in arguments)
    whom = {_as_variable(word) or literal(word, state) for word in arguments}
    shell.killed = shell.killed or (not asks and bool(whom & HERE))
    return either(state)


def _as_variable(word: Word) -> str:
    (first, *rest) = word.parts or (None,)
    return f"${first.name}" if isinstance(first, Variable) and not rest else ""


def _trap(_shell: Interpreter, arguments: Words, state: State, _around: Around) -> Ways:
    given = [literal(word, state) for word in arguments]
    if given[:1] == ["--"]:
        arguments, given = arguments[1:], given[1:]
    if not given or given[0] in ("-p", "-l"):
        return succeeded(state)
    resets = given[0] == "-" or len(given) == 1
    text = None if resets else script_text(arguments[0], state)
    for name in given if len(given) == 1 else given[1:]:
        signal = "EXIT" if name == "0" else (name or "").upper().removeprefix("SIG")
        state = state._replace(traps=with_entry(state.traps, signal, text))
    return succeeded(state)


def _test(_shell: Interpreter, arguments: Words, state: State, _around: Around) -> Ways:
    answer = constant([literal(word, state) for word in arguments])
    return either(state) if answer is None else ended(state, {answer})


def _bracket(shell: Interpreter, arguments: Words, state: State, around: Around) -> Ways:
    if not arguments or literal(arguments[-1], state) != "]":
        return either(state)
    return _test(shell, arguments[:-1], state, around)


Builtin = Callable[[Interpreter, Words, State, Around], Ways]

BUILTINS: Final[dict[str, Builtin]] = {
    "exit": _leave("exit"),
    "return": _leave("return"),
    "break": _loop("break"),
    "continue": _loop("continue"),
    "cd": _go,
    "popd": _back,
    "set": _set,
    "shopt": _shopt,
    "eval": _eval,
    ".": _source,
    "source": _source,
    "command": _command,
    "builtin": _command,
    "exec": _exec,
    "wait": _wait,
    "kill": _kill,
    "trap": _trap,
    "unset": _unset,
    **dict.fromkeys(("export", "readonly", "local"), _declare),
    **dict.fromkeys(("declare", "typeset"), _declare),
}
PROGRAMS: Final[dict[str, Builtin]] = {"false": _fail, "test": _test, "[": _bracket}
"""These are also files, so that other programs can call them."""
