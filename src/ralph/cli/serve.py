"""Show the project on a web page: what needs you, what is done, what it cost.

Prints a link that only works while the command runs, and opens the browser if there is one. The
page follows a run in another terminal, a team, or none; starting and stopping it never touches a
run. Its buttons do what the commands of the same names do.

examples:
  ralph serve
  ralph serve --port 8080 --no-open
  ralph serve --read-only
  ralph serve --host 192.168.1.5 --token-file ~/.ralph-token
"""

import os
import sys
import time
from argparse import Namespace
from functools import partial
from typing import Final

from ralph.cli.command import command, flag, option
from ralph.cli.options import at_least
from ralph.cli.project_access import open_view, project_with_store, warn
from ralph.core.errors import CannotWrite, UnusableData, UsageError
from ralph.core.safe_text import one_line

SHORTEST: Final = 32
"""Characters of a token."""


@command(
    option("--port", "N", "which port (default: a free one)", type=at_least(0), default=0),
    option("--host", "ADDRESS", "an address of this machine (default 127.0.0.1)", default=""),
    option("--token-file", "FILE", "a file with the token of the link, which --host needs"),
    flag("--read-only", "show everything, and change nothing"),
    flag("--no-open", "do not open the browser"),
)
def serve(args: Namespace) -> None:
    from ralph.ui.web.access import ENTRANCE, Keys
    from ralph.ui.web.app import application
    from ralph.ui.web.feed import Feed
    from ralph.ui.web.pages import Pages
    from ralph.ui.web.server import listen, serve
    from ralph.wiring.processes import run_own_command, start_own_command

    host = args.host or "127.0.0.1"
    _check_host(host, args.token_file)
    with project_with_store() as (project, store):
        token = _token(args.token_file, project.root) if args.token_file else ""
        view = open_view(project, store)
        try:
            sock = listen(host, args.port)
        except (OSError, OverflowError) as error:
            why = (getattr(error, "strerror", None) or str(error)).lower()
            hint = "ralph serve without --port takes a free one"
            raise CannotWrite(f"cannot listen on {host}:{args.port}: {why}", hint=hint) from error
        port = sock.getsockname()[1]
        keys = Keys.new(token)
        pages = Pages(
            view,
            partial(run_own_command, project.root),
            partial(start_own_command, project.root),
            keys,
            project=os.path.basename(project.root),
            is_read_only=args.read_only,
            now=time.time,
        )
        app = application(
            pages, Feed(view), keys, hosts_of(host, port), is_read_only=args.read_only
        )
        link = f"http://{_in_url(host)}:{port}{ENTRANCE}?token="
        opened = "" if args.no_open else link + keys.ticket
        try:
            serve(app, sock, partial(_announce, link + keys.token, opened))
        except KeyboardInterrupt:
            print("the page is closed", file=sys.stderr)
        finally:
            sock.close()


def _announce(link: str, opened: str) -> None:
    """`opened`: the link for a browser; empty if none is to be started."""
    print(link, flush=True)
    print("Ctrl-C closes the page; runs are not touched", file=sys.stderr)
    if opened and (sys.platform == "darwin" or {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ)):
        import webbrowser

        webbrowser.open(opened)


def _check_host(host: str, token_file: str | None) -> None:
    from ipaddress import ip_address

    try:
        address = ip_address(host)
    except ValueError:
        raise UsageError(
            f"{one_line(host, 60)} is not an address", hint="such as 127.0.0.1 or 192.168.1.5"
        ) from None
    if address.is_unspecified:
        raise UsageError(f"{host} is every address of this machine", hint="name one of them")
    if address.is_loopback:
        return
    if not token_file:
        raise UsageError(
            f"others can reach {host}, so its link needs a token that you choose",
            hint="ralph serve --token-file FILE",
        )
    warn(f"all who reach {host} with the token control this project; nothing is encrypted")


def _token(path: str, root: str) -> str:
    from ralph.files import read_regular

    try:
        token = read_regular(path, most=4096).decode("ascii").strip()
        is_open = os.stat(path).st_mode & 0o077
    except (OSError, ValueError) as error:
        raise UnusableData(f"cannot read {one_line(path, 200)}: {error}") from error
    if len(token) < SHORTEST or not token.replace("-", "").replace("_", "").isalnum():
        raise UnusableData(
            f"the token in {one_line(path, 200)} is no line of {SHORTEST} letters and digits",
            hint="openssl rand -hex 24 > FILE",
        )
    if is_open:
        raise UnusableData(f"others can read {one_line(path, 200)}", hint=f"chmod 600 {path}")
    if os.path.realpath(path).startswith(f"{os.path.realpath(root)}/"):
        raise UnusableData(
            f"sessions can read {one_line(path, 200)}", hint="put it outside of the project"
        )
    return token


def hosts_of(host: str, port: int) -> frozenset[str]:
    """The Host headers that are answered."""
    names = (_in_url(host), "localhost")
    # A browser does not name the usual port.
    return frozenset((*(f"{name}:{port}" for name in names), *(names if port == 80 else ())))


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
