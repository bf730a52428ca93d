"""Anthropic Messages."""

import json
from collections.abc import Iterator
from typing import Any

from ralph.testing.model.asked import Heard
from ralph.testing.model.dialect import NewId, Reply, event, pieces, words
from ralph.testing.model.turn import Broken, Call, Refused, Tokens


class Anthropic:
    """`/v1/messages`."""

    takes_free_text = False

    def hear(self, body: dict[str, Any]) -> Heard:
        """Tool results are blocks in messages of the user."""
        system, user, results = [words(body.get("system"), "text")], [], []
        for message in body.get("messages", ()):
            content = message.get("content")
            if message.get("role") == "user":
                user.append(words(content, "text"))
            elif message.get("role") == "system":
                system.append(words(content, "text"))
            if isinstance(content, list):
                results += [
                    words(block.get("content"), "text")
                    for block in content
                    if block.get("type") == "tool_result"
                ]
        return Heard(
            model=body.get("model", ""),
            stream=bool(body.get("stream")),
            system="\n".join(system),
            user="\n".join(user),
            results=tuple(results),
            tools=frozenset(tool["name"] for tool in body.get("tools", ()) if "name" in tool),
        )

    def stream(self, reply: Reply, new: NewId) -> Iterator[bytes]:
        """Block by block."""
        usage = _usage(reply.tokens)
        start = self._message(reply, new) | {"usage": usage | {"output_tokens": 1}}
        yield event({"type": "message_start", "message": start})
        for index, block in enumerate(_blocks(reply, new)):
            yield from _block_events(index, block)
        stop = {"stop_reason": _stop(reply), "stop_sequence": None}
        yield event({"type": "message_delta", "delta": stop, "usage": usage})
        yield event({"type": "message_stop"})

    def whole(self, reply: Reply, new: NewId) -> dict[str, Any]:
        """The message that the stream would add up to."""
        return self._message(reply, new) | {
            "content": _blocks(reply, new),
            "stop_reason": _stop(reply),
            "usage": _usage(reply.tokens),
        }

    @staticmethod
    def _message(reply: Reply, new: NewId) -> dict[str, Any]:
        return {
            "id": new("msg_"),
            "type": "message",
            "role": "assistant",
            "model": reply.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }

    def refusal(self, fault: Refused) -> dict[str, Any]:
        """`{"type": "error", …}`."""
        error = {"type": fault.kind or "api_error", "message": fault.message}
        return {"type": "error", "error": error}

    def broken(self, fault: Broken, new: NewId) -> bytes:  # noqa: ARG002
        """An `error` event."""
        return event({"type": "error", "error": {"type": fault.kind, "message": fault.message}})


def _blocks(reply: Reply, new: NewId) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.thinking:
        blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": "scripted"})
    if reply.text or not (reply.calls or reply.thinking):
        blocks.append({"type": "text", "text": reply.text})
    return blocks + [_tool_use(call, new) for call in reply.calls]


def _tool_use(call: Call, new: NewId) -> dict[str, Any]:
    return {"type": "tool_use", "id": new("toolu_"), "name": call.name, "input": call.input}


def _block_events(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    match block:
        case {"type": "text", "text": text}:
            empty: dict[str, Any] = {"text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(text)]
        case {"type": "thinking", "thinking": text, "signature": signature}:
            empty = {"thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(text)]
            deltas.append({"type": "signature_delta", "signature": signature})
        case _:
            empty = {"input": {}}
            line = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in pieces(line)]
    opened = {"type": "content_block_start", "index": index, "content_block": block | empty}
    yield event(opened)
    for delta in deltas:
        yield event({"type": "content_block_delta", "index": index, "delta": delta})
    yield event({"type": "content_block_stop", "index": index})


def _stop(reply: Reply) -> str:
    return reply.stop or ("tool_use" if reply.calls else "end_turn")


def _usage(tokens: Tokens) -> dict[str, int]:
    return {
        "input_tokens": tokens.fresh,
        "output_tokens": tokens.output,
        "cache_read_input_tokens": tokens.cached,
        "cache_creation_input_tokens": tokens.stored,
    }
