"""System calls that no session needs, and that go around every mount: a filter for the kernel.

A person's keys are handed down from process to process in the kernel's own key ring. Sockets to the
machine that a virtual one runs on belong to no network, so none that is closed closes them; and a
ring of requests makes sockets that no filter sees.
"""

import os
import platform
import struct
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple


class Numbers(NamedTuple):
    """One way to call the kernel."""

    architecture: int
    add_key: int
    request_key: int
    keyctl: int
    socket: int
    others: tuple[int, ...] = ()
    """A call for many things, in which a socket could be made unseen."""
    limit: int = 0
    """Calls from here on are those of yet another way."""


MACHINES: Final = {
    "x86_64": (
        Numbers(0xC000003E, add_key=248, request_key=249, keyctl=250, socket=41, limit=0x40000000),
        Numbers(0x40000003, add_key=286, request_key=287, keyctl=288, socket=359, others=(102,)),
    ),
    "aarch64": (
        Numbers(0xC00000B7, add_key=217, request_key=218, keyctl=219, socket=198),
        Numbers(0x40000028, add_key=309, request_key=310, keyctl=311, socket=281, others=(102,)),
    ),
}
"""A machine's own way, and that of its older programs."""
REQUEST_RINGS: Final = (425, 426, 427)
"""The same on every machine."""

INTERNET: Final = (2, 10)
TO_THE_HOST: Final = 40
KIND: Final = 0xF
STREAM: Final = 1
PLAIN_TCP: Final = (0, 6)

NUMBER, ARCHITECTURE, FIRST, SECOND, THIRD = 0, 4, 16, 24, 32
"""Where the kernel puts what was asked for; of an argument the lower half."""
LOAD, MASK, RETURN = 0x20, 0x54, 0x06
IS, IS_AT_LEAST = 0x15, 0x35
ALLOW: Final = 0x7FFF0000
NO_SUCH_CALL, NO_SUCH_FAMILY = 0x00050000 | 38, 0x00050000 | 97

Step = tuple[int, int, int, int]


@cache
def program(machine: str = "", *, only_tcp: bool = False) -> bytes:
    """The filter, as the kernel reads it; empty for a machine that we do not know.

    `only_tcp`: of the internet's sockets none but those that Landlock sees.
    """
    steps: list[Step] = []
    for way in MACHINES.get(machine or platform.machine(), ()):
        block = list(_block(way, only_tcp=only_tcp))
        steps += [(IS, 0, len(block), way.architecture), *block]
    if not steps:
        return b""
    steps = [(LOAD, 0, 0, ARCHITECTURE), *steps, (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _block(way: Numbers, *, only_tcp: bool) -> Iterator[Step]:
    yield (LOAD, 0, 0, NUMBER)
    if way.limit:
        yield from _refuse(IS_AT_LEAST, way.limit, NO_SUCH_CALL)
    for number in (way.add_key, way.request_key, way.keyctl, *REQUEST_RINGS, *way.others):
        yield from _refuse(IS, number, NO_SUCH_CALL)
    family = [(LOAD, 0, 0, FIRST), *_refuse(IS, TO_THE_HOST, NO_SUCH_FAMILY)]
    if only_tcp:
        tcp = list(_tcp())
        family += [(IS, 1, 0, INTERNET[0]), (IS, 0, len(tcp), INTERNET[1]), *tcp]
    yield (IS, 0, len(family), way.socket)
    yield from family
    yield (RETURN, 0, 0, ALLOW)


def _tcp() -> Iterator[Step]:
    yield from ((LOAD, 0, 0, SECOND), (MASK, 0, 0, KIND), (IS, 0, 3, STREAM))
    yield from ((LOAD, 0, 0, THIRD), (IS, 2, 0, PLAIN_TCP[0]), (IS, 1, 0, PLAIN_TCP[1]))
    yield (RETURN, 0, 0, NO_SUCH_FAMILY)
    yield (RETURN, 0, 0, ALLOW)


def _refuse(test: int, value: int, answer: int) -> Iterator[Step]:
    yield (test, 0, 1, value)
    yield (RETURN, 0, 0, answer)


def written(folder: str, *, only_tcp: bool = False) -> str:
    """The filter in a file there; empty for a machine that we do not know."""
    data = program(only_tcp=only_tcp)
    path = os.path.join(folder, "calls")
    if data and not os.path.exists(path):
        draft = f"{path}~"
        with open(draft, "wb") as file:
            file.write(data)
        os.replace(draft, path)
    return path if data else ""
