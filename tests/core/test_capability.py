"""What a probe has found out, in a few words."""

import pytest

from ralph.core.capability import Capability
from ralph.core.ended import Ended


@pytest.mark.parametrize(
    ("ended", "detail", "told"),
    [
        (Ended.KILLED, "killed by signal 11", "killed by signal 11"),
        (Ended.NO_RESULT, "no result, exit code 3", "no result, exit code 3"),
        (Ended.AUTH_EXPIRED, "401", "auth expired: 401"),
        (Ended.REFUSED, "", "refused"),
    ],
)
def test_why_it_does_not_work_is_said_once(ended: Ended, detail: str, told: str) -> None:
    record = Capability(agent="a", version="1", probed_at="", ended=ended, detail=detail)
    assert (record.trouble, record.works) == (told, False)
