"""A person's own checkout, in all the states that people leave them in."""

import os
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.snapshot import CheckoutChanges, Snapshot
from tests.git_user import GitUser, a_project

pytestmark = pytest.mark.usefixtures("as_a_session")

NO_PATHS = frozenset[str]()
REF = "refs/ralph/t-abc123/1"


@pytest.fixture
def hands(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "project")


@pytest.fixture
def executor() -> ProcessExecutor:
    return ProcessExecutor(SystemClock())


@pytest.fixture
def workspace(executor: ProcessExecutor, hands: GitUser) -> UserCheckout:
    return UserCheckout(executor, str(hands.top))


# -- states of a repository


def test_a_repository_without_commits_works(tmp_path: Path, executor: ProcessExecutor) -> None:
    hands = GitUser(str(tmp_path))
    hands.git("init", "-q", "-b", "main")
    hands.write("theirs", "a person's")
    workspace = UserCheckout(executor, str(tmp_path))
    since, before = workspace.snapshot(), hands.state()
    assert (since.head, since.branch, since.dirty) == ("", "main", ("theirs",))
    hands.write("new", "new")
    upto = workspace.snapshot()
    assert workspace.changes(since, upto) == CheckoutChanges(files=("new",))

    done = workspace.commit(since, upto, "First", NO_PATHS)
    assert done.files == ("new",)
    assert hands.git("rev-list", "--count", "main").strip() == "1"
    assert workspace.changes(since, workspace.snapshot()).commits == (done.commit,)

    workspace.save(REF, "Kept aside\n")
    workspace.restore(since)
    assert hands.state() == before
    assert done.commit in hands.git("rev-list", REF).split()


def test_an_empty_repository_works(tmp_path: Path, executor: ProcessExecutor) -> None:
    hands = GitUser(str(tmp_path))
    hands.git("init", "-q", "-b", "main")
    workspace = UserCheckout(executor, str(tmp_path))
    since = workspace.snapshot()
    assert since == Snapshot(branch="main")
    saved = workspace.save(REF, "Nothing\n")
    assert hands.git("ls-tree", saved) == ""
    hands.write("new", "new")
    hands.commit()
    workspace.restore(since)
    assert workspace.snapshot() == since
    assert hands.files() == {}


def test_a_detached_head_gets_the_commit_and_no_branch_moves(
    hands: GitUser, workspace: UserCheckout
) -> None:
    main = hands.git("rev-parse", "main")
    hands.git("switch", "-q", "--detach")
    since = workspace.snapshot()
    assert since.branch == ""
    hands.write("new", "new")
    done = workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS)
    assert hands.git("rev-parse", "HEAD").strip() == done.commit
    assert hands.git("rev-parse", "main") == main
    workspace.restore(since)
    assert workspace.snapshot() == since
    # Nothing else led to it, so it was kept.
    assert hands.git("rev-parse", f"refs/ralph/rescued/{done.commit}").strip() == done.commit


def test_a_detached_head_comes_back_from_a_branch(hands: GitUser, workspace: UserCheckout) -> None:
    hands.git("switch", "-q", "--detach")
    since = workspace.snapshot()
    hands.git("switch", "-q", "main")
    workspace.restore(since)
    assert workspace.snapshot() == since


def test_commits_are_rescued_from_a_branch_that_the_session_left(
    hands: GitUser, workspace: UserCheckout
) -> None:
    since = workspace.snapshot()
    hands.write("new", "new")
    commit = hands.commit()
    hands.git("switch", "-q", "-c", "elsewhere", "HEAD~1")
    workspace.save(REF, "Kept aside\n")
    workspace.restore(since)
    assert workspace.snapshot() == since
    assert hands.git("rev-parse", f"refs/ralph/rescued/{commit}").strip() == commit


def test_a_branch_that_the_session_deleted_is_made_again(
    hands: GitUser, workspace: UserCheckout
) -> None:
    since = workspace.snapshot()
    hands.git("switch", "-q", "-c", "elsewhere")
    hands.git("branch", "-q", "-D", "main")
    workspace.restore(since)
    assert workspace.snapshot() == since


def test_a_project_may_be_a_folder_of_its_repository(
    hands: GitUser, executor: ProcessExecutor
) -> None:
    hands.write("sub/project/.ralph.toml", "")
    hands.commit()
    workspace = UserCheckout(executor, str(hands.top / "sub/project"))
    since = workspace.snapshot()
    assert (workspace.path, workspace.top) == (str(hands.top / "sub/project"), str(hands.top))
    hands.write("sub/project/new", "new")
    hands.write("outside", "also seen")
    upto = workspace.snapshot()
    assert workspace.changes(since, upto).files == ("outside", "sub/project/new")
    workspace.restore(since)
    assert workspace.snapshot() == since


