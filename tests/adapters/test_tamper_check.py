"""What a command has left in a repository: cleared up, and nothing of a person's is lost."""

import json
import os
import struct
import subprocess
from hashlib import sha1
from pathlib import Path

import pytest

from ralph.adapters.sandbox.planted_files import PlantedFiles
from ralph.adapters.sandbox.tamper_check import TamperCheck, clean_up_after_killed, leave_notes
from ralph.core.sandbox_rules import Access, IfMissing, PathRule, SandboxRules
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

    def watch(
        self, before: PlantedFiles | None = None, *more: PathRule, is_open: bool = False
    ) -> TamperCheck:
        places = [
            PathRule(path=str(path), access=Access.WRITE, why="checkout")
            for path in (self.top, self.git_dir)
        ]
        sandbox_rules = SandboxRules(
            top=str(self.top),
            git=str(self.git_dir),
            git_dir=str(self.git_dir),
            home="/home/x",
            paths=(*places, *more),
        )
        return TamperCheck(str(self.state), sandbox_rules, before, is_open=is_open)

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
    assert len(clean_up_after_killed(str(checkout.state))) > 4
    assert checkout.git("log", "--format=%s", "side") == "first"
    assert checkout.git("status", "--porcelain") == ""
    assert not (checkout.git_dir / "sequencer").exists()
    assert os.listdir(checkout.state) == ["planted"], "nobody looks twice"


@pytest.mark.parametrize("content", [b"", b"junk"])
def test_the_rest_of_a_split_index_comes_back(checkout: Checkout, content: bytes) -> None:
    checkout.git("update-index", "--split-index")
    watch = checkout.watch()
    (shared,) = checkout.git_dir.glob("sharedindex.*")
    shared.unlink()
    if content:
        shared.write_bytes(content)
    (said,) = watch.end()[0]
    assert "it is as before" in said
    assert checkout.git("status", "--porcelain") == ""


def test_a_clock_that_is_set_back_meanwhile_hides_nothing(checkout: Checkout) -> None:
    watch = checkout.watch()
    (noted,) = checkout.state.glob("watched-*.json")
    before = json.loads(noted.read_text())
    ten_seconds = 10**10  # by so much it was ahead when the command began
    before |= {name: before[name] + ten_seconds for name in ("stamp", "ahead")}
    noted.write_text(json.dumps(before))
    (checkout.git_dir / "rebase-merge").mkdir()
    os.close(watch._handle)
    assert len(clean_up_after_killed(str(checkout.state))) == 1
    assert not (checkout.git_dir / "rebase-merge").exists()


def test_what_still_runs_is_ended_before_the_look(checkout: Checkout) -> None:
    watch = checkout.watch()
    trap = checkout.git_dir / "rebase-merge"

    def sweep(variable: str) -> None:
        assert variable == f"RALPH_WATCH={watch.name}"
        trap.mkdir()  # the last thing that it did

    os.close(watch._handle)
    assert len(clean_up_after_killed(str(checkout.state), sweep)) == 1
    assert not trap.exists()


def test_a_command_of_a_living_run_is_left_alone(checkout: Checkout) -> None:
    watch = checkout.watch()
    (checkout.git_dir / "rebase-merge").mkdir()
    assert clean_up_after_killed(str(checkout.state), pytest.fail) == []
    assert len(watch.end()[0]) == 1


def test_what_was_found_is_told_once(checkout: Checkout) -> None:
    state = str(checkout.state)
    checkout.watch().end()
    leave_notes(state, ["first"])
    leave_notes(state, ["second \udcff"])
    assert clean_up_after_killed(state) == ["first", "second \udcff"]
    assert clean_up_after_killed(state) == []


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


