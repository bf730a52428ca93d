"""A way through the sandbox for listed domains only: run by itself, as a script.

    python -I -S domain_proxy.py '{"listen": …, "domains": […]}' -- COMMAND…   outside: filters
    python -I -S domain_proxy.py '{"listen": …, "to": SOCKET}' -- COMMAND…     inside: forwards

Each listens, leaves a child behind that serves, and becomes the command. The child ends with it.
"""

import base64
import contextlib
import ctypes
import ipaddress
import json
import os
import select
import signal
import socket
import sys
import threading
import urllib.parse
from typing import Any, Final

DIE_WITH_PARENT: Final = 1
USUAL_PORTS: Final = (80, 443)
TIMEOUT_S: Final = 30.0
HEAD_BYTES: Final = 64 * 1024
CHUNK: Final = 64 * 1024


class DomainRefused(Exception):
    """Not on the list."""


def main() -> None:
    """Listen, fork, become the command."""
    split = sys.argv.index("--")
    orders: dict[str, Any] = json.loads(sys.argv[1])
    server = _listen(orders["listen"])
    parent = os.getpid()
    if os.fork() == 0:
        _serve(server, orders, parent)
        os._exit(0)
    server.close()
    argv = sys.argv[split + 1 :]
    os.execvp(argv[0], argv)


def _listen(where: "str | int") -> socket.socket:
    if isinstance(where, str):
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.bind(where)
    else:
        server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind(("127.0.0.1", where))
    server.listen(128)
    return server


def _serve(server: socket.socket, orders: dict[str, Any], parent: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # Meant for the command, which may still want to say something to its model.
        signal.signal(number, signal.SIG_IGN)
    _release_pipes()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    server.settimeout(1.0)
    while os.getppid() == parent:
        try:
            client, _ = server.accept()
        except TimeoutError:
            continue
        client.settimeout(TIMEOUT_S)
        threading.Thread(target=_serve_client, args=(client, orders), daemon=True).start()


def _release_pipes() -> None:
    """The command's own pipes: their reader waits until no process holds them any more."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)


def _serve_client(client: socket.socket, orders: dict[str, Any]) -> None:
    try:
        if "to" in orders:
            there = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            there.connect(orders["to"])
        else:
            there = _connect_filtered(client, orders)
        _relay(client, there)
    except DomainRefused as refused:
        _answer(client, 403, f"ralph: {refused}")
    except OSError as error:
        _answer(client, 502, f"ralph: {error}")
    finally:
        client.close()


def _connect_filtered(client: socket.socket, orders: dict[str, Any]) -> socket.socket:
    head, rest = _read_head(client)
    line, _, fields = head.partition(b"\r\n")
    method, target, protocol = line.decode("latin-1").split(" ", 2)
    if method == "CONNECT":
        host, port = split_address(target, 443)
        there = _connect(host, port, orders)
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    else:
        scheme, _, address = target.partition("://")
        if scheme != "http":
            raise DomainRefused(f"{target[:100]} is no address for a proxy")
        place, slash, path = address.partition("/")
        host, port = split_address(place, 80)
        there = _connect(host, port, orders)
        # One request for each connection: the next one may be meant for another domain.
        kept = [
            field
            for field in fields.split(b"\r\n")
            if not field.lower().startswith((b"connection:", b"proxy-", b"keep-alive:", b"host:"))
        ]
        # Many domains may be behind one address: it is the listed one that is asked for.
        kept.insert(0, b"Host: " + place.encode("latin-1"))
        first = f"{method} {slash}{path} {protocol}".replace("  ", " / ").encode("latin-1")
        there.sendall(b"\r\n".join((first, b"Connection: close", *kept)) + b"\r\n\r\n")
    there.sendall(rest)
    return there


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        more = client.recv(CHUNK)
        if not more or len(data) > HEAD_BYTES:
            raise DomainRefused("that is no request")
        data += more
    head, _, rest = data.partition(b"\r\n\r\n")
    if b"\n" in head.replace(b"\r\n", b"") or b"\r" in head.replace(b"\r\n", b""):
        # Some servers would see another line where we see none.
        raise DomainRefused("that is no request")
    return head, rest


def split_address(text: str, port: int) -> tuple[str, int]:
    """`host:port`, also with an IPv6 address in brackets."""
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        number = rest.removeprefix(":")
    else:
        host, _, number = text.partition(":")
    if number and not number.isdecimal():
        raise DomainRefused(f"{text[:100]} is no address")
    return host.lower().rstrip("."), int(number) if number else port


def is_listed(host: str, port: int, domains: list[str]) -> bool:
    """Is it on the list? `*.example.com` is every name below it; without a port, the web's."""
    for domain in domains:
        name, wanted = split_address(domain, 0)
        if port != wanted and (wanted or port not in USUAL_PORTS):
            continue
        if host == name or (name.startswith("*.") and host.endswith(name[1:])):
            return True
    return False


def _connect(host: str, port: int, orders: dict[str, Any]) -> socket.socket:
    if not is_listed(host, port, orders["domains"]):
        raise DomainRefused(f"{host}:{port} is not listed in [sandbox] domains")
    if orders.get("upstream"):
        return _by_another(host, port, orders["upstream"])
    trouble: OSError = OSError(f"{host} has no address")
    for family, kind, number, _, address in socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM):
        # A name that leads back here, or to the machine's own credential server, is a trick.
        if not _is_literal(host) and is_near(address[0]):
            raise DomainRefused(f"{host} leads to {address[0]}")
        try:
            there = socket.socket(family, kind, number)
            there.settimeout(TIMEOUT_S)
            there.connect(address)
        except OSError as error:
            trouble = error
        else:
            return there
    raise trouble


def _by_another(host: str, port: int, upstream: str) -> socket.socket:
    """Through the proxy that a person's own environment names."""
    who, _, where = upstream.partition("://")[2].rpartition("@")
    address = where.partition("/")[0]
    there = socket.create_connection(split_address(address, 3128), TIMEOUT_S)
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if who:
        login = base64.b64encode(urllib.parse.unquote(who).encode()).decode()
        lines.append(f"Proxy-Authorization: Basic {login}")
    there.sendall("\r\n".join((*lines, "", "")).encode("latin-1"))
    head, _ = _read_head(there)
    if head.split(b" ")[1:2] != [b"200"]:
        raise DomainRefused(f"{address} said: {head.splitlines()[0][:100].decode('latin-1')}")
    return there


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return True


def is_near(address: "str | int") -> bool:
    """This machine, or the one next to it that hands out credentials."""
    near = ipaddress.ip_address(str(address).partition("%")[0])
    mapped = getattr(near, "ipv4_mapped", None)
    near = mapped or near
    return near.is_loopback or near.is_link_local or near.is_unspecified


def _answer(client: socket.socket, code: int, why: str) -> None:
    body = f"{why}\n".encode()
    head = (
        f"HTTP/1.1 {code} Refused\r\nContent-Type: text/plain\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    with contextlib.suppress(OSError):
        client.sendall(head.encode() + body)


def _relay(one: socket.socket, other: socket.socket) -> None:
    """Both ways, until both have said all."""
    for end in (one, other):
        end.settimeout(None)
    open_ = {one: other, other: one}
    try:
        while open_:
            for source in select.select(list(open_), [], [])[0]:
                data = source.recv(CHUNK)
                if data:
                    open_[source].sendall(data)
                else:
                    open_.pop(source).shutdown(socket.SHUT_WR)
    finally:
        other.close()


if __name__ == "__main__":
    main()
