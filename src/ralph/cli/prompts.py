"""Questions to the person at the terminal, and sessions with them."""

import select
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TextIO

from ralph.core.errors import Missing, RalphError, UnusableData, UsageError
from ralph.wiring.project import open_store

if TYPE_CHECKING:
    from ralph.config.project import Project
    from ralph.documents.feature_prompts import InteractivePrompt

INTERRUPTED = 130
BY_SIGNAL = (129, 130, 143)
"""Exit codes of programs that a person has ended."""
SIGNAL_CHECK_S = 0.1


def can_ask() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def has_terminal() -> bool:
    """Whether an interactive session is possible."""
    return can_ask() and sys.stdout is not None and sys.stdout.isatty()


def is_alone(args: Namespace) -> bool:
    """Whether a session works without the person."""
    return bool(args.yes) or not has_terminal()


def confirm(args: Namespace, question: str, *, default: bool = False) -> None:
    """Ask for confirmation; without a terminal, `--yes` is required."""
    if args.yes:
        return
    if not can_ask():
        raise UsageError(
            f"{question} needs a yes, and there is no terminal to ask at",
            hint="add --yes if you mean it",
        )
    choice = "[Y/n]" if default else "[y/N]"
    if not says_yes(f"{question}? {choice} ", default=default, to=sys.stderr):
        raise RalphError("nothing was changed")


def says_yes(question: str, *, default: bool = False, to: TextIO | None = None) -> bool:
    """Ask a question; Enter is the default, the end of the input is no."""
    print(question, end="", file=to, flush=True)
    line = typed_line()
    answer = line.strip().lower()
    return answer in ("y", "yes") or (default and bool(line) and not answer)


def typed_line() -> str:
    """A line from the terminal. Without the wait, a signal that comes right before the read would
    have no effect until the next line."""
    while not select.select([sys.stdin], [], [], SIGNAL_CHECK_S)[0]:
        pass
    return sys.stdin.readline()


def read_request(args: Namespace, environ: Mapping[str, str]) -> str:
    """Read a request from an argument, a file, standard input or a dialog."""
    if args.request is not None and args.file is not None:
        raise UsageError("a request and --file are two requests", hint="give one of them")
    if args.file is not None:
        return read_text(args.file)
    if args.request is None:
        if said := environ.get("PRD_INLINE", "").strip():
            return said
        if path := environ.get("PRD_REQUEST_PATH", "").strip():
            return read_text(path)
    elif args.request != "-":
        if not args.request.strip():
            raise UsageError("the request is empty", hint="say what you want")
        return str(args.request.strip())
    if args.request == "-" or not can_ask():
        return read_text("-")
    return ask_for_request()


def ask_for_request() -> str:
    print("What do you want to build? An empty line ends it; Ctrl-C cancels.", flush=True)
    lines: list[str] = []
    try:
        while (line := typed_line()).strip():
            lines.append(line)
    except KeyboardInterrupt:
        lines = []
    if text := "".join(lines).strip():
        return text
    raise nothing_written(INTERRUPTED, "cancelled; nothing was written", "")


def read_text(path: str) -> str:
    """A request in a file, or on standard input for `-`."""
    return _read_text(path).strip()


def text_of(argument: str) -> str:
    """A text argument; `-` reads a text from standard input."""
    return _read_text("-").rstrip("\n") if argument == "-" else argument


def _read_text(path: str) -> str:
    from ralph.core.task import LONGEST_TEXT

    limit = f"a text may have {LONGEST_TEXT:,} characters"
    try:
        return read_bytes(path, 4 * LONGEST_TEXT, limit).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = "standard input" if path == "-" else path
        raise UnusableData(f"{where} is not UTF-8 text (byte {error.start + 1})") from error


def read_bytes(path: str, most: int, limit: str) -> bytes:
    """A file, or standard input for `-`; `limit` says in words how much it may hold."""
    # Not to its end: a device has none.
    try:
        if path != "-":
            with open(path, "rb") as file:
                data = file.read(most + 1)
        else:
            data = b"" if sys.stdin is None else sys.stdin.buffer.read(most + 1)
    except OSError as error:
        raise Missing(f"{path} cannot be read: {error.strerror}") from error
    if len(data) > most:
        raise UnusableData(f"{'standard input' if path == '-' else path} is too long: {limit}")
    return data


def run_interactive(project: "Project", prompt: "Callable[[str], InteractivePrompt]") -> int:
    """Give the terminal to a session with the person; return its exit code. `prompt` makes its
    prompt from a description of the project."""
    from ralph.core.safe_text import one_line
    from ralph.wiring.project import open_project_files
    from ralph.wiring.single_sessions import open_interactive_session
    from ralph.workflows.interactive_session import describe_project_for

    with open_store(project) as store:
        talk = prompt(describe_project_for(project, store, open_project_files(project)))
    with open_interactive_session(project) as session:
        program = session.agent.traits.name
        title = one_line(talk.title)
        print(f"{title}: {program} takes over; leave it when you are done", flush=True)
        code = session.run(talk)
    if code != 0:
        print(f"ralph: {program} ended with {code}", file=sys.stderr)
    return code


def nothing_written(code: int, said: str, hint: str) -> RalphError:
    error = RalphError(said, hint=hint)
    if code in BY_SIGNAL:
        error.exit_code = INTERRUPTED
    return error
