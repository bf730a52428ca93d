"""What can be reached from inside: everything, nothing, or what is listed."""

import json
import socket
from pathlib import Path

import pytest

from tests.e2e.sandbox.world import PYTHON, USERS, World, a_world

FETCH = """
import json, sys, urllib.request
told = {}
for url in sys.argv[1:]:
    try:
        told[url] = urllib.request.urlopen(url, timeout=20).read().decode()
    except Exception as error:
        told[url] = f"failed: {error}"
print(json.dumps(told))
"""
DIRECT = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 5).close()
    print("connected")
except OSError as error:
    print("failed", error)
"""
DATAGRAM = """
import socket, sys
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", ("127.0.0.1", int(sys.argv[1])))
"""
LOCAL = """
import socket, threading
server = socket.create_server(("127.0.0.1", 0))
threading.Thread(target=lambda: server.accept()[0].sendall(b"hello"), daemon=True).start()
print(socket.create_connection(server.getsockname()).recv(10).decode())
"""


def _fetch(world: World, *urls: str) -> dict[str, str]:
    done = world.sandboxed(PYTHON, "-c", FETCH, *urls)
    assert done.returncode == 0, done.stderr
    answer: dict[str, str] = json.loads(done.stdout)
    return answer


def _port(world: World) -> int:
    return int(world.services.listen(("127.0.0.1", 0)).getsockname()[1])


@pytest.mark.parametrize("user", USERS)
def test_with_the_network_on_a_server_is_reached(user: str) -> None:
    with a_world(user) as world:
        url = f"http://127.0.0.1:{_port(world)}/"
        assert _fetch(world, url) == {url: "hello"}


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("use", ["bubblewrap", "landlock"])
def test_with_the_network_off_nothing_is_reached(user: str, use: str) -> None:
    with a_world(user, network="off", use=use) as world:
        port = _port(world)
        assert world.sandboxed(PYTHON, "-c", DIRECT, "127.0.0.1", str(port)).stdout.startswith(
            "failed"
        )
        assert world.services.heard == set()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind(("127.0.0.1", 0))
            world.sandboxed(PYTHON, "-c", DATAGRAM, str(server.getsockname()[1]))
            with pytest.raises(BlockingIOError):
                server.recv(10, socket.MSG_DONTWAIT)


@pytest.mark.parametrize("network", ["off", "proxy"])
def test_a_command_can_talk_to_itself_without_a_network(network: str) -> None:
    with a_world("user", network=network) as world:
        assert world.sandboxed(PYTHON, "-c", LOCAL).stdout == "hello\n"


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("use", ["bubblewrap", "landlock"])
def test_the_proxy_lets_listed_addresses_through_and_no_others(user: str, use: str) -> None:
    with a_world(user, network="proxy", use=use) as world:
        listed, other = _port(world), _port(world)
        settings = world.project / ".ralph.toml"
        text = settings.read_text().replace("domains = []", f'domains = ["127.0.0.1:{listed}"]')
        settings.write_text(text)
        # Python itself goes around a proxy for this machine; others do not.
        near = "import os; os.environ.pop('no_proxy'); os.environ.pop('NO_PROXY')\n"
        urls = (f"http://127.0.0.1:{listed}/", f"http://127.0.0.1:{other}/")
        done = world.sandboxed(PYTHON, "-c", near + FETCH, *urls)
        answer = json.loads(done.stdout)
        assert answer[urls[0]] == "hello"
        assert "403" in answer[urls[1]]
        direct = world.sandboxed(PYTHON, "-c", DIRECT, "127.0.0.1", str(listed))
        assert direct.stdout.startswith("failed"), direct.stdout
        assert len(world.services.heard) == 1


ASK = """
import os, socket, sys
place = os.environ["http_proxy"].removeprefix("http://").split(":")
for ask in sys.argv[1:]:
    with socket.create_connection((place[0], int(place[1]))) as way:
        way.sendall(ask.encode().decode("unicode_escape").encode("latin-1"))
        print(way.recv(1000).decode("latin-1"))
"""
TRICKS = (
    "GET http://{here}/ HTTP/1.1\\nHost: other\\r\\n\\r\\n",
    "GET http://{here}/ HTTP/1.1\\r\\nX: y\\nHost: other\\r\\n\\r\\n",
    "GET http://{here}@other.example/ HTTP/1.1\\r\\n\\r\\n",
    "GET http://other.example#{here}/ HTTP/1.1\\r\\n\\r\\n",
    "GET https://{here}/ HTTP/1.1\\r\\n\\r\\n",
    "CONNECT 127.1:{port} HTTP/1.1\\r\\n\\r\\n",
    "CONNECT localhost:{port} HTTP/1.1\\r\\n\\r\\n",
    "CONNECT [::ffff:127.0.0.1]:{port} HTTP/1.1\\r\\n\\r\\n",
    "CONNECT 127.0.0.1 HTTP/1.1\\r\\n\\r\\n",
    "CONNECT 127.0.0.1:{other} HTTP/1.1\\r\\n\\r\\n",
)


def _listed(world: World, listed: str) -> None:
    settings = world.project / ".ralph.toml"
    settings.write_text(settings.read_text().replace("domains = []", f'domains = ["{listed}"]'))


def test_the_proxy_asks_for_the_listed_domain_and_no_other() -> None:
    """Behind one address there may be many: the header says which, so it is ours to say."""
    with a_world("user", network="proxy") as world:
        here = f"127.0.0.1:{_port(world)}"
        _listed(world, here)
        ask = f"GET http://{here}/ HTTP/1.1\\r\\nhOsT: other.example\\r\\nX: y\\r\\n\\r\\n"
        assert "hello" in world.sandboxed(PYTHON, "-c", ASK, ask).stdout
        (heard,) = world.services.heard
        assert f"Host: {here}\r\n" in heard
        assert "other.example" not in heard


def test_tricks_do_not_lead_through_the_proxy() -> None:
    with a_world("user", network="proxy") as world:
        port, other = _port(world), _port(world)
        here = f"127.0.0.1:{port}"
        _listed(world, here)
        asks = [ask.format(here=here, port=port, other=other) for ask in TRICKS]
        said = world.sandboxed(PYTHON, "-c", ASK, *asks).stdout
        answers = [line.split()[1] for line in said.splitlines() if line.startswith("HTTP/1.1 ")]
        assert answers == ["403"] * len(TRICKS), said
        assert world.services.heard == set()


def test_the_proxy_keeps_the_exit_code_and_leaves_nothing_behind() -> None:
    with a_world("user", network="proxy") as world:
        script = f"[ $(pgrep -c -f sandbox/domain_proxy.py) != 0 ] || exit 9; : {world.tag}; exit 7"
        assert world.sandboxed("sh", "-c", script).returncode == 7
        assert _proxies(world) == set()


def _proxies(world: World) -> set[str]:
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if any(word.endswith("sandbox/domain_proxy.py") for word in words) and world.tag in str(
            words
        ):
            found.add(folder.name)
    return found
