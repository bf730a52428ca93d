"""Asking before something is lost."""

import sys
from argparse import Namespace

from ralph.core.errors import RalphError, UsageError


def make_sure(args: Namespace, question: str) -> None:
    """Return when a person agrees; without a person to ask, `--yes` has to be given."""
    if args.yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError(
            f"{question} needs a yes, and nobody is here to be asked",
            hint="add --yes if you mean it",
        )
    print(f"{question}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RalphError("nothing was changed")
