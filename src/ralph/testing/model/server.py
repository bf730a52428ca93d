"""The server of the scripted model: one HTTP request in, one response out."""

import contextlib
import itertools
import json
import socket
import sys
import threading
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from msgspec.structs import replace

from ralph.testing.model.dialects import Anthropic, Chat, Dialect, Responses
from ralph.testing.model.loopback import LoopbackServer
from ralph.testing.model.script import (
    KEPT,
    Cut,
    ErrorInStream,
    Fault,
    ModelRequestLog,
    ModelScript,
    OffScript,
    Refused,
    Reply,
    Scripted,
    Scripts,
    Silent,
    Turn,
    fault_of,
    fill,
)

DIALECTS: Final[dict[str, Dialect]] = {
    "/v1/messages": Anthropic(),
    "/v1/responses": Responses(),
    "/v1/chat/completions": Chat(),
}

TITLE: Final = '{"title": "A scripted session"}'


class ModelServer(LoopbackServer):
    """Speaks Anthropic Messages, OpenAI Responses and OpenAI chat completions.

    A request gets the turn that follows after as many tool results as it holds, in the scenario
    that its conversation names with `[[scenario:NAME]]`, or in `default`. Safe to use from several
    threads: one for each connection, and the test's own.
    """

    def __init__(self, *, remember: int = 1000) -> None:
        super().__init__(_ModelHandler)
        self.scripts = Scripts()
        self.asked: deque[ModelRequestLog] = deque(maxlen=remember)
        """The latest requests, oldest first."""
        self.troubles: list[str] = []
        """What was asked for and is in no script."""
        self.closing = threading.Event()
        self._news = threading.Condition()
        self._ids = itertools.count(1)

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        super().__exit__()

    def script(self, name: str, *turns: Scripted, repeat: bool = False, whole: bool = True) -> None:
        """Say what happens in a scenario.

        `repeat`: the last turn is for all later requests, too. `whole=False`: the session ends
        before the script does, so `check` does not miss the rest.
        """
        self.scripts.add(name, ModelScript(turns=turns, repeat=repeat, whole=whole))

    def asked_in(self, scenario: str) -> list[ModelRequestLog]:
        return [one for one in list(self.asked) if one.scenario == scenario]

    def await_request(
        self, scenario: str, turn: int = 0, *, retry: int = 0, timeout_s: float = 60.0
    ) -> ModelRequestLog:
        """Wait until this turn is asked for (again): then the agent waits for its model."""

        def found() -> ModelRequestLog | None:
            requests = self.asked_in(scenario)
            return next((one for one in requests if (one.turn, one.retry) == (turn, retry)), None)

        with self._news:
            asked = self._news.wait_for(found, timeout_s)
        assert asked is not None, (
            f"turn {turn} of scenario {scenario} was not asked for; off script: {self.troubles}"
        )
        return asked

    def check(self) -> None:
        """Fail if a request was off script, or a script was not played to its end."""
        assert not self.troubles, f"off script: {self.troubles}"
        assert not self.scripts.unplayed(), f"never played: {self.scripts.unplayed()}"

    def record(self, asked: ModelRequestLog) -> None:
        with self._news:
            self.asked.append(asked)
            self._news.notify_all()

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        self.troubles.append(f"the script itself failed: {sys.exception()!r}")

    def new_id(self, prefix: str) -> str:
        return f"{prefix}{next(self._ids):08d}"


