"""What a person wants, from wherever they say it. Whoever cancels leaves nothing behind."""

import os
import sys
from argparse import Namespace
from collections.abc import Mapping

from ralph.cli.feature.options import decoded, from_file
from ralph.core.errors import BadConfig, RalphError, Unavailable, UsageError


class Cancelled(RalphError):
    """cancelled; nothing was written"""

    exit_code = 130


def the_request(args: Namespace, environ: Mapping[str, str]) -> str:
    """By an argument, from a file, on standard input, in an editor, or by asking."""
    if args.request is not None and args.file is not None:
        raise UsageError("a request and --file are two requests", hint="give one of them")
    if args.file is not None:
        return from_file(args.file)
    if args.request is not None and args.request != "-":
        return _wanted(args.request)
    if args.request is None and (said := environ.get("PRD_INLINE", "").strip()):
        return said
    if args.request is None and (path := environ.get("PRD_REQUEST_PATH", "").strip()):
        return from_file(path)
    if args.request == "-" or not _is_terminal():
        data = sys.stdin.buffer.read() if sys.stdin is not None else b""
        return decoded(data, "standard input")
    return _from_editor(environ) if args.edit else _asked()


def _wanted(text: str) -> str:
    if not text.strip():
        raise UsageError("the request is empty", hint='say what you want: ralph prd "…"')
    return text.strip()


def _is_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _asked() -> str:
    print("What do you want to build? An empty line ends it; Ctrl-C cancels.", flush=True)
    lines: list[str] = []
    try:
        while line := sys.stdin.readline():
            if not line.strip():
                break
            lines.append(line)
    except KeyboardInterrupt:
        raise Cancelled from None
    text = "".join(lines).strip()
    if not text:
        raise Cancelled
    return text


def _from_editor(environ: Mapping[str, str]) -> str:
    import shlex
    import subprocess
    import tempfile

    editor = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="ralph-") as folder:
        path = os.path.join(folder, "request.md")
        with open(path, "w", encoding="utf-8"):
            pass
        try:
            code = subprocess.run([*shlex.split(editor), path], check=False).returncode
        except OSError as error:
            why = (error.strerror or "unknown error").lower()
            raise Unavailable(f"{editor} cannot be started: {why}", hint="set EDITOR") from error
        except ValueError as error:
            raise BadConfig(f"EDITOR cannot be read: {editor}", hint="set EDITOR") from error
        if code != 0:
            raise Cancelled
        text = from_file(path)
    if not text:
        raise Cancelled
    return text
