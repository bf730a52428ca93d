"""A git that is killed, times out or lacks memory gives no answer: nobody takes it for one."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path

import pytest

from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.adapters.workspace.git import PAUSES_S, Git
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.objects import Objects
from ralph.adapters.workspace.trunk import SharedBranch
from ralph.core.errors import RalphError, TemporaryFailure, Unavailable, UnusableData
from ralph.core.snapshot import Snapshot
from ralph.ports.executor import Captured
from ralph.testing.hands import Hands, a_project
from tests.adapters.team import ONE, TWO, a_trunk, merge, opened, state, work

KILLED = Captured(code=-9, stdout=b"", stderr=b"")
DEATHS = {
    "killed": KILLED,
    "killed in a sandbox": Captured(code=137, stdout=b"", stderr=b""),
    "a bus error": Captured(code=-7, stdout=b"", stderr=b""),
    "no memory": Captured(code=128, stdout=b"", stderr=b"fatal: Out of memory, malloc failed\n"),
    "no process": Captured(
        code=128, stdout=b"", stderr=b"error: cannot fork() for x: Resource temporarily unavailable"
    ),
    "a bad disk": Captured(
        code=1, stdout=b"", stderr=b"error: unable to mmap x: Input/output error\n"
    ),
    "a child that was killed": Captured(
        code=128, stdout=b"", stderr=b"error: index-pack died of signal 9\n"
    ),
}
ANSWERS: list[Callable[[Git, str], object]] = [
    lambda git, _: Objects(git).read_ref("refs/heads/main"),
    lambda git, head: Objects(git).contains(head, head),
    lambda git, head: Objects(git).is_reachable(head),
    lambda git, head: Objects(git).tree_of(head),
    lambda git, head: Objects(git).differences(git.empty_tree, head),
    lambda git, _: Objects(git).branch_ref(),
    lambda git, head: Objects(git).commits("", head),
]


class Dying(Processes):
    """A git that gives no answer at some calls: it did its work before that, or it did not."""

    def __init__(
        self, dies: Callable[[int], bool], how: Captured = KILLED, *, late: bool = False
    ) -> None:
        super().__init__(SystemClock())
        self.calls = 0
        self.dies = dies
        self.how = how
        self.late = late
        self.waits: list[float] = []

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        assert why
        assert not is_over()
        self.waits.append(seconds)

    def capture(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = 120.0,
    ) -> Captured:
        self.calls += 1
        if not self.dies(self.calls):
            return super().capture(argv, cwd=cwd, env=env, stdin=stdin, timeout_s=timeout_s)
        if self.late:
            super().capture(argv, cwd=cwd, env=env, stdin=stdin, timeout_s=timeout_s)
        return self.how


def never(_: int) -> bool:
    return False


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    return a_project(tmp_path / "project")


# -- one call


@pytest.mark.parametrize("how", DEATHS.values(), ids=DEATHS.keys())
def test_a_git_that_dies_once_is_asked_again(hands: Hands, how: Captured) -> None:
    head = hands.git("rev-parse", "HEAD").strip()
    for answer in ANSWERS:
        expected = answer(Git(Dying(never), str(hands.top)), head)
        assert expected
        executor = Dying(lambda call: call == 1, how)
        assert answer(Git(executor, str(hands.top)), head) == expected
        assert executor.waits == [PAUSES_S[0]]


@pytest.mark.parametrize("how", DEATHS.values(), ids=DEATHS.keys())
def test_a_git_that_dies_again_and_again_is_no_answer(hands: Hands, how: Captured) -> None:
    head = hands.git("rev-parse", "HEAD").strip()
    for answer in ANSWERS:
        executor = Dying(lambda _: True, how)
        with pytest.raises(TemporaryFailure):
            answer(Git(executor, str(hands.top)), head)
        assert executor.waits == list(PAUSES_S)


def test_a_git_that_hangs_is_not_waited_for_again(hands: Hands) -> None:
    executor = Dying(lambda _: True, Captured(code=124, stdout=b"", stderr=b"git took more than"))
    with pytest.raises(TemporaryFailure, match="git rev-parse did not end in time"):
        Objects(Git(executor, str(hands.top))).read_ref("HEAD")
    assert executor.calls == 1


@pytest.mark.parametrize(
    "why",
    [
        "git cannot be started: Resource temporarily unavailable",
        "the sandbox cannot start: bwrap: Creating new namespace failed: Cannot allocate memory",
    ],
)
def test_a_git_that_cannot_be_started_for_a_moment_is_started_again(hands: Hands, why: str) -> None:
    class Crowded(Dying):
        def capture(
            self,
            argv: Sequence[str],
            *,
            cwd: str,
            env: Mapping[str, str] | None = None,
            stdin: bytes = b"",
            timeout_s: float = 120.0,
        ) -> Captured:
            if not self.waits:
                raise Unavailable(why)
            return super().capture(argv, cwd=cwd, env=env, stdin=stdin, timeout_s=timeout_s)

    assert Objects(Git(Crowded(never), str(hands.top))).read_ref("HEAD")


def test_what_git_says_twice_is_true(hands: Hands) -> None:
    gone = Snapshot(head=hands.git("rev-parse", "HEAD").strip(), tree="0123456789" * 4)
    executor = Dying(never)
    workspace = InPlace(executor, str(hands.top))
    now = workspace.snapshot()
    executor.calls = 0
    with pytest.raises(UnusableData, match="recorded state"):
        workspace.changes(gone, now)
    assert executor.calls >= 2


# -- everything that is done in a checkout


def a_life(workspace: InPlace, hands: Hands) -> None:
    """What an attempt that counts and one that does not do to a checkout."""
    hands.write("src/new.py", "new")
    hands.write("src/app.py", "changed")
    since = Snapshot(head=hands.git("rev-parse", "HEAD").strip(), branch="main")
    upto = workspace.snapshot()
    workspace.changes(since, upto)
    workspace.exposed(since, upto)
    workspace.commit(since, upto, "Work\n", frozenset())
    base = workspace.snapshot()
    hands.write("half.py", "half")
    hands.remove("README.md")
    workspace.save("refs/ralph/t-1/1", "Kept\n")
    workspace.restore(base)


def lived(hands: Hands) -> dict[str, object]:
    found = hands.state()
    found.pop("head")
    return {
        **found,
        "tree": hands.git("rev-parse", "HEAD^{tree}"),
        "commits": hands.git("log", "--format=%s"),
        "kept": hands.git("ls-tree", "-r", "refs/ralph/t-1/1"),
        "locks": [str(path) for path in (hands.top / ".git").rglob("*.lock")],
    }


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "step", [7, pytest.param(1, marks=[pytest.mark.soak, pytest.mark.timeout(1200)])]
)
def test_whichever_git_dies_the_work_is_done_once(
    hands: Hands,
    step: int,
    late: bool,  # noqa: FBT001
) -> None:
    whole = Hands(f"{hands.top}-whole")
    shutil.copytree(hands.top, whole.top)
    a_life(InPlace(Processes(SystemClock()), str(whole.top)), whole)
    for number in count(1 + late, step):
        copy = Hands(f"{hands.top}-{number}")
        shutil.copytree(hands.top, copy.top)
        executor = Dying(lambda call, number=number: call == number, late=late)  # type: ignore[misc]
        a_life(InPlace(executor, str(copy.top)), copy)
        assert lived(copy) == lived(whole)
        if executor.calls < number:
            assert number > 20
            return


def a_team(trunk: SharedBranch) -> None:
    """Two tasks, one after the other, and the person's checkout follows."""
    for task in (ONE, TWO):
        work(trunk, task, f"{task}.txt", "x")
        again(lambda task=task: merge(trunk, task))  # type: ignore[misc]
        trunk.close(task)
    trunk.follow()


