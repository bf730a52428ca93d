"""What a session is told that validates a story. No line of it is an answer, were it echoed."""

from collections.abc import Sequence

from ralph.documents.validation import LINE

RULES = """\
You check whether a product does what its requirements say. Nobody can be asked.

- You have a checkout of your own with the newest commit. Read it and run it: whatever you change is
  thrown away, so do not mend anything.
- Believe nobody who says that it works. Look at the code, run the tests, try the behaviour.
- A criterion that you cannot check does not hold.

## How to finish

End your last message with one line for each criterion: its number, then the word PASS or the word
FAIL, then how you saw it in a few words (a command and its output, a file and a line).
"""


def validate_story(path: str, block: str, criteria: Sequence[str]) -> str:
    """The story, and what to decide about it."""
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(criteria, 1))
    return _without_answers(
        f"Does this story of `{path}` hold, as the code is now?\n\n{block.rstrip()}\n\n"
        f"Decide about each of these criteria:\n\n{listed}\n"
    )


def _without_answers(text: str) -> str:
    """What a person wrote may look like one: then it is in quotes."""
    lines = text.splitlines()
    return "".join(
        f'"{line}"\n' if LINE.fullmatch(line.rstrip()) else f"{line}\n" for line in lines
    )
