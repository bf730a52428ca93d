"""What a probe has found out, in a few words."""

import pytest

from ralph.core.probe_result import ProbeResult
from ralph.core.session_ending import EndingKind


@pytest.mark.parametrize(
    ("ended", "detail", "told"),
    [
        (EndingKind.KILLED, "killed by signal 11", "killed by signal 11"),
        (EndingKind.NO_RESULT, "no result, exit code 3", "no result, exit code 3"),
        (EndingKind.AUTH_EXPIRED, "401", "auth expired: 401"),
        (EndingKind.REFUSED, "", "refused"),
    ],
)
def test_why_it_does_not_work_is_said_once(ended: EndingKind, detail: str, told: str) -> None:
    record = ProbeResult(agent="a", version="1", probed_at="", ended=ended, detail=detail)
    assert (record.trouble, record.works) == (told, False)
