"""The APIs of models: Anthropic Messages, OpenAI Responses and OpenAI chat completions."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Protocol

from ralph.testing.model.script import (
    CWD,
    MARKER,
    TASK,
    ErrorInStream,
    ModelRequestLog,
    Refused,
    Reply,
    ScriptedCall,
    Tokens,
)

NewId = Callable[[str], str]
"""Makes a new identifier with that beginning."""


class Dialect(Protocol):
    """One API. Its functions are pure, except for the new identifiers."""

    def parse(self, body: dict[str, Any]) -> ModelRequestLog:
        """Parse the body of a request."""

    def stream(self, reply: Reply, new: NewId) -> Iterator[bytes]:
        """Yield the reply as server-sent events."""

    def complete(self, reply: Reply, new: NewId) -> dict[str, Any]:
        """Return the reply as one object."""

    def error_body(self, fault: Refused) -> dict[str, Any]:
        """Return the body of a failed response."""

    def stream_error(self, fault: ErrorInStream, new: NewId) -> bytes:
        """Return an error in the middle of the stream."""


def _received(
    body: dict[str, Any],
    system: Iterable[str],
    user: Iterable[str],
    results: Iterable[str],
    tools: Iterable[tuple[str, Any]],
) -> ModelRequestLog:
    rules, said = "\n".join(system), "\n".join(user)
    scenarios = MARKER.findall(said) or MARKER.findall(rules) or ["default"]
    cwd, task = (what.search(rules) or what.search(said) for what in (CWD, TASK))
    return ModelRequestLog(
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        scenario=scenarios[-1],
        system=rules,
        user=said,
        results=tuple(results),
        inputs={name: frozenset((schema or {}).get("properties", ())) for name, schema in tools},
        cwd=cwd[1].strip() if cwd else None,
        task=task[1].strip() if task else None,
    )


def _event(data: dict[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


def _pieces(text: str) -> Iterator[str]:
    """Split a text into the pieces of a stream."""
    size = max(40, len(text) // 8)
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _words(content: object, *kinds: str) -> str:
    """Return the text in a message's content: a string, or blocks of these kinds."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    found = (str(block.get("text", "")) for block in content if block.get("type") in kinds)
    return "\n".join(found)


