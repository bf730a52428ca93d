"""A team's branch: checkouts for its tasks, and a tip that their work is put on."""

import os
import shutil
from pathlib import Path

import pytest

from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.adapters.workspace.checkout_setup import DependencyCache
from ralph.adapters.workspace.merge_branch import current_branch
from ralph.adapters.workspace.user_checkout import UserCheckout
from ralph.core.brief import Guardrail, GuardrailKind
from ralph.core.errors import Busy, Missing, RalphError, TemporaryFailure, Unavailable, UnusableData
from ralph.core.ids import TaskId
from ralph.documents.guardrails import FRESH, read, with_guardrail
from ralph.ports.merge_branch import RebaseResult
from tests.adapters.team import (
    ONE,
    THREE,
    TWO,
    a_merge_branch,
    folder_of,
    merge,
    opened,
    refs,
    state,
    work,
)
from tests.git_user import GitUser, a_project


@pytest.fixture
def source(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "source")


# -- checkouts


def test_each_task_has_a_checkout_that_any_process_finds_again(source: GitUser) -> None:
    source.write(".env.log", "KEY=1")  # ignored
    options = {"include": (".env.log",), "setup": ("pwd > where.log",)}
    merge_branch = a_merge_branch(source, **options)  # type: ignore[arg-type]
    assert not merge_branch.has_checkout(ONE)
    path = merge_branch.open_checkout(ONE).path
    assert path == str(folder_of(source) / ONE)
    assert (Path(path) / ".env.log").read_text() == "KEY=1"
    assert (Path(path) / "where.log").read_text() == f"{path}\n"
    GitUser(path).write("loose", "loose")
    other = a_merge_branch(source, **options)  # type: ignore[arg-type]
    assert other.has_checkout(ONE)
    now = other.open_checkout(ONE).snapshot()
    assert (now.head, now.branch, now.dirty) == (merge_branch.head(), f"ralph/{ONE}", ("loose",))
    assert refs(source)[f"refs/ralph/base/{ONE}"] == merge_branch.head()
    assert not other.has_checkout(TWO)


@pytest.mark.parametrize("name", ["../theirs", "", ".", "..", "t-a/../../theirs"])
def test_an_id_that_leads_elsewhere_has_no_checkout(source: GitUser, name: str) -> None:
    theirs = folder_of(source).parent / "theirs"
    theirs.mkdir()
    (theirs / "notes").write_text("a person's")
    with pytest.raises(UnusableData, match="cannot be the id of a task"):
        a_merge_branch(source).open_checkout(TaskId(name))
    assert (theirs / "notes").read_text() == "a person's"


def test_one_that_was_being_made_when_somebody_died_is_none(source: GitUser) -> None:
    why = "echo usage >&2; echo no such option >&2; exit 1"
    said = f"{why}' exits with 1 in a private checkout: usage no such option"
    with pytest.raises(Unavailable, match=said):
        a_merge_branch(source, setup=(why,)).open_checkout(ONE)
    assert not list(folder_of(source).iterdir())
    merge_branch = a_merge_branch(source)
    merge_branch.open_checkout(ONE)
    Path(f"{folder_of(source)}/{ONE}.ready").unlink()
    Path(f"{folder_of(source)}/{TWO}.ready").touch()
    assert not merge_branch.has_checkout(ONE)
    assert not merge_branch.has_checkout(TWO)
    other = a_merge_branch(source)
    other.clean_up_after_crash()
    assert not list(folder_of(source).iterdir())
    assert refs(source).keys() == {
        "refs/heads/main",
        "refs/ralph/tip/main",
        "refs/ralph/followed/main",
    }
    assert opened(other, ONE).files()["README.md"]


