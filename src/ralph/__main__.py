"""The entry point: answers that need next to nothing, and the way in to all others."""

import sys

INTERRUPTED = 130


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    args = sys.argv[1:] if argv is None else argv
    if args in (["--version"], ["-V"]):
        from ralph import __version__

        return _say(f"ralph {__version__}\n")
    if args in ([], ["--help"], ["-h"], ["help"]):
        from ralph.cli.help import HELP

        return _say(HELP)
    if args[0] == "hook" and len(args) == 2:
        # Asked before every single tool call, so past all that other commands need.
        from ralph.inside.socket_client import HOOKS, answer_hook

        if args[1] in HOOKS:
            return answer_hook(args[1])
    from ralph.cli.dispatch import dispatch

    return dispatch(args)


def _say(text: str) -> int:
    try:
        if sys.stdout is not None:
            sys.stdout.write(text)
            sys.stdout.flush()
    except OSError as error:
        from ralph.cli.standard_streams import on_write_error

        return on_write_error(error)
    return 0


def _say_that_nothing_loads(error: Exception) -> int:
    try:
        sys.stderr.write(f"ralph: Python cannot load what Ralph needs: {error}\n")
        sys.stderr.write("hint: see to memory, open files and the disk; then try again\n")
    except (OSError, AttributeError):
        pass  # nor is there a place to say it
    return 75


def start() -> None:
    """Run the command that was typed, and end the process.

    Python would now take apart every module in good order, which takes longer than `ralph status`
    itself. Everything that matters is closed and flushed by then.
    """
    # The module around it takes as long to load as all of this.
    import _signal as signal  # type: ignore[import-not-found]
    import os

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # An exception would be shown as a traceback, or swallowed half-way through an import. Until
        # a command is at work, and once it has ended, there is nothing to clean up.
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        code = main()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except (ImportError, MemoryError, OSError) as error:
        # Without memory or open files not even what reports errors can be loaded.
        code = _say_that_nothing_loads(error)
    import atexit

    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            # It was reported when it was written, as far as that was possible.
            pass
    os._exit(code)


if __name__ == "__main__":
    start()