class Anthropic:
    def parse(self, body: dict[str, Any]) -> ModelRequestLog:
        system, user, results = [_words(body.get("system"), "text")], [], []
        for message in body.get("messages", ()):
            content = message.get("content")
            if message.get("role") == "user":
                user.append(_words(content, "text"))
            elif message.get("role") == "system":
                system.append(_words(content, "text"))
            if isinstance(content, list):
                results += [
                    _words(block.get("content"), "text")
                    for block in content
                    if block.get("type") == "tool_result"
                ]
        tools = (
            (tool["name"], tool.get("input_schema"))
            for tool in body.get("tools", ())
            if "name" in tool
        )
        return _received(body, system, user, results, tools)

    def stream(self, reply: Reply, new: NewId) -> Iterator[bytes]:
        usage = _anthropic_usage(reply.tokens)
        start = self._message(reply, new) | {"usage": usage | {"output_tokens": 1}}
        yield _event({"type": "message_start", "message": start})
        for index, block in enumerate(_blocks(reply, new)):
            yield from _block_events(index, block)
        stop = {"stop_reason": _anthropic_stop(reply), "stop_sequence": None}
        yield _event({"type": "message_delta", "delta": stop, "usage": usage})
        yield _event({"type": "message_stop"})

    def complete(self, reply: Reply, new: NewId) -> dict[str, Any]:
        return self._message(reply, new) | {
            "content": _blocks(reply, new),
            "stop_reason": _anthropic_stop(reply),
            "usage": _anthropic_usage(reply.tokens),
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

    def error_body(self, fault: Refused) -> dict[str, Any]:
        error = {"type": fault.kind or "api_error", "message": fault.message}
        return {"type": "error", "error": error}

    def stream_error(self, fault: ErrorInStream, new: NewId) -> bytes:  # noqa: ARG002
        return _event({"type": "error", "error": {"type": fault.kind, "message": fault.message}})


def _blocks(reply: Reply, new: NewId) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.thinking:
        blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": "scripted"})
    if reply.text or not (reply.calls or reply.thinking):
        blocks.append({"type": "text", "text": reply.text})
    return blocks + [
        {"type": "tool_use", "id": new("toolu_"), "name": call.name, "input": call.input}
        for call in reply.calls
    ]


def _block_events(index: int, block: dict[str, Any]) -> Iterator[bytes]:
    match block:
        case {"type": "text", "text": text}:
            empty: dict[str, Any] = {"text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(text)]
        case {"type": "thinking", "thinking": text, "signature": signature}:
            empty = {"thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(text)]
            deltas.append({"type": "signature_delta", "signature": signature})
        case _:
            empty = {"input": {}}
            line = json.dumps(block["input"])
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in _pieces(line)]
    opened = {"type": "content_block_start", "index": index, "content_block": block | empty}
    yield _event(opened)
    for delta in deltas:
        yield _event({"type": "content_block_delta", "index": index, "delta": delta})
    yield _event({"type": "content_block_stop", "index": index})


def _anthropic_stop(reply: Reply) -> str:
    return reply.stop or ("tool_use" if reply.calls else "end_turn")


def _anthropic_usage(tokens: Tokens) -> dict[str, int]:
    return {
        "input_tokens": tokens.fresh,
        "output_tokens": tokens.output,
        "cache_read_input_tokens": tokens.cached,
        "cache_creation_input_tokens": tokens.stored,
    }


CHAT_STOPS: Final = {"max_tokens": "length", "refusal": "content_filter"}


class Chat:
    def parse(self, body: dict[str, Any]) -> ModelRequestLog:
        said: dict[str, list[str]] = {}
        for message in body.get("messages", ()):
            role = "system" if message.get("role") == "developer" else message.get("role")
            said.setdefault(role, []).append(_words(message.get("content"), "text"))
        functions = (tool["function"] for tool in body.get("tools", ()))
        tools = ((one["name"], one.get("parameters")) for one in functions)
        system, user, results = (said.get(role, ()) for role in ("system", "user", "tool"))
        return _received(body, system, user, results, tools)

    def stream(self, reply: Reply, new: NewId) -> Iterator[bytes]:
        head = _chat_head(reply, new) | {"object": "chat.completion.chunk"}
        yield _chat_chunk(head, {"role": "assistant", "content": ""})
        for piece in _pieces(reply.thinking):
            yield _chat_chunk(head, {"reasoning_content": piece})
        for piece in _pieces(reply.text):
            yield _chat_chunk(head, {"content": piece})
        for index, call in enumerate(_chat_calls(reply, new)):
            yield _chat_chunk(head, {"tool_calls": [{"index": index} | call]})
        yield _chat_chunk(head, {}, _chat_stop(reply))
        yield _chat_data(head | {"choices": [], "usage": _chat_usage(reply.tokens)})
        yield b"data: [DONE]\n\n"

    def complete(self, reply: Reply, new: NewId) -> dict[str, Any]:
        head = _chat_head(reply, new) | {"object": "chat.completion"}
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        if reply.calls:
            message["tool_calls"] = _chat_calls(reply, new)
        choice = {"index": 0, "message": message, "finish_reason": _chat_stop(reply)}
        return head | {"choices": [choice], "usage": _chat_usage(reply.tokens)}

    def error_body(self, fault: Refused) -> dict[str, Any]:
        kind = fault.kind or "server_error"
        return {"error": {"type": kind, "code": kind, "message": fault.message}}

    def stream_error(self, fault: ErrorInStream, new: NewId) -> bytes:  # noqa: ARG002
        return _chat_data({"error": {"type": fault.kind, "message": fault.message}})


def _chat_head(reply: Reply, new: NewId) -> dict[str, Any]:
    return {"id": new("chatcmpl-"), "created": 0, "model": reply.model}


def _chat_calls(reply: Reply, new: NewId) -> list[dict[str, Any]]:
    return [
        {
            "id": new("call_"),
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.input)},
        }
        for call in reply.calls
    ]


