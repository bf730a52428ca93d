"""What a command has left in a repository: cleared up, and nothing of a person's is lost."""

import os
import subprocess
from pathlib import Path

import pytest

from ralph.adapters.sandbox.guard import Watch, look_after_the_dead
from ralph.core.fence import Access, Fence, Place
from ralph.files import remove_tree


class Checkout:
    """One of a person's, and what watches over it."""

    def __init__(self, base: Path) -> None:
        self.top, self.state = base / "top", base / "state"
        self.git_dir = self.top / ".git"
        self.git("init", "-q", "-b", "main", "--template=", str(self.top), at=base)
        (self.top / "a").write_text("a\n")
        self.git("add", "a")
        self.git("commit", "-q", "-m", "first")
        self.git("branch", "side")

    def git(self, *args: str, at: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *args], cwd=at or self.top, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def watch(self, *, is_open: bool = False) -> Watch:
        places = [
            Place(path=str(path), access=Access.WRITE, why="checkout")
            for path in (self.top, self.git_dir)
        ]
        fence = Fence(
            top=str(self.top),
            git=str(self.git_dir),
            git_dir=str(self.git_dir),
            home="/home/x",
            places=tuple(places),
        )
        return Watch(str(self.state), fence, is_open=is_open)

    def kept(self) -> list[str]:
        """The names of what was moved away."""
        folder = self.state / "planted"
        found = os.listdir(folder) if folder.exists() else []
        return sorted(name.partition("-")[2] for name in found)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def _tick(made: Path) -> None:
    """Until the clock of the file system shows a later time."""
    later = made.with_name("later")
    while not later.exists() or later.stat().st_ctime_ns <= made.lstat().st_ctime_ns:
        later.touch()


def test_ordinary_work_is_left_alone(checkout: Checkout) -> None:
    watch = checkout.watch()
    (checkout.top / "a").write_text("b\n")
    checkout.git("commit", "-q", "-a", "-m", "second")
    checkout.git("stash", "list")
    checkout.git("tag", "v1")
    checkout.git("checkout", "-q", "-b", "work")
    checkout.git("merge", "-q", "side")
    checkout.git("gc", "-q")
    assert watch.end()[0] == []
    assert checkout.git("status", "--porcelain") == ""
    assert checkout.kept() == []


def test_a_rebase_that_a_person_is_at_stays_as_it_is(checkout: Checkout) -> None:
    todo = checkout.git_dir / "rebase-merge/git-rebase-todo"
    todo.parent.mkdir()
    todo.write_text("pick 1\n")
    (checkout.git_dir / "MERGE_HEAD").write_text("mine\n")
    watch = checkout.watch()
    todo.write_text("exec evil\n")
    (todo.parent / "author-script").write_text("evil\n")
    (checkout.git_dir / "MERGE_HEAD").write_text("evil\n")
    said, _ = watch.end()
    assert len(said) == 3
    assert todo.read_text() == "pick 1\n"
    assert (checkout.git_dir / "MERGE_HEAD").read_text() == "mine\n"
    assert checkout.kept() == ["MERGE_HEAD", "author-script", "git-rebase-todo"]


def test_what_is_needed_comes_back_after_somebody_was_killed(checkout: Checkout) -> None:
    watch = checkout.watch()
    for name in ("HEAD", "index", "refs/heads/main", "refs/heads/side"):
        (checkout.git_dir / name).unlink()
        os.mkfifo(checkout.git_dir / name)
    (checkout.git_dir / "sequencer").mkdir()
    os.close(watch._handle)  # as the kernel does for the dead
    assert len(look_after_the_dead(str(checkout.state))) > 4
    assert checkout.git("log", "--format=%s", "side") == "first"
    assert checkout.git("status", "--porcelain") == ""
    assert not (checkout.git_dir / "sequencer").exists()
    assert os.listdir(checkout.state) == ["planted"], "nobody looks twice"


