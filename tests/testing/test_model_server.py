"""The scripted model over HTTP: what a client asks for and what it gets."""

import http.client
import json
import threading
from urllib.parse import urlsplit

import pytest

from ralph.testing.model import (
    Cut,
    ErrorInStream,
    ModelRequestLog,
    ModelServer,
    Refused,
    ScriptedCall,
    Shell,
    Silent,
    Turn,
    Write,
    do,
    say,
)
from tests.testing.model_client import Answer, ask, chat, messages, responses

MESSAGES, RESPONSES, CHAT = "/v1/messages", "/v1/responses", "/v1/chat/completions"


def text(answer: Answer) -> str:
    """What an answer in Anthropic's words says."""
    deltas = [one["delta"] for one in answer.events if one["type"] == "content_block_delta"]
    return "".join(delta.get("text", "") for delta in deltas)


@pytest.mark.parametrize(
    ("path", "body"),
    [(f"{MESSAGES}?beta=true", messages), (RESPONSES, responses), (CHAT, chat)],
)
def test_a_script_is_played_in_every_api(model_server: ModelServer, path: str, body) -> None:  # type: ignore[no-untyped-def]
    model_server.script(
        "x",
        do(Write(path="{cwd}/a.txt", text="a\n")),
        do(Shell(command="git commit -am {task}")),
        say("<task-done>{task}</task-done>"),
    )
    for stream in (True, False):
        answers = [ask(model_server, path, body(results=n, stream=stream)) for n in range(3)]
        assert [answer.status for answer in answers] == [200, 200, 200]
        assert b"/home/me/a project/a.txt" in answers[0].body
        assert b"git commit -am t-abc123" in answers[1].body
        assert b"<task-done>t-abc123</task-done>" in answers[2].body
        kinds = {answer.headers["content-type"] for answer in answers}
        assert kinds == {"text/event-stream" if stream else "application/json"}


def test_what_was_asked_is_remembered(model_server: ModelServer) -> None:
    model_server.script("x", do(Shell(command="ls")), say("bye"))
    ask(model_server, MESSAGES, messages(), **{"x-api-key": "sk-dummy"})
    ask(model_server, MESSAGES, messages(results=1), authorization="Bearer token")
    first, second = model_server.asked_in("x")
    assert (first.path, first.model, first.turn, first.auth) == (MESSAGES, "a-model", 0, "sk-dummy")
    assert "x-api-key" in first.headers
    assert (first.cwd, first.task) == ("/home/me/a project", "t-abc123")
    assert (first.system, first.tools) == ("Be good.", frozenset({"Write", "Bash"}))
    assert "do it" in first.user
    assert (second.turn, second.auth, second.results) == (1, "Bearer token", ("result 0",))
    assert second.size > first.size


def test_only_so_many_requests_are_remembered() -> None:
    with ModelServer(remember=3) as server:
        server.script("x", say("bye"))
        for _ in range(5):
            ask(server, MESSAGES, messages())
        assert [one.retry for one in server.asked] == [2, 3, 4]


def test_a_turn_may_be_a_function_of_the_request(model_server: ModelServer) -> None:
    def answer(asked: ModelRequestLog) -> Turn:
        return say(f"you said {asked.results[-1]}")

    model_server.script("x", do(Shell(command="ls")), answer)
    ask(model_server, MESSAGES, messages())
    assert text(ask(model_server, MESSAGES, messages(results=1))) == "you said result 0"


def test_a_title_is_answered_apart(model_server: ModelServer) -> None:
    """The whole prompt is in there, with its marker."""
    model_server.script("x", say("bye"))
    title = messages(tools=[], system="Write a title for this session.")
    assert "title" in text(ask(model_server, MESSAGES, title))
    assert text(ask(model_server, MESSAGES, messages())) == "bye"
    assert [one.turn for one in model_server.asked] == [-1, 0]


def test_what_clients_ask_besides(model_server: ModelServer) -> None:
    counted = ask(model_server, f"{MESSAGES}/count_tokens", messages())
    assert counted.json["input_tokens"] > 10
    connection = http.client.HTTPConnection(urlsplit(model_server.url).netloc, timeout=30)
    for method, status in (("HEAD", 200), ("GET", 404)):
        connection.request(method, "/")
        response = connection.getresponse()
        response.read()
        assert response.status == status, "and the connection stays open"
    connection.close()
    assert ask(model_server, "/v1/embeddings", {}).status == 404


def test_a_refusal_counts_and_then_the_turn_comes(model_server: ModelServer) -> None:
    again = Refused(
        status=429, kind="rate_limit_error", headers={"retry-after": "1"}, times=2, message="slowly"
    )
    model_server.script("x", say("at last", faults=(again,)))
    answers = [ask(model_server, MESSAGES, messages()) for _ in range(3)]
    assert [answer.status for answer in answers] == [429, 429, 200]
    assert answers[0].headers["retry-after"] == "1"
    assert answers[0].json["error"] == {"type": "rate_limit_error", "message": "slowly"}
    assert text(answers[2]) == "at last"
    assert [one.retry for one in model_server.asked] == [0, 1, 2]


def test_a_refusal_may_have_a_body_of_its_own(model_server: ModelServer) -> None:
    model_server.script("x", say("", faults=(Refused(status=502, body="<html>", times=None),)))
    answers = [ask(model_server, RESPONSES, responses()) for _ in range(2)]
    assert [(answer.status, answer.body) for answer in answers] == [(502, b"<html>")] * 2


