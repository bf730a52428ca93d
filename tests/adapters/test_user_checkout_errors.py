"""What git costs, and what happens when somebody or something gets in the way."""

import os
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.git import Git, find_top, git_error
from ralph.adapters.workspace.git_index import scratch_index
from ralph.adapters.workspace.locks import MARK, clear_locks
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.errors import Busy, CannotWrite, Missing, RalphError, Unavailable, UnusableData
from ralph.core.snapshot import Snapshot
from ralph.ports.executor import Command, CommandOutput
from tests.git_user import GitUser, a_project
from tests.privileges import ordinary

pytestmark = pytest.mark.usefixtures("as_a_session")

NO_PATHS = frozenset[str]()
REF = "refs/ralph/t-abc123/1"


class Killed(BaseException):
    """Ralph ends here."""


class Watched(ProcessExecutor):
    """An executor that keeps a list, and lets a test step in before a command."""

    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.commands: list[str] = []
        self.before: Callable[[str], None] = lambda _: None
        self.waits: list[str] = []

    def wait(self, why: str, seconds: float, is_over: Callable[[], bool]) -> None:
        del seconds
        self.waits.append(why)
        assert not is_over()

    def capture(
        self,
        command: Command,
        *,
        timeout_s: float = 120.0,
        tick: Callable[[], bool] | None = None,
    ) -> CommandOutput:
        words = [word for word in command.argv[1:] if word != "-c" and "=" not in word]
        line = " ".join(word for word in words if not word.startswith("--no-pager"))
        self.commands.append(line.removeprefix("--literal-pathspecs "))
        self.before(self.commands[-1])
        return super().capture(command, timeout_s=timeout_s, tick=tick)


@pytest.fixture
def hands(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "project")


@pytest.fixture
def executor() -> Watched:
    return Watched()


@pytest.fixture
def workspace(executor: Watched, hands: GitUser) -> UserCheckout:
    return UserCheckout(executor, str(hands.top))


# -- what it costs


def test_5000_files_cost_one_process_when_clean_and_no_second_look_when_not(
    hands: GitUser, workspace: UserCheckout, executor: Watched
) -> None:
    for folder in range(50):
        (hands.top / f"many/{folder}").mkdir(parents=True)
        for file in range(100):
            (hands.top / f"many/{folder}/{file}").write_text(f"{folder} {file}\n")
    head = hands.commit()
    executor.commands.clear()
    clean = workspace.snapshot()
    assert clean == Snapshot(head=head, branch="main")
    assert [command.split()[0] for command in executor.commands] == ["status"]

    hands.write("many/7/7", "other\n")
    workspace.snapshot()
    executor.commands.clear()
    dirty = workspace.snapshot()
    assert dirty.dirty == ("many/7/7",)
    # `update-index` is given that one name; nothing walks through the files again.
    names = [command.split()[0] for command in executor.commands]
    assert names == ["status", "update-index", "write-tree"]

    workspace.restore(clean)
    assert hands.git("status", "--porcelain") == ""


# -- killed in the middle


def killed_before(executor: Watched, number: int) -> None:
    def maybe_killed(_: str) -> None:
        if len(executor.commands) == number:
            raise Killed

    executor.commands.clear()
    executor.before = maybe_killed


def a_persons_mess(hands: GitUser) -> None:
    hands.write("README.md", "staged")
    hands.git("add", "README.md")
    hands.write("README.md", "and changed again")
    hands.write("notes", "untracked")


def a_sessions_work(hands: GitUser) -> None:
    hands.write("src/new.py", "new")
    hands.write("src/app.py", "changed")
    hands.remove("src/old name.py")


def until_it_survives(hands: GitUser, act: Callable[[UserCheckout], object]) -> Iterator[GitUser]:
    """Copies of the checkout, in each of which `act` was killed one command later."""
    for number in count(1):
        copy = GitUser(f"{hands.top}-{number}")
        shutil.copytree(hands.top, copy.top, symlinks=True)
        executor = Watched()
        workspace = UserCheckout(executor, str(copy.top))
        killed_before(executor, number)
        try:
            act(workspace)
        except Killed:
            assert not (copy.top / ".git/index.lock").exists()
            assert list((copy.top / ".git/ralph").glob("*")) == []
            yield copy
        else:
            return