class _ModelHandler(BaseHTTPRequestHandler):
    """Connections are kept open, as clients expect it of a model."""

    server: ModelServer
    protocol_version = "HTTP/1.1"
    # Small events must not wait for one another.
    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Serve a connection until the agent closes it, in the middle of a response or not."""
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing: tests look at what was asked."""

    def do_HEAD(self) -> None:
        self._record(ModelRequestLog(), b"")
        self._respond(200, b"")

    def do_GET(self) -> None:
        self._record(ModelRequestLog(), b"")
        self._respond(404, b'{"error": {"message": "there is nothing to look up here"}}')

    def do_POST(self) -> None:
        path = self.path.partition("?")[0]
        raw = self._body()
        dialect = DIALECTS.get(path.removesuffix("/count_tokens"))
        try:
            body: dict[str, Any] = json.loads(raw)
            message = (dialect or Anthropic()).parse(body)
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            self._record(ModelRequestLog(), raw)
            self._off_script(f"{self.path}: the request is not understood: {error!r}")
            return
        if path.endswith("/count_tokens"):
            self._record(message, raw)
            self._respond(200, json.dumps({"input_tokens": len(raw) // 4}).encode())
        elif dialect is None:
            self._record(message, raw)
            self._respond(404, b'{"error": {"message": "no such path"}}')
        elif message.wants_title:
            self._record(message, raw)
            reply = Reply(model=message.model, text=TITLE)
            self._reply(dialect, reply, Turn(), stream=message.stream)
        else:
            self._play(dialect, message, raw)

    def _play(self, dialect: Dialect, message: ModelRequestLog, raw: bytes) -> None:
        """Send the turn of the script, or what goes wrong with it."""
        model, scenario = self.server, message.scenario
        try:
            number, scripted = model.scripts.find(scenario, len(message.results))
        except OffScript as error:
            self._record(message, raw)
            self._off_script(f"scenario {scenario}: {error}")
            return
        before = model.scripts.count(scenario, number)
        asked = self._record(message, raw, number, before)
        try:
            turn = scripted if isinstance(scripted, Turn) else scripted(asked)
            reply = fill(turn, asked)
        except OffScript as error:
            self._off_script(f"scenario {scenario}, turn {number}: {error}")
            return
        model.closing.wait(turn.delay_s)
        if fault := fault_of(turn, before):
            self._fail(dialect, fault, reply, turn)
        else:
            self._reply(dialect, reply, turn, stream=message.stream)

    def _reply(self, dialect: Dialect, reply: Reply, turn: Turn, *, stream: bool) -> None:
        new = self.server.new_id
        if stream:
            self._stream(dialect.stream(reply, new), turn)
            self.wfile.write(b"0\r\n\r\n")
        else:
            self._respond(200, json.dumps(dialect.complete(reply, new)).encode(), turn)

    def _fail(self, dialect: Dialect, fault: Fault, reply: Reply, turn: Turn) -> None:
        new = self.server.new_id
        events = dialect.stream(reply, new)
        match fault:
            case Refused():
                error = json.dumps(dialect.error_body(fault))
                body = error if fault.body is None else fault.body
                headers = {**turn.headers, **fault.headers}
                self._respond(fault.status, body.encode(), Turn(headers=headers))
                return
            case Silent(headers=begins, after=count):
                if begins:
                    self._stream(events, turn, count)
                self.server.closing.wait()
            case Cut(after=count):
                self._stream(events, turn, count)
            case ErrorInStream(after=count):
                self._stream(events, turn, count)
                self._chunk(dialect.stream_error(fault, new))
                self.wfile.write(b"0\r\n\r\n")
                return
        self.close_connection = True
        with contextlib.suppress(OSError):  # the agent closed it first
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

    def _respond(self, status: int, body: bytes, turn: Turn = Turn()) -> None:  # noqa: B008
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self._more_headers(turn)
        self.wfile.write(body)

    def _more_headers(self, turn: Turn) -> None:
        self.send_header("request-id", self.server.new_id("req_"))
        for name, value in turn.headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _off_script(self, why: str) -> None:
        """Tell the agent in a way that it does not try again, and the test at its end."""
        self.server.troubles.append(why)
        self._respond(400, json.dumps({"error": {"type": "off_script", "message": why}}).encode())

    def _record(
        self, message: ModelRequestLog, raw: bytes, turn: int = -1, retry: int = 0
    ) -> ModelRequestLog:
        asked = replace(
            message,
            method=self.command,
            path=self.path,
            scenario=message.scenario if turn >= 0 else "",
            turn=turn,
            headers=frozenset(name.lower() for name in self.headers),
            auth=self.headers.get("x-api-key") or self.headers.get("authorization") or "",
            system=message.system[:KEPT],
            user=message.user[-KEPT:],
            results=tuple(text[:KEPT] for text in message.results[-20:]),
            size=len(raw),
            retry=retry,
        )
        self.server.record(asked)
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
