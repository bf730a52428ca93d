"""Who may use the web page: checks each request before any page sees it.

A browser runs pages of other sites beside ours, and every program of the machine reaches
loopback. So a request needs the right Host (a foreign name that resolves to this machine is DNS
rebinding), the cookie that the printed link was exchanged for, and for a write its own origin and
a token that only our pages hold.
"""

import asyncio
import contextlib
import hmac
import secrets
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qs

from msgspec import Struct
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

ENTRANCE: Final = "/enter"
COOKIE: Final = "ralph"
MAX_BODY: Final = 4 * 1024 * 1024
"""Bytes of a form; an import may be long."""
DISCARDED: Final = 4 * MAX_BODY
DISCARD_S: Final = 2.0
"""What is too large is read up to that, since a browser that is cut off shows no answer."""
MOST_FIELDS: Final = 1000
BODY_S: Final = 20.0
"""How long a client may take to send all of it."""

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

# A redirect would keep a SameSite=Strict cookie back where another site has opened the link.
_WELCOME: Final = (
    '<!doctype html><html lang="en"><title>Ralph</title>'
    '<link rel="icon" href="{root}/static/icon.svg">'
    '<meta http-equiv="refresh" content="0;url={root}/"><p><a href="{root}/">Open Ralph</a></p>'
    "</html>"
)


class Keys(Struct, frozen=True, kw_only=True):
    """The secrets of one start of the page."""

    token: str
    """In the printed link; exchanged for the cookie."""
    ticket: str
    """The same, once: others can read the command line of the browser that is started with it."""
    cookie: str
    root: str
    """Where the pages are. A browser sends a host's cookies to all its ports, so also to a program
    that an agent has started there; but only below the path of the cookie, which is secret."""
    form: str
    """In every form of our pages."""

    @classmethod
    def new(cls, token: str = "") -> "Keys":
        one = secrets.token_urlsafe
        return cls(
            token=token or one(32),
            ticket=one(32),
            cookie=one(32),
            root=f"/{one(32)}",
            form=one(32),
        )


class RequestCheck:
    """An application in front of the pages that answers all requests that may not pass."""

    def __init__(
        self, pages: ASGIApp, keys: Keys, hosts: frozenset[str], *, is_read_only: bool
    ) -> None:
        self._pages = pages
        self._keys = keys
        self._hosts = hosts
        self._origins = frozenset(f"http://{host}" for host in hosts)
        self._is_read_only = is_read_only
        self._is_ticket_used = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._pages(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        send = _with_security_headers(send)
        try:
            refusal = self._refusal(scope)
        except BadBody as error:
            refusal = refuse(error.status, str(error))
        if refusal is not None:
            if refusal.status_code == 413:
                await _discard(receive)
            await refusal(scope, receive, send)
            return
        inside = {**scope, "path": scope["path"].removeprefix(self._keys.root)}
        await self._pages(inside, bounded(receive), send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return refuse(421, "this is not the address that `ralph serve` printed")
        if "transfer-encoding" in headers and "content-length" in headers:
            return refuse(400, "a request has one length")
        method = scope["method"]
        if method not in ("GET", "HEAD", "POST"):
            return refuse(405, "only GET and POST are answered")
        if scope["path"] == ENTRANCE:
            return self._enter(scope)
        root = f"{self._keys.root}/"
        is_ours = _same(scope["path"][: len(root)], root)
        if not (is_ours and any(_same(one, self._keys.cookie) for one in _cookies(headers))):
            return refuse(401, "open the link that `ralph serve` printed")
        if method == "POST":
            return self._write_refusal(headers)
        return None

    def _write_refusal(self, headers: Headers) -> Response | None:
        if self._is_read_only:
            return refuse(403, "this page is read-only: `ralph serve` was started with --read-only")
        # A browser that is to send no referrer sends no origin either, but says where from.
        is_own = headers.get("sec-fetch-site") == "same-origin"
        origin = headers.get("origin", "").lower()
        if origin not in self._origins and not (origin == "null" and is_own):
            return refuse(403, "a write must come from this page")
        if not _length_of(headers) <= MAX_BODY:
            return refuse(413, "the request is too large")
        return None

    def _enter(self, scope: Scope) -> Response:
        given = fields_of(scope["query_string"].decode("latin-1")).get("token", "")
        is_ticket = _same(given, self._keys.ticket) and not self._is_ticket_used
        self._is_ticket_used = self._is_ticket_used or is_ticket
        if not (is_ticket or _same(given, self._keys.token)):
            return refuse(401, "open the link that `ralph serve` printed last")
        root = self._keys.root
        answer = HTMLResponse(_WELCOME.format(root=root))
        answer.set_cookie(
            COOKIE, self._keys.cookie, httponly=True, samesite="strict", path=f"{root}/"
        )
        return answer


def _cookies(headers: Headers) -> Iterator[str]:
    """The values of ours. Other programs of the host set cookies too, in whatever form."""
    for one in ";".join(headers.getlist("cookie")).split(";"):
        name, _, value = one.strip().partition("=")
        if name == COOKIE:
            yield value


async def form_of(request: Request, keys: Keys) -> dict[str, str] | None:
    """The fields of a write; None if it does not hold the token of our forms."""
    fields = fields_of((await request.body()).decode("utf-8", "replace"))
    return fields if _same(fields.pop("token", ""), keys.form) else None


def fields_of(text: str) -> dict[str, str]:
    """The fields of a form or an address; of several with one name the last."""
    try:
        found = parse_qs(text, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise BadBody(400, "there are too many fields") from None
    return {name: values[-1] for name, values in found.items()}


class BadBody(Exception):
    """What follows a request's head is longer, or comes slower, than any form of ours."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def bounded(receive: Receive) -> Receive:
    """The same, up to a number of bytes and of seconds."""
    size = 0
    is_whole = False
    deadline = 0.0

    async def receive_more() -> Message:
        nonlocal size, is_whole, deadline
        if is_whole:
            # The end of the connection, for which a stream of events waits as long as it likes.
            return await receive()
        deadline = deadline or asyncio.get_running_loop().time() + BODY_S
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise BadBody(408, "the request took too long") from None
        size += len(message.get("body", b""))
        is_whole = not message.get("more_body", False)
        if size > MAX_BODY:
            if not is_whole:
                await _discard(receive)
            raise BadBody(413, "the request is too large")
        return message

    return receive_more


async def _discard(receive: Receive) -> None:
    size = 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DISCARD_S):
            while size < DISCARDED:
                message = await receive()
                size += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def _with_security_headers(send: Send) -> Send:
    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return with_headers


def _length_of(headers: Headers) -> float:
    length = headers.get("content-length", "0")
    return int(length) if length.isdecimal() and len(length) < 16 else float("inf")


def refuse(status: int, reason: str) -> Response:
    # What the client still sends is not read.
    return PlainTextResponse(f"{reason}\n", status, headers={"Connection": "close"})


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())