def test_a_commit_cut_short_anywhere_is_made_once_afterwards(
    hands: GitUser, workspace: UserCheckout
) -> None:
    a_persons_mess(hands)
    since, staged = workspace.snapshot(), hands.git("ls-files", "-s", "README.md")
    a_sessions_work(hands)
    upto, files = workspace.snapshot(), hands.files()

    def commit(there: UserCheckout) -> None:
        there.commit(since, upto, "Work\n", NO_PATHS)

    for copy in until_it_survives(hands, commit):
        again = UserCheckout(ProcessExecutor(SystemClock()), str(copy.top))
        commit(again)
        assert copy.git("rev-list", "--count", "HEAD").strip() == "2"
        assert again.snapshot().dirty == ("README.md", "notes")
        assert copy.git("diff", "--cached", "--name-only").split() == ["README.md"]
        assert copy.git("ls-files", "-s", "README.md") == staged
        assert copy.files() == files


def test_a_way_back_cut_short_anywhere_is_gone_to_its_end_afterwards(
    hands: GitUser, workspace: UserCheckout
) -> None:
    a_persons_mess(hands)
    to, before = workspace.snapshot(), hands.state()
    a_sessions_work(hands)
    hands.git("switch", "-q", "-c", "elsewhere")
    hands.commit()
    hands.write(".gitignore", "built\n")
    hands.write("built", "only ignored by the session")
    hands.write("README.md", "spoiled")
    for copy in until_it_survives(hands, lambda there: there.restore(to)):
        UserCheckout(ProcessExecutor(SystemClock()), str(copy.top)).restore(to)
        assert copy.state() == before


def test_what_a_killed_ralph_left_there_is_swept(hands: GitUser, workspace: UserCheckout) -> None:
    folder = hands.top / ".git/ralph"
    folder.mkdir()
    for name, age in (("index-old", 10_000.0), ("index-in-use", 0.0)):
        (folder / name).write_bytes(b"")
        now = SystemClock().now()
        os.utime(folder / name, (now - age, now - age))
    hands.write("new", "new")
    workspace.snapshot()
    assert [file.name for file in folder.iterdir()] == ["index-in-use"]


# -- locks


def test_somebodys_index_lock_is_waited_for_named_and_left_alone(
    hands: GitUser, workspace: UserCheckout, executor: Watched
) -> None:
    since = workspace.snapshot()
    hands.write("new", "new")
    lock = hands.top / ".git/index.lock"
    upto, before = workspace.snapshot(), hands.state()
    with lock.open("wb"):
        holder = rf"process {os.getpid()} \(.*\) is at work: it holds .*project/\.git/index\.lock"
        with pytest.raises(Busy, match=holder) as caught:
            workspace.commit(since, upto, "Work", NO_PATHS)
        assert "ralph doctor" in caught.value.hint
        with pytest.raises(Busy, match=holder):
            workspace.restore(since)
        assert [f"process {os.getpid()} (" in why for why in executor.waits] == [True, True]
    assert lock.exists()
    assert hands.state() == before


def test_the_lock_of_a_ralph_that_was_killed_is_removed(
    hands: GitUser, workspace: UserCheckout
) -> None:
    since = workspace.snapshot()
    hands.write("new", "new")
    (hands.top / ".git/index.lock").write_bytes(MARK)
    assert workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS).commit
    assert not (hands.top / ".git/index.lock").exists()


def test_the_lock_of_a_ralph_that_lives_is_not(hands: GitUser, workspace: UserCheckout) -> None:
    since = workspace.snapshot()
    hands.write("new", "new")
    with (hands.top / ".git/index.lock").open("wb") as lock:
        lock.write(MARK)
        lock.flush()
        with pytest.raises(Busy, match="is at work: it holds "):
            workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS)


def test_a_ref_that_is_locked_is_named(hands: GitUser, workspace: UserCheckout) -> None:
    since = workspace.snapshot()
    hands.write("new", "new")
    before = hands.state()
    lock = (hands.top / ".git/refs/heads/main.lock").open("wb")
    with lock, pytest.raises(Busy, match=r"holds .*refs/heads/main\.lock"):
        workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS)
    assert hands.state() == before


# -- somebody else at work


