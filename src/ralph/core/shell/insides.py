"""Looking into a tree: the scripts and commands that stand in something else."""

from collections.abc import Iterator

from ralph.core.shell.tree import (
    Command,
    Compound,
    Function,
    Number,
    Process,
    Script,
    Simple,
    Substitution,
    Text,
    Variable,
    Word,
)


def substitutions(word: Word) -> Iterator[Substitution | Process]:
    """All whose scripts run when the word is expanded, wherever in it they stand."""
    for part in word.parts:
        match part:
            case Substitution() | Process():
                yield part
            case Variable(word=Word() as inner) | Number(word=inner):
                yield from substitutions(inner)
            case _:
                pass


def prompted(word: Word) -> Iterator[str]:
    """Names of variables whose values are expanded like a prompt: `${x@P}`."""
    for part in word.parts:
        if isinstance(part, Variable) and part.word is not None and literal(part.word) == "@P":
            yield part.name


def literal(word: Word) -> str | None:
    """The word, if it holds nothing that a shell would expand."""
    texts = [part.text for part in word.parts if isinstance(part, Text)]
    return "".join(texts) if len(texts) == len(word.parts) else None


def place(word: Word) -> int:
    """Where its text stands in the source, if it stands there just so; else -1."""
    match word.parts:
        case (Text(start=start),):
            return start
        case _:
            return -1


def is_bomb(function: Function) -> bool:
    """Whether each call starts two more of itself side by side: `:(){ :|:& };:`."""
    calls = aside = 0
    for command, is_aside in _commands(function.body, is_aside=False):
        if command.words and literal(command.words[0]) == function.name:
            calls += 1
            aside += is_aside
    return calls > 1 and aside > 0


def _commands(command: Command, *, is_aside: bool) -> Iterator[tuple[Simple, bool]]:
    """All simple commands, and whether the shell goes on without waiting for them."""
    match command:
        case Simple():
            yield command, is_aside
        case Compound():
            for script in command.scripts:
                yield from _in_script(script, is_aside=is_aside)
        case Function():
            yield from _commands(command.body, is_aside=is_aside)


def _in_script(script: Script, *, is_aside: bool) -> Iterator[tuple[Simple, bool]]:
    for pipeline in script.pipelines:
        aside = is_aside or pipeline.background or len(pipeline.commands) > 1
        for command in pipeline.commands:
            yield from _commands(command, is_aside=aside)
