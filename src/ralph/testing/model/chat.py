"""OpenAI chat completions."""

import json
from collections.abc import Iterator
from typing import Any

from ralph.testing.model.asked import Heard
from ralph.testing.model.dialect import NewId, Reply, pieces, words
from ralph.testing.model.turn import Broken, Call, Refused, Tokens

STOPS = {"max_tokens": "length", "refusal": "content_filter"}


class Chat:
    """`/v1/chat/completions`."""

    takes_free_text = False

    def hear(self, body: dict[str, Any]) -> Heard:
        """Tool results are messages of the role `tool`."""
        said: dict[str, list[str]] = {}
        for message in body.get("messages", ()):
            role = "system" if message.get("role") == "developer" else message.get("role")
            said.setdefault(role, []).append(words(message.get("content"), "text"))
        return Heard(
            model=body.get("model", ""),
            stream=bool(body.get("stream")),
            system="\n".join(said.get("system", ())),
            user="\n".join(said.get("user", ())),
            results=tuple(said.get("tool", ())),
            tools=frozenset(tool["function"]["name"] for tool in body.get("tools", ())),
        )

    def stream(self, reply: Reply, new: NewId) -> Iterator[bytes]:
        """Piece by piece, then what it used."""
        head = _head(reply, new) | {"object": "chat.completion.chunk"}
        yield _chunk(head, {"role": "assistant", "content": ""})
        for piece in pieces(reply.thinking):
            yield _chunk(head, {"reasoning_content": piece})
        for piece in pieces(reply.text):
            yield _chunk(head, {"content": piece})
        for index, call in enumerate(_calls(reply, new)):
            yield _chunk(head, {"tool_calls": [{"index": index} | call]})
        yield _chunk(head, {}, _stop(reply))
        yield _data(head | {"choices": [], "usage": _usage(reply.tokens)})
        yield b"data: [DONE]\n\n"

    def whole(self, reply: Reply, new: NewId) -> dict[str, Any]:
        """One choice."""
        head = _head(reply, new) | {"object": "chat.completion"}
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        if reply.calls:
            message["tool_calls"] = _calls(reply, new)
        choice = {"index": 0, "message": message, "finish_reason": _stop(reply)}
        return head | {"choices": [choice], "usage": _usage(reply.tokens)}

    def refusal(self, fault: Refused) -> dict[str, Any]:
        """`{"error": …}`."""
        kind = fault.kind or "server_error"
        return {"error": {"type": kind, "code": kind, "message": fault.message}}

    def broken(self, fault: Broken, new: NewId) -> bytes:  # noqa: ARG002
        """A chunk that is an error."""
        return _data({"error": {"type": fault.kind, "message": fault.message}})


def _head(reply: Reply, new: NewId) -> dict[str, Any]:
    return {"id": new("chatcmpl-"), "created": 0, "model": reply.model}


def _calls(reply: Reply, new: NewId) -> list[dict[str, Any]]:
    return [_call(call, new) for call in reply.calls]


def _call(call: Call, new: NewId) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.input)}
    return {"id": new("call_"), "type": "function", "function": function}


def _stop(reply: Reply) -> str:
    return STOPS.get(reply.stop, "tool_calls" if reply.calls else "stop")


def _chunk(head: dict[str, Any], delta: dict[str, Any], stop: str | None = None) -> bytes:
    return _data(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})


def _data(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _usage(tokens: Tokens) -> dict[str, Any]:
    read = tokens.fresh + tokens.stored + tokens.cached
    return {
        "prompt_tokens": read,
        "completion_tokens": tokens.output,
        "total_tokens": read + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
    }
