"""Requests as agents make them, in each of the three APIs, and what comes back."""

import http.client
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ralph.testing.model import ModelServer

PROMPT = """\
Working directory: /home/me/a project

## Your task: t-abc123

do it [[scenario:{scenario}]]"""

TOOLS = ("Write", "Bash")


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a client sees."""

    status: int
    headers: dict[str, str]
    body: bytes
    cut: bool = False
    """The connection went away before the end."""

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def events(self) -> list[dict[str, Any]]:
        """The server-sent events, less the sign-off of chat completions."""
        return events(self.body)


def events(stream: bytes) -> list[dict[str, Any]]:
    """Server-sent events as clients read them: named like their type, where they have a name."""
    found = []
    for block in stream.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        if fields.get("data", "[DONE]") != "[DONE]":
            data = json.loads(fields["data"])
            assert fields.get("event") == data.get("type")
            found.append(data)
    return found


def ask(
    server: ModelServer,
    path: str,
    body: object,
    begun: Callable[[], None] = lambda: None,
    /,
    **headers: str,
) -> Answer:
    """Post something to the model. `begun` is called when the first bytes of the body are here."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=30)
    try:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        connection.request("POST", path, raw, headers)
        response, first = connection.getresponse(), b""
        try:
            first = response.read1()
            begun()
            read, cut = first + response.read(), False
        except http.client.IncompleteRead as error:
            read, cut = first + error.partial, True
        names = {name.lower(): value for name, value in response.getheaders()}
        return Answer(status=response.status, headers=names, body=read, cut=cut)
    finally:
        connection.close()


def messages(
    scenario: str = "x", results: int = 0, *, stream: bool = True, **more: object
) -> Mapping[str, object]:
    """A conversation in Anthropic's words, after so many tool results."""
    said: list[dict[str, object]] = [{"role": "user", "content": PROMPT.format(scenario=scenario)}]
    for number in range(results):
        call = {"type": "tool_use", "id": f"c{number}", "name": "Bash", "input": {}}
        result = {"type": "tool_result", "tool_use_id": f"c{number}", "content": f"result {number}"}
        said += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return {
        "model": "a-model",
        "stream": stream,
        "system": [{"type": "text", "text": "Be good."}],
        "messages": said,
        "tools": [{"name": name} for name in TOOLS],
        **more,
    }


def responses(scenario: str = "x", results: int = 0, *, stream: bool = True) -> dict[str, object]:
    """The same in those of OpenAI Responses."""
    said: list[dict[str, object]] = [
        {"role": "developer", "content": [{"type": "input_text", "text": "Be good."}]},
        {
            "role": "user",
            "content": [{"type": "input_text", "text": PROMPT.format(scenario=scenario)}],
        },
    ]
    for number in range(results):
        kind = "custom_tool_call" if number % 2 else "function_call"
        said.append({"type": kind, "call_id": f"c{number}", "name": "Bash"})
        said.append({"type": f"{kind}_output", "call_id": f"c{number}", "output": f"r {number}"})
    tools = [{"type": "function", "name": name} for name in TOOLS]
    return {"model": "a-model", "stream": stream, "input": said, "tools": tools}


def chat(scenario: str = "x", results: int = 0, *, stream: bool = True) -> dict[str, object]:
    """The same in those of OpenAI chat completions."""
    said: list[dict[str, object]] = [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": PROMPT.format(scenario=scenario)},
    ]
    for number in range(results):
        said.append({"role": "assistant", "tool_calls": [{"id": f"c{number}"}]})
        said.append({"role": "tool", "tool_call_id": f"c{number}", "content": f"result {number}"})
    tools = [{"type": "function", "function": {"name": name}} for name in TOOLS]
    return {"model": "a-model", "stream": stream, "messages": said, "tools": tools}