@pytest.mark.parametrize("loses", ["stash clear", "stash drop stash@{1}", ""])
def test_what_a_person_has_stashed_is_kept(checkout: Checkout, loses: str) -> None:
    """All but the last stash is in a log only."""
    for text in ("first", "second", "third"):
        (checkout.top / "a").write_text(text)
        checkout.git("stash")
    stashed = checkout.git("stash", "list", "--format=%H").split()
    watch = checkout.watch()
    if loses:
        checkout.git(*loses.split())
    else:
        remove_tree(str(checkout.git_dir / "logs"))
    watch.end()
    left = checkout.git("stash", "list", "--format=%H").split()
    left += checkout.git("for-each-ref", "--format=%(objectname)").split()
    assert {*stashed} <= {*left}


def test_what_was_taken_away_is_taken_away_again(checkout: Checkout) -> None:
    before = None
    for _ in range(2):
        watch = checkout.watch(before)
        (checkout.top / "n").mkdir(exist_ok=True)
        (checkout.top / "n/.git").write_text("gitdir: ../elsewhere\n")
        said, before = watch.end()
        assert len(said) == 1
        assert not (checkout.top / "n/.git").exists()


@pytest.mark.parametrize(("leads_to", "lines"), [("top/other", 1), ("mine", 0)])
def test_a_link_leads_to_no_file_of_a_person(
    checkout: Checkout, tmp_path: Path, leads_to: str, lines: int
) -> None:
    """What is behind it is taken away where a session can have put it."""
    tool = tmp_path / leads_to / "tool"
    tool.parent.mkdir()
    tool.write_text("echo\n")
    absent = PathRule(
        path=str(checkout.top / "bin/tool"),
        access=Access.READ,
        why="git runs it",
        if_missing=IfMissing.CLEAR,
    )
    watch = checkout.watch(None, absent)
    (checkout.top / "bin").symlink_to(tool.parent)
    assert len(watch.end()[0]) == lines
    assert tool.exists() is not bool(lines)