def test_a_branch_that_moved_meanwhile_is_not_overwritten(
    hands: GitUser, executor: Watched, workspace: UserCheckout
) -> None:
    since = workspace.snapshot()
    hands.write("new", "new")
    upto = workspace.snapshot()
    index = hands.git("ls-files", "-s")

    def somebody_commits(command: str) -> None:
        if command.startswith("update-ref"):
            executor.before = lambda _: None
            tree = hands.git("rev-parse", "HEAD^{tree}").strip()
            commit = hands.git("commit-tree", tree, "-p", "HEAD", "-m", "theirs").strip()
            hands.git("update-ref", "HEAD", commit)

    executor.before = somebody_commits
    with pytest.raises(Busy, match="refs/heads/main was moved"):
        workspace.commit(since, upto, "Work", NO_PATHS)
    assert hands.git("log", "-1", "--format=%s").strip() == "theirs"
    assert hands.git("ls-files", "-s") == index
    assert workspace.commit(since, upto, "Work", NO_PATHS).files == ("new",)


def test_somebodys_newer_commit_of_the_same_file_wins(
    hands: GitUser, workspace: UserCheckout
) -> None:
    since = workspace.snapshot()
    hands.write("src/app.py", "the session's")
    hands.write("new", "new")
    upto = workspace.snapshot()
    hands.write("src/app.py", "a person's")
    hands.git("commit", "-q", "-m", "theirs", "src/app.py")
    done = workspace.commit(since, upto, "Work", NO_PATHS)
    assert (done.files, done.leftovers) == (("new",), ("src/app.py",))
    assert hands.git("show", "HEAD:src/app.py") == "a person's"


def test_a_file_that_is_written_meanwhile_stops_the_way_back(
    hands: GitUser, executor: Watched, workspace: UserCheckout
) -> None:
    to = workspace.snapshot()
    hands.write("src/app.py", "the session's")
    hands.commit()

    def somebody_writes(command: str) -> None:
        if command.startswith("read-tree"):
            hands.write("src/app.py", "just written by a person")

    executor.before = somebody_writes
    before = hands.git("rev-parse", "HEAD")
    with pytest.raises(RalphError, match=r"src/app\.py"):
        workspace.restore(to)
    assert (hands.top / "src/app.py").read_text() == "just written by a person"
    assert hands.git("rev-parse", "HEAD") == before


# -- errors a person can act on


def test_outside_of_a_repository_the_hint_is_git_init(executor: Watched, tmp_path: Path) -> None:
    with pytest.raises(Missing, match="not in a git repository") as caught:
        UserCheckout(executor, str(tmp_path))
    assert caught.value.hint == "git init"


def test_a_directory_that_is_not_there_is_named(executor: Watched, tmp_path: Path) -> None:
    with pytest.raises(Missing, match="nowhere"):
        find_top(executor, str(tmp_path / "nowhere"))


def test_a_bare_repository_has_no_files(executor: Watched, hands: GitUser, tmp_path: Path) -> None:
    hands.git("init", "-q", "--bare", str(tmp_path / "bare"))
    with pytest.raises(UnusableData, match="bare"):
        find_top(executor, str(tmp_path / "bare"))


def test_without_git_nothing_works(
    executor: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="git") as caught:
        find_top(executor, str(tmp_path))
    assert "install git" in caught.value.hint


def test_a_snapshot_that_git_has_forgotten_is_an_error(
    hands: GitUser, workspace: UserCheckout
) -> None:
    gone = Snapshot(head=workspace.snapshot().head, branch="main", tree="0123456789" * 4)
    before = hands.state()
    with pytest.raises(UnusableData, match="recorded state"):
        workspace.restore(gone)
    assert hands.state() == before


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("fatal: Unable to create '/p/.git/x': Read-only file system", CannotWrite),
        ("error: insufficient permission for adding an object", CannotWrite),
        ("error: file write error: No space left on device", CannotWrite),
        ('error: open("secret"): Permission denied\nfatal: Unable to process path', UnusableData),
        ("fatal: detected dubious ownership in repository at '/p'", UnusableData),
        ("fatal: bad object 0123456789012345678901234567890123456789", UnusableData),
        ("fatal: bad config line 1 in file .git/config", UnusableData),
        ("fatal: .git/index: index file open failed: No such device or address", UnusableData),
        ("fatal: unable to append to '.git/logs/HEAD': Not a directory", UnusableData),
        ("fatal: unable to append to '.git/logs/HEAD': Permission denied", CannotWrite),
        ("fatal: something new", UnusableData),
        ("", UnusableData),
    ],
)
def test_gits_complaints_become_one_line(said: str, kind: type[RalphError]) -> None:
    error = git_error(("status",), CommandOutput(code=128, stdout=b"", stderr=said.encode()), "/p")
    assert type(error) is kind
    assert "\n" not in str(error)
    assert "/p" in str(error)


