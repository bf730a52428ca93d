"""Private checkouts, listed and cleared away."""

import os

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.sandbox.checkout_sandbox import NoSandbox
from ralph.adapters.workspace.checkout_setup import CheckoutSetup
from ralph.adapters.workspace.locks import CheckoutLock
from ralph.adapters.workspace.task_checkouts import TaskCheckouts
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.ids import TaskId
from ralph.files import lock_folder
from tests.cli.conftest import Cli, Keyboard, assert_one_line
from tests.git_user import GitUser


class Team:
    """A project in which two tasks have checkouts, and one of them is over."""

    def __init__(self, ralph: Cli) -> None:
        self.ralph = ralph
        self.hands = GitUser(str(ralph.path))
        self.hands.remove(".git")
        self.hands.git("init", "-q", "-b", "main")
        self.hands.commit()
        self.over, self.open = ralph.add("over"), ralph.add("still open")
        self.folder = ralph.path / ".ralph/checkouts"
        executor = ProcessExecutor(SystemClock())
        preparation = CheckoutSetup(
            project=str(ralph.path),
            include=(),
            setup=(),
            env=os.environ,
            executor=executor,
            checkout_sandbox=NoSandbox(),
        )
        checkouts = TaskCheckouts(UserCheckout(executor, str(ralph.path)), str(self.folder))
        for task in (self.over, self.open):
            checkouts.make(TaskId(task), "HEAD", preparation)
            GitUser(str(self.folder / task)).write("loose", "loose")
        ralph("task", "fail", self.over, "-r", "no")

    def names(self) -> set[str]:
        return {one["name"] for one in self.ralph.json("workspace", "list")}

    def clean(self, *names: str, code: int = 0) -> str:
        return self.ralph("workspace", "clean", "--no-sandbox", "--yes", *names, code=code).out


@pytest.fixture
def team(ralph: Cli) -> Team:
    return Team(ralph)


def test_they_are_listed_with_their_tasks_and_their_size(team: Team) -> None:
    over, still = sorted(
        team.ralph.json("workspace", "list"), key=lambda one: str(one["task"]) != team.over
    )
    assert (over["kind"], over["status"], over["title"]) == ("task", "failed", "over")
    assert over["path"] == str(team.folder / team.over)
    assert over["size_bytes"] > 0
    assert over["since"].endswith("Z")
    assert (still["task"], still["status"]) == (team.open, "pending")
    said = team.ralph("workspace", "list").out
    assert team.over in said
    assert "in all" in said


def test_those_of_tasks_that_are_over_are_removed_with_their_work_saved(team: Team) -> None:
    left = team.folder / "throw-away-verify-t-1-abcdefgh"
    left.mkdir()
    half = team.folder / "t-halfmade"
    half.mkdir()
    broken = team.folder / f"broken-{team.over}-1234"
    broken.mkdir()
    said = team.clean()
    assert team.over in said
    assert team.names() == {team.open, broken.name}
    kept = team.hands.git("show", f"refs/ralph/kept/{team.over}/files:loose")
    assert kept == "loose"
    assert team.clean() == "nothing to remove\n"
    team.clean(broken.name, team.open)
    assert "no private checkouts" in team.ralph("workspace", "list").out
    assert team.hands.git("show", f"refs/ralph/kept/{team.open}/files:loose") == "loose"


def test_what_is_in_use_stays(team: Team) -> None:
    look = team.folder / "throw-away-verify-t-1-abcdefgh"
    look.mkdir()
    with lock_folder(str(look)):
        team.clean()
        answer = team.ralph("workspace", "clean", "--no-sandbox", "--yes", look.name, code=75)
        assert_one_line(answer, hint=True)
    assert look.exists()
    with CheckoutLock(str(team.ralph.path / ".git"), "r-1"):
        assert_one_line(team.ralph("workspace", "clean", "--no-sandbox", "--yes", code=75))


def test_it_asks_first_and_knows_what_there_is(team: Team) -> None:
    clean = ("workspace", "clean", "--no-sandbox")
    assert_one_line(team.ralph(*clean, "nowhere", "--yes", code=66), hint=True)
    answer = team.ralph(*clean, code=1, stdin=Keyboard(b"n\n"))
    assert team.over in answer.err
    assert team.over in team.names()
    team.ralph(*clean, stdin=Keyboard(b"y\n"))
    assert team.names() == {team.open}


def test_without_any_there_is_nothing_to_list(ralph: Cli) -> None:
    assert "no private checkouts" in ralph("workspace", "list").out
    assert ralph.json("workspace", "list") == []