def test_an_object_that_unpacks_to_more_than_anybody_reads_is_taken_away(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ralph.adapters.sandbox.git_repair.MOST_VERIFIED", 1 << 21)
    watch = checkout.watch()
    (checkout.top / "large").write_bytes(bytes(1 << 22))
    (checkout.top / "small").write_bytes(bytes(1 << 10))
    names = checkout.git("hash-object", "-w", "large", "small").split()
    (said,) = watch.end()[0]
    assert said.startswith("1 objects in ")
    objects = checkout.git_dir / "objects"
    assert [(objects / name[:2] / name[2:]).exists() for name in names] == [False, True]


def test_what_was_there_before_is_a_persons_whenever_they_have_made_it(checkout: Checkout) -> None:
    """Also between two commands: only the first one is preceded by a look at everything."""
    _, seen = checkout.watch().end()
    nested = checkout.top / "nested"
    checkout.git("init", "-q", "--template=", str(nested))
    checkout.git("config", "core.fsmonitor", "mine", at=nested)
    checkout.git("config", "alias.x", "!mine")
    os.mkfifo(checkout.top / "pipe")
    sandbox_rules = SandboxRules(
        top=str(checkout.top),
        git=str(checkout.git_dir),
        home="/home/x",
        paths=(PathRule(path=str(checkout.top), access=Access.WRITE, why="checkout"),),
    )
    _tick(checkout.top / "pipe")
    assert TamperCheck(str(checkout.state), sandbox_rules, seen).end()[0] == []
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


@pytest.mark.parametrize("name", [".gitignore", "part/.gitattributes", ".git/index"])
@pytest.mark.parametrize("size", [1 << 22, 1 << 40])
@pytest.mark.parametrize("is_open", [False, True])
def test_holes_where_git_reads_are_taken_away(
    checkout: Checkout, name: str, size: int, *, is_open: bool
) -> None:
    """git would ask for as much memory."""
    watch = checkout.watch(is_open=is_open)
    path = checkout.top / name
    path.parent.mkdir(exist_ok=True)
    with open(path, "ab") as file:
        file.truncate(size)
    assert name in watch.end()[0][0]
    assert checkout.kept() == [path.name]
    assert checkout.git("ls-files") == "a"


def _with_times_of(index: bytes, file: Path) -> bytes:
    """An index by which git believes that it knows the file."""
    # Two bytes of flags, the length of the name, before it.
    found, at = file.stat(), index.index(b"\0\1a\0") - 60
    times = (*divmod(found.st_ctime_ns, 10**9), *divmod(found.st_mtime_ns, 10**9))
    parts = struct.pack(">4I", *times) + index[at + 16 : at + 36]
    forged = index[:at] + parts + struct.pack(">I", found.st_size) + index[at + 40 : -20]
    return forged + sha1(forged).digest()


@pytest.mark.parametrize("is_held", [False, True])
def test_a_changed_file_cannot_be_hidden_by_its_times_in_the_index(
    checkout: Checkout, *, is_held: bool
) -> None:
    checkout.git("update-index", "--refresh")
    watch = checkout.watch()
    index, lock = checkout.git_dir / "index", checkout.git_dir / "index.lock"
    file = checkout.top / "a"
    file.write_text("other\n")
    if is_held:
        lock.touch()
    index.write_bytes(_with_times_of(index.read_bytes(), file))
    later = file.stat().st_mtime + 10
    os.utime(index, (later, later))
    assert "a" not in checkout.git("diff", "--name-only")
    assert watch.end()[0] == []
    assert checkout.git("diff", "--name-only") == "a"
    assert lock.exists() == is_held


def test_an_index_without_a_sum_is_one(checkout: Checkout) -> None:
    """git writes zeros in its place where it is told to."""
    index = checkout.git_dir / "index"
    index.write_bytes(index.read_bytes()[:-20] + bytes(20))
    watch = checkout.watch()
    index.write_bytes(bytes(index.read_bytes()))
    assert watch.end()[0] == []


MISSING = "1234567890" * 4


@pytest.mark.parametrize("is_open", [False, True], ids=["sandbox", "off"])
@pytest.mark.parametrize(
    "written",
    [
        {"refs/heads/a": "ref: refs/heads/b", "refs/heads/b": "ref: refs/heads/a",
         "HEAD": "ref: refs/heads/a"},
        {"refs/heads/main": "ref: refs/heads/main"},
        {"refs/heads/main": "ref: refs/heads/other"},
        {"refs/heads/main": "ref: refs/heads/side"},
        {"refs/heads/main": MISSING},
        {"HEAD": "ref: refs/heads/nowhere"},
        {"HEAD": "ref: refs/remotes/origin/main"},
        {"HEAD": MISSING},
        {"HEAD": "0" * 40},
    ],
    ids=str,
)  # fmt: skip
def test_a_head_that_leads_nowhere_is_restored(
    checkout: Checkout,
    written: dict[str, str],
    is_open: bool,  # noqa: FBT001
) -> None:
    before = checkout.git("rev-parse", "HEAD")
    checkout.git("pack-refs", "--all")
    watch = checkout.watch(is_open=is_open)
    for name, value in written.items():
        (checkout.git_dir / name).write_text(f"{value}\n")
    said, _ = watch.end()
    assert len(said) == len(written), said
    assert checkout.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert (checkout.git_dir / "refs/heads/main").exists() == ("refs/heads/main" in written)
    assert checkout.git("rev-parse", "main") == before
    assert "broken" not in checkout.git("for-each-ref")
    checkout.git("commit", "-q", "--allow-empty", "-m", "work goes on")


def test_a_head_that_leads_to_any_commit_stays(checkout: Checkout) -> None:
    for deed in (
        ("checkout", "-q", "--detach"),
        ("commit", "-q", "--allow-empty", "-m", "alone"),
        ("gc", "-q", "--prune=now"),
        ("checkout", "-q", "-b", "other"),
        ("symbolic-ref", "refs/heads/more", "refs/heads/other"),
        ("checkout", "-q", "more"),
    ):
        watch = checkout.watch()
        checkout.git(*deed)
        assert watch.end()[0] == [], deed
