"""A team's branch: checkouts for its tasks, and a tip that their work is put on."""

import os
import shutil
from pathlib import Path

import pytest

from ralph.adapters.executor.clock import SystemClock
from ralph.adapters.executor.processes import Processes
from ralph.adapters.workspace.in_place import InPlace
from ralph.adapters.workspace.stock import Stock
from ralph.adapters.workspace.trunk import current_branch
from ralph.core.errors import Busy, Missing, RalphError, TemporaryFailure, Unavailable
from ralph.core.shelf import Guardrail, GuardrailKind
from ralph.documents.guardrails import FRESH, added, read
from ralph.ports.trunk import Rebased
from ralph.testing.hands import Hands, a_project
from tests.adapters.team import (
    ONE,
    THREE,
    TWO,
    a_trunk,
    folder_of,
    merge,
    opened,
    refs,
    state,
    work,
)


@pytest.fixture
def source(tmp_path: Path) -> Hands:
    return a_project(tmp_path / "source")


# -- checkouts


def test_each_task_has_a_checkout_that_any_process_finds_again(source: Hands) -> None:
    source.write(".env.log", "KEY=1")  # ignored
    options = {"include": (".env.log",), "setup": ("pwd > where.log",)}
    trunk = a_trunk(source, **options)
    assert not trunk.is_open(ONE)
    path = trunk.open(ONE).path
    assert path == str(folder_of(source) / ONE)
    assert (Path(path) / ".env.log").read_text() == "KEY=1"
    assert (Path(path) / "where.log").read_text() == f"{path}\n"
    Hands(path).write("loose", "loose")
    other = a_trunk(source, **options)
    assert other.is_open(ONE)
    now = other.open(ONE).snapshot()
    assert (now.head, now.branch, now.dirty) == (trunk.tip(), f"ralph/{ONE}", ("loose",))
    assert refs(source)[f"refs/ralph/base/{ONE}"] == trunk.tip()
    assert not other.is_open(TWO)


def test_one_that_was_being_made_when_somebody_died_is_none(source: Hands) -> None:
    with pytest.raises(Unavailable):
        a_trunk(source, setup=("exit 1",)).open(ONE)
    assert not list(folder_of(source).iterdir())
    trunk = a_trunk(source)
    trunk.open(ONE)
    Path(f"{folder_of(source)}/{ONE}.ready").unlink()
    Path(f"{folder_of(source)}/{TWO}.ready").touch()
    assert not trunk.is_open(ONE)
    assert not trunk.is_open(TWO)
    other = a_trunk(source)
    other.tidy()
    assert not list(folder_of(source).iterdir())
    assert refs(source).keys() == {
        "refs/heads/main",
        "refs/ralph/tip/main",
        "refs/ralph/followed/main",
    }
    assert opened(other, ONE).files()["README.md"]


def test_one_without_its_repository_is_put_aside_with_its_files(source: Hands) -> None:
    trunk = a_trunk(source)
    inside = opened(trunk, ONE)
    inside.write("precious", "precious")
    (inside.top / ".git").rename(inside.top / "git-no-more")
    other = a_trunk(source)
    again = opened(other, ONE)
    assert "precious" not in again.files()
    (aside,) = folder_of(source).glob("broken-*")
    assert (aside / "precious").read_text() == "precious"
    assert state(source)[1:] == ("main", "")


def test_a_repository_that_leads_elsewhere_is_not_followed(source: Hands) -> None:
    trunk = a_trunk(source)
    inside = opened(trunk, ONE)
    (inside.top / ".git").rename(inside.top / "git-no-more")
    (inside.top / ".git").symlink_to(source.top / ".git")
    before = state(source)
    trunk.close(ONE)
    assert state(source) == before
    assert not trunk.is_open(ONE)


def test_a_look_at_the_tip_is_thrown_away_and_what_it_installed_is_there_for_all(
    source: Hands, tmp_path: Path
) -> None:
    source.write(".gitignore", "deps/\n*.log\n")
    source.commit()
    setup = ("mkdir deps; echo x >> ../installed; touch deps/one",)
    stock = Stock(str(tmp_path / "stock"), ("deps",), setup)
    trunk = a_trunk(source, setup=setup, stock=stock)
    with trunk.look("baseline") as place:
        assert Path(place, "deps/one").exists()
        # What is done there reaches nobody.
        Path(place, "deps/two").touch()
        Path(place, "README.md").write_text("changed")
    assert not Path(place).exists()
    inside = opened(trunk, ONE)
    assert [path.name for path in (inside.top / "deps").iterdir()] == ["one"]
    assert (folder_of(source) / "installed").read_text() == "x\n"
    assert state(inside)[2] == ""


