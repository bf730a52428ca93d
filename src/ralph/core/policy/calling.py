"""Which commands a shell text really runs, however it is dressed up. The way into the walk."""

import re
from typing import Final

from ralph.core.policy import builtin
from ralph.core.policy.decision import Ground
from ralph.core.policy.finding import found_commands
from ralph.core.policy.git_words import VARIABLES, git_texts
from ralph.core.policy.known import UNKNOWN, Field, Frame, Known
from ralph.core.policy.shells import Shelled, shelled
from ralph.core.policy.walking import Call, Found, Walker, name_of
from ralph.core.policy.wrappers import ASSIGNMENT, inner, wrapper_of
from ralph.core.shell.escapes import quote
from ralph.core.shell.tree import Command

OPENED: Final = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
ROUNDS: Final = 3
"""How often variables are looked for, since one may hold another that is assigned further down."""
AGAIN: Final = 4
"""How often a function that calls itself is followed with the arguments it gets."""
STEPS: Final = 20_000
"""Commands that are looked at, beside those that the text's length allows for."""
CHARS: Final = 50
"""For so many characters one more. Who waits for the answer is a person's whole team."""

Variables = tuple[tuple[str, str], ...]
Redirects = tuple[tuple[str, Field], ...]


def walk(text: str, ground: Ground) -> list[Found]:
    """All commands in the text, and what could not be made out. Raises TooDeep and TooMuch."""
    cwd = ground.cwd or ground.checkout
    known = Known(
        {"HOME": ground.home, "PWD": cwd, "IFS": " \t\n"}
        | {"SHELL": "/bin/bash", "BASH": "/bin/bash", "TMPDIR": "/tmp"},
        ground.checkout,
    )
    caller = Caller(known, STEPS + len(text) // CHARS)
    for _ in range(ROUNDS):
        caller.start()
        caller.text(Shelled(Field(text, inner=0)), Frame(cwd=cwd))
        caller.uncalled(cwd)
        if not known.has_changed:
            break
    return caller.found


class Caller(Walker):
    """Knows what commands do with the commands and texts in their words."""

    def uncalled(self, cwd: str) -> None:
        """Functions that nobody calls here: somebody may, later."""
        called = {key[0] for key in self.called}
        for name, bodies in list(self.known.functions.items()):
            if name not in called:
                for body in bodies:
                    self.command(body, Frame(cwd=cwd, is_sure=False))

    def call(
        self,
        words: tuple[Field, ...],
        frame: Frame,
        variables: Variables = (),
        redirects: Redirects = (),
    ) -> None:
        first = words[0] if words else Field("")
        name = name_of(first)
        is_clear = first.known and (not first.glob or first.text in ("[", "[["))
        self.found.append(
            Call(
                name if is_clear else "",
                words,
                variables,
                redirects,
                frame.cwd,
                frame.stdin,
                frame.is_sure and first.text not in self.known.functions,
            )
        )
        if not words:
            return
        if not is_clear:
            self._unclear(words, frame, variables)
            return
        if self._own(words, frame):
            # Where the definition does not hold, the program of that name runs.
            frame = frame.copy(is_sure=False)
        self._program(name, words, frame, variables)

    def _unclear(self, words: tuple[Field, ...], frame: Frame, variables: Variables) -> None:
        first = words[0]
        shown = " ".join(word.text for word in words[:4])
        self.doubt("which command runs is known only as the shell runs", shown, frame)
        rest = first.text.replace(UNKNOWN, "")
        other = frame.copy(is_sure=False, level=frame.level + 1)
        self.deeper(other)
        if first.bare:
            # Most variables that nobody set are empty, and then the next word is the command.
            if words[1:]:
                self.call(words[1:], other, variables)
        elif rest and not first.glob:
            self.call((Field(rest), *words[1:]), other, variables)

    def _own(self, words: tuple[Field, ...], frame: Frame) -> bool:
        """Functions and aliases that the text itself defines."""
        name = words[0].text
        if name in self.known.functions:
            for body in list(self.known.functions[name]):
                self._body(name, body, words, frame)
            return True
        if name in self.known.aliases and name not in frame.calls:
            rest = " ".join(quote(word.text) for word in words[1:])
            text = Field(f"{self.known.aliases[name]} {rest}")
            self._inside(Shelled(text), frame, calls=(*frame.calls, name))
            return True
        return False

    def _body(self, name: str, body: Command, words: tuple[Field, ...], frame: Frame) -> None:
        """A function at work; the same again says nothing new."""
        arguments: tuple[tuple[str, ...], ...] = (tuple(word.text for word in words[1:]),)
        this = f"{name} {id(body)}"
        if frame.calls.count(this) >= AGAIN:
            # It calls itself, each time with other arguments: anything, in the end.
            arguments = ()
        key = (name, id(body), arguments, frame.stdin, frame.cwd, frame.is_sure)
        if key in self.called:
            return
        self.called.add(key)
        inside = frame.copy(
            arguments=arguments,
            shifted=False,
            level=frame.level + 1,
            calls=(*frame.calls, this),
        )
        self.deeper(inside)
        self.command(body, inside)
        frame.cwd = inside.cwd

    def _program(
        self, name: str, words: tuple[Field, ...], frame: Frame, variables: Variables
    ) -> None:
        builtin.change(name, words, frame, self.known)
        for found in found_commands(name, words, frame.stdin):
            # `xargs` has read it all.
            stdin = None if name in ("xargs", "parallel") else frame.stdin
            self._inner(found, frame.copy(stdin=stdin), variables)
        for text in shelled(name, _opened(words, frame), frame.stdin):
            self._inside(text, frame)
        if name == "git" or name.startswith("git-"):
            for field in git_texts(words):
                self._inside(Shelled(field), frame)
            for variable in VARIABLES:
                for value in self._values(variable, variables):
                    self._inside(Shelled(Field(value)), frame)
        wrapped = wrapper_of(name, words)
        if wrapped is not None:
            wrapper, at = wrapped
            given = tuple(
                (word.text.partition("=")[0], word.text.partition("=")[2])
                for word in words[1:]
                if wrapper.assigns and ASSIGNMENT.match(word.text)
            )
            for number, each in enumerate(inner(words, wrapper, at)):
                sure = frame.is_sure and number == 0
                self._inner(tuple(each), frame.copy(is_sure=sure), (*variables, *given))

    def _values(self, name: str, variables: Variables) -> list[str]:
        """Of a variable that a command would look at."""
        given = [value for key, value in variables if key == name]
        elsewhere = [value[0] for value in self.known.variables.get(name, {}) if value]
        return [value for value in dict.fromkeys([*given, *elsewhere]) if value.strip()]

    def _inner(self, words: tuple[Field, ...], frame: Frame, variables: Variables) -> None:
        frame.level += 1
        self.deeper(frame)
        self.call(words, frame, variables)

    def _inside(self, text: Shelled, frame: Frame, calls: tuple[object, ...] | None = None) -> None:
        inside = frame.copy(
            level=frame.level + 1,
            calls=frame.calls if calls is None else calls,
            stdin=None if text.is_stdin else frame.stdin,
        )
        if text.arguments is not None:
            inside.arguments, inside.shifted = (text.arguments,), False
            inside.zero = text.zero
        self.text(text, inside)
        frame.cwd = inside.cwd if calls is not None else frame.cwd


def _opened(words: tuple[Field, ...], frame: Frame) -> tuple[Field, ...]:
    """The same, with what stands behind numbers that the text itself has opened."""
    if not frame.inputs:
        return words
    return tuple(
        word._replace(printed=frame.inputs.get(found[1], word.printed))
        if (found := OPENED.fullmatch(word.text))
        else word
        for word in words
    )
