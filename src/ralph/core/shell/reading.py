"""From text to a tree, whatever the text is. The way into this folder."""

from typing import Final

from ralph.core.shell.cursor import NotShell
from ralph.core.shell.grammar import Grammar
from ralph.core.shell.tree import Pipeline, Script

TRIES: Final = 20
"""How often reading is taken up again behind something that is no shell."""


class TooDeep(Exception):
    """Nested deeper than anything that is meant to be read."""


def read(text: str, base: int = 0) -> Script:
    """The tree; of a text that is no valid shell, all that can be made out.

    A shell runs the lines before a mistake, and another shell may see no mistake at all.
    """
    grammar = Grammar(text, base)
    pipelines: list[Pipeline] = []
    error: NotShell | None = None
    for _ in range(TRIES):
        try:
            while grammar.begins():
                pipelines += grammar.line()
            if grammar.at >= len(text):
                break
            raise grammar.trouble()
        except NotShell as trouble:
            if trouble.is_deep:
                raise TooDeep(str(trouble)) from None
            error = error or trouble
            at, mistakes = grammar.at + 1, grammar.mistakes
            grammar = Grammar(text, base)
            grammar.at, grammar.mistakes = at, mistakes
    error = error or (grammar.mistakes[0] if grammar.mistakes else None)
    if error is None:
        return Script(pipelines=tuple(pipelines))
    return Script(pipelines=tuple(pipelines), error=str(error), error_at=error.at)
