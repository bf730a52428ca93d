"""What Ralph reads of git's files itself, instead of asking git again."""

import os
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.snapshot_cache import Head, read_head
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.ports.executor import Command, CommandOutput, Tick
from tests.git_user import GitUser, a_project

pytestmark = pytest.mark.usefixtures("as_a_session")

NONE = frozenset[str]()


class NotingExecutor(ProcessExecutor):
    """Notes what git was asked."""

    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.asked: list[str] = []

    def capture(
        self, command: Command, *, timeout_s: float = 120.0, tick: Tick | None = None
    ) -> CommandOutput:
        """Run it."""
        self.asked.append(" ".join(command.argv))
        return super().capture(command, timeout_s=timeout_s, tick=tick)

    def count(self, what: str) -> int:
        """How often git was asked that."""
        return sum(f" {what} " in f"{line} " for line in self.asked)


@pytest.fixture
def hands(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "project")


@pytest.fixture
def executor() -> NotingExecutor:
    return NotingExecutor()


@pytest.fixture
def workspace(executor: NotingExecutor, hands: GitUser) -> UserCheckout:
    return UserCheckout(executor, str(hands.top))


# -- the head


def test_the_head_is_read_as_git_reads_it(hands: GitUser) -> None:
    commit, top = hands.git("rev-parse", "HEAD").strip(), str(hands.top)
    branch = hands.git("symbolic-ref", "--short", "HEAD").strip()
    assert read_head(top) == Head(branch, commit)
    hands.git("switch", "-q", "-c", "a/b-ü")
    assert read_head(top) == Head("a/b-ü", commit)
    hands.git("pack-refs", "--all", "--prune")
    assert read_head(top) == Head("a/b-ü", commit)
    hands.commit("another")  # a file beside the packed one
    assert read_head(top) == Head("a/b-ü", hands.git("rev-parse", "HEAD").strip())
    hands.git("switch", "-q", "--detach")
    assert read_head(top) == Head("", hands.git("rev-parse", "HEAD").strip())


def test_the_head_of_a_linked_worktree_is_its_own(hands: GitUser, tmp_path: Path) -> None:
    hands.git("worktree", "add", "-q", "-b", "beside", str(tmp_path / "beside"))
    commit = hands.git("rev-parse", "HEAD").strip()
    assert read_head(str(tmp_path / "beside")) == Head("beside", commit)


@pytest.mark.parametrize(
    "said",
    [
        "ref: refs/heads/.invalid\n",  # what git writes where refs are in tables
        "ref: refs/heads/unborn\n",
        "ref: refs/heads/../../config\n",
        "ref: refs/tags/v1\n",
        "nonsense\n",
        "",
    ],
)
def test_only_git_can_tell_what_is_not_said_plainly(hands: GitUser, said: str) -> None:
    hands.write(".git/HEAD", said)
    assert read_head(str(hands.top)) is None


def test_a_pipe_or_a_link_in_the_place_of_the_head_is_not_read(hands: GitUser) -> None:
    head = hands.top / ".git/HEAD"
    head.rename(head.with_name("elsewhere"))
    head.symlink_to("elsewhere")
    assert read_head(str(hands.top)) is None
    head.unlink()
    os.mkfifo(head)
    assert read_head(str(hands.top)) is None


def test_a_branch_that_names_another_one_is_not_followed(hands: GitUser) -> None:
    hands.git("symbolic-ref", "refs/heads/other", "refs/heads/main")
    hands.git("symbolic-ref", "HEAD", "refs/heads/other")
    assert read_head(str(hands.top)) is None


# -- what is asked once


def test_hidden_files_are_looked_up_again_when_the_index_has_changed(
    workspace: UserCheckout, executor: NotingExecutor, hands: GitUser
) -> None:
    assert workspace.hidden_files() == workspace.hidden_files() == NONE
    assert executor.count("ls-files") == 1
    hands.git("update-index", "--skip-worktree", "README.md")
    assert workspace.hidden_files() == {"README.md"}
    assert executor.count("ls-files") == 2


def test_a_split_index_is_looked_up_each_time(
    workspace: UserCheckout, executor: NotingExecutor, hands: GitUser
) -> None:
    hands.git("update-index", "--split-index")
    workspace.hidden_files()
    workspace.hidden_files()
    assert executor.count("ls-files") == 2


def test_a_commit_of_all_that_was_seen_asks_no_second_time(
    workspace: UserCheckout, executor: NotingExecutor, hands: GitUser
) -> None:
    since = workspace.snapshot()
    hands.write("new", "new")
    hands.write("README.md", "other")
    hands.remove("src/app.py")
    upto = workspace.snapshot()
    workspace.changes(since, upto)
    executor.asked.clear()
    done = workspace.commit(since, upto, "All", NONE)
    assert executor.count("status") == executor.count("write-tree") == 0
    assert done.after == workspace.snapshot()
    assert workspace.changes(since, workspace.snapshot()).commits == (done.commit,)
    assert hands.git("status", "--porcelain") == ""
    assert hands.git("show", "--format=", "--name-only").split() == [
        *("README.md", "new", "src/app.py"),
    ]


def test_a_file_that_changes_after_the_snapshot_stays_uncommitted(
    workspace: UserCheckout, hands: GitUser
) -> None:
    since = workspace.snapshot()
    hands.write("new", "one")
    upto = workspace.snapshot()
    hands.write("new", "two")  # of the same size, perhaps in the same tick of the clock
    assert workspace.commit(since, upto, "All", NONE).commit
    assert hands.git("show", "HEAD:new") == "one"
    assert workspace.snapshot().dirty == ("new",)


@pytest.mark.parametrize("what", ["stage", "commit", "switch"])
def test_what_a_person_does_between_snapshot_and_commit_is_seen(
    workspace: UserCheckout, executor: NotingExecutor, hands: GitUser, what: str
) -> None:
    since = workspace.snapshot()
    hands.write("new", "new")
    upto = workspace.snapshot()
    hands.write("theirs", "theirs")
    if what == "switch":
        hands.git("switch", "-q", "-c", "other")
    else:
        hands.git("add", "theirs")
    if what == "commit":
        hands.git("commit", "-q", "-m", "theirs")
    executor.asked.clear()
    done = workspace.commit(since, upto, "All", NONE)
    assert executor.count("status")
    assert (done.files, done.after) == (("new",), None)
    assert done.branch == hands.git("symbolic-ref", "--short", "HEAD").strip()
    assert hands.git("diff", "--cached", "--name-only").split() == (
        ["theirs"] if what == "stage" else []
    )


def test_what_was_staged_otherwise_stays_staged(workspace: UserCheckout, hands: GitUser) -> None:
    hands.write("README.md", "staged")
    hands.git("add", "README.md")
    hands.write("README.md", "# A project\n")
    since = workspace.snapshot()
    hands.write("new", "new")
    done = workspace.commit(since, workspace.snapshot(), "All", NONE)
    assert done.after is None
    assert hands.git("show", ":README.md") == "staged"


def test_a_key_in_a_small_file_is_found_without_and_with_git(
    workspace: UserCheckout, executor: NotingExecutor, hands: GitUser
) -> None:
    since = workspace.snapshot()
    hands.write("plain.txt", "nothing\n")
    assert not workspace.commit(since, workspace.snapshot(), "Plain", NONE).likely_secrets
    assert not any("-G" in line for line in executor.asked)
    hands.write("key.txt", "-----BEGIN RSA PRIVATE KEY\n")
    found = workspace.commit(since, workspace.snapshot(), "Key", NONE).likely_secrets
    assert [one.path for one in found] == ["key.txt"]
