"""Which records go, and which stay."""

from ralph.core.retention import DAY_S, RetainedFiles, RetentionLimits, files_to_remove

NOW = 1000 * DAY_S


def files(
    name: str, days: float, *, size: int = 1, failed: bool = False, needed: bool = False
) -> RetainedFiles:
    return RetainedFiles(
        name=name,
        paths=(name,),
        changed_at=NOW - days * DAY_S,
        bytes=size,
        is_failed=failed,
        is_needed=needed,
    )


def names(kept: list[RetainedFiles], limits: RetentionLimits) -> list[str]:
    return sorted(one.name for one in files_to_remove(kept, limits, NOW))


def test_without_limits_everything_stays() -> None:
    assert names([files("a", 900, size=10**12)], RetentionLimits()) == []


def test_what_is_old_goes_and_failed_attempts_later() -> None:
    kept = [files("new", 1), files("old", 31), files("why", 31, failed=True)]
    assert names(kept, RetentionLimits(days=30, failed_days=90)) == ["old"]
    assert names([files("why", 91, failed=True)], RetentionLimits(days=30, failed_days=90)) == [
        "why"
    ]
    assert names([files("why", 900, failed=True)], RetentionLimits(days=30)) == []


def test_of_too_many_the_oldest_go_and_failed_attempts_last() -> None:
    kept = [files("a", 5, failed=True), files("b", 4), files("c", 3), files("d", 2)]
    assert names(kept, RetentionLimits(count=3)) == ["b"]
    assert names(kept, RetentionLimits(count=1)) == ["b", "c", "d"]
    assert names(kept, RetentionLimits(bytes=2)) == ["b", "c"]


def test_what_is_needed_never_goes_though_it_counts() -> None:
    kept = [files("open", 900, size=100, needed=True), files("a", 2), files("b", 1)]
    assert names(kept, RetentionLimits(days=30, failed_days=30)) == []
    assert names(kept, RetentionLimits(bytes=50)) == ["a", "b"]
    assert names(kept, RetentionLimits(count=2)) == ["a"]
