"""OpenAI Responses."""

import json
from collections.abc import Iterator
from typing import Any

from ralph.testing.model.asked import Heard
from ralph.testing.model.dialect import NewId, Reply, event, pieces, words
from ralph.testing.model.turn import Broken, Call, Refused, Tokens

OUTPUTS = ("function_call_output", "custom_tool_call_output")


class Responses:
    """`/v1/responses`."""

    takes_free_text = True

    def hear(self, body: dict[str, Any]) -> Heard:
        """Tool results are items of their own."""
        system, user, results = [body.get("instructions") or ""], [], []
        given = body.get("input", ())
        for item in given if isinstance(given, list) else [{"role": "user", "content": given}]:
            text = words(item.get("content"), "input_text", "text")
            if item.get("role") == "user":
                user.append(text)
            elif item.get("role") in ("developer", "system"):
                system.append(text)
            if item.get("type") in OUTPUTS:
                results.append(words(item.get("output"), "input_text", "output_text", "text"))
        return Heard(
            model=body.get("model", ""),
            stream=bool(body.get("stream")),
            system="\n".join(system),
            user="\n".join(user),
            results=tuple(results),
            tools=frozenset(tool["name"] for tool in body.get("tools", ()) if "name" in tool),
        )

    def stream(self, reply: Reply, new: NewId) -> Iterator[bytes]:
        """Item by item."""
        response = _response(reply, new)
        items = _items(reply, new)
        for number, data in enumerate(_events(reply, response, items)):
            yield event(data | {"sequence_number": number})

    def whole(self, reply: Reply, new: NewId) -> dict[str, Any]:
        """The response that the stream ends with."""
        return _response(reply, new) | _closed(reply, _items(reply, new))

    def refusal(self, fault: Refused) -> dict[str, Any]:
        """`{"error": …}`."""
        kind = fault.kind or "server_error"
        return {"error": {"type": kind, "code": kind, "message": fault.message, "param": None}}

    def broken(self, fault: Broken, new: NewId) -> bytes:
        """The response has failed."""
        error = {"code": fault.kind, "message": fault.message}
        response = {"id": new("resp_"), "object": "response", "status": "failed", "error": error}
        return event({"type": "response.failed", "response": response})


def _response(reply: Reply, new: NewId) -> dict[str, Any]:
    return {
        "id": new("resp_"),
        "object": "response",
        "created_at": 0,
        "status": "in_progress",
        "model": reply.model,
        "output": [],
        "usage": None,
        "error": None,
        "incomplete_details": None,
    }


def _closed(reply: Reply, items: list[dict[str, Any]]) -> dict[str, Any]:
    end: dict[str, Any] = {"status": "completed"}
    if reply.stop == "max_tokens":
        end = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    return end | {"output": items, "usage": _usage(reply.tokens)}


def _items(reply: Reply, new: NewId) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.thinking:
        summary = [{"type": "summary_text", "text": reply.thinking}]
        items.append({"type": "reasoning", "id": new("rs_"), "summary": summary})
    if reply.text or not (reply.calls or reply.thinking):
        part: dict[str, Any] = {"type": "output_text", "text": reply.text, "annotations": []}
        if reply.stop == "refusal":
            part = {"type": "refusal", "refusal": reply.text}
        message = {"type": "message", "id": new("msg_"), "role": "assistant", "content": [part]}
        items.append(message | {"status": "completed"})
    return items + [_call(call, new) for call in reply.calls]


def _call(call: Call, new: NewId) -> dict[str, Any]:
    common = {"call_id": new("call_"), "name": call.name, "status": "completed"}
    if call.namespace:
        common["namespace"] = call.namespace
    if isinstance(call.input, str):
        return {"type": "custom_tool_call", "id": new("ctc_"), "input": call.input} | common
    arguments = json.dumps(call.input)
    return {"type": "function_call", "id": new("fc_"), "arguments": arguments} | common


def _events(
    reply: Reply, response: dict[str, Any], items: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": response}
    yield {"type": "response.in_progress", "response": response}
    for index, item in enumerate(items):
        place = {"item_id": item["id"], "output_index": index}
        yield {"type": "response.output_item.added", "output_index": index, "item": _empty(item)}
        yield from _inside(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    closed = response | _closed(reply, items)
    yield {"type": f"response.{closed['status']}", "response": closed}


def _empty(item: dict[str, Any]) -> dict[str, Any]:
    """The item as it is announced."""
    blank: dict[str, dict[str, Any]] = {
        "message": {"content": [], "status": "in_progress"},
        "reasoning": {"summary": []},
        "function_call": {"arguments": "", "status": "in_progress"},
        "custom_tool_call": {"input": "", "status": "in_progress"},
    }
    return item | blank[item["type"]]


def _inside(item: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    match item:
        case {"type": "message", "content": [part]}:
            at = place | {"content_index": 0}
            name, text = ("output_text", part.get("text")) if "text" in part else ("refusal", None)
            key = "text" if text is not None else "refusal"
            yield {"type": "response.content_part.added", "part": part | {key: ""}} | at
            for piece in pieces(part[key]):
                yield {"type": f"response.{name}.delta", "delta": piece} | at
            yield {"type": f"response.{name}.done", key: part[key]} | at
            yield {"type": "response.content_part.done", "part": part} | at
        case {"type": "reasoning", "summary": [part]}:
            at = place | {"summary_index": 0}
            name = "response.reasoning_summary"
            yield {"type": f"{name}_part.added", "part": part | {"text": ""}} | at
            for piece in pieces(part["text"]):
                yield {"type": f"{name}_text.delta", "delta": piece} | at
            yield {"type": f"{name}_text.done", "text": part["text"]} | at
            yield {"type": f"{name}_part.done", "part": part} | at
        case {"type": "function_call", "arguments": line}:
            name = "response.function_call_arguments"
            for piece in pieces(line):
                yield {"type": f"{name}.delta", "delta": piece} | place
            yield {"type": f"{name}.done", "arguments": line, "name": item["name"]} | place
        case _:
            line = item["input"]
            for piece in pieces(line):
                yield {"type": "response.custom_tool_call_input.delta", "delta": piece} | place
            yield {"type": "response.custom_tool_call_input.done", "input": line} | place


def _usage(tokens: Tokens) -> dict[str, Any]:
    read = tokens.fresh + tokens.stored + tokens.cached
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + tokens.output,
    }