def test_a_linked_worktree_works(hands: GitUser, executor: ProcessExecutor, tmp_path: Path) -> None:
    hands.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked, before = GitUser(str(tmp_path / "linked")), hands.state()
    workspace = UserCheckout(executor, str(tmp_path / "linked"))
    since = workspace.snapshot()
    linked.write("new", "new")
    assert workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS).files == ("new",)
    workspace.restore(since)
    assert workspace.snapshot() == since
    assert hands.state() == before


def test_other_hashes_and_split_indexes_work(tmp_path: Path, executor: ProcessExecutor) -> None:
    hands = GitUser(str(tmp_path))
    hands.git("init", "-q", "-b", "main", "--object-format=sha256")
    hands.git("config", "core.splitIndex", "true")
    workspace = UserCheckout(executor, str(tmp_path))
    since = workspace.snapshot()
    hands.write("new", "new")
    hands.write("gone", "soon")
    hands.git("add", "gone")
    hands.remove("gone")
    done = workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS)
    assert done.files == ("new",)
    workspace.restore(since)
    assert workspace.snapshot() == since


def test_nested_repositories_are_left_alone(hands: GitUser, workspace: UserCheckout) -> None:
    for name in ("empty", "full"):
        nested = GitUser(str(hands.top / name))
        nested.top.mkdir()
        nested.git("init", "-q")
        nested.write("inside", "theirs")
    GitUser(str(hands.top / "full")).commit()
    since = workspace.snapshot()
    assert since.dirty == ()
    hands.write("new", "new")
    hands.write("empty/inside", "changed")
    assert workspace.snapshot().dirty == ("new",)
    assert workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS).files == ("new",)
    workspace.restore(since)
    assert (hands.top / "empty/inside").read_text() == "changed"
    assert (hands.top / "full/inside").read_text() == "theirs"


def test_of_a_submodule_only_its_commit_is_seen(
    hands: GitUser, workspace: UserCheckout, tmp_path: Path
) -> None:
    project_files = a_project(tmp_path / "library")
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    hands.git(*add, str(project_files.top), "lib")
    hands.commit()
    inside = GitUser(str(hands.top / "lib"))
    since = workspace.snapshot()
    inside.write("README.md", "changed in there")
    assert workspace.snapshot() == since
    commit = inside.commit()
    upto = workspace.snapshot()
    assert workspace.changes(since, upto).files == ("lib",)
    workspace.restore(since)
    # Its own checkout is not ours to move.
    assert inside.git("rev-parse", "HEAD").strip() == commit
    done = workspace.commit(since, workspace.snapshot(), "New library", NO_PATHS)
    assert done.files == ("lib",)
    assert commit in hands.git("ls-tree", "HEAD", "lib")


def test_sockets_and_pipes_are_no_files(hands: GitUser, workspace: UserCheckout) -> None:
    since = workspace.snapshot()
    os.mkfifo(hands.top / "pipe")
    hands.write("new", "new")
    assert workspace.snapshot().dirty == ("new",)
    workspace.restore(since)
    assert (hands.top / "pipe").exists()


def test_files_outside_of_a_sparse_checkout_stay_as_they_are(
    hands: GitUser, workspace: UserCheckout
) -> None:
    hands.git("sparse-checkout", "set", "--no-cone", "/README.md", "/.gitignore")
    hands.write("outside/theirs", "a person's")
    since, before = workspace.snapshot(), hands.state()
    assert since.dirty == ("outside/theirs",)
    flags = hands.git("ls-files", "-t")
    hands.write("outside/theirs", "spoiled")
    hands.write("README.md", "spoiled")
    hands.write("outside/new", "new")
    workspace.restore(since)
    assert hands.state() == before
    hands.write("README.md", "work")
    assert workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS).files == ("README.md",)
    assert hands.git("ls-files", "-t") == flags


def test_flags_of_the_index_survive(hands: GitUser, workspace: UserCheckout) -> None:
    hands.git("update-index", "--assume-unchanged", "README.md")
    since = workspace.snapshot()
    hands.write("src/app.py", "work")
    workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS)
    workspace.restore(since)
    assert "h README.md" in hands.git("ls-files", "-v")


@pytest.mark.parametrize("setting", [("core.autocrlf", "input"), ("core.autocrlf", "true")])
def test_line_endings_that_git_would_refuse_are_kept(
    hands: GitUser, workspace: UserCheckout, setting: tuple[str, str]
) -> None:
    hands.git("config", *setting)
    hands.git("config", "core.safecrlf", "true")
    hands.write("mixed", b"one\r\ntwo\n")
    since = workspace.snapshot()
    assert since.dirty == ("mixed",)
    hands.write("new", "new\n")
    workspace.restore(since)
    # Untouched by the session, so not a byte of it is written.
    assert (hands.top / "mixed").read_bytes() == b"one\r\ntwo\n"


