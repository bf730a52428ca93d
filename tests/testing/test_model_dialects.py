"""Each API's stream adds up to its whole answer."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.testing.model import ErrorInStream, Refused, ScriptedCall
from ralph.testing.model.dialects import Anthropic, Chat, Dialect, Responses
from ralph.testing.model.script import Reply
from tests.testing import model_client
from tests.testing.model_client import events

INPUTS = st.dictionaries(st.text(max_size=9), st.text(max_size=200), max_size=3)
CALLS = st.builds(lambda input_: ScriptedCall(name="a_tool", input=input_), INPUTS)
REPLIES = st.builds(
    lambda text, thinking, calls, stop: Reply(
        model="m", text=text, thinking=thinking, calls=tuple(calls), stop=stop
    ),
    st.text(max_size=2000),
    st.text(max_size=200),
    st.lists(CALLS, max_size=3),
    st.sampled_from(["", "max_tokens", "refusal"]),
)


def told(dialect: Dialect, reply: Reply) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The same reply as a stream and whole, with the same identifiers."""
    stream, whole = itertools.count(), itertools.count()
    data = b"".join(dialect.stream(reply, lambda prefix: f"{prefix}{next(stream)}"))
    return events(data), dialect.complete(reply, lambda prefix: f"{prefix}{next(whole)}")


@settings(deadline=None)
@given(reply=REPLIES)
def test_anthropic(reply: Reply) -> None:
    stream, whole = told(Anthropic(), reply)
    message, line = stream[0]["message"], ""
    for one in stream:
        match one:
            case {"type": "content_block_start", "index": index, "content_block": block}:
                assert index == len(message["content"])
                message["content"].append(block)
                line = ""
            case {"type": "content_block_delta", "delta": {"type": "input_json_delta", **rest}}:
                line += rest["partial_json"]  # type: ignore[operator]
            case {"type": "content_block_delta", "delta": {"type": kind, **rest}}:
                key = kind.removesuffix("_delta")
                message["content"][-1][key] += rest[key]
            case {"type": "content_block_stop"} if line:
                message["content"][-1]["input"] = json.loads(line)
            case {"type": "message_delta", "delta": delta, "usage": usage}:
                message |= delta | {"usage": usage}
    assert message == whole
    assert stream[-1] == {"type": "message_stop"}


@settings(deadline=None)
@given(reply=REPLIES)
def test_responses(reply: Reply) -> None:
    stream, whole = told(Responses(), reply)
    assert [one["sequence_number"] for one in stream] == list(range(len(stream)))
    assert stream[0]["type"] == "response.created"
    assert stream[-1]["type"] == f"response.{whole['status']}"
    assert stream[-1]["response"] == whole
    done = [one["item"] for one in stream if one["type"] == "response.output_item.done"]
    assert done == whole["output"]
    for kind, item in (("output_text", "text"), ("function_call_arguments", "arguments")):
        ends = [one[item] for one in stream if one["type"] == f"response.{kind}.done"]
        deltas = [one["delta"] for one in stream if one["type"] == f"response.{kind}.delta"]
        assert "".join(deltas) == "".join(ends)


@settings(deadline=None)
@given(reply=REPLIES)
def test_chat(reply: Reply) -> None:
    stream, whole = told(Chat(), reply)
    (choice,) = whole["choices"]
    deltas = [one["choices"][0]["delta"] for one in stream if one["choices"]]
    assert "".join(delta.get("content", "") for delta in deltas) == choice["message"]["content"]
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]
    numbered = [{"index": n} | c for n, c in enumerate(choice["message"].get("tool_calls", ()))]
    assert calls == numbered
    assert stream[-2]["choices"][0]["finish_reason"] == choice["finish_reason"]
    assert stream[-1]["usage"] == whole["usage"]


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        (Anthropic(), model_client.messages("y", 3)),
        (Responses(), model_client.responses("y", 3)),
        (Chat(), model_client.chat("y", 3)),
    ],
)
def test_the_same_conversation_is_heard_alike(dialect: Dialect, body: dict[str, Any]) -> None:
    heard = dialect.parse(body)
    assert (heard.scenario, heard.model, heard.stream) == ("y", "a-model", True)
    assert heard.tools == {"Write", "Bash"}
    assert len(heard.results) == 3
    assert "Be good." in heard.system
    assert "do it" in heard.user


def test_the_last_marker_wins_and_tool_results_have_no_say() -> None:
    body = model_client.chat("first", 1)
    said = body["messages"]
    assert isinstance(said, list)
    said[-1]["content"] = "[[scenario:from-a-file]]"
    assert Chat().parse(body).scenario == "first"
    said.append({"role": "user", "content": "go on [[scenario:second]]"})
    assert Chat().parse(body).scenario == "second"
    assert Chat().parse({"messages": []}).scenario == "default"


@pytest.mark.parametrize("dialect", [Anthropic(), Responses(), Chat()])
def test_errors_are_spelled_as_each_api_does(dialect: Dialect) -> None:
    refusal = dialect.error_body(Refused(status=429, kind="rate_limit_error", message="slowly"))
    assert refusal["error"]["type"] == "rate_limit_error"
    assert refusal["error"]["message"] == "slowly"
    broken = dialect.stream_error(ErrorInStream(kind="overloaded_error", message="busy"), str)
    assert b"overloaded_error" in broken
    assert b"busy" in broken