def test_a_project_in_a_folder_of_the_repository(source: Hands) -> None:
    source.write("apps/web/page", "page")
    source.commit()
    trunk = a_trunk(source, project="apps/web")
    checkout = trunk.open(ONE)
    assert checkout.path == str(folder_of(source) / ONE / "apps/web")
    assert checkout.prefix == "apps/web/"
    Hands(checkout.path).write("page", "better")
    Hands(checkout.path).commit()
    merge(trunk, ONE)
    assert trunk.follow() == ""
    assert (source.top / "apps/web/page").read_text() == "better"


def test_a_linked_worktree_can_be_the_source(source: Hands, tmp_path: Path) -> None:
    source.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    linked = Hands(str(tmp_path / "linked"))
    trunk = a_trunk(linked, branch="side")
    work(trunk, ONE, "new", "new")
    merge(trunk, ONE)
    before = state(source)
    assert trunk.follow() == ""
    assert (linked.top / "new").read_text() == "new"
    assert state(source) == before


def test_a_shallow_source_works(source: Hands, tmp_path: Path) -> None:
    source.write("second", "second")
    source.commit()
    source.git("clone", "-q", "--depth=1", f"file://{source.top}", str(tmp_path / "shallow/here"))
    shallow = Hands(str(tmp_path / "shallow/here"))
    trunk = a_trunk(shallow)
    work(trunk, ONE, "one", "one")
    work(trunk, TWO, "two", "two")
    merge(trunk, ONE)
    merge(trunk, TWO)
    assert trunk.follow() == ""
    assert shallow.git("rev-list", "--count", "HEAD").strip() == "3"


def test_a_team_needs_a_branch_with_a_commit(source: Hands, tmp_path: Path) -> None:
    executor = Processes(SystemClock())
    assert current_branch(InPlace(executor, str(source.top))) == "main"
    source.git("switch", "-q", "--detach")
    with pytest.raises(RalphError, match="detached") as error:
        current_branch(InPlace(executor, str(source.top)))
    assert "git switch" in error.value.hint
    empty = Hands(str(tmp_path))
    empty.git("init", "-q", "-b", "main", "empty")
    with pytest.raises(Missing, match="no commit"):
        current_branch(InPlace(executor, str(tmp_path / "empty")))


# -- merging


def test_work_is_put_on_the_tip_one_after_the_other(source: Hands) -> None:
    trunk = a_trunk(source)
    first, second = work(trunk, ONE, "one", "one"), work(trunk, TWO, "two", "two")
    start = trunk.tip()
    assert not trunk.is_merged(ONE)
    rebased = trunk.rebase(ONE)
    assert rebased == Rebased(tip=start)
    assert trunk.advance(ONE, rebased.tip) == first == trunk.tip()
    assert trunk.is_merged(ONE)

    assert trunk.rebase(TWO) == Rebased(tip=first) == trunk.rebase(TWO)
    merged = trunk.advance(TWO, first)
    assert merged == trunk.tip() != second
    assert source.git("log", "--format=%s", f"{start}..{merged}").split("\n")[:2] == [
        "Write two",
        "Write one",
    ]
    inside = opened(trunk, TWO)
    assert state(inside) == (merged, f"ralph/{TWO}", "")
    assert refs(inside).keys() == {f"refs/heads/ralph/{TWO}"}
    assert state(source) == (start, "main", "")


def test_lessons_of_two_are_both_kept(source: Hands) -> None:
    path = ".ralph/guardrails.md"
    source.write(path, FRESH)
    source.commit("Guardrails")
    trunk = a_trunk(source)
    for task in (ONE, TWO, THREE):
        entry = Guardrail(
            id=f"fix-1-{task[-4:]}", kind=GuardrailKind.FIX, text=task, created="2026-02-10"
        )
        work(trunk, task, path, added(FRESH, entry))
    for task in (ONE, TWO, THREE):
        tip = merge(trunk, task)
    entries = [one.text for one in read(source.git("show", f"{tip}:{path}"))]
    assert sorted(entries[2:]) == [ONE, TWO, THREE]


