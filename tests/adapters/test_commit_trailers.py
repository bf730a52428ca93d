"""Commits of sessions, with the trailers that they have left out."""

from pathlib import Path

import pytest

from tests.adapters.team import ONE, TWO, a_merge_branch, merge, opened, state, work
from tests.git_user import GitUser, a_project

TRAILERS = f"Ralph-Task: {TWO}\nRalph-Run: run-1"
WHOSE = "--format=%(trailers:key=Ralph-Task,valueonly,separator=%x20)|%an|%s"


@pytest.fixture
def source(tmp_path: Path) -> GitUser:
    return a_project(tmp_path / "source")


def history(hands: GitUser, count: int) -> list[str]:
    return hands.git("log", f"-{count}", "--first-parent", "--reverse", WHOSE).splitlines()


def test_every_commit_says_whose_it_is_and_is_else_what_it_was(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    inside = opened(merge_branch, TWO)
    for name, message in (
        ("a", "Plain"),
        ("b", "With others\n\nA body.\n\nCo-authored-by: A <a@b>\nReviewed-by: C <c@d>"),
        ("c", f"Has it\n\nRalph-Task: {TWO}\nRalph-Run: run-0"),
        ("d", "A body: that is none\n\nSee: this\nand that"),
    ):
        inside.write(name, name)
        inside.git("add", "-A")
        inside.git("commit", "-q", "-m", message, "--author", "Somebody Else <s@e>")
    inside.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
    tree = inside.git("rev-parse", "HEAD^{tree}")
    dates = inside.git("log", "-5", "--format=%ad %cd %cn")
    rebased = merge_branch.rebase(TWO, TRAILERS)
    assert rebased.conflict is None
    assert inside.git("rev-parse", "HEAD^{tree}") == tree
    assert inside.git("log", "-5", "--format=%ad %cd %cn") == dates
    assert history(inside, 4)[:3] == [
        f"{TWO}|Somebody Else|With others",
        f"{TWO}|Somebody Else|Has it",
        f"{TWO}|Somebody Else|A body: that is none",
    ]
    assert history(inside, 1)[0].endswith("Without a message")
    assert inside.git("log", "-1", "--skip=2", "--format=%b").startswith(f"Ralph-Task: {TWO}\nRa")
    with_others = inside.git("log", "-1", "--skip=3", "--format=%b")
    assert with_others.strip().endswith(f"<a@b>\nReviewed-by: C <c@d>\n{TRAILERS}")
    assert inside.git("fsck", "--strict", "--no-dangling") == ""
    assert state(inside)[1:] == (f"ralph/{TWO}", "")
    head = inside.git("rev-parse", "HEAD")
    merge_branch.rebase(TWO, TRAILERS)
    assert inside.git("rev-parse", "HEAD") == head, "done again, it is the same"


def test_who_is_in_the_way_is_known_though_their_session_has_committed(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    first, second = opened(merge_branch, ONE), opened(merge_branch, TWO)
    first.write("README.md", "# By one\n")
    first.commit("By the agent, and nothing else")
    work(merge_branch, TWO, "README.md", "# By two\n")
    with merge_branch.merge_lock():
        rebased = merge_branch.rebase(ONE, f"Ralph-Task: {ONE}\nRalph-Run: run-1")
        merge_branch.fast_forward(ONE, rebased.head)
    conflict = merge_branch.rebase(TWO, TRAILERS).conflict
    assert conflict is not None
    assert conflict.theirs == (ONE,)
    assert second.git("status", "--porcelain") == ""


def test_of_a_merge_the_first_side_says_it(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    inside = opened(merge_branch, TWO)
    inside.git("switch", "-q", "-c", "side")
    inside.write("side", "side")
    side = inside.commit("On the side")
    inside.git("switch", "-q", f"ralph/{TWO}")
    inside.write("main", "main")
    inside.commit("On its branch")
    inside.git("merge", "-q", "--no-edit", "side")
    merge_branch.rebase(TWO, TRAILERS)
    assert [line.partition("|")[0] for line in history(inside, 2)] == [TWO, TWO]
    assert inside.git("rev-parse", "HEAD^2").strip() == side.strip()
    assert merge(merge_branch, TWO) == inside.git("rev-parse", "HEAD").strip()


def test_what_is_signed_is_not_signed_any_more(source: GitUser) -> None:
    merge_branch = a_merge_branch(source)
    inside = opened(merge_branch, TWO)
    signature = "gpgsig -----BEGIN SSH SIGNATURE-----\n abc\n -----END SSH SIGNATURE-----\n"
    header, _, message = inside.git("cat-file", "commit", "HEAD").partition("\n\n")
    parent = inside.git("rev-parse", "HEAD").strip()
    fields = header.split("\n")
    tree = [line for line in fields if line.startswith("tree")]
    people = [line for line in fields if line.startswith(("author", "committer"))]
    content = "\n".join([*tree, f"parent {parent}", *people]) + f"\n{signature}\n{message}"
    (inside.top.parent / "signed").write_text(content)
    made = inside.git("hash-object", "-t", "commit", "-w", str(inside.top.parent / "signed"))
    inside.git("reset", "-q", "--hard", made.strip())
    merge_branch.rebase(TWO, TRAILERS)
    after = inside.git("cat-file", "commit", "HEAD")
    assert "SIGNATURE" not in after
    assert TRAILERS in after


def test_by_trailers_the_teams_commits_are_told_from_those_of_people(source: GitUser) -> None:
    began = source.git("rev-parse", "HEAD").strip()
    merge_branch = a_merge_branch(source, since=began)
    assert not merge_branch.changed_by_people(merge_branch.head())
    opened(merge_branch, TWO).write("two", "two")
    opened(merge_branch, TWO).commit("By the agent")
    with merge_branch.merge_lock():
        merged = merge_branch.fast_forward(TWO, merge_branch.rebase(TWO, TRAILERS).head)
    assert not merge_branch.changed_by_people(merged)
    source.git("merge", "-q", "--ff-only", merged)
    source.write("mine", "mine")
    mine = source.commit("By a person").strip()
    assert merge_branch.changed_by_people(mine)
    assert not merge_branch.changed_by_people(merged)
    assert not a_merge_branch(source).changed_by_people(mine), "nobody has said when the run began"
    with merge_branch.temporary_checkout("baseline", merged) as place:
        assert not Path(place, "mine").exists()
