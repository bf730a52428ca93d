"""A git that is killed, times out or lacks memory gives no answer: nobody takes it for one."""

import shutil
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.git import PAUSES_S, Git
from ralph.adapters.workspace.git_objects import GitObjects
from ralph.adapters.workspace.merge_branch import GitMergeBranch
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.errors import RalphError, TemporaryFailure, Unavailable, UnusableData
from ralph.core.snapshot import Snapshot
from ralph.ports.executor import Command, CommandOutput
from tests.adapters.team import ONE, TWO, a_merge_branch, merge, opened, state, work
from tests.git_user import GitUser, a_project

KILLED = CommandOutput(code=-9, stdout=b"", stderr=b"")
DEATHS = {
    "killed": KILLED,
    "killed in a sandbox": CommandOutput(code=137, stdout=b"", stderr=b""),
    "a bus error": CommandOutput(code=-7, stdout=b"", stderr=b""),
    "no memory": CommandOutput(
        code=128, stdout=b"", stderr=b"fatal: Out of memory, malloc failed\n"
    ),
    "no process": CommandOutput(
        code=128, stdout=b"", stderr=b"error: cannot fork() for x: Resource temporarily unavailable"
    ),
    "a bad disk": CommandOutput(
        code=1, stdout=b"", stderr=b"error: unable to mmap x: Input/output error\n"
    ),
    "a child that was killed": CommandOutput(
        code=128, stdout=b"", stderr=b"error: index-pack died of signal 9\n"
    ),
}
ANSWERS: list[Callable[[Git, str], object]] = [
    lambda git, _: GitObjects(git).read_ref("refs/heads/main"),
    lambda git, head: GitObjects(git).contains(head, head),
    lambda git, head: GitObjects(git).is_reachable(head),
    lambda git, head: GitObjects(git).tree_of(head),
    lambda git, head: GitObjects(git).differences(git.empty_tree, head),
    lambda git, _: GitObjects(git).branch_ref(),
    lambda git, head: GitObjects(git).commits("", head),
]


class Dying(ProcessExecutor):
    """A git that gives no answer at some calls: it did its work before that, or it did not."""

    def __init__(
        self, dies: Callable[[int], bool], how: CommandOutput = KILLED, *, late: bool = False
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
        command: Command,
        *,
        timeout_s: float = 120.0,
        tick: Callable[[], bool] | None = None,
    ) -> CommandOutput:
        self.calls += 1
        if not self.dies(self.calls):
            return super().capture(command, timeout_s=timeout_s, tick=tick)
        if self.late:
            super().capture(command, timeout_s=timeout_s, tick=tick)
        return self.how


def never(_: int) -> bool:
    return False


@pytest.fixture
def hands(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "project")


# -- one call


@pytest.mark.parametrize("how", DEATHS.values(), ids=DEATHS.keys())
def test_a_git_that_dies_once_is_asked_again(hands: GitUser, how: CommandOutput) -> None:
    head = hands.git("rev-parse", "HEAD").strip()
    for answer in ANSWERS:
        expected = answer(Git(Dying(never), str(hands.top)), head)
        assert expected
        executor = Dying(lambda call: call == 1, how)
        assert answer(Git(executor, str(hands.top)), head) == expected
        assert executor.waits == [PAUSES_S[0]]


@pytest.mark.parametrize("how", DEATHS.values(), ids=DEATHS.keys())
def test_a_git_that_dies_again_and_again_is_no_answer(hands: GitUser, how: CommandOutput) -> None:
    head = hands.git("rev-parse", "HEAD").strip()
    for answer in ANSWERS:
        executor = Dying(lambda _: True, how)
        with pytest.raises(TemporaryFailure, match=r"^git [a-z-]+ (failed: |was killed by signal)"):
            answer(Git(executor, str(hands.top)), head)
        assert executor.waits == list(PAUSES_S)


def test_a_git_that_hangs_is_not_waited_for_again(hands: GitUser) -> None:
    executor = Dying(
        lambda _: True, CommandOutput(code=124, stdout=b"", stderr=b"git took more than")
    )
    with pytest.raises(TemporaryFailure, match="git rev-parse did not end in time"):
        GitObjects(Git(executor, str(hands.top))).read_ref("HEAD")
    assert executor.calls == 1