def test_the_tip_moves_only_from_where_it_was_seen(source: Hands) -> None:
    trunk = a_trunk(source)
    start = trunk.tip()
    work(trunk, ONE, "one", "one")
    work(trunk, TWO, "two", "two")
    trunk.rebase(TWO)
    tip = merge(trunk, ONE)
    with pytest.raises(Busy):
        trunk.advance(TWO, start)
    with pytest.raises(RalphError, match="not based on"):
        trunk.advance(TWO, tip)
    assert trunk.tip() == tip


def test_one_process_at_a_time_has_the_turn(source: Hands) -> None:
    trunk, other = a_trunk(source), a_trunk(source)
    with trunk.turn() as mine:
        assert mine
        with other.turn() as theirs:
            assert not theirs
    with other.turn() as theirs:
        assert theirs


def test_what_does_not_fit_is_named_and_the_checkout_stays(source: Hands) -> None:
    trunk = a_trunk(source)
    odd = "odd\nname\udcff"
    for task in (ONE, TWO):
        inside = opened(trunk, task)
        inside.write(odd, f"{task}\n")
        inside.write("README.md", f"{task}\n")
        inside.commit(f"By {task}\n\nRalph-Task: {task}")
    work(trunk, THREE, "three", "three")
    merge(trunk, ONE)
    merge(trunk, THREE)
    before = state(opened(trunk, TWO))
    rebased = trunk.rebase(TWO)
    assert rebased.conflict is not None
    assert set(rebased.conflict.files) == {"README.md", odd}
    assert rebased.conflict.theirs == (ONE,)
    assert rebased.tip == trunk.tip()
    assert state(opened(trunk, TWO)) == before
    assert refs(opened(trunk, TWO)).keys() == {f"refs/heads/ralph/{TWO}"}


def test_both_sides_are_put_side_by_side(source: Hands) -> None:
    trunk = a_trunk(source)
    work(trunk, ONE, "README.md", "# By one\n")
    inside = opened(trunk, TWO)
    inside.write("README.md", "# By two\n")
    inside.write("two", "two")
    inside.commit()
    inside.write("loose", "loose")
    merge(trunk, ONE)
    ref = f"refs/ralph/{TWO}/1"
    conflict = trunk.side_by_side(TWO, ref)
    assert (conflict.files, conflict.theirs) == (("README.md",), (ONE,))
    text = (inside.top / "README.md").read_text()
    assert "# By one" in text
    assert "# By two" in text
    assert "<<<<<<<" in text
    now = trunk.open(TWO).snapshot()
    assert (now.head, now.branch) == (trunk.tip(), f"ralph/{TWO}")
    assert now.dirty == ("README.md", "loose", "two")
    assert source.git("show", f"{ref}:loose") == "loose"
    assert inside.git("show", f"{ref}:README.md") == "# By two\n"
    # Whoever mends it can commit it as any other work.
    since = trunk.open(TWO).snapshot()
    inside.write("README.md", "# By one and two\n")
    done = trunk.open(TWO).commit(
        now.__class__(head=now.head, branch=now.branch),
        trunk.open(TWO).snapshot(),
        "Both",
        frozenset(),
    )
    assert since.head == now.head
    assert set(done.files) == {"README.md", "loose", "two"}
    merge(trunk, TWO)
    assert source.git("show", f"{trunk.tip()}:README.md") == "# By one and two\n"


def test_starting_over_keeps_what_was_made(source: Hands) -> None:
    trunk = a_trunk(source)
    tried = work(trunk, TWO, "README.md", "# By two\n")
    inside = opened(trunk, TWO)
    inside.write("loose", "loose")
    inside.write("kept.log", "ignored")
    work(trunk, ONE, "README.md", "# By one\n")
    tip = merge(trunk, ONE)
    ref = f"refs/ralph/{TWO}/1"
    trunk.start_over(TWO, ref)
    assert state(inside) == (tip, f"ralph/{TWO}", "")
    assert (inside.top / "kept.log").read_text() == "ignored"
    assert source.git("show", f"{ref}:loose") == "loose"
    assert tried in source.git("rev-list", ref).split()
    kept = refs(source)[ref]
    trunk.start_over(TWO, ref)
    assert refs(source)[ref] == kept
    assert refs(inside).keys() == {f"refs/heads/ralph/{TWO}", ref}


