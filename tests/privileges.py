"""Root obeys no permission bits, so tests about them would prove nothing for it: give that up."""

import ctypes
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager

CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
PR_SET_SECUREBITS = 28
SECBIT_NOROOT = 1
VERSION_3 = 0x20080522


@contextmanager
def ordinary() -> Iterator[None]:
    """Without the power to read and write everything, here and in programs started here."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = ctypes.create_string_buffer(struct.pack("=Ii", VERSION_3, 0))
    before = ctypes.create_string_buffer(24)
    _checked(libc.capget(header, before))
    words = list(struct.unpack("=6I", before.raw))
    words[0] &= ~(1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH)
    _checked(libc.prctl(PR_SET_SECUREBITS, SECBIT_NOROOT, 0, 0, 0))
    _checked(libc.capset(header, struct.pack("=6I", *words)))
    try:
        yield
    finally:
        _checked(libc.capset(header, before))
        _checked(libc.prctl(PR_SET_SECUREBITS, 0, 0, 0, 0))


def _checked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), "privileges cannot be changed")
