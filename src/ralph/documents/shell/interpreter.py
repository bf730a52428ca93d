"""A shell that only thinks: lists, pipes, subshells, and what options and traps make of them."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from ralph.core.shell.insides import substitutions
from ralph.core.shell.reading import read
from ralph.core.shell.tree import Command, Pipeline, Script, Substitution, Word
from ralph.documents.shell.values import Names
from ralph.documents.shell.ways import (
    NONE,
    State,
    Way,
    Ways,
    either,
    ended,
    succeeded,
    then,
    with_entry,
)

DEEPEST: Final = 8
"""Functions, `eval` and `sh -c` inside one another; deeper ones may do anything."""
MOST_STEPS: Final = 20_000
"""Commands looked at for one gate, so that nested functions cannot take for ever."""


class Around(NamedTuple):
    """Where a statement stands. Nothing that it does changes this."""

    watched: bool = True
    """Whether `set -e` looks at failures here: not in a condition, nor left of `||`."""
    piped: bool = False
    """Whether the standard input is there for certain."""
    stdin: str | None = None
    """What a shell would read there."""
    loops: int = 0
    astray: bool = False
    """In a subshell in a loop, where shells disagree about what `break` does."""
    function: bool = False
    arguments: tuple[Word, ...] | None = None
    """The function's."""
    is_bash: bool = False
    """Not just any sh."""
    depth: int = 0