def test_a_merged_checkout_goes_without_a_trace(source: Hands) -> None:
    trunk = a_trunk(source)
    work(trunk, ONE, "one", "one")
    work(trunk, TWO, "two", "two")
    merge(trunk, ONE)
    merge(trunk, TWO)
    for task in (ONE, TWO, THREE):
        a_trunk(source).close(task)
    assert refs(source).keys() == {
        "refs/heads/main",
        "refs/ralph/tip/main",
        "refs/ralph/followed/main",
    }
    assert list(folder_of(source).iterdir()) == []


def test_a_task_lands_as_one_commit_and_its_steps_stay(source: Hands) -> None:
    trunk = a_trunk(source)
    start = trunk.tip()
    work(trunk, ONE, "one", "broken(")
    steps = work(trunk, ONE, "one", "one")
    message = f"Do one\n\nRalph-Task: {ONE}\n"
    assert trunk.rebase(ONE, f"Ralph-Task: {ONE}", message).tip == start
    merged = trunk.advance(ONE, start)
    assert source.git("rev-list", f"{start}..{merged}").split() == [merged]
    said = source.git("log", "-1", "--format=%B", merged)
    assert said.startswith("Do one\n\n- Write one\n- Write one\n\nRalph-Task: ")
    assert source.git("show", f"{merged}:one") == "one"
    assert steps in refs(source).values()
    trunk.close(ONE)
    assert steps in refs(source).values()


def test_accepted_work_outlives_its_checkout(source: Hands) -> None:
    trunk = a_trunk(source)
    work(trunk, TWO, "two", "two")
    work(trunk, ONE, "one", "one")
    trunk.keep(ONE)
    merge(trunk, TWO)
    shutil.rmtree(folder_of(source))
    again = a_trunk(source)
    assert not again.is_open(ONE)
    assert again.has_kept(ONE)
    assert not again.is_merged(ONE)
    assert (opened(again, ONE).top / "one").read_text() == "one"
    assert not again.is_merged(ONE)
    merge(again, ONE)
    assert again.is_merged(ONE)
    assert {"one", "two"} <= set(source.git("ls-tree", "--name-only", again.tip()).split())
    again.close(ONE)
    assert f"refs/ralph/accepted/{ONE}" not in refs(source)


def test_what_is_not_merged_is_kept_when_a_checkout_goes(source: Hands) -> None:
    trunk = a_trunk(source)
    commit = work(trunk, ONE, "one", "one")
    opened(trunk, ONE).write("loose", "loose")
    trunk.close(ONE)
    kept = f"refs/ralph/kept/{ONE}/files"
    assert source.git("show", f"{kept}:loose") == "loose"
    assert commit in source.git("rev-list", kept).split()
    assert not trunk.is_merged(ONE)
    # What is saved already is not saved again.
    opened(trunk, TWO).write("loose", "another")
    trunk.open(TWO).save(f"refs/ralph/{TWO}/1", "Kept\n")
    a_trunk(source).close(TWO)
    assert not [ref for ref in refs(source) if ref.startswith(f"refs/ralph/kept/{TWO}")]


def test_nothing_a_checkout_names_is_executed(source: Hands, tmp_path: Path) -> None:
    trunk = a_trunk(source)
    work(trunk, ONE, "one", "one")
    work(trunk, TWO, "two", "two")
    merge(trunk, ONE)
    inside = opened(trunk, TWO)
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
    merge(trunk, TWO)
    trunk.start_over(TWO, f"refs/ralph/{TWO}/1")
    trunk.close(TWO)
    assert not (tmp_path / "caught").exists()
    assert not os.path.exists(inside.top)


def test_a_setup_command_that_somebody_killed_runs_once_more(source: Hands, tmp_path: Path) -> None:
    once = f"[ -e '{tmp_path}/killed' ] || {{ touch '{tmp_path}/killed'; kill -9 $$; }}"
    assert a_trunk(source, setup=(once,)).open(ONE)
    with pytest.raises(TemporaryFailure, match="kill -9"):
        a_trunk(source, setup=("kill -9 $$",)).open(TWO)
    assert not a_trunk(source).is_open(TWO)
