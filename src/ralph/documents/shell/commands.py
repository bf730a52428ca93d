"""How simple commands may end. The way into this folder."""

from collections.abc import Sequence
from typing import Final

from ralph.core.shell.tree import Command, Compound, Function, Script, Simple, Variable, Word
from ralph.documents.shell import programs
from ralph.documents.shell.builtins import BUILTINS, PROGRAMS, wrapped
from ralph.documents.shell.compounds import Compounds, may_be_missing, redirected
from ralph.documents.shell.interpreter import DEEPEST, MOST_STEPS, Around
from ralph.documents.shell.options import Options, switched
from ralph.documents.shell.values import ALWAYS_SET, Names
from ralph.documents.shell.ways import (
    State,
    Way,
    Ways,
    caught,
    either,
    ended,
    failed,
    succeeded,
    then,
    with_entry,
)
from ralph.documents.shell.words import assigned, known_words, literal, script_text, variables

Words = Sequence[Word]

SPECIAL: Final = frozenset(
    {":", ".", "eval", "exec", "exit", "export", "readonly", "set", "shift", "times", "trap"}
    | {"unset", "break", "continue", "return"}
)
"""A mistake in one of these ends sh, though not bash."""


def can_fail(script: Script, text: str) -> bool:
    """Whether a shell that runs this may end with a failure."""
    shell = Shell(Names(text))
    return False in shell.statuses(script, State(), Around()) or shell.killed


