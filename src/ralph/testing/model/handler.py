"""The HTTP side of the scripted model: one request in, one answer out."""

import contextlib
import json
import socket
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from ralph.testing.model.anthropic import Anthropic
from ralph.testing.model.asked import CWD, KEPT, TASK, Asked, Heard
from ralph.testing.model.chat import Chat
from ralph.testing.model.dialect import Dialect, Reply
from ralph.testing.model.filling import fill
from ralph.testing.model.ledger import Ledger
from ralph.testing.model.listening import LoopbackServer
from ralph.testing.model.responses import Responses
from ralph.testing.model.script import OffScript, fault_of
from ralph.testing.model.turn import Broken, Cut, Fault, Refused, Silent, Turn

DIALECTS: Final[dict[str, Dialect]] = {
    "/v1/messages": Anthropic(),
    "/v1/responses": Responses(),
    "/v1/chat/completions": Chat(),
}

TITLE: Final = '{"title": "A scripted session"}'


class Listener(LoopbackServer):
    """The server that belongs to a ledger."""

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(Handler)
        self.ledger = ledger

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        """A script that fails is for its test to see."""
        self.ledger.troubles.append(f"the script itself failed: {sys.exception()!r}")


class Handler(BaseHTTPRequestHandler):
    """Connections are kept open, as clients expect it of a model."""

    server: Listener
    protocol_version = "HTTP/1.1"
    # Small events must not wait for one another.
    disable_nagle_algorithm = True

    def handle(self) -> None:
        """An agent that goes away in the middle is nothing to speak of."""
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Tests look at what was asked; nothing is printed."""

    def do_HEAD(self) -> None:
        self._record(Heard(), b"")
        self._answer(200, b"")

    def do_GET(self) -> None:
        self._record(Heard(), b"")
        self._answer(404, b'{"error": {"message": "there is nothing to look up here"}}')

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        raw = self._body()
        dialect = DIALECTS.get(path.removesuffix("/count_tokens"))
        try:
            body: dict[str, Any] = json.loads(raw)
            heard = (dialect or Anthropic()).hear(body)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            self._record(Heard(), raw)
            self._off_script(f"{self.path}: the request is not understood: {error!r}")
            return
        if path.endswith("/count_tokens"):
            self._record(heard, raw)
            self._answer(200, json.dumps({"input_tokens": len(raw) // 4}).encode())
        elif dialect is None:
            self._record(heard, raw)
            self._answer(404, b'{"error": {"message": "no such path"}}')
        elif heard.wants_title:
            self._record(heard, raw)
            self._tell(dialect, Reply(model=heard.model, text=TITLE), Turn(), stream=heard.stream)
        else:
            self._play(dialect, heard, raw)

    def _play(self, dialect: Dialect, heard: Heard, raw: bytes) -> None:
        """The turn of the script, or what goes wrong with it."""
        ledger, scenario = self.server.ledger, heard.scenario
        try:
            number, scripted = ledger.scripts.find(scenario, len(heard.results))
        except OffScript as error:
            self._record(heard, raw)
            self._off_script(str(error))
            return
        before = ledger.scripts.count(scenario, number)
        asked = self._record(heard, raw, number, before)
        try:
            turn = scripted if isinstance(scripted, Turn) else scripted(asked)
            reply = fill(turn, asked, free_text=dialect.takes_free_text)
        except OffScript as error:
            self._off_script(f"scenario {scenario}, turn {number}: {error}")
            return
        ledger.scripts.played(scenario, number)
        ledger.closing.wait(turn.delay_s)
        if fault := fault_of(turn, before):
            self._fail(dialect, fault, reply, turn)
        else:
            self._tell(dialect, reply, turn, stream=heard.stream)

    def _tell(self, dialect: Dialect, reply: Reply, turn: Turn, *, stream: bool) -> None:
        new = self.server.ledger.new_id
        if stream:
            self._stream(dialect.stream(reply, new), turn)
            self.wfile.write(b"0\r\n\r\n")
        else:
            self._answer(200, json.dumps(dialect.whole(reply, new)).encode(), turn)

    def _fail(self, dialect: Dialect, fault: Fault, reply: Reply, turn: Turn) -> None:
        new = self.server.ledger.new_id
        events = dialect.stream(reply, new)
        match fault:
            case Refused():
                body = fault.body
                if body is None:
                    body = json.dumps(dialect.refusal(fault))
                headers = {**turn.headers, **fault.headers}
                self._answer(fault.status, body.encode(), Turn(headers=headers))
                return
            case Silent(headers=begins, after=count):
                if begins:
                    self._stream(events, turn, count)
                self.server.ledger.closing.wait()
            case Cut(after=count):
                self._stream(events, turn, count)
            case Broken(after=count):
                self._stream(events, turn, count)
                self._chunk(dialect.broken(fault, new))
                self.wfile.write(b"0\r\n\r\n")
                return
        self.close_connection = True
        with contextlib.suppress(OSError):  # the agent has gone first
            self.connection.shutdown(socket.SHUT_RDWR)

    def _stream(self, events: Iterator[bytes], turn: Turn, most: int | None = None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self._more_headers(turn)
        for number, data in enumerate(events):
            if number == most:
                return
            self._chunk(data)

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _answer(self, status: int, body: bytes, turn: Turn = Turn()) -> None:  # noqa: B008
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self._more_headers(turn)
        self.wfile.write(body)

    def _more_headers(self, turn: Turn) -> None:
        self.send_header("request-id", self.server.ledger.new_id("req_"))
        for name, value in turn.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _off_script(self, why: str) -> None:
        """Said to the agent in a way that it does not try again, and to the test at its end."""
        self.server.ledger.troubles.append(why)
        self._answer(400, json.dumps({"error": {"type": "off_script", "message": why}}).encode())

    def _record(self, heard: Heard, raw: bytes, turn: int = -1, retry: int = 0) -> Asked:
        asked = Asked(
            method=self.command,
            path=self.path,
            scenario=heard.scenario if turn >= 0 else "",
            turn=turn,
            model=heard.model,
            stream=heard.stream,
            headers=frozenset(name.lower() for name in self.headers),
            auth=self.headers.get("x-api-key") or self.headers.get("authorization") or "",
            system=heard.system[:KEPT],
            user=heard.user[-KEPT:],
            results=tuple(text[:KEPT] for text in heard.results[-20:]),
            tools=heard.tools,
            cwd=heard.find(CWD),
            task=heard.find(TASK),
            size=len(raw),
            retry=retry,
        )
        self.server.ledger.record(asked)
        return asked

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return body