def test_a_file_changed_within_the_clocks_tick_is_seen(
    hands: GitUser, workspace: UserCheckout
) -> None:
    """Same size, same time: git then trusts the index less, by the time of the index itself."""
    hands.git("config", "core.trustctime", "false")
    then = (hands.top / ".git").stat().st_mtime_ns - 3600 * 10**9
    hands.write("README.md", "one")
    os.utime(hands.top / "README.md", ns=(then, then))
    hands.git("add", "README.md")
    hands.write("README.md", "two")
    os.utime(hands.top / "README.md", ns=(then, then))
    os.utime(hands.top / ".git/index", ns=(then, then))
    saved = workspace.save(REF, "Kept aside\n")
    assert hands.git("show", f"{saved}:README.md") == "two"


def test_a_file_that_the_session_announced_is_forgotten(
    hands: GitUser, workspace: UserCheckout
) -> None:
    since, before = workspace.snapshot(), hands.state()
    hands.write("new", "new")
    hands.git("add", "-N", "new")
    assert workspace.changes(since, workspace.snapshot()).files == ("new",)
    workspace.restore(since)
    assert hands.state() == before


# -- what a session hides


def test_a_new_ignore_rule_hides_nothing_from_the_way_back(
    hands: GitUser, workspace: UserCheckout
) -> None:
    hands.write("notes.txt", "a person's")
    since, before = workspace.snapshot(), hands.state()
    hands.write(".gitignore", "*.txt\nbuild/\n")
    hands.write("notes.txt", "written meanwhile")
    hands.write("build/out", "made by the session")
    workspace.restore(since)
    assert hands.state() == before
    # Ignored, so no `save` had it: it may well have been the person who wrote it.
    rescued = hands.git("for-each-ref", "--format=%(objectname)", "refs/ralph/rescued").strip()
    assert hands.git("show", f"{rescued}:notes.txt") == "written meanwhile"


def test_a_directory_that_became_a_link_is_not_followed(
    hands: GitUser, workspace: UserCheckout, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/app.py").write_text("somebody's")
    since, before = workspace.snapshot(), hands.state()
    hands.remove("src")
    hands.link("src", str(tmp_path / "elsewhere"))
    workspace.restore(since)
    assert hands.state() == before
    assert (tmp_path / "elsewhere/app.py").read_text() == "somebody's"


# -- hooks, environment, identity


def test_nothing_of_the_checkouts_choice_is_executed(
    hands: GitUser, workspace: UserCheckout
) -> None:
    trap = hands.top / ".git/hooks/trap"
    trap.parent.mkdir(exist_ok=True)
    trap.write_text(f"#!/bin/sh\necho caught >> '{hands.top}/.git/caught'\nexit 1\n")
    trap.chmod(0o755)
    for hook in ("pre-commit", "commit-msg", "post-commit", "post-checkout", "post-index-change"):
        (hands.top / ".git/hooks" / hook).symlink_to("trap")
    (hands.top / ".git/hooks/reference-transaction").symlink_to("trap")
    for setting in ("core.fsmonitor", "core.pager", "core.editor", "gpg.program"):
        hands.git("config", setting, str(trap))
    hands.git("config", "commit.gpgsign", "true")
    since = workspace.snapshot()
    hands.write("new", "new")
    assert workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS).commit
    workspace.save(REF, "Kept aside\n")
    workspace.restore(since)
    assert not (hands.top / ".git/caught").exists()


def test_an_inherited_git_dir_does_not_lead_elsewhere(
    hands: GitUser, executor: ProcessExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = a_project(tmp_path / "other")
    before = other.state()
    monkeypatch.setenv("GIT_DIR", str(other.top / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.top))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.top / ".git/index"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.hooksPath=/tmp'")
    workspace = UserCheckout(executor, str(hands.top))
    assert workspace.top == str(hands.top)
    since = workspace.snapshot()
    hands.write("new", "new")
    assert workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS).commit
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS"):
        monkeypatch.delenv(name)
    assert other.state() == before
    assert hands.git("log", "-1", "--format=%s").strip() == "Work"


def test_a_commit_carries_the_persons_name(hands: GitUser, workspace: UserCheckout) -> None:
    since = workspace.snapshot()
    hands.write("new", "new")
    workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS)
    who = hands.git("log", "-1", "--format=%an <%ae>, %cn <%ce>").strip()
    assert who == "A Person <person@example.com>, A Person <person@example.com>"