def again(deed: Callable[[], object]) -> None:
    """As a run does it after what cannot be repeated by itself."""
    try:
        deed()
    except TemporaryFailure:
        deed()


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "step", [19, pytest.param(1, marks=[pytest.mark.soak, pytest.mark.timeout(1200)])]
)
def test_whichever_git_of_a_team_dies_its_work_is_merged_once(
    tmp_path: Path,
    step: int,
    late: bool,  # noqa: FBT001
) -> None:
    for number in count(1 + late, step):
        source = a_project(tmp_path / str(number) / "source")
        executor = Dying(lambda call, number=number: call == number, late=late)  # type: ignore[misc]
        again(lambda source=source, executor=executor: a_team(a_trunk(source, executor=executor)))  # type: ignore[misc]
        trunk = a_trunk(source)
        trunk.tidy()
        assert trunk.follow() == ""
        subjects = source.git("log", "--format=%s").splitlines()
        assert subjects == [f"Write {TWO}.txt", f"Write {ONE}.txt", "by hand"]
        assert state(source)[2] == ""
        assert not list(source.top.parent.rglob("*.lock/"))
        if executor.calls < number:
            assert number > 20
            return


def test_a_death_while_the_branch_follows_is_no_reason_to_stay_behind(tmp_path: Path) -> None:
    source = a_project(tmp_path / "source")
    trunk = a_trunk(source)
    opened(trunk, ONE)
    work(trunk, ONE, "one", "one")
    merge(trunk, ONE)
    for number in count(1):
        executor = Dying(lambda call, number=number: call == number)  # type: ignore[misc]
        again_trunk = a_trunk(source, executor=executor)
        why = again_trunk.follow()
        if executor.calls < number:
            break
        if why:
            assert "was killed" in why
            a_trunk(source).tidy()
            assert a_trunk(source).follow() == ""
        assert (source.top / "one").read_text() == "one"
        source.git("reset", "-q", "--hard", "HEAD~1")
        source.git("update-ref", "refs/ralph/followed/main", "HEAD")
        assert isinstance(trunk, SharedBranch)
    else:
        raise RalphError