def test_one_without_its_repository_is_put_aside_with_its_files(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    inside = opened(merge_branch, ONE)
    inside.write("precious", "precious")
    (inside.top / ".git").rename(inside.top / "git-no-more")
    other = a_merge_branch(source)
    again = opened(other, ONE)
    assert "precious" not in again.files()
    (aside,) = folder_of(source).glob("broken-*")
    assert (aside / "precious").read_text() == "precious"
    assert state(source)[1:] == ("main", "")


def test_a_repository_that_leads_elsewhere_is_not_followed(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    inside = opened(merge_branch, ONE)
    (inside.top / ".git").rename(inside.top / "git-no-more")
    (inside.top / ".git").symlink_to(source.top / ".git")
    before = state(source)
    merge_branch.remove_checkout(ONE)
    assert state(source) == before
    assert not merge_branch.has_checkout(ONE)


def test_a_look_at_the_tip_is_thrown_away_and_what_it_installed_is_there_for_all(
    source: GitUser, tmp_path: Path
) -> None:
    source.write(".gitignore", "deps/\n*.log\n")
    source.commit()
    setup = ("mkdir deps; echo x >> ../installed; touch deps/one",)
    dependency_cache = DependencyCache(str(tmp_path / "cache"), ("deps",), setup)
    merge_branch = a_merge_branch(source, setup=setup, dependency_cache=dependency_cache)
    with merge_branch.temporary_checkout("baseline") as place:
        assert Path(place, "deps/one").exists()
        # What is done there reaches nobody.
        Path(place, "deps/two").touch()
        Path(place, "README.md").write_text("changed")
    assert not Path(place).exists()
    inside = opened(merge_branch, ONE)
    assert [path.name for path in (inside.top / "deps").iterdir()] == ["one"]
    assert (folder_of(source) / "installed").read_text() == "x\n"
    assert state(inside)[2] == ""


def test_a_project_in_a_folder_of_the_repository(source: GitUser) -> None:
    source.write("apps/web/page", "page")
    source.commit()
    merge_branch = a_merge_branch(source, project="apps/web")
    checkout = merge_branch.open_checkout(ONE)
    assert checkout.path == str(folder_of(source) / ONE / "apps/web")
    assert checkout.prefix == "apps/web/"
    GitUser(checkout.path).write("page", "better")
    GitUser(checkout.path).commit()
    merge(merge_branch, ONE)
    assert merge_branch.update_user_checkout() == ""
    assert (source.top / "apps/web/page").read_text() == "better"


def test_a_linked_worktree_can_be_the_source(source: GitUser, tmp_path: Path) -> None:
    source.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = GitUser(str(tmp_path / "linked"))
    merge_branch = a_merge_branch(linked, branch="side")
    work(merge_branch, ONE, "new", "new")
    merge(merge_branch, ONE)
    before = state(source)
    assert merge_branch.update_user_checkout() == ""
    assert (linked.top / "new").read_text() == "new"
    assert state(source) == before


def test_a_shallow_source_works(source: GitUser, tmp_path: Path) -> None:
    source.write("second", "second")
    source.commit()
    source.git("clone", "-q", "--depth=1", f"file://{source.top}", str(tmp_path / "shallow/here"))
    shallow = GitUser(str(tmp_path / "shallow/here"))
    merge_branch = a_merge_branch(shallow)
    work(merge_branch, ONE, "one", "one")
    work(merge_branch, TWO, "two", "two")
    merge(merge_branch, ONE)
    merge(merge_branch, TWO)
    assert merge_branch.update_user_checkout() == ""
    assert shallow.git("rev-list", "--count", "HEAD").strip() == "3"


def test_a_team_needs_a_branch_with_a_commit(source: GitUser, tmp_path: Path) -> None:
    executor = ProcessExecutor(SystemClock())
    assert current_branch(UserCheckout(executor, str(source.top))) == "main"
    source.git("switch", "-q", "--detach")
    with pytest.raises(RalphError, match="detached") as error:
        current_branch(UserCheckout(executor, str(source.top)))
    assert "git switch" in error.value.hint
    empty = GitUser(str(tmp_path))
    empty.git("init", "-q", "-b", "main", "empty")
    with pytest.raises(Missing, match="no commit"):
        current_branch(UserCheckout(executor, str(tmp_path / "empty")))


# -- merging


def test_work_is_put_on_the_tip_one_after_the_other(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    first, second = work(merge_branch, ONE, "one", "one"), work(merge_branch, TWO, "two", "two")
    start = merge_branch.head()
    assert not merge_branch.is_merged(ONE)
    rebased = merge_branch.rebase(ONE)
    assert rebased == RebaseResult(head=start)
    assert merge_branch.fast_forward(ONE, rebased.head) == first == merge_branch.head()
    assert merge_branch.is_merged(ONE)

    assert merge_branch.rebase(TWO) == RebaseResult(head=first) == merge_branch.rebase(TWO)
    merged = merge_branch.fast_forward(TWO, first)
    assert merged == merge_branch.head() != second
    assert source.git("log", "--format=%s", f"{start}..{merged}").split("\n")[:2] == [
        "Write two",
        "Write one",
    ]
    inside = opened(merge_branch, TWO)
    assert state(inside) == (merged, f"ralph/{TWO}", "")
    assert refs(inside).keys() == {f"refs/heads/ralph/{TWO}"}
    assert state(source) == (start, "main", "")


def test_lessons_of_two_are_both_kept(source: GitUser) -> None:
    path = ".ralph/guardrails.md"
    source.write(path, FRESH)
    source.commit("Guardrails")
    merge_branch = a_merge_branch(source)
    for task in (ONE, TWO, THREE):
        entry = Guardrail(
            id=f"fix-1-{task[-4:]}", kind=GuardrailKind.FIX, text=task, created="2026-02-10"
        )
        work(merge_branch, task, path, with_guardrail(FRESH, entry))
    tips = [merge(merge_branch, task) for task in (ONE, TWO, THREE)]
    entries = [one.text for one in read(source.git("show", f"{tips[-1]}:{path}"))]
    assert sorted(entries[2:]) == [ONE, TWO, THREE]


def test_the_tip_moves_only_from_where_it_was_seen(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    start = merge_branch.head()
    work(merge_branch, ONE, "one", "one")
    work(merge_branch, TWO, "two", "two")
    merge_branch.rebase(TWO)
    tip = merge(merge_branch, ONE)
    with pytest.raises(Busy, match="refs/ralph/tip/main was moved by another process"):
        merge_branch.fast_forward(TWO, start)
    with pytest.raises(RalphError, match="not based on"):
        merge_branch.fast_forward(TWO, tip)
    assert merge_branch.head() == tip


def test_one_process_at_a_time_has_the_turn(source: GitUser) -> None:
    merge_branch, other = a_merge_branch(source), a_merge_branch(source)
    with merge_branch.merge_lock() as mine:
        assert mine
        with other.merge_lock() as theirs:
            assert not theirs
        with merge_branch.merge_lock() as again:
            assert again
        with other.merge_lock() as theirs:
            assert not theirs
    with other.merge_lock() as theirs:
        assert theirs


def test_whoever_merges_is_not_overtaken_by_a_person_who_commits_all_the_time(
    source: GitUser,
) -> None:
    merge_branch, other = a_merge_branch(source), a_merge_branch(source)
    work(merge_branch, ONE, "one", "one")
    with merge_branch.merge_lock():
        rebased = merge_branch.rebase(ONE)
        source.write("theirs", "1")
        theirs = source.commit("by a person")
        assert other.head() == rebased.head
        other.open_checkout(TWO)
        assert other.update_user_checkout() == ""
        merged = merge_branch.fast_forward(ONE, rebased.head)
    assert other.update_user_checkout() == ""
    for commit in (theirs, merged):
        source.git("merge-base", "--is-ancestor", commit, "main")


def test_what_does_not_fit_is_named_and_the_checkout_stays(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    odd = "odd\nname\udcff"
    for task in (ONE, TWO):
        inside = opened(merge_branch, task)
        inside.write(odd, f"{task}\n")
        inside.write("README.md", f"{task}\n")
        inside.commit(f"By {task}\n\nRalph-Task: {task}")
    work(merge_branch, THREE, "three", "three")
    merge(merge_branch, ONE)
    merge(merge_branch, THREE)
    before = state(opened(merge_branch, TWO))
    rebased = merge_branch.rebase(TWO)
    assert rebased.conflict is not None
    assert set(rebased.conflict.files) == {"README.md", odd}
    assert rebased.conflict.theirs == (ONE,)
    assert rebased.head == merge_branch.head()
    assert state(opened(merge_branch, TWO)) == before
    assert refs(opened(merge_branch, TWO)).keys() == {f"refs/heads/ralph/{TWO}"}


def test_both_sides_are_put_side_by_side(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "README.md", "# By one\n")
    inside = opened(merge_branch, TWO)
    inside.write("README.md", "# By two\n")
    inside.write("two", "two")
    inside.commit()
    inside.write("loose", "loose")
    merge(merge_branch, ONE)
    ref = f"refs/ralph/{TWO}/1"
    conflict = merge_branch.merge_uncommitted(TWO, ref)
    assert (conflict.files, conflict.theirs) == (("README.md",), (ONE,))
    text = (inside.top / "README.md").read_text()
    assert "# By one" in text
    assert "# By two" in text
    assert "<<<<<<<" in text
    now = merge_branch.open_checkout(TWO).snapshot()
    assert (now.head, now.branch) == (merge_branch.head(), f"ralph/{TWO}")
    assert now.dirty == ("README.md", "loose", "two")
    assert source.git("show", f"{ref}:loose") == "loose"
    assert inside.git("show", f"{ref}:README.md") == "# By two\n"
    # Whoever fixes it can commit it as any other work.
    since = merge_branch.open_checkout(TWO).snapshot()
    inside.write("README.md", "# By one and two\n")
    done = merge_branch.open_checkout(TWO).commit(
        now.__class__(head=now.head, branch=now.branch),
        merge_branch.open_checkout(TWO).snapshot(),
        "Both",
        frozenset(),
    )
    assert since.head == now.head
    assert set(done.files) == {"README.md", "loose", "two"}
    merge(merge_branch, TWO)
    assert source.git("show", f"{merge_branch.head()}:README.md") == "# By one and two\n"


def test_starting_over_keeps_what_was_made(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    tried = work(merge_branch, TWO, "README.md", "# By two\n")
    inside = opened(merge_branch, TWO)
    inside.write("loose", "loose")
    inside.write("kept.log", "ignored")
    work(merge_branch, ONE, "README.md", "# By one\n")
    tip = merge(merge_branch, ONE)
    ref = f"refs/ralph/{TWO}/1"
    merge_branch.reset_checkout(TWO, ref)
    assert state(inside) == (tip, f"ralph/{TWO}", "")
    assert (inside.top / "kept.log").read_text() == "ignored"
    assert source.git("show", f"{ref}:loose") == "loose"
    assert tried in source.git("rev-list", ref).split()
    kept = refs(source)[ref]
    merge_branch.reset_checkout(TWO, ref)
    assert refs(source)[ref] == kept
    assert refs(inside).keys() == {f"refs/heads/ralph/{TWO}", ref}


def test_a_merged_checkout_goes_without_a_trace(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "one", "one")
    work(merge_branch, TWO, "two", "two")
    merge(merge_branch, ONE)
    merge(merge_branch, TWO)
    for task in (ONE, TWO, THREE):
        a_merge_branch(source).remove_checkout(task)
    assert refs(source).keys() == {
        "refs/heads/main",
        "refs/ralph/tip/main",
        "refs/ralph/followed/main",
    }
    assert list(folder_of(source).iterdir()) == []


def test_a_task_lands_as_one_commit_and_its_steps_stay(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    start = merge_branch.head()
    work(merge_branch, ONE, "one", "broken(")
    steps = work(merge_branch, ONE, "one", "one")
    message = f"Do one\n\nRalph-Task: {ONE}\n"
    assert merge_branch.rebase(ONE, f"Ralph-Task: {ONE}", message).head == start
    merged = merge_branch.fast_forward(ONE, start)
    assert source.git("rev-list", f"{start}..{merged}").split() == [merged]
    said = source.git("log", "-1", "--format=%B", merged)
    assert said.startswith("Do one\n\n- Write one\n- Write one\n\nRalph-Task: ")
    assert source.git("show", f"{merged}:one") == "one"
    assert steps in refs(source).values()
    merge_branch.remove_checkout(ONE)
    assert steps in refs(source).values()


def test_steps_with_a_merge_that_become_one_commit_stay(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, TWO, "two", "two")
    work(merge_branch, ONE, "one", "one")
    inside = opened(merge_branch, ONE)
    inside.git("switch", "-q", "-c", "aside")
    work(merge_branch, ONE, "other", "other")
    inside.git("switch", "-q", "-")
    inside.git("merge", "-q", "--no-ff", "-m", "Both", "aside")
    inside.git("branch", "-D", "aside")
    steps = inside.git("rev-parse", "HEAD").strip()
    merge(merge_branch, TWO)
    merged = merge(merge_branch, ONE)
    assert source.git("show", f"{merged}:one", f"{merged}:other") == "oneother"
    merge_branch.remove_checkout(ONE)
    assert steps in refs(source).values()


@pytest.mark.parametrize("gone", ["all", "marks", "pin"])
def test_accepted_work_outlives_its_checkout(source: GitUser, gone: str) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, TWO, "two", "two")
    work(merge_branch, ONE, "one", "one")
    merge_branch.save_accepted(ONE)
    merge(merge_branch, TWO)
    if gone == "marks":  # by `git clean -fdx`, which leaves folders with a repository
        (folder_of(source) / f"{ONE}.ready").unlink()
    else:
        shutil.rmtree(folder_of(source))
    if gone == "pin":
        source.git("update-ref", "-d", f"refs/ralph/base/{ONE}")
    again = a_merge_branch(source)
    again.clean_up_after_crash()
    assert not again.has_checkout(ONE)
    assert again.has_accepted(ONE)
    assert not again.is_merged(ONE)
    assert (opened(again, ONE).top / "one").read_text() == "one"
    assert not again.is_merged(ONE)
    merge(again, ONE)
    assert again.is_merged(ONE)
    assert {"one", "two"} <= set(source.git("ls-tree", "--name-only", again.head()).split())
    again.remove_checkout(ONE)
    assert f"refs/ralph/accepted/{ONE}" not in refs(source)


def test_what_is_not_merged_is_kept_when_a_checkout_goes(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    commit = work(merge_branch, ONE, "one", "one")
    opened(merge_branch, ONE).write("loose", "loose")
    merge_branch.remove_checkout(ONE)
    kept = f"refs/ralph/kept/{ONE}/files"
    assert source.git("show", f"{kept}:loose") == "loose"
    assert commit in source.git("rev-list", kept).split()
    assert not merge_branch.is_merged(ONE)
    # What is saved already is not saved again.
    opened(merge_branch, TWO).write("loose", "another")
    merge_branch.open_checkout(TWO).save(f"refs/ralph/{TWO}/1", "Kept\n")
    a_merge_branch(source).remove_checkout(TWO)
    assert not [ref for ref in refs(source) if ref.startswith(f"refs/ralph/kept/{TWO}")]


def test_nothing_a_checkout_names_is_executed(source: GitUser, tmp_path: Path) -> None:
    merge_branch = a_merge_branch(source)
    work(merge_branch, ONE, "one", "one")
    work(merge_branch, TWO, "two", "two")
    merge(merge_branch, ONE)
    inside = opened(merge_branch, TWO)
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho caught >> '{tmp_path}/caught'\nexit 1\n")
    trap.chmod(0o755)
    hooks = inside.top / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("pre-rebase", "post-checkout", "commit-msg", "post-rewrite", "pre-commit"):
        (hooks / name).symlink_to(trap)
    for setting in ("core.fsmonitor", "core.editor", "sequence.editor", "gpg.program"):
        inside.git("config", setting, str(trap))
    inside.git("config", "commit.gpgSign", "true")
    merge(merge_branch, TWO)
    merge_branch.reset_checkout(TWO, f"refs/ralph/{TWO}/1")
    merge_branch.remove_checkout(TWO)
    assert not (tmp_path / "caught").exists()
    assert not os.path.exists(inside.top)


def test_a_setup_command_that_somebody_killed_runs_once_more(
    source: GitUser, tmp_path: Path
) -> None:
    once = f"[ -e '{tmp_path}/killed' ] || {{ touch '{tmp_path}/killed'; kill -9 $$; }}"
    assert a_merge_branch(source, setup=(once,)).open_checkout(ONE)
    with pytest.raises(TemporaryFailure, match="kill -9"):
        a_merge_branch(source, setup=("kill -9 $$",)).open_checkout(TWO)
    assert not a_merge_branch(source).has_checkout(TWO)
