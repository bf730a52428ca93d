"""A shell that only thinks: what its options, functions and traps make of statements."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ralph.documents.shell.ways import (
    ANY,
    FAIL,
    NONE,
    OK,
    Ways,
    ends,
    leaving,
    negated,
    with_status,
)
from ralph.documents.shell.words import parse

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST: Final = 8
"""Functions, `eval` and `sh -c` inside one another; deeper ones may do anything."""
MOST_STEPS: Final = 20_000
"""Statements looked at for one command, so that nested functions cannot take for ever."""

Table = Mapping[str, Callable[["Shell", "Node"], Ways]]
"""How each kind of statement may end, by the grammar's name for it."""


class Shell:
    """One shell: the options and functions that earlier statements have set."""

    errexit = False
    pipefail = False
    watched = True
    """Whether `set -e` looks at failures here: not in a condition, nor left of `||`."""
    piped = False
    """Whether the standard input comes from a pipe."""
    depth = 0
    on_exit = ""
    heredoc: str | None = None
    last: frozenset[bool] = frozenset({True})
    """What `$?` may be."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.functions: dict[str, Node] = {}
        self.steps = [0]

    def inner(self) -> "Shell":
        """A new shell that this one starts and waits for."""
        shell = Shell(self.table)
        shell.steps, shell.depth = self.steps, self.depth + 1
        return shell

    def subshell(self, statements: Sequence["Node"], *, piped: bool = False) -> Ways:
        """`( … )`: knows what this one knows; what it sets is lost."""
        shell = Shell(self.table)
        vars(shell).update(vars(self), functions=dict(self.functions), on_exit="")
        shell.piped = piped or self.piped
        return with_status(shell.leaves(statements))

    def leaves(self, statements: Sequence["Node"]) -> frozenset[bool]:
        """The statuses with which this shell may end."""
        statuses = frozenset(ok for _, ok in self.block(statements))
        if self.on_exit:
            self.last = statuses
            after = self.script(self.on_exit)
            exits = frozenset(ok for how, ok in after if how == "exit")
            statuses = exits | statuses if ends(after) else exits
        return statuses

    def block(self, children: Sequence["Node"]) -> Ways:
        """Statements one after the other."""
        ways = OK
        for child, following in zip(children, [*children[1:], None], strict=False):
            if not child.is_named or child.type == "comment":
                continue
            if not ends(ways):
                break
            # Nobody waits for a background job, so it always "succeeds".
            background = following is not None and following.type == "&"
            now = OK if background else self.statement(child)
            self.last = ends(now)
            ways = leaving(ways) | now
        return ways

    def statement(self, node: "Node") -> Ways:
        """One statement."""
        self.steps[0] += 1
        evaluate = self.table.get(node.type)
        if evaluate is None or self.steps[0] > MOST_STEPS:
            return self.settled(ANY)
        return evaluate(self, node)

    def settled(self, ways: Ways) -> Ways:
        """Under `set -e` a failure that nobody looks at leaves the shell."""
        if not (self.errexit and self.watched and ("end", False) in ways):
            return ways
        return (ways - FAIL) | {("exit", False)}

    def unwatched(self, statements: Sequence["Node"]) -> Ways:
        """Statements whose failure somebody looks at, so that `set -e` does not."""
        before, self.watched = self.watched, False
        try:
            return self.block(statements)
        finally:
            self.watched = before

    def script(self, text: str) -> Ways:
        """Text that this shell runs as if it stood here (`eval`, a trap)."""
        return self.deeper(lambda: self.block(parse(text).children))

    def deeper(self, evaluate: Callable[[], Ways]) -> Ways:
        """One level further down, or anything at all when that is too deep."""
        if self.depth >= DEEPEST:
            return ANY
        self.depth += 1
        try:
            return evaluate()
        finally:
            self.depth -= 1

    def chain(self, steps: Sequence[tuple[str, Sequence["Node"]]]) -> Ways:
        """`a && b || c`: each step with the operator before it; several nodes are a pipe."""
        ways, watched = OK, self.watched
        for number, (operator, parts) in enumerate(steps):
            needed = operator != "||"
            if ("end", needed) not in ways:
                continue
            if number:
                self.last = frozenset({needed})
            # `set -e` looks at nothing but the last step.
            self.watched = watched and number == len(steps) - 1
            now = self.pipe(parts) if len(parts) > 1 else self.statement(parts[0])
            ways = (ways - with_status({needed})) | now
        self.watched = watched
        return ways

    def pipe(self, parts: Sequence["Node"]) -> Ways:
        """Without `pipefail` the last command alone decides."""
        # The grammar puts the `!` of `! a | b` on `a`; the shell negates the whole.
        denied = parts[0].type == "negated_command"
        results = [self.subshell(parts[0].named_children if denied else parts[:1])]
        results += [self.subshell([part], piped=True) for part in parts[1:]]
        ways = results[-1]
        if self.pipefail:
            one_may_fail = any(("end", False) in result for result in results)
            all_may_succeed = all(("end", True) in result for result in results)
            ways = (FAIL if one_may_fail else NONE) | (OK if all_may_succeed else NONE)
        return negated(ways) if denied else self.settled(ways)

    def options(self, words: Sequence[str]) -> None:
        """What `set -euo pipefail` and `bash -e` switch on, and `+e` off."""
        for word, following in zip(words, [*words[1:], ""], strict=False):
            if word[:1] not in ("-", "+") or word.startswith("--"):
                continue
            named = following if word.endswith("o") else ""
            if "e" in word or named == "errexit":
                self.errexit = word.startswith("-")
            if named == "pipefail":
                self.pipefail = word.startswith("-")