def _chat_stop(reply: Reply) -> str:
    return CHAT_STOPS.get(reply.stop, "tool_calls" if reply.calls else "stop")


def _chat_chunk(head: dict[str, Any], delta: dict[str, Any], stop: str | None = None) -> bytes:
    return _chat_data(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": stop}]})


def _chat_data(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _chat_usage(tokens: Tokens) -> dict[str, Any]:
    read = tokens.fresh + tokens.stored + tokens.cached
    return {
        "prompt_tokens": read,
        "completion_tokens": tokens.output,
        "total_tokens": read + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
    }


TOOL_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")


class Responses:
    def parse(self, body: dict[str, Any]) -> ModelRequestLog:
        system, user, results = [body.get("instructions") or ""], [], []
        given = body.get("input", ())
        for item in given if isinstance(given, list) else [{"role": "user", "content": given}]:
            text = _words(item.get("content"), "input_text", "text")
            if item.get("role") == "user":
                user.append(text)
            elif item.get("role") in ("developer", "system"):
                system.append(text)
            if item.get("type") in TOOL_OUTPUTS:
                results.append(_words(item.get("output"), "input_text", "output_text", "text"))
        tools = (
            (tool["name"], tool.get("parameters"))
            for tool in body.get("tools", ())
            if "name" in tool
        )
        return _received(body, system, user, results, tools)

    def stream(self, reply: Reply, new: NewId) -> Iterator[bytes]:
        response = _response(reply, new)
        items = _items(reply, new)
        for number, data in enumerate(_events(reply, response, items)):
            yield _event(data | {"sequence_number": number})

    def complete(self, reply: Reply, new: NewId) -> dict[str, Any]:
        return _response(reply, new) | _closed(reply, _items(reply, new))

    def error_body(self, fault: Refused) -> dict[str, Any]:
        kind = fault.kind or "server_error"
        return {"error": {"type": kind, "code": kind, "message": fault.message, "param": None}}

    def stream_error(self, fault: ErrorInStream, new: NewId) -> bytes:
        error = {"code": fault.kind, "message": fault.message}
        response = {"id": new("resp_"), "object": "response", "status": "failed", "error": error}
        return _event({"type": "response.failed", "response": response})


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
    return end | {"output": items, "usage": _responses_usage(reply.tokens)}


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
    return items + [_function_call(call, new) for call in reply.calls]


def _function_call(call: ScriptedCall, new: NewId) -> dict[str, Any]:
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
    """Return the item as it is when it is announced."""
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
            key = "text" if "text" in part else "refusal"
            yield {"type": "response.content_part.added", "part": part | {key: ""}} | at
            yield from _deltas(part["type"], part[key], at, {key: part[key]})
            yield {"type": "response.content_part.done", "part": part} | at
        case {"type": "reasoning", "summary": [part]}:
            at = place | {"summary_index": 0}
            name, text = "reasoning_summary", part["text"]
            yield {"type": f"response.{name}_part.added", "part": part | {"text": ""}} | at
            yield from _deltas(f"{name}_text", text, at, {"text": text})
            yield {"type": f"response.{name}_part.done", "part": part} | at
        case {"type": "function_call", "arguments": line, "name": name}:
            done = {"arguments": line, "name": name}
            yield from _deltas("function_call_arguments", line, place, done)
        case _:
            line = item["input"]
            yield from _deltas("custom_tool_call_input", line, place, {"input": line})


def _deltas(
    name: str, text: str, place: dict[str, Any], done: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    for piece in _pieces(text):
        yield {"type": f"response.{name}.delta", "delta": piece} | place
    yield {"type": f"response.{name}.done"} | done | place


def _responses_usage(tokens: Tokens) -> dict[str, Any]:
    read = tokens.fresh + tokens.stored + tokens.cached
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": tokens.cached},
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + tokens.output,
    }