class Interpreter:
    """Goes through a script and finds all the ways in which it may end."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.trees: dict[str, Script] = {}
        self.bodies: dict[int, Command] = {}
        """All functions, by what states know of them."""
        self.answers: dict[tuple[int, State, Around], Ways] = {}
        self.steps = 0
        self.killed = False
        """Whether a shell ends itself by a signal somewhere, which is a failure for all around."""

    def evaluate(self, command: Command, state: State, around: Around) -> Ways:
        """One command of whatever kind."""
        raise NotImplementedError

    def run(
        self,
        words: Sequence[Word],
        state: State,
        around: Around,
        *,
        functions: bool = True,
        builtins: bool = True,
    ) -> Ways:
        """A name and its arguments; other programs know neither functions nor builtins."""
        raise NotImplementedError

    def statuses(self, script: Script, state: State, around: Around) -> frozenset[bool]:
        """With what a shell of its own that runs the script may end."""
        statuses: set[bool] = set()
        for way in self.script(script, state, around):
            text = dict(way.state.traps).get("EXIT") if way.how != "gone" else None
            if not text:
                statuses.add(way.state.ok)
                continue
            trapped = way.state._replace(traps=with_entry(way.state.traps, "EXIT", None))
            for last in self.text(text, trapped, around):
                leaves = last.how in ("exit", "gone")
                statuses.add(last.state.ok if leaves else way.state.ok)
        return frozenset(statuses)

    def script(self, script: Script, state: State, around: Around) -> Ways:
        """Lists one after the other."""
        ways: Ways = frozenset({Way("end", state)}) if script.pipelines else succeeded(state)
        for pipelines in lists(script):
            ways = then(ways, partial(self._list, pipelines, around=around))
        return ways

    def read(self, text: str) -> Script:
        """Always the same tree for the same text."""
        if text not in self.trees:
            self.trees[text] = read(text)
        return self.trees[text]

    def text(self, text: str, state: State, around: Around) -> Ways:
        """Text that this shell runs as if it stood here (`eval`, a trap)."""
        if around.depth >= DEEPEST:
            return either(state)
        script = self.read(text)
        ways = self.script(script, state, around._replace(depth=around.depth + 1))
        if script.error:
            # Some shells go on behind it, others stop.
            return ways | either(state) | {Way("exit", state._replace(ok=False))}
        return ways

    def _list(self, pipelines: Sequence[Pipeline], state: State, around: Around) -> Ways:
        """`a && b || c`: `set -e` looks at nothing but the last one."""
        if state.noexec:
            return frozenset({Way("end", state)})
        ways: Ways = frozenset({Way("end", state)})
        for number, pipeline in enumerate(pipelines, start=1):
            needed = pipeline.after != "||"
            here = around._replace(watched=around.watched and number == len(pipelines))
            reached: Ways = NONE
            for way in ways:
                skipped = number > 1 and way.state.ok != needed
                is_next = way.how == "end" and not skipped
                reached |= self.pipeline(pipeline, way.state, here) if is_next else {way}
            ways = reached
        # Nobody waits for a background job, so it always "succeeds".
        return succeeded(state) if pipelines[0].background else ways

    def pipeline(self, pipeline: Pipeline, state: State, around: Around) -> Ways:
        """Without `pipefail` the last command alone decides."""
        here = around._replace(watched=around.watched and not pipeline.denied)
        if len(pipeline.commands) == 1:
            ways = self.evaluate(pipeline.commands[0], state, here)
        elif pipeline.commands:
            ways = self.settled(self._pipe(pipeline.commands, state, here), state, here)
        else:
            ways = succeeded(state)
        if not pipeline.denied:
            return ways
        return then(ways, lambda now: ended(now, {not now.ok}))

    def _pipe(self, commands: Sequence[Command], state: State, around: Around) -> Ways:
        results: list[frozenset[bool]] = []
        for number, command in enumerate(commands):
            script = Script(pipelines=(Pipeline(commands=(command,)),))
            inside = around._replace(stdin=None, piped=True) if number else around
            results.append(self._inner(script, state, inside))
        statuses = results[-1]
        if state.pipefail:
            statuses = frozenset(
                [False] * any(False in result for result in results)
                + [True] * all(True in result for result in results)
            )
        return ended(state, statuses)

    def subshell(self, script: Script, state: State, around: Around) -> Ways:
        """`( … )`: knows what this one knows; what it sets is lost."""
        return ended(state, self._inner(script, state, around))

    def _inner(self, script: Script, state: State, around: Around) -> frozenset[bool]:
        astray = around.astray or around.loops > 0
        inside = around._replace(loops=0, astray=astray)
        return self.statuses(script, state._replace(traps=()), inside)

    def substituted(
        self, words: Sequence[Word], state: State, around: Around, *, default: bool
    ) -> Ways:
        """After the last `$(…)` in the words has run; without one `$?` is the default."""
        scripts = [
            part.script
            for word in words
            for part in substitutions(word)
            if isinstance(part, Substitution)
        ]
        if not scripts:
            return ended(state, {default})
        inside = state if state.inherits else state._replace(errexit=False)
        # bash looks away in here where it does so outside; other shells do not.
        watched = {around.watched} if around.is_bash else {around.watched, True}
        statuses: set[bool] = set()
        for each in watched:
            statuses |= self._inner(scripts[-1], inside, around._replace(watched=each))
        return ended(state, statuses)

    def settled(self, ways: Ways, before: State, around: Around) -> Ways:
        """A failure that nobody looks at: a trap may act on it, and `set -e` leaves the shell."""
        if not around.watched:
            return ways
        left: set[Way] = set()
        for way in ways:
            fails = way.how == "end" and not way.state.ok
            left |= set(self._failed(way, before, around)) if fails else {way}
        return frozenset(left)

    def _failed(self, way: Way, before: State, around: Around) -> Iterator[Way]:
        state = way.state
        text = dict(state.traps).get("ERR")
        # A trap that a function sets is not for the call of this function.
        if text and "ERR" in dict(before.traps):
            trapped = state._replace(traps=with_entry(state.traps, "ERR", None))
            ways = self.text(text, trapped, around)
            yield from (last for last in ways if last.how in ("exit", "gone"))
            if not any(last.how == "end" for last in ways):
                return
        yield Way("exit", state) if state.errexit else way


def lists(script: Script) -> list[list[Pipeline]]:
    """Pipelines joined by `&&` and `||` belong together."""
    found: list[list[Pipeline]] = []
    for pipeline in script.pipelines:
        if pipeline.after and found:
            found[-1].append(pipeline)
        else:
            found.append([pipeline])
    return found