def test_where_other_branches_were_is_kept(checkout: Checkout) -> None:
    before = checkout.git("rev-parse", "HEAD")
    watch = checkout.watch()
    checkout.git("commit", "-q", "--allow-empty", "-m", "second")
    checkout.git("branch", "-f", "side")
    checkout.git("pack-refs", "--all")
    (said,), _ = watch.end()
    assert said.startswith("refs/heads/side was at")
    assert checkout.git("rev-parse", f"refs/ralph/moved/{before[:12]}/heads/side") == before
    watch = checkout.watch()
    checkout.git("branch", "-D", "side")
    assert "is gone now" in watch.end()[0][0]


def test_what_was_there_before_is_a_persons_whenever_they_have_made_it(checkout: Checkout) -> None:
    """Also between two commands: only the first one is preceded by a look at everything."""
    _, seen = checkout.watch().end()
    nested = checkout.top / "nested"
    checkout.git("init", "-q", "--template=", str(nested))
    checkout.git("config", "core.fsmonitor", "mine", at=nested)
    checkout.git("config", "alias.x", "!mine")
    os.mkfifo(checkout.top / "pipe")
    fence = Fence(
        top=str(checkout.top),
        git=str(checkout.git_dir),
        home="/home/x",
        places=(Place(path=str(checkout.top), access=Access.WRITE, why="checkout"),),
    )
    _tick(checkout.top / "pipe")
    assert Watch(str(checkout.state), fence, seen).end()[0] == []
    assert (nested / ".git/HEAD").exists()


def test_what_is_moved_away_is_no_repository_there_either(checkout: Checkout) -> None:
    watch = checkout.watch()
    checkout.git("init", "-q", "--bare", str(checkout.git_dir / "x"))
    watch.end()
    (kept,) = (checkout.state / "planted").iterdir()
    with pytest.raises(subprocess.CalledProcessError):
        checkout.git("rev-parse", "--git-dir", at=kept)


def test_a_thousand_things_are_told_in_few_lines(checkout: Checkout) -> None:
    watch = checkout.watch()
    for at in range(50):
        os.mkfifo(checkout.top / f"pipe-{at}")
    said, _ = watch.end()
    assert len(said) == 21
    assert len(checkout.kept()) == 50


def test_without_a_sandbox_only_what_stops_git_is_taken_away(checkout: Checkout) -> None:
    watch = checkout.watch(is_open=True)
    (checkout.top / ".gitmodules").symlink_to("a")
    for path in (
        checkout.top / ".gitignore",
        checkout.git_dir / "HEAD",
        checkout.git_dir / "index",
    ):
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    checkout.git("init", "-q", str(checkout.top / "nested"), at=checkout.state)
    checkout.git("config", "core.fsmonitor", "mine", at=checkout.top / "nested")
    (checkout.git_dir / "refs/heads/side").write_text("junk")
    (checkout.git_dir / "hooks").mkdir()
    (checkout.git_dir / "hooks/pre-commit").touch()
    said, _ = watch.end()
    assert len(said) == 5, said
    assert checkout.kept() == [".gitignore", ".gitmodules", "HEAD", "index", "side"]
    assert checkout.git("log", "--format=%s", "side") == "first"
    assert checkout.git("status", "--porcelain") == "?? nested/"
    assert (checkout.git_dir / "hooks/pre-commit").exists()


def test_a_repository_that_was_moved_away_is_not_made_again(checkout: Checkout) -> None:
    watch = checkout.watch(is_open=True)
    checkout.git_dir.rename(checkout.top.parent / "gone")
    assert watch.end()[0] == []
    assert not checkout.git_dir.exists()


def test_folders_without_end_are_no_obstacle(checkout: Checkout) -> None:
    watch = checkout.watch()
    for place in ("refs", "x"):
        folder = checkout.git_dir / place
        folder.mkdir(exist_ok=True)
        here = os.open(folder, os.O_RDONLY)
        for _ in range(1200):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)
    assert watch.end()[0]
    assert checkout.kept() == ["x"]
    remove_tree(str(checkout.top))
    remove_tree(str(checkout.state))
