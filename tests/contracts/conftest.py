"""Some agents tell the time by the clock of their machine."""

import os
import time
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def utc() -> Iterator[None]:
    """The recorded sessions ran where it is the time of Greenwich."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = "UTC"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()
