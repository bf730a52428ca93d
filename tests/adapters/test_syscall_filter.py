"""The filter of system calls, run step by step as the kernel would."""

import struct

import pytest

from ralph.adapters.sandbox.launch_commands import ALLOW, MACHINES, SyscallNumbers, filter_program

INTERNET, UNIX, HOST = 2, 1, 40
STREAM, DATAGRAM, RAW, CLOEXEC = 1, 2, 3, 0x80000


def verdict(filter_: bytes, architecture: int, number: int, *arguments: int) -> int:
    data = struct.pack("=IIQ6Q", number, architecture, 0, *arguments, *(0,) * (6 - len(arguments)))
    steps = list(struct.iter_unpack("=HBBI", filter_))
    at = value = 0
    while True:
        code, if_true, if_false, k = steps[at]
        at += 1
        match code:
            case 0x20:
                (value,) = struct.unpack_from("=I", data, k)
            case 0x54:
                value &= k
            case 0x15:
                at += if_true if value == k else if_false
            case 0x45:
                at += if_true if value & k else if_false
            case 0x35:
                at += if_true if value >= k else if_false
            case 0x06:
                return int(k)


WAYS = [(machine, way) for machine, ways in MACHINES.items() for way in ways]


@pytest.mark.parametrize(("machine", "way"), WAYS)
def test_keys_rings_and_the_host_are_refused_and_nothing_else(
    machine: str, way: SyscallNumbers
) -> None:
    filter_ = filter_program(machine)
    refused = {way.add_key, way.request_key, way.keyctl, 425, 426, 427, 437, *way.others}
    for number in range(460):
        allowed = verdict(filter_, way.architecture, number) == ALLOW
        assert allowed == (number not in refused), number
    for family in (UNIX, INTERNET, 10, 16, 17):
        for kind in (STREAM, DATAGRAM, RAW, STREAM | CLOEXEC):
            assert verdict(filter_, way.architecture, way.socket, family, kind) == ALLOW
    assert verdict(filter_, way.architecture, way.socket, HOST, STREAM) != ALLOW


@pytest.mark.parametrize(("machine", "way"), WAYS)
def test_shared_memory_that_is_seen_nowhere_is_small(machine: str, way: SyscallNumbers) -> None:
    filter_ = filter_program(machine)
    for size, allowed in ((56, True), (1 << 16, True), ((1 << 16) + 1, False), (1 << 32, False)):
        assert (verdict(filter_, way.architecture, way.shmget, 0, size) == ALLOW) == allowed


@pytest.mark.parametrize(("machine", "way"), WAYS)
def test_no_lease_on_a_file_makes_others_wait(machine: str, way: SyscallNumbers) -> None:
    filter_ = filter_program(machine)
    for number in way.fcntl:
        for what, allowed in ((0, True), (6, True), (1024, False), (1030, True)):
            assert (verdict(filter_, way.architecture, number, 3, what) == ALLOW) == allowed


@pytest.mark.parametrize(("machine", "way"), WAYS)
def test_without_a_network_only_what_landlock_sees_is_left(
    machine: str, way: SyscallNumbers
) -> None:
    filter_ = filter_program(machine, only_tcp=True)

    def allowed(*arguments: int) -> bool:
        return verdict(filter_, way.architecture, way.socket, *arguments) == ALLOW

    for family in (INTERNET, 10):
        assert allowed(family, STREAM, 0)
        assert allowed(family, STREAM | CLOEXEC, 6)
        assert not allowed(family, DATAGRAM, 0)
        assert not allowed(family, DATAGRAM | CLOEXEC, 17)
        assert not allowed(family, RAW, 1)
        assert not allowed(family, STREAM, 132), "another protocol that Landlock does not see"
        assert not allowed(family, STREAM, 262)
    assert allowed(UNIX, DATAGRAM, 0)
    assert not allowed(HOST, STREAM, 0)


@pytest.mark.parametrize(("machine", "way"), WAYS)
def test_no_file_is_made_that_runs_with_its_owners_powers(
    machine: str, way: SyscallNumbers
) -> None:
    filter_ = filter_program(machine)

    def allowed(number: int, at: int, *values: int) -> bool:
        return verdict(filter_, way.architecture, number, *(0,) * at, *values) == ALLOW

    for number, at in (*way.modes, (452, 2)):
        assert allowed(number, at, 0o755)
        assert allowed(number, at, 0o2775), "folders that are shared need this"
        assert not allowed(number, at, 0o4755)
        assert not allowed(number, at, 0o104700)
    for number, at in way.opens:
        assert allowed(number, at, 0o101, 0o644)
        assert allowed(number, at, 0o2, 0o7777), "nothing is made, so it says nothing"
        assert not allowed(number, at, 0o101, 0o4755)
        assert not allowed(number, at, 0o20200002, 0o4755)


def test_a_second_set_of_numbers_does_not_lead_around_it() -> None:
    native = MACHINES["x86_64"][0]
    assert (
        verdict(filter_program("x86_64"), native.architecture, 0x40000000 + native.keyctl) != ALLOW
    )


def test_a_machine_that_we_do_not_know_has_no_filter() -> None:
    assert filter_program("pdp11") == b""