def test_without_a_name_it_is_ralphs(
    hands: GitUser, executor: ProcessExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    hands.git("config", "user.useConfigOnly", "true")
    workspace = UserCheckout(executor, str(hands.top))
    since = workspace.snapshot()
    hands.write("new", "new")
    workspace.commit(since, workspace.snapshot(), "Work", NO_PATHS)
    who = hands.git("log", "-1", "--format=%an <%ae>, %cn <%ce>").strip()
    assert who == "Ralph <ralph@localhost>, Ralph <ralph@localhost>"
    workspace.restore(since)
    assert workspace.snapshot() == since


def test_commits_tell_how_a_checkout_was_at_a_moment(
    hands: GitUser, workspace: UserCheckout
) -> None:
    since = workspace.snapshot()
    for name in ("1000000000", "1000000100"):
        hands.write(name, name)
        hands.git("add", name)
        date = f"{name} +0000"
        hands.git("-c", "user.name=p", "commit", "-q", "-m", name, f"--date={date}")
        hands.git("rebase", "-q", "--committer-date-is-author-date", "--force-rebase", "HEAD^")
    first = hands.git("rev-parse", "HEAD^").strip()
    hands.write("later", "later")
    now = workspace.snapshot()
    assert workspace.snapshot_at(since, now, 1000000100.5) == now
    assert workspace.snapshot_at(since, now, 1000000050) == Snapshot(head=first, branch="main")
    assert workspace.snapshot_at(since, now, 1).head == since.head
    assert workspace.snapshot_at(now, now, 1) == now


def test_what_is_committed_is_what_was_on_disk(workspace: UserCheckout, hands: GitUser) -> None:
    base, before = workspace.snapshot(), hands.files()
    hands.write("src/app.py", "broken(")
    hands.write("new", "to be deleted")
    hands.commit()
    hands.write("src/app.py", before["src/app.py"][1])
    hands.remove("new")
    hands.write("README.md", "work")
    workspace.commit(base, workspace.snapshot(), "Do it\n", NO_PATHS)
    assert workspace.snapshot().dirty == ()
    assert hands.files() == {**before, "README.md": ("file", b"work")}


def test_files_of_one_state_in_another(hands: GitUser, workspace: UserCheckout) -> None:
    """Changed, added, removed and made executable since; staged or not."""
    for name in ("changed", "removed", "mode", "other"):
        hands.write(name, "old")
    hands.commit("first")
    before = workspace.snapshot()
    for name in ("changed", "added", "other"):
        hands.write(name, "new")
    hands.remove("removed")
    hands.write("mode", "old", executable=True)
    after = workspace.snapshot()
    paths = ["changed", "added", "removed", "mode"]
    assert workspace.file_contents(before, [*paths, "never"]) == {
        "changed": b"old",
        "removed": b"old",
        "mode": b"old",
    }
    mixed = workspace.with_files_of(before, after, paths)
    assert workspace.changes(before, mixed).files == ("other",)
    assert workspace.changes(mixed, after).files == ("added", "changed", "mode", "removed")


def test_what_is_in_a_tree_and_not_on_disk_is_seen_whatever_the_index_says(
    hands: GitUser, workspace: UserCheckout
) -> None:
    for name in ("same", "hidden", "gone", "pipe"):
        hands.write(name, "old")
    hands.commit("first")
    hands.git("update-index", "--skip-worktree", "hidden")
    hands.write("hidden", "new")
    for name in ("gone", "pipe"):
        hands.git("update-index", "--assume-unchanged", name)
        hands.remove(name)
    os.mkfifo(os.path.join(hands.top, "pipe"))
    at = workspace.snapshot()
    unlike = workspace.differing_from_disk(
        Snapshot(head=at.head), ["same", "hidden", "gone", "pipe"]
    )
    assert set(unlike) == {"hidden", "gone", "pipe"}


@pytest.mark.parametrize("bit", ["--skip-worktree", "--assume-unchanged"])
def test_what_is_hidden_from_git_is_no_obstacle_to_the_way_back(
    hands: GitUser, workspace: UserCheckout, bit: str
) -> None:
    before, state = workspace.snapshot(), hands.state()
    hands.write("new", "committed")
    hands.git("add", "new")
    hands.git("commit", "-q", "-m", "a session's")
    left = hands.git("rev-parse", "HEAD").strip()
    hands.git("update-index", bit, "new")
    hands.write("new", "hidden")
    workspace.restore(before)
    assert hands.state() == state
    kept = hands.git("for-each-ref", "--format=%(objectname)", "refs/ralph/").split()
    assert left in hands.git("rev-list", *kept).split()
    assert "hidden" in [hands.git("cat-file", "-p", f"{one}:new") for one in kept]
