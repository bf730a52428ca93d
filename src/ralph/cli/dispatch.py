"""Find the command that was typed, run it, and turn errors into exit codes."""

import gc
import os
import sys

from ralph.cli.commands import COMMANDS, GROUPS, OLD_NAMES, load
from ralph.core.errors import CannotWrite, Missing, RalphError, UsageError

BUG = 70
"""EX_SOFTWARE."""
INTERRUPTED = 130
GC_THRESHOLD = 50_000
WITH_VALUE = ("-C", "--color")
"""Options of every command that take a value."""


def dispatch(argv: list[str]) -> int:
    """Run one command; every error becomes an exit code."""
    import signal

    endings = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in endings}
    if before[signal.SIGINT] is signal.default_int_handler:
        # Until a command is at work there is nothing to clean up; and half-way through an import
        # an exception may be swallowed or, in msgspec, crash Python.
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    report_unraisable = sys.unraisablehook
    try:
        return _dispatch(argv)
    finally:
        sys.unraisablehook = report_unraisable
        for number, handler in before.items():
            signal.signal(number, handler)


def _dispatch(argv: list[str]) -> int:
    from ralph.cli import standard_streams

    # Importing makes many objects and no garbage; collecting takes a tenth of the time.
    gc.set_threshold(GC_THRESHOLD)
    standard_streams.prepare()
    try:
        code = _run(argv)
        standard_streams.flush()
    except BrokenPipeError:
        return standard_streams.on_closed_pipe()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one place where every error ends
        return _report(error, debug="--debug" in _options(argv))
    return code


def _run(argv: list[str]) -> int:
    _refuse_bytes(argv)
    before, name, rest = find(argv)
    if name not in COMMANDS:
        from ralph.cli.help import show_group, show_start

        if "--version" in before:
            from ralph import __version__

            print(f"ralph {__version__}")
            return 0
        return show_group(name) if name else show_start()
    _skip_typing_extensions()
    from ralph.cli.parser import build, help_text

    command = load(name)
    if {"-h", "--help"} & set(_options(before + rest)):
        print(help_text(name, command), end="")
        return 0
    args = build(name, command).read(before + rest)
    if args.directory:
        _go_to(args.directory)
    _raise_on_signals()
    return command.run(args) or 0


def find(argv: list[str]) -> tuple[list[str], str, list[str]]:
    """Split a command line: options before the command's name, the name, the rest."""
    before: list[str] = []
    name = ""
    words = list(argv)
    while words and name not in COMMANDS:
        word = words.pop(0)
        if word in WITH_VALUE:
            if not words:
                raise UsageError(f"{word} needs a value", hint="ralph --help")
            before += [word, words.pop(0)]
        elif word.startswith("-"):
            if not _is_for_every_command(word):
                raise UsageError(f"unknown option {word}", hint="ralph --help")
            before.append(word)
        else:
            longer = f"{name} {word}".lstrip()
            if longer in OLD_NAMES:
                said = f"`ralph {longer}` is `ralph {OLD_NAMES[longer]}` now"
                print(f"ralph: warning: {said}", file=sys.stderr)
                name, words = "", OLD_NAMES[longer].split() + words
            elif (
                longer in COMMANDS
                or longer in GROUPS
                or " ".join((longer, *words[:1])) in OLD_NAMES
            ):
                name = longer
            elif not name and len(word.split()) != 1:
                # Several words in one are what a person wants.
                name, words = "go", [word, *words]
            else:
                from ralph.cli.help import unknown_command

                raise unknown_command(longer, words)
    return before, name, words


def _is_for_every_command(word: str) -> bool:
    return word in ("-h", "--help", "--debug", "--version") or (
        word.startswith(("-C", "--color=")) and len(word) > 2
    )


def _options(argv: list[str]) -> list[str]:
    """The words that may be options: a lone `--` ends them."""
    return argv[: argv.index("--")] if "--" in argv else argv


def _refuse_bytes(argv: list[str]) -> None:
    for word in argv:
        if not word.isascii() and any("\udc80" <= char <= "\udcff" for char in word):
            raise UsageError(f"an argument is not UTF-8: {word.encode('utf-8', 'replace')!r}")


def _skip_typing_extensions() -> None:
    """msgspec imports typing_extensions where it finds it (in development, since other tools
    bring it along) and needs nothing from it on Python 3.11: that would be a fifth of the time
    that `ralph task add` takes.
    """
    if "msgspec" in sys.modules or "typing_extensions" in sys.modules:
        return
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]


def _raise_on_signals() -> None:
    """From here on a signal is an exception, so that a command can clean up and end the git that it
    has started. A second one ends the process at once: it would be shown as a traceback."""
    import signal

    def interrupt(*_: object) -> None:
        for number in handled:
            signal.signal(number, lambda *_: os._exit(INTERRUPTED))
        raise KeyboardInterrupt

    def end_if_swallowed(what: "sys.UnraisableHookArgs") -> None:
        # Where Python cannot raise it (in a `__del__`, or half-way through an import) it would show
        # it, and go on.
        if what.exc_type is KeyboardInterrupt:
            os._exit(INTERRUPTED)
        sys.__unraisablehook__(what)

    sys.unraisablehook = end_if_swallowed
    handled = [
        number
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        # `nohup` ignores one of them.
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    for number in handled:
        signal.signal(number, interrupt)


def _go_to(directory: str) -> None:
    try:
        os.chdir(directory)
    except OSError as error:
        why = error.strerror or str(error)
        raise Missing(f"cannot work in {directory}: {why[:1].lower()}{why[1:]}") from error


def _report(error: Exception, *, debug: bool) -> int:
    """Print what went wrong, and return the exit code."""
    from ralph.cli import standard_streams
    from ralph.core.safe_text import one_line
    from ralph.ports.executor import Interrupted

    if isinstance(error, Interrupted):
        return INTERRUPTED
    if debug:
        import traceback

        traceback.print_exception(error)
    if not isinstance(error, RalphError):
        from ralph.wiring.data_damage import as_data_error

        error = as_data_error(error) or error
    if isinstance(error, RalphError):
        print_error(error)
        code = error.exit_code
    else:
        said = one_line(f"{type(error).__name__}: {error}", 300)
        hint = "" if debug else "the same command with --debug shows where it happened"
        print_error(RalphError(f"this is a bug in Ralph: {said}", hint=hint))
        code = BUG
    try:
        # What was printed before the error still counts.
        standard_streams.flush()
    except (BrokenPipeError, CannotWrite):
        standard_streams.on_closed_pipe()
    return code


def print_error(error: RalphError) -> None:
    """Print one line about what is wrong and one about the way out."""
    from ralph.core.safe_text import one_line

    try:
        print(f"ralph: {one_line(str(error))}", file=sys.stderr)
        if error.hint:
            print(f"hint: {one_line(error.hint)}", file=sys.stderr)
    except OSError:
        pass  # standard error is gone; the exit code has to do
