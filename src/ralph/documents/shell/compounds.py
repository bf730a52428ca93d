"""Groups, conditions and loops: which of their scripts run, and how that ends."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from ralph.core.shell.tree import Branch, Compound, Redirect, Script, Text, Variable, Word
from ralph.documents.shell.conditions import FAILED, constant_brackets, constant_sum
from ralph.documents.shell.interpreter import Around, Interpreter
from ralph.documents.shell.ways import (
    NONE,
    State,
    Way,
    Ways,
    either,
    ended,
    failed,
    succeeded,
    then,
)
from ralph.documents.shell.words import literal, script_text

ALWAYS_THERE: Final = frozenset({"/dev/null", "/dev/zero", "/dev/stdin"})


class Round(NamedTuple):
    """A loop before it decides whether to go on."""

    state: State
    status: bool
    """With which it ends if it does not."""


class Compounds(Interpreter):
    """Evaluates compounds. Simple commands are left to others."""

    def compound(self, command: Compound, state: State, around: Around) -> Ways:
        """All that holds other scripts."""
        inside = redirected(command.redirects, state, around)
        ways = KINDS[command.kind](self, command, state, inside)
        if command.kind in ("(", "[[", "(("):
            ways = self.settled(ways, state, around)
        if may_be_missing(command.redirects, state):
            ways |= self.settled(failed(state), state, around)
        return ways

    def _group(self, command: Compound, state: State, around: Around) -> Ways:
        return self.script(command.scripts[0], state, around)

    def _subshell(self, command: Compound, state: State, around: Around) -> Ways:
        return self.subshell(command.scripts[0], state, around)

    def _aside(self, _command: Compound, state: State, _around: Around) -> Ways:
        return succeeded(state)

    def _if(self, command: Compound, state: State, around: Around) -> Ways:
        return self._branches(command.scripts, state, around)

    def _branches(self, scripts: Sequence[Script], state: State, around: Around) -> Ways:
        match scripts:
            case [condition, following, *rest]:
                asked = self.script(condition, state, around._replace(watched=False))
                return then(
                    asked,
                    lambda now: (
                        self.script(following, now, around)
                        if now.ok
                        else self._branches(rest, now, around)
                    ),
                )
            case [otherwise]:
                return self.script(otherwise, state, around)
            case _:
                return succeeded(state)

    def _while(self, command: Compound, state: State, around: Around) -> Ways:
        condition, body = command.scripts
        inside = around._replace(loops=around.loops + 1)
        left: set[Way] = set()

        def once(before: Round) -> set[Round]:
            following: set[Way] = set()
            for asked in self.script(condition, before.state, inside._replace(watched=False)):
                if asked.how != "end":
                    following.add(asked)
                elif asked.state.ok == (command.kind == "while"):
                    following |= self.script(body, asked.state, inside)
                else:
                    left.add(Way("end", asked.state._replace(ok=before.status)))
            return _next(following, left)

        _all_rounds({Round(state, status=True)}, once)
        return frozenset(left)

    def _for(self, command: Compound, state: State, around: Around) -> Ways:
        """As many rounds as there are words; where nobody knows, any number of them."""
        inside = around._replace(loops=around.loops + 1)
        left: set[Way] = set()

        def once(before: Round) -> set[Round]:
            return _next(self.script(command.scripts[0], before.state, inside), left)

        words = command.words if command.name else ()
        before = self.substituted(words, state, around, default=state.ok)
        rounds = {Round(way.state, status=True) for way in before}
        for _ in filter(_is_there, words):
            following = {after for before in rounds for after in once(before)}
            if following == rounds:
                break
            rounds = following
        if not command.name or any(literal(word, state) is None for word in words):
            rounds = _all_rounds(rounds, once)
        if not _is_endless(command):
            left |= {Way("end", each.state._replace(ok=each.status)) for each in rounds}
        return frozenset(left)

    def _select(self, command: Compound, state: State, around: Around) -> Ways:
        """It ends with a failure when there is nothing left to read."""
        return self._for(command, state, around) | either(state)

    def _case(self, command: Compound, state: State, around: Around) -> Ways:
        subject = command.words[0]
        before = self.substituted([subject], state, around, default=state.ok)
        return then(
            before,
            lambda now: self._matched(literal(subject, now), command.branches, now, around),
        )

    def _matched(
        self,
        subject: str | None,
        branches: Sequence[Branch],
        state: State,
        around: Around,
        *,
        is_first: bool = True,
    ) -> Ways:
        """The first branch that fits; `$?` in it is what it was before."""
        ways: Ways = NONE
        for number, branch in enumerate(branches):
            fits = _fits(subject, branch, state)
            if fits is not False:
                ways |= self._branch(subject, branches[number:], state, around)
            if fits:
                return ways
        return ways | (succeeded(state) if is_first else {Way("end", state)})

    def _branch(
        self, subject: str | None, branches: Sequence[Branch], state: State, around: Around
    ) -> Ways:
        branch, *rest = branches
        ways = self.script(branch.script, state, around)
        if branch.ending == ";&" and rest:
            return then(ways, lambda now: self._branch(subject, rest, now, around))
        if branch.ending == ";;&":
            return then(ways, lambda now: self._matched(subject, rest, now, around, is_first=False))
        return ways

    def _brackets(self, command: Compound, state: State, _around: Around) -> Ways:
        answer = constant_brackets([literal(word, state) for word in command.words])
        return either(state) if answer is None else ended(state, {answer})

    def _sum(self, command: Compound, state: State, _around: Around) -> Ways:
        answer = constant_sum(literal(command.words[0], state))
        return either(state) if answer is None else ended(state, {answer})


KINDS: Final[dict[str, Callable[[Compounds, Compound, State, Around], Ways]]] = {
    "{": Compounds._group,
    "(": Compounds._subshell,
    "if": Compounds._if,
    "while": Compounds._while,
    "until": Compounds._while,
    "for": Compounds._for,
    "select": Compounds._select,
    "case": Compounds._case,
    "[[": Compounds._brackets,
    "((": Compounds._sum,
    "coproc": Compounds._aside,
}


def redirected(redirects: Sequence[Redirect], state: State, around: Around) -> Around:
    """What is known of the standard input behind the redirections."""
    for redirect in redirects:
        if redirect.number not in ("", "0") or redirect.operator not in ("<", "<<", "<<<"):
            continue
        text = None
        if redirect.operator != "<":
            text = "".join(script_text(word, state) for word in redirect.words)
        around = around._replace(piped=True, stdin=text)
    return around


def may_be_missing(redirects: Sequence[Redirect], state: State) -> bool:
    """A file that is read may be; one that is written says nothing about the work."""
    return any(
        redirect.operator == "<"
        and isinstance(redirect.words[0].parts[0], Text | Variable)
        and literal(redirect.words[0], state) not in ALWAYS_THERE
        for redirect in redirects
    )


def _next(ways: Iterable[Way], left: set[Way]) -> set[Round]:
    """The rounds that follow; the ways that leave the loop are added to `left`."""
    rounds: set[Round] = set()
    for way in ways:
        if way.how == "end":
            rounds.add(Round(way.state, way.state.ok))
        elif way.levels > 1:
            left.add(way._replace(levels=way.levels - 1))
        elif way.how == "continue":
            rounds.add(Round(way.state._replace(ok=True), status=True))
        elif way.how == "break":
            left.add(Way("end", way.state._replace(ok=True)))
        else:
            left.add(way)
    return rounds


def _all_rounds(first: set[Round], once: Callable[[Round], set[Round]]) -> set[Round]:
    """Those, and all that may follow; there are not many states."""
    seen = set(first)
    waiting = list(first)
    while waiting:
        following = once(waiting.pop()) - seen
        seen |= following
        waiting += following
    return seen


def _is_there(word: Word) -> bool:
    """Whether it is at least one word when it is expanded."""
    return any(
        isinstance(part, Text) or (part.quoted and part.name != "@" and not part.index)
        for part in word.parts
        if isinstance(part, Text | Variable)
    )


def _is_endless(command: Compound) -> bool:
    """`for ((;;))`"""
    if command.name:
        return False
    text = "".join(part.text for part in command.words[0].parts if isinstance(part, Text))
    _, _, rest = text.partition(";")
    return rest.partition(";")[0].strip() in ("", "1")


def _fits(subject: str | None, branch: Branch, state: State) -> bool | None:
    """Whether a branch is taken; None when that depends."""
    answers = [_fits_pattern(subject, pattern, state) for pattern in branch.patterns]
    if True in answers:
        return True
    return None if None in answers else False


def _fits_pattern(subject: str | None, pattern: Word, state: State) -> bool | None:
    if pattern.parts and pattern.parts[0] == Text(text="*", start=pattern.start):
        return True
    text = literal(pattern, state)
    if subject is None or text is None:
        return None
    if FAILED in (subject, text):
        return None if subject == text or text not in ("", "0") else False
    return subject == text
