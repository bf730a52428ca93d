"""The proxy that proves silence."""

import urllib.error
import urllib.request

import pytest

from ralph.testing.model import ModelServer, RefusingProxy, say


def test_what_is_asked_for_is_refused_and_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    with RefusingProxy() as proxy:
        for name, value in proxy.environment().items():
            monkeypatch.setenv(name, value)
        for url in ("https://model.example/v1", "http://other.example:8080/x"):
            with pytest.raises(urllib.error.URLError):
                urllib.request.urlopen(url, timeout=30)
    assert proxy.wanted == ["model.example:443", "other.example:8080"]


def test_this_machine_is_reached_without_it(
    monkeypatch: pytest.MonkeyPatch, model_server: ModelServer, refusing_proxy: RefusingProxy
) -> None:
    for name, value in refusing_proxy.environment().items():
        monkeypatch.setenv(name, value)
    model_server.script("default", say("hello"))
    body = b'{"messages": [], "tools": [{"name": "Bash"}]}'
    with urllib.request.urlopen(f"{model_server.url}/v1/messages", body, timeout=30) as answer:
        assert b"hello" in answer.read()


@pytest.mark.parametrize("method", ["PUT", "OPTIONS", "PROPFIND"])
def test_no_method_gets_through(method: str) -> None:
    with RefusingProxy() as proxy:
        handler = urllib.request.ProxyHandler({"http": proxy.url})
        request = urllib.request.Request("http://model.example/", method=method)
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.build_opener(handler).open(request, timeout=30)
    assert proxy.wanted == ["model.example"]
