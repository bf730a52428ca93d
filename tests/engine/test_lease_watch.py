"""Which workers are dead, as far as this one can tell."""

import pytest

from ralph.core.ids import TaskId, WorkerId
from ralph.core.task import Task
from ralph.engine.lease_watch import LeaseWatch
from ralph.store.claims import StaleClaim
from ralph.store.runs import WorkerProcess

LEASE_S = 60.0
ELSEWHERE = WorkerProcess(host="there", boot_id="b", pid_namespace="n", pid=1, pid_start="1")


def a_claim(beat: str = "noon", worker: str = "agent-1") -> StaleClaim:
    """Of a worker whose lease has expired by every clock."""
    return StaleClaim(
        task=Task(id=TaskId("t-a"), title="", claimed_by=WorkerId(worker)),
        owner=ELSEWHERE,
        beat=beat,
        lease_s=LEASE_S,
        expired=True,
    )


def is_dead(watch: LeaseWatch, claim: StaleClaim, now: float) -> bool:
    return watch.dead([claim], now) == [claim]


@pytest.fixture
def watch() -> LeaseWatch:
    """On a machine that cannot tell whether the worker is alive."""
    return LeaseWatch(lambda _: None)


@pytest.mark.parametrize(("alive", "dead"), [(True, []), (False, [a_claim()])])
def test_a_process_of_this_machine_is_asked(alive: bool, dead: list[StaleClaim]) -> None:  # noqa: FBT001
    assert LeaseWatch(lambda _: alive).dead([a_claim()], 0.0) == dead


def test_a_worker_elsewhere_is_dead_after_a_lease_without_a_sign_of_life(
    watch: LeaseWatch,
) -> None:
    seen = [is_dead(watch, a_claim(), now) for now in (0.0, 20.0, 40.0, 59.0, 60.0)]
    assert seen == [False, False, False, False, True]


def test_an_expired_lease_alone_proves_nothing(watch: LeaseWatch) -> None:
    assert not is_dead(watch, a_claim(beat=""), 1000.0)


def test_a_sign_of_life_begins_the_watch_anew(watch: LeaseWatch) -> None:
    for now in (0.0, 20.0, 40.0):
        assert not is_dead(watch, a_claim(), now)
    seen = [is_dead(watch, a_claim("later"), now) for now in (60.0, 80.0, 100.0, 120.0)]
    assert seen == [False, False, False, True]


def test_a_gap_in_the_watch_begins_it_anew(watch: LeaseWatch) -> None:
    """No worker can renew its lease while the database is down, and then nobody looks either."""
    assert not is_dead(watch, a_claim(), 0.0)
    seen = [is_dead(watch, a_claim(), now) for now in (31.0, 55.0, 75.0, 91.0)]
    assert seen == [False, False, False, True]


def test_a_worker_that_never_joined_has_no_lease(watch: LeaseWatch) -> None:
    never = StaleClaim(task=a_claim().task, owner=None, beat="", lease_s=0.0, expired=True)
    assert is_dead(watch, never, 0.0)


def test_each_worker_is_watched_by_itself(watch: LeaseWatch) -> None:
    first, second = a_claim(), a_claim(worker="agent-2")
    for now in (0.0, 20.0):
        assert watch.dead([first], now) == []
    for now in (40.0, 60.0, 80.0):
        assert watch.dead([first, second], now) in ([], [first])
    assert watch.dead([first, second], 100.0) == [first, second]