@pytest.mark.parametrize(
    "why",
    [
        "git cannot be started: Resource temporarily unavailable",
        "the sandbox cannot start: bwrap: Creating new namespace failed: Cannot allocate memory",
    ],
)
def test_a_git_that_cannot_be_started_for_a_moment_is_started_again(
    hands: GitUser, why: str
) -> None:
    class Crowded(Dying):
        def capture(
            self,
            command: Command,
            *,
            timeout_s: float = 120.0,
            tick: Callable[[], bool] | None = None,
        ) -> CommandOutput:
            if not self.waits:
                raise Unavailable(why)
            return super().capture(command, timeout_s=timeout_s, tick=tick)

    assert GitObjects(Git(Crowded(never), str(hands.top))).read_ref("HEAD")


def test_what_git_says_twice_is_true(hands: GitUser) -> None:
    gone = Snapshot(head=hands.git("rev-parse", "HEAD").strip(), tree="0123456789" * 4)
    executor = Dying(never)
    workspace = UserCheckout(executor, str(hands.top))
    now = workspace.snapshot()
    executor.calls = 0
    with pytest.raises(UnusableData, match="recorded state"):
        workspace.changes(gone, now)
    assert executor.calls >= 2


# -- everything that is done in a checkout


def a_life(workspace: UserCheckout, hands: GitUser) -> None:
    """What an attempt that counts and one that does not do to a checkout."""
    hands.write("src/new.py", "new")
    hands.write("src/app.py", "changed")
    since = Snapshot(head=hands.git("rev-parse", "HEAD").strip(), branch="main")
    upto = workspace.snapshot()
    workspace.changes(since, upto)
    workspace.committed_secrets(since, upto)
    workspace.commit(since, upto, "Work\n", frozenset())
    base = workspace.snapshot()
    hands.write("half.py", "half")
    hands.remove("README.md")
    workspace.save("refs/ralph/t-1/1", "Kept\n")
    workspace.restore(base)


def lived(hands: GitUser) -> dict[str, object]:
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
    hands: GitUser,
    step: int,
    late: bool,  # noqa: FBT001
) -> None:
    whole = GitUser(f"{hands.top}-whole")
    shutil.copytree(hands.top, whole.top)
    a_life(UserCheckout(ProcessExecutor(SystemClock()), str(whole.top)), whole)
    for number in count(1 + late, step):
        copy = GitUser(f"{hands.top}-{number}")
        shutil.copytree(hands.top, copy.top)
        executor = Dying(lambda call, number=number: call == number, late=late)  # type: ignore[misc]
        a_life(UserCheckout(executor, str(copy.top)), copy)
        assert lived(copy) == lived(whole)
        if executor.calls < number:
            assert number > 20
            return


def a_team(merge_branch: GitMergeBranch) -> None:
    """Two tasks, one after the other, and the person's checkout follows."""
    for task in (ONE, TWO):
        work(merge_branch, task, f"{task}.txt", "x")
        again(lambda task=task: merge(merge_branch, task))  # type: ignore[misc]
        merge_branch.remove_checkout(task)
    merge_branch.update_user_checkout()


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
        branch = partial(a_merge_branch, source, executor=executor)
        again(lambda branch=branch: a_team(branch()))  # type: ignore[misc]
        merge_branch = a_merge_branch(source)
        merge_branch.clean_up_after_crash()
        assert merge_branch.update_user_checkout() == ""
        subjects = source.git("log", "--format=%s").splitlines()
        assert subjects == [f"Write {TWO}.txt", f"Write {ONE}.txt", "by hand"]
        assert state(source)[2] == ""
        assert not list(source.top.parent.rglob("*.lock/"))
        if executor.calls < number:
            assert number > 20
            return


def test_a_death_while_the_branch_follows_is_no_reason_to_stay_behind(tmp_path: Path) -> None:
    source = a_project(tmp_path / "source")
    merge_branch = a_merge_branch(source)
    opened(merge_branch, ONE)
    work(merge_branch, ONE, "one", "one")
    merge(merge_branch, ONE)
    for number in count(1):
        executor = Dying(lambda call, number=number: call == number)  # type: ignore[misc]
        reopened_merge_branch = a_merge_branch(source, executor=executor)
        why = reopened_merge_branch.update_user_checkout()
        if executor.calls < number:
            break
        if why:
            assert "was killed" in why
            a_merge_branch(source).clean_up_after_crash()
            assert a_merge_branch(source).update_user_checkout() == ""
        assert (source.top / "one").read_text() == "one"
        source.git("reset", "-q", "--hard", "HEAD~1")
        source.git("update-ref", "refs/ralph/followed/main", "HEAD")
        assert isinstance(merge_branch, GitMergeBranch)
    else:
        raise RalphError
