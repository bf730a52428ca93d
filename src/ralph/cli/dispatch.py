"""From the words on the command line to one command, and from what went wrong to an exit code."""

import errno
import gc
import os
import sys

from ralph.cli.commands import COMMANDS, GROUPS, load
from ralph.core.errors import CannotWrite, Missing, RalphError, UsageError

BUG = 70
"""EX_SOFTWARE."""
INTERRUPTED = 130
GARBAGE = 50_000
"""How many new objects make it worth looking for garbage."""
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""A full disk is not a bug."""
WITH_VALUE = ("-C", "--color")
"""Options of every command that take a value."""


def dispatch(argv: list[str]) -> int:
    """Run one command; whatever happens becomes an exit code."""
    import signal

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        # Until a command is at work there is nothing to tidy up; and half-way through an import an
        # exception may be swallowed or, in msgspec, crash Python.
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        return _dispatch(argv)
    finally:
        signal.signal(signal.SIGINT, before)


def _dispatch(argv: list[str]) -> int:
    from ralph.cli import streams

    # Importing makes many objects and no garbage; looking for it takes a tenth of the time.
    gc.set_threshold(GARBAGE)
    streams.prepare()
    try:
        code = _run(argv)
        streams.flush()
    except BrokenPipeError:
        return streams.nobody_reads()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one place where everything ends
        return _failed(error, debug="--debug" in _options(argv))
    return code


def _run(argv: list[str]) -> int:
    _refuse_bytes(argv)
    before, name, rest = _find(argv)
    if name not in COMMANDS:
        from ralph.cli.help import show_group, show_start

        if "--version" in before:
            print(f"ralph {_version()}")
            return 0
        return show_group(name) if name else show_start()
    _spare_typing_extensions()
    from ralph.cli.parser import build, help_text

    command = load(name)
    if {"-h", "--help"} & set(_options(before + rest)):
        print(help_text(name, command), end="")
        return 0
    args = build(name, command).read(before + rest)
    if args.directory:
        _go_to(args.directory)
    _heed_interrupts()
    return command.run(args)


def _find(argv: list[str]) -> tuple[list[str], str, list[str]]:
    """The options before the command's name, its name, and what follows."""
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
            if not _is_common(word):
                raise UsageError(f"unknown option {word}", hint="ralph --help")
            before.append(word)
        else:
            longer = f"{name} {word}".lstrip()
            if longer not in COMMANDS and longer not in GROUPS:
                from ralph.cli.unknown import unknown_command

                raise unknown_command(longer)
            name = longer
    return before, name, words


def _is_common(word: str) -> bool:
    return word in ("-h", "--help", "--debug", "--version") or (
        word.startswith(("-C", "--color=")) and len(word) > 2
    )


def _options(argv: list[str]) -> list[str]:
    """What may be an option: a lone `--` ends them."""
    return argv[: argv.index("--")] if "--" in argv else argv


def _refuse_bytes(argv: list[str]) -> None:
    for word in argv:
        if not word.isascii() and any("\udc80" <= char <= "\udcff" for char in word):
            raise UsageError(f"an argument is not UTF-8: {word.encode('utf-8', 'replace')!r}")


def _spare_typing_extensions() -> None:
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


def _heed_interrupts() -> None:
    """From here on Ctrl-C is an exception, so that a command can leave in good order."""
    import signal

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _go_to(directory: str) -> None:
    try:
        os.chdir(directory)
    except OSError as error:
        raise Missing(f"cannot work in {directory}: {_strerror(error)}") from error


def _strerror(error: OSError) -> str:
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]


def _version() -> str:
    from ralph import __version__

    return __version__


def _failed(error: Exception, *, debug: bool) -> int:
    from ralph.cli import streams
    from ralph.core.safe_text import one_line
    from ralph.ports.executor import Interrupted

    if isinstance(error, Interrupted):
        return INTERRUPTED
    if debug:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        streams.nobody_reads()
        error = CannotWrite(streams.trouble(error))
    if not isinstance(error, RalphError):
        from ralph.wiring.damage import as_damage

        error = as_damage(error) or error
    if isinstance(error, RalphError):
        complain(one_line(str(error)), one_line(error.hint))
        code = error.exit_code
    else:
        said = one_line(f"{type(error).__name__}: {error}", 300)
        complain(
            f"this is a bug in Ralph: {said}",
            "" if debug else "the same command with --debug shows where it happened",
        )
        code = BUG
    try:
        # What was printed before the error still counts.
        streams.flush()
    except (BrokenPipeError, CannotWrite):
        streams.nobody_reads()
    return code


def complain(message: str, hint: str = "") -> None:
    """One line about what is wrong and one about the way out."""
    try:
        print(f"ralph: {message}", file=sys.stderr)
        if hint:
            print(f"hint: {hint}", file=sys.stderr)
    except OSError:
        # Nobody can be told; the exit code has to do.
        pass
