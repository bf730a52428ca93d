"""What every test of the door needs."""

from collections.abc import Iterator

import pytest

from tests.inside.house import House


@pytest.fixture
def house() -> Iterator[House]:
    made = House()
    yield made
    made.door.close()
    made.executor.close()