class Shell(Compounds):
    """Evaluates all commands."""

    def evaluate(self, command: Command, state: State, around: Around) -> Ways:
        asked = (id(command), state, around)
        if asked not in self.answers:
            self.steps += 1
            many = self.steps > MOST_STEPS
            answer = either(state) if many else self._evaluate(command, state, around)
            self.answers[asked] = answer
        return self.answers[asked]

    def _evaluate(self, command: Command, state: State, around: Around) -> Ways:
        match command:
            case Simple():
                return self._simple(command, state, around)
            case Compound():
                return self.compound(command, state, around)
            case Function():
                self.bodies[id(command.body)] = command.body
                functions = dict(state.functions) | {command.name: id(command.body)}
                return succeeded(state._replace(functions=tuple(sorted(functions.items()))))

    def _simple(self, command: Simple, state: State, around: Around) -> Ways:
        text = dict(state.traps).get("DEBUG")
        if not text:
            return self._untrapped(command, state, around)
        trapped = state._replace(traps=with_entry(state.traps, "DEBUG", None))
        before = self.text(text, trapped, around)
        return then(before, lambda _: self._untrapped(command, state, around))

    def _untrapped(self, command: Simple, state: State, around: Around) -> Ways:
        if command.words:
            for each in command.assignments:
                # Whether `x=1 f` is forgotten behind it depends on the shell.
                state = state._replace(values=with_entry(state.values, each.name, None))
            words = _with_arguments(command.words, around)
            here = redirected(command.redirects, state, around)
            ways = self.run(words, state, here) if words else succeeded(state)
        else:
            ways = then(
                self.substituted(_assigned_words(command), state, around, default=True),
                lambda now: frozenset({Way("end", self._assign(command, now, state))}),
            )
        if may_be_missing(command.redirects, state):
            ways |= failed(state)
            name = literal(command.words[0], state) if command.words else None
            if name in SPECIAL and not around.is_bash:
                ways |= {Way("exit", state._replace(ok=False))}
        if self._may_stop(command, state, around):
            ways |= {Way("exit", state._replace(ok=False))}
        return self.settled(ways, state, around)

    def _assign(self, command: Simple, now: State, before: State) -> State:
        for each in command.assignments:
            value = assigned(each, now._replace(ok=before.ok))
            kept = value if each.name in self.names.followed else None
            now = now._replace(values=with_entry(now.values, each.name, kept))
        return now

    def _may_stop(self, command: Simple, state: State, around: Around) -> bool:
        """`${x:?}`, or `$x` under `set -u`: without a value the shell ends."""
        words = [*command.words, *_assigned_words(command)]
        found = [each for word in words for each in variables(word)]
        return any("?" in each.operator for each in found) or (
            state.nounset and any(self._may_be_unset(each, around) for each in found)
        )

    def _may_be_unset(self, variable: Variable, around: Around) -> bool:
        name = variable.name
        if variable.operator.strip(":") in ("-", "=", "+", "?") or not name.isidentifier():
            return name.isdecimal() and name != "0" and not around.function
        return name not in self.names.given and name not in ALWAYS_SET

    def run(
        self,
        words: Words,
        state: State,
        around: Around,
        *,
        functions: bool = True,
        builtins: bool = True,
    ) -> Ways:
        """A name and its arguments; other programs know neither functions nor builtins."""
        name = literal(words[0], state) if words else None
        if name is None:
            return either(state)
        arguments = words[1:]
        number = dict(state.functions).get(name) if functions else None
        if number is not None:
            return self._call(number, arguments, state, around)
        plain = name
        for folder in programs.SYSTEM_FOLDERS:
            plain = plain.removeprefix(folder)
        known = PROGRAMS.get(plain) or (BUILTINS.get(name) if builtins else None)
        if known is not None:
            return known(self, arguments, state, around)
        if plain in programs.SHELLS:
            return self._inner_shell(plain, arguments, state, around)
        if plain in programs.WRAPPERS:
            return wrapped(self, plain, arguments, state, around)
        given = [literal(word, state) for word in arguments]
        if programs.always_succeeds(plain, given, piped=around.piped):
            return succeeded(state)
        return either(state)

    def _call(self, number: int, arguments: Words, state: State, around: Around) -> Ways:
        if around.depth >= DEEPEST:
            return either(state)
        given = None if self.names.arguments_move else known_words(arguments, state)
        inside = around._replace(depth=around.depth + 1, loops=0, function=True, arguments=given)
        # Without `set -E` it does not know the trap for failures.
        trap = None if state.errtrace else dict(state.traps).get("ERR")
        if trap is None:
            return caught(self.evaluate(self.bodies[number], state, inside), "return")
        entered = state._replace(traps=with_entry(state.traps, "ERR", None))
        ways = caught(self.evaluate(self.bodies[number], entered, inside), "return")
        return frozenset(_with_trap(way, trap) for way in ways)

    def _inner_shell(self, name: str, arguments: Words, state: State, around: Around) -> Ways:
        """`bash -c '…'`, `bash <<EOF`; what stands in a file may do anything."""
        options = Options()
        rest = options.take([literal(word, state) for word in arguments])
        operands = arguments[len(arguments) - len(rest) :]
        if options.is_unknown or (operands and not options.has("c") and not options.has("s")):
            return either(state)
        text = around.stdin
        if options.has("c"):
            text = script_text(operands[0], state) if operands else None
        if text is None or around.depth >= DEEPEST:
            return either(state)
        script = self.read(text)
        if options.has("n"):
            return ended(state, {not script.error})
        is_bash = name == "bash" and not options.has("posix")
        inside = switched(State(inherits=not is_bash), options)
        where = Around(depth=around.depth + 1, is_bash=is_bash, piped=around.piped)
        statuses = self.statuses(script, inside, where)
        return ended(state, {*statuses, not script.error} if script.error else statuses)


def _with_trap(way: Way, text: str) -> Way:
    """The trap for failures is back, unless there is another one."""
    traps = dict(way.state.traps)
    state = way.state._replace(traps=with_entry(way.state.traps, "ERR", traps.get("ERR", text)))
    return way._replace(state=state)


def _with_arguments(words: Words, around: Around) -> Words:
    """`"$@"` is what the function was called with."""
    if around.arguments is None:
        return words
    found: list[Word] = []
    for word in words:
        match word.parts:
            case (Variable(name="@", quoted=True, operator="", index="", word=None),):
                found += around.arguments
            case _:
                found.append(word)
    return found


def _assigned_words(command: Simple) -> list[Word]:
    return [word for each in command.assignments for word in each.words]
