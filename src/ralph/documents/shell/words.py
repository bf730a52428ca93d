"""The text of words, as far as it is known before the shell runs."""

import re
from collections.abc import Sequence
from typing import Final

from ralph.core.shell.tree import (
    Assignment,
    Number,
    Part,
    Script,
    Substitution,
    Text,
    Variable,
    Word,
)
from ralph.documents.shell.conditions import FAILED
from ralph.documents.shell.ways import State

EXPANDED: Final = re.compile(r"[*?]|\[.|^~|\{[^}]*(?:,|\.\.)[^}]*\}")
"""Outside quotes these may become something else; a lone `[` is a command."""
ONE_WORD: Final = re.compile(r"[\w@%+=:,./-]+|" + re.escape(FAILED))
"""A value that is the same without quotes around it."""
UNKNOWN: Final = "$UNKNOWN"
"""What stands in a script for an expansion whose text nobody knows."""
SOMETHING: Final = Substitution(script=Script())
"""The same among words."""


def literal(word: Word, state: State) -> str | None:
    """The word as the command receives it, or None when it is known only as the shell runs."""
    texts = [_known(part, state) for part in word.parts]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts) or (FAILED in known and len(known) > 1):
        return None
    return "".join(known)


def script_text(word: Word, state: State) -> str:
    """A word that another shell will read; what nobody knows is a variable in it."""
    texts = (part.text if isinstance(part, Text) else _known(part, state) for part in word.parts)
    return "".join(UNKNOWN if text is None else text.replace(FAILED, "1") for text in texts)


def assigned(assignment: Assignment, state: State) -> str | None:
    """The variable's new value, if it is known."""
    if assignment.array or assignment.adds:
        return None
    # Nothing is split or looked up among files here.
    parts = [
        Variable(name=part.name, operator=part.operator, index=part.index, quoted=True)
        if isinstance(part, Variable)
        else part
        for part in assignment.words[0].parts
    ]
    return literal(Word(parts=tuple(parts)), state)


def known_words(words: Sequence[Word], state: State) -> tuple[Word, ...]:
    """The words as they are now, to be used when the state is another."""
    return tuple(
        Word(parts=(Text(text=text, quoted=True) if text is not None else SOMETHING,))
        for text in (literal(word, state) for word in words)
    )


def variables(word: Word) -> list[Variable]:
    """Those that are expanded with the word; not the ones in `$(…)`."""
    found: list[Variable] = []
    for part in word.parts:
        if isinstance(part, Variable):
            found.append(part)
        inner = part.word if isinstance(part, Variable | Number) else None
        if inner is not None and not (isinstance(part, Variable) and part.operator):
            found += variables(inner)
    return found


def _known(part: Part, state: State) -> str | None:
    match part:
        case Text():
            return None if not part.quoted and EXPANDED.search(part.text) else part.text
        case Number():
            text = (literal(part.word, state) or "").strip()
            return text if text.isascii() and text.isdecimal() else None
        case Variable(operator="", index="", word=None):
            status = "0" if state.ok else FAILED
            value = status if part.name == "?" else dict(state.values).get(part.name)
            is_one = value is not None and (part.quoted or ONE_WORD.fullmatch(value))
            return value if is_one else None
        case _:
            return None
