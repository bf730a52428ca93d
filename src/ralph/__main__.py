"""The front door: two answers that need next to nothing, and the way in to all others."""

import sys


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    args = sys.argv[1:] if argv is None else argv
    if args in (["--version"], ["-V"]):
        from ralph import __version__

        return _say(f"ralph {__version__}\n")
    if args in ([], ["--help"], ["-h"], ["help"]):
        from ralph.cli.welcome import HELP

        return _say(HELP)
    from ralph.cli.dispatch import dispatch

    return dispatch(args)


def _say(text: str) -> int:
    try:
        if sys.stdout is not None:
            sys.stdout.write(text)
            sys.stdout.flush()
    except OSError as error:
        from ralph.cli.streams import cannot_say

        return cannot_say(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
