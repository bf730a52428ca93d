"""A throw-away clone: the source stays untouched, and no work goes with it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.git import Git
from ralph.adapters.workspace.git_objects import GitObjects
from ralph.adapters.workspace.private_checkout import PrivateCheckout, create_private_checkout
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.errors import Missing
from tests.git_user import GitUser, a_project

NO_PATHS = frozenset[str]()
Checkout = Callable[..., PrivateCheckout]


@pytest.fixture
def source(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "source")


@pytest.fixture
def checkout(source: GitUser, tmp_path: Path) -> Checkout:
    def make(name: str = "t-abc123", commit: str = "main", subdir: str = "") -> PrivateCheckout:
        origin = UserCheckout(ProcessExecutor(SystemClock()), str(source.top / subdir))
        return create_private_checkout(origin, commit, str(tmp_path / "checkouts" / name), name)

    return make


def bring_head(private: PrivateCheckout, source: GitUser) -> str:
    git = Git(ProcessExecutor(SystemClock()), str(source.top))
    objects = GitObjects(git)
    objects.fetch(private.top, "HEAD", "refs/ralph/t-abc123/1")
    return objects.read_ref("refs/ralph/t-abc123/1")


def refs(hands: GitUser) -> dict[str, str]:
    listed = hands.git("for-each-ref", "--format=%(refname) %(objectname)")
    return dict(line.split(" ") for line in listed.splitlines())


def test_it_is_one_commit_on_a_branch_of_its_own(source: GitUser, checkout: Checkout) -> None:
    first = source.git("rev-parse", "HEAD").strip()
    source.write("later", "later")
    source.commit()
    private = checkout(commit=first)
    now = private.snapshot()
    assert (now.head, now.branch, now.dirty) == (first, "ralph/t-abc123", ())
    assert "later" not in GitUser(private.path).files()


def test_a_persons_changes_stay_where_they_are(source: GitUser, checkout: Checkout) -> None:
    source.write("README.md", "a person's")
    before = source.state()
    private = checkout()
    inside = GitUser(private.path)
    assert inside.files()["README.md"] == ("file", b"# A project\n")
    since = private.snapshot()
    inside.write("new", "new")
    private.commit(since, private.snapshot(), "Work", NO_PATHS)
    private.close()
    assert source.state() == before


def test_the_source_cannot_be_pushed_to_by_accident(checkout: Checkout) -> None:
    inside = GitUser(checkout().path)
    assert inside.git("remote") == ""
    assert list(refs(inside)) == ["refs/heads/ralph/t-abc123"]


def test_two_checkouts_do_not_meet(checkout: Checkout) -> None:
    one, two = checkout("one"), checkout("two")
    GitUser(one.path).write("new", "new")
    assert two.snapshot().dirty == ()


def test_a_branch_called_ralph_is_not_in_the_way(source: GitUser, checkout: Checkout) -> None:
    source.git("switch", "-q", "-c", "ralph")
    assert checkout(commit="ralph").snapshot().branch == "ralph/t-abc123"


def test_the_projects_folder_is_where_sessions_work(source: GitUser, checkout: Checkout) -> None:
    source.write("sub/file", "x")
    source.commit()
    private = checkout(subdir="sub")
    assert private.path == os.path.join(private.top, "sub")


def test_what_the_source_alone_is_told_is_carried_over(source: GitUser, checkout: Checkout) -> None:
    source.git("config", "user.name", "Somebody Else")
    (source.top / ".git/info").mkdir(exist_ok=True)
    (source.top / ".git/info/exclude").write_text("*.tmp\n")
    private = checkout()
    inside = GitUser(private.path)
    inside.write("x.tmp", "ignored")
    assert private.snapshot().dirty == ()
    assert inside.git("config", "user.name").strip() == "Somebody Else"


def test_an_agent_without_a_name_commits_as_ralph(
    source: GitUser, checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.delenv(f"GIT_{role}_NAME")
        monkeypatch.delenv(f"GIT_{role}_EMAIL")
    source.git("config", "user.useConfigOnly", "true")
    inside = GitUser(checkout().path)
    inside.commit()
    assert inside.git("log", "-1", "--format=%an").strip() == "Ralph"


def test_results_are_fetched_into_the_source(source: GitUser, checkout: Checkout) -> None:
    private = checkout()
    inside = GitUser(private.path)
    inside.write("new", "new")
    commit = inside.commit()
    before = source.state()
    assert bring_head(private, source) == commit
    assert source.git("show", "refs/ralph/t-abc123/1:new") == "new"
    assert source.state() == before
    inside.git("commit", "-q", "--amend", "-m", "said better")
    again = bring_head(private, source)
    assert again != commit
    # What the ref led to before is not lost.
    assert refs(source)[f"refs/ralph/rescued/{commit}"] == commit


def test_fetching_executes_nothing_of_the_clones(
    source: GitUser, checkout: Checkout, tmp_path: Path
) -> None:
    private = checkout()
    inside = GitUser(private.path)
    inside.commit()
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho caught >> '{tmp_path}/caught'\nexit 1\n")
    trap.chmod(0o755)
    for setting in ("core.fsmonitor", "core.sshCommand", "uploadpack.packObjectsHook"):
        inside.git("config", setting, str(trap))
    bring_head(private, source)
    assert not (tmp_path / "caught").exists()


def test_saved_work_outlives_the_checkout(source: GitUser, checkout: Checkout) -> None:
    private = checkout()
    GitUser(private.path).write("new", "new")
    saved = private.save("refs/ralph/t-abc123/1", "Kept aside\n")
    private.close()
    assert not os.path.exists(private.top)
    assert refs(source) == {
        "refs/heads/main": source.git("rev-parse", "main").strip(),
        "refs/ralph/t-abc123/1": saved,
    }
    assert source.git("show", f"{saved}:new") == "new"


def test_a_checkout_without_work_leaves_no_trace(source: GitUser, checkout: Checkout) -> None:
    before = refs(source)
    private = checkout()
    assert "refs/ralph/base/t-abc123" in refs(source)
    private.close()
    private.close()
    assert refs(source) == before
    assert not os.path.exists(private.top)


def test_commits_that_nobody_fetched_are_saved_before_it_goes(
    source: GitUser, checkout: Checkout
) -> None:
    private = checkout()
    inside = GitUser(private.path)
    inside.git("switch", "-q", "-c", "aside")
    inside.write("aside", "aside")
    aside = inside.commit()
    inside.git("switch", "-q", "ralph/t-abc123")
    inside.write("new", "new")
    commit = inside.commit()
    private.close()
    saved = refs(source)
    assert saved[f"refs/ralph/kept/t-abc123/{commit}"] == commit
    assert saved[f"refs/ralph/kept/t-abc123/{aside}"] == aside
    assert source.git("show", f"{commit}:new") == "new"


def test_tags_of_what_is_no_commit_do_not_hold_it_up(source: GitUser, checkout: Checkout) -> None:
    private = checkout()
    inside = GitUser(private.path)
    inside.git("tag", "of-a-file", "HEAD:README.md")
    inside.git("tag", "of-a-folder", "HEAD^{tree}")
    private.close()
    assert not os.path.exists(private.top)


def test_files_that_nobody_committed_are_saved_before_it_goes(
    source: GitUser, checkout: Checkout
) -> None:
    private = checkout()
    GitUser(private.path).write("new", "new")
    private.close()
    assert source.git("show", "refs/ralph/kept/t-abc123/files:new") == "new"


def test_a_throw_away_is_thrown_away(source: GitUser, checkout: Checkout) -> None:
    before = refs(source)
    private = checkout()
    GitUser(private.path).write("new", "what a verifier tried out")
    GitUser(private.path).write("locked/file", "x")
    os.chmod(os.path.join(private.top, "locked"), 0o555)
    private.discard()
    assert refs(source) == before
    assert not os.path.exists(private.top)


def test_collecting_garbage_in_the_source_does_not_hurt(
    source: GitUser, checkout: Checkout
) -> None:
    source.write("dropped", "dropped")
    dropped = source.commit()
    private = checkout(commit=dropped)
    source.git("reset", "-q", "--hard", "HEAD~1")
    source.git("reflog", "expire", "--expire=now", "--all")
    source.git("gc", "-q", "--prune=now")
    inside = GitUser(private.path)
    assert inside.git("fsck", "--connectivity-only") == ""
    assert inside.git("show", "HEAD:dropped") == "dropped"


def test_a_commit_that_does_not_exist_is_named(source: GitUser, checkout: Checkout) -> None:
    before = refs(source)
    with pytest.raises(Missing, match="0123456789"):
        checkout(commit="0123456789" * 4)
    assert refs(source) == before


def test_one_that_cannot_be_made_leaves_nothing_behind(
    source: GitUser, checkout: Checkout, tmp_path: Path
) -> None:
    before = refs(source)
    (source.top / "uncommitted").mkdir()
    with pytest.raises(Missing, match="uncommitted"):
        checkout(subdir="uncommitted")
    assert refs(source) == before
    assert list((tmp_path / "checkouts").iterdir()) == []


def test_a_linked_worktree_can_be_the_source(
    source: GitUser, checkout: Checkout, tmp_path: Path
) -> None:
    source.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = UserCheckout(ProcessExecutor(SystemClock()), str(tmp_path / "linked"))
    private = create_private_checkout(
        linked, "side", str(tmp_path / "checkouts/t-abc123"), "t-abc123"
    )
    assert private.snapshot().branch == "ralph/t-abc123"
