"""`.ralph/errors.log`: what went wrong, with its time, so that nobody repeats it."""

from typing import Final

PATH: Final = ".ralph/errors.log"
FRESH: Final = "# Error Log\n\n> What failed. Read it before you try the same again.\n\n"
