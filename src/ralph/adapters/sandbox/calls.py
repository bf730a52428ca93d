"""System calls that no session needs, and that go around every mount: a filter for the kernel.

A person's keys are handed down from process to process in the kernel's own key ring. Sockets to the
machine that a virtual one runs on belong to no network, so none that is closed closes them; and a
ring of requests makes sockets that no filter sees. A file that runs with its owner's powers is of
no use in here, and of much to somebody outside.
"""

import os
import platform
import struct
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, NamedTuple

from ralph.files import write_regular


class Numbers(NamedTuple):
    """One way to call the kernel."""

    architecture: int
    add_key: int
    request_key: int
    keyctl: int
    socket: int
    modes: tuple[tuple[int, int], ...]
    """Calls that give a file its permissions, and in which argument: chmod, creat, mknod…"""
    opens: tuple[tuple[int, int], ...]
    """Calls that may make a file, and in which argument they say so; its permissions follow."""
    others: tuple[int, ...] = ()
    """A call for many things, in which a socket could be made unseen."""
    limit: int = 0
    """Calls from here on are those of yet another way."""


MACHINES: Final = {
    "x86_64": (
        Numbers(
            architecture=0xC000003E, add_key=248, request_key=249, keyctl=250, socket=41,
            modes=((90, 1), (91, 1), (268, 2), (85, 1), (133, 1), (259, 2)),
            opens=((2, 1), (257, 2)), limit=0x40000000,
        ),
        Numbers(
            architecture=0x40000003, add_key=286, request_key=287, keyctl=288, socket=359,
            modes=((15, 1), (94, 1), (306, 2), (8, 1), (14, 1), (297, 2)),
            opens=((5, 1), (295, 2)), others=(102,),
        ),
    ),
    "aarch64": (
        Numbers(
            architecture=0xC00000B7, add_key=217, request_key=218, keyctl=219, socket=198,
            modes=((52, 1), (53, 2), (33, 2)), opens=((56, 2),),
        ),
        Numbers(
            architecture=0x40000028, add_key=309, request_key=310, keyctl=311, socket=281,
            modes=((15, 1), (94, 1), (333, 2), (8, 1), (14, 1), (324, 2)),
            opens=((5, 1), (322, 2)), others=(102,),
        ),
    ),
}  # fmt: skip
"""A machine's own way, and that of its older programs."""
REQUEST_RINGS: Final = (425, 426, 427)
OPEN_BY_RECORD: Final = 437
"""Says what it wants where a filter cannot look; whoever uses it knows another way."""
CHANGE_MODE_TOO: Final = (452, 2)
"""These are the same on every machine."""

INTERNET: Final = (2, 10)
TO_THE_HOST: Final = 40
KIND: Final = 0xF
STREAM: Final = 1
PLAIN_TCP: Final = (0, 6)

RUNS_AS_OWNER: Final = 0o4000
MAKES: Final = 0o20000100
"""Of what is said when a file is opened: make it; make it without a name."""

NUMBER, ARCHITECTURE, FIRST, SECOND, THIRD = 0, 4, 16, 24, 32
"""Where the kernel puts what was asked for; of an argument the lower half."""
LOAD, MASK, RETURN = 0x20, 0x54, 0x06
IS, IS_AT_LEAST, HAS = 0x15, 0x35, 0x45
ALLOW: Final = 0x7FFF0000
NO_SUCH_CALL, NO_SUCH_FAMILY, NOT_ALLOWED = 0x00050000 | 38, 0x00050000 | 97, 0x00050000 | 1

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
    for number in (
        *(way.add_key, way.request_key, way.keyctl),
        *(*REQUEST_RINGS, OPEN_BY_RECORD, *way.others),
    ):
        yield from _refuse(IS, number, NO_SUCH_CALL)
    for number, argument in (*way.modes, CHANGE_MODE_TOO):
        yield from _only(number, _mode(argument))
    for number, argument in way.opens:
        mode = [*_mode(argument + 1)]
        makes = [(LOAD, 0, 0, FIRST + 8 * argument), (HAS, 0, len(mode), MAKES), *mode]
        yield from _only(number, makes)
    family = [(LOAD, 0, 0, FIRST), *_refuse(IS, TO_THE_HOST, NO_SUCH_FAMILY)]
    if only_tcp:
        tcp = list(_tcp())
        family += [(IS, 1, 0, INTERNET[0]), (IS, 0, len(tcp), INTERNET[1]), *tcp]
    yield from _only(way.socket, family)
    yield (RETURN, 0, 0, ALLOW)


def _only(number: int, steps: Iterable[Step]) -> Iterator[Step]:
    """Steps for one call, at the end of which it is allowed."""
    block = [*steps, (RETURN, 0, 0, ALLOW)]
    yield (IS, 0, len(block), number)
    yield from block


def _mode(argument: int) -> Iterator[Step]:
    yield (LOAD, 0, 0, FIRST + 8 * argument)
    yield from _refuse(HAS, RUNS_AS_OWNER, NOT_ALLOWED)


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
        write_regular(draft, data)
        os.replace(draft, path)
    return path if data else ""