def test_a_turn_may_carry_headers(model_server: ModelServer) -> None:
    model_server.script("x", say("hi", headers={"anthropic-ratelimit-unified-status": "allowed"}))
    answer = ask(model_server, MESSAGES, messages())
    assert answer.headers["anthropic-ratelimit-unified-status"] == "allowed"


@pytest.mark.parametrize(("path", "body"), [(MESSAGES, messages), (RESPONSES, responses)])
def test_a_stream_may_be_cut(model_server: ModelServer, path: str, body) -> None:  # type: ignore[no-untyped-def]
    model_server.script("x", say("whole", faults=(Cut(after=2),)))
    answer = ask(model_server, path, body())
    assert answer.cut
    assert len(answer.events) == 2
    assert not ask(model_server, path, body()).cut


def test_a_stream_may_tell_of_an_error(model_server: ModelServer) -> None:
    model_server.script("x", say("whole", faults=(ErrorInStream(after=1),)))
    first, last = ask(model_server, MESSAGES, messages()).events
    assert first["type"] == "message_start"
    assert last == {"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}


@pytest.mark.parametrize("headers", [True, False])
def test_silence_lasts_until_the_server_goes(headers: bool) -> None:  # noqa: FBT001
    found: list[Answer | Exception] = []
    begun = threading.Event()

    def client(server: ModelServer) -> None:
        try:
            found.append(ask(server, MESSAGES, messages(), begun.set))
        except http.client.RemoteDisconnected as error:
            found.append(error)

    with ModelServer() as server:
        server.script("x", say("never", faults=(Silent(headers=headers, after=1),)))
        thread = threading.Thread(target=client, args=(server,))
        thread.start()
        server.await_request("x")
        assert not headers or begun.wait(30)
        assert found == []
    thread.join(30)
    (answer,) = found
    if headers:
        assert isinstance(answer, Answer)
        assert (answer.cut, len(answer.events)) == (True, 1)
    else:
        assert isinstance(answer, http.client.RemoteDisconnected)


def test_a_client_that_gives_up_is_nothing_to_speak_of(model_server: ModelServer) -> None:
    model_server.script("x", say("never", faults=(Silent(after=1),)))
    connection = http.client.HTTPConnection(urlsplit(model_server.url).netloc, timeout=30)
    connection.request("POST", MESSAGES, json.dumps(messages()))
    assert connection.getresponse().read(1)
    connection.close()


def test_many_clients_at_once_are_served_each_in_its_place(model_server: ModelServer) -> None:
    for name in "ab":
        model_server.script(name, do(Shell(command=f"echo {name}")), say(f"{name} is done"))
    found: dict[tuple[str, int], bytes] = {}

    def client(name: str, results: int) -> None:
        found[name, results] = ask(model_server, MESSAGES, messages(name, results)).body

    threads = [
        threading.Thread(target=client, args=(name, results))
        for name in "ab"
        for results in (0, 1)
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for name in "ab":
        assert f"echo {name}".encode() in found[name, 0]
        assert f"{name} is done".encode() in found[name, 1]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (messages("unheard-of"), "scenario unheard-of: there is none"),
        (messages("x", 9), "scenario x: it has 2 turns"),
        (messages("x", tools=[{"name": "Fly"}]), "none of Write, Create, create, write"),
        (messages("y", messages=[{"role": "user", "content": "[[scenario:y]]"}]), "{cwd}"),
        ([], "not understood"),
        (b"{", "not understood"),
    ],
)
def test_what_is_in_no_script_is_refused_and_told(body: object, why: str) -> None:
    with ModelServer() as server:
        server.script("x", do(Write(path="a", text="")), say("bye"), whole=False)
        server.script("y", say("{cwd}"), whole=False)
        answer = ask(server, MESSAGES, body)
        assert answer.status == 400, "agents try anything else again"
        assert why in answer.json["error"]["message"]
        with pytest.raises(AssertionError, match="off script"):
            server.check()


def test_a_tool_may_take_free_text() -> None:
    with ModelServer() as server:
        server.script("x", do(ScriptedCall(name="apply_patch", input="*** Begin Patch")))
        answer = ask(server, RESPONSES, responses())
        assert any(
            one["item"]["type"] == "custom_tool_call"
            for one in answer.events
            if one["type"] == "response.output_item.done"
        )


def test_a_function_that_fails_fails_its_test() -> None:
    with ModelServer() as server:
        server.script("x", lambda asked: say(asked.results[7]))
        with pytest.raises(http.client.RemoteDisconnected):
            ask(server, MESSAGES, messages())
    with pytest.raises(AssertionError, match="IndexError"):
        server.check()


def test_a_script_must_be_played_to_its_end() -> None:
    with ModelServer() as server:
        server.script("x", do(Shell(command="ls")), say("bye"))
        ask(server, MESSAGES, messages())
        with pytest.raises(AssertionError, match=r"never played: .*scenario x, turn 1"):
            server.check()


def test_waiting_in_vain_says_what_for() -> None:
    with ModelServer() as server, pytest.raises(AssertionError, match="turn 0 of scenario x"):
        server.await_request("x", timeout_s=0.01)


def test_bodies_may_come_in_chunks(model_server: ModelServer) -> None:
    model_server.script("default", say("got it"))
    connection = http.client.HTTPConnection(urlsplit(model_server.url).netloc, timeout=30)
    parts = iter([b'{"stream": false, "messages": [],', b' "tools": [{"name": "Bash"}]}'])
    connection.request("POST", MESSAGES, parts, encode_chunked=True)
    assert b"got it" in connection.getresponse().read()
    connection.close()