def test_a_file_that_cannot_be_read_is_named(hands: GitUser, workspace: UserCheckout) -> None:
    hands.write("secret", "x")
    (hands.top / "secret").chmod(0)
    with ordinary(), pytest.raises(UnusableData, match="secret"):
        workspace.snapshot()


def test_a_checkout_that_cannot_be_written_is_an_error(
    hands: GitUser, workspace: UserCheckout
) -> None:
    hands.write("new", "new")
    (hands.top / ".git").chmod(0o555)
    try:
        with (
            ordinary(),
            pytest.raises(CannotWrite, match=r"^cannot write in .*: Permission denied$"),
        ):
            workspace.save(REF, "Kept aside\n")
    finally:
        (hands.top / ".git").chmod(0o755)


@pytest.mark.parametrize("name", ["index", "index.lock"])
@pytest.mark.parametrize("plant", [os.mkfifo, lambda path: os.symlink("/etc/passwd", path)])
def test_what_an_agent_put_in_the_place_of_an_index_is_neither_followed_nor_waited_for(
    hands: GitUser, name: str, plant: Callable[[Path], None]
) -> None:
    path = hands.top / ".git" / name
    path.unlink(missing_ok=True)
    plant(path)
    git = Git(ProcessExecutor(SystemClock()), str(hands.top))
    assert [os.path.lexists(one) for one in clear_locks(git.git_dir, 0.0)] == [True] * (
        name == "index.lock"
    )
    if name == "index":
        with pytest.raises(CannotWrite, match=r"^cannot write in "), scratch_index(git):
            pass


def test_a_file_that_is_one_large_hole_is_no_work(hands: GitUser, workspace: UserCheckout) -> None:
    """git would read it for hours."""
    hands.write("new", "new")
    before = workspace.snapshot()
    with open(hands.top / "hole", "wb") as file:
        file.truncate(1 << 40)
    after = workspace.snapshot()
    assert after.tree == before.tree
    assert after.dirty == ("hole", "new")


@pytest.mark.parametrize("way", ["restore", "return_to"])
def test_no_commit_of_a_person_is_left_behind_on_a_detached_head(tmp_path: Path, way: str) -> None:
    hands = a_project(tmp_path / "project")
    executor = Watched()
    workspace = UserCheckout(executor, str(hands.top))
    since = workspace.snapshot()
    hands.git("switch", "-q", "--detach")
    made: set[str] = set()

    def commit(_: str) -> None:
        hands.git("commit", "-q", "--allow-empty", "-m", "mine", check=False)
        made.add(hands.git("rev-parse", "HEAD").strip())

    executor.before = commit
    if way == "restore":
        workspace.restore(since)
    else:
        assert workspace.return_to("main")
    executor.before = lambda _: None
    assert hands.git("symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert made
    for one in made:
        assert hands.git("for-each-ref", "--contains", one), one


def test_a_head_is_not_detached_again_when_a_rebase_of_a_person_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GIT_REFLOG_ACTION")
    hands = a_project(tmp_path / "project")
    for branch in ("side", "main"):
        hands.git("switch", "-q", *(["-c"] if branch == "side" else []), branch)
        hands.write("README.md", branch)
        hands.commit(branch)
    hands.git("rebase", "-q", "side", check=False)
    workspace = UserCheckout(ProcessExecutor(SystemClock()), str(hands.top))
    since = workspace.snapshot()
    assert not since.branch
    hands.git("rebase", "--abort")
    head = hands.git("rev-parse", "main")
    with pytest.raises(RalphError, match="a rebase of yours"):
        workspace.restore(since)
    assert hands.git("symbolic-ref", "HEAD").strip() == "refs/heads/main"
    assert hands.git("rev-parse", "main") == head
