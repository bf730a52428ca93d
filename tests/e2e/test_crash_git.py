"""Killed at any call of git: nothing is lost, nothing is done twice, and nobody is needed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.core.session_ending import EndingKind
from ralph.store.sessions import Checkpoint
from tests.e2e.conftest import Project
from tests.e2e.crash_points import (
    AGENT,
    GitThatKills,
    check_sound,
    copy_of,
    left_running,
    store_of,
    trailers,
    was_killed,
)
from tests.e2e.fault_helpers import lines, refs

LOOKS = "*' status '*|*' rev-parse --verify '*"
"""Between two looks at the checkout the store is written to."""
WRITES = "*' commit-tree '*|*' update-ref '*|*' read-tree '*|*' --index-info '*|*' --refresh '*"
"""What changes refs, files or the index."""
CLONES = "*' init '*|*' checkout '*|*' config '*|*' --show-object-format '*|*' update-ref '*"
"""What makes a checkout for a verifier, and takes it away."""
SHARES = 4
SAMPLE = [0, 2, *(pytest.param(share, marks=pytest.mark.soak) for share in (1, 3))]
"""Every second call; `make soak` has the others."""
MOST = 200


class Scene:
    """One task that is accepted, one that fails for good, and a person's own file."""

    def __init__(self, template: Project, good: str, bad: str) -> None:
        self.template = template
        self.good = good
        self.bad = bad


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    made = Project(tmp_path_factory.mktemp("template") / "project")
    made.ralph("init")
    made.agent(
        # Outside of the checkout, beside it, where it is nobody's work.
        AGENT.format(sessions="../sessions"),
        gates='test = "test -e README.md"',
    )
    good = made.add("good")
    bad = made.add("hopeless", "--max-retries", "0")
    made.write("mine.txt", "a person's\n")
    return Scene(made, good, bad)


def killed_at_each(
    scene: Scene, folder: Path, share: int, calls: str, *, late: bool
) -> Iterator[Project]:
    """A project for each call, after a run that was killed at it."""
    for number in range(share + 1, MOST, SHARES):
        place = folder / str(number)
        place.mkdir()
        project = copy_of(scene.template, place / "project")
        git = GitThatKills(place / "bin", number, late=late, calls=calls)
        if not was_killed(project.try_ralph("run", PATH=git.path)):
            assert len(lines(git.calls)) < number, "it was to die, and did not"
            assert number > SHARES, "git was hardly called at all"
            return
        yield project
    pytest.fail("a run never came to its end")


def check_after_death(scene: Scene, project: Project) -> None:
    check_sound(project)
    assert (project.path / "mine.txt").read_text() == "a person's\n"
    assert "?? mine.txt" in project.git("status", "--porcelain").splitlines()
    assert trailers(project) in ([], [scene.good])


def check_after_recovery(scene: Scene, project: Project) -> None:
    check_sound(project)
    assert [project.git("status", "--porcelain"), trailers(project)] == [
        "?? mine.txt",
        [scene.good],
    ]
    assert (project.path / "mine.txt").read_text() == "a person's\n"
    assert project.git("show", "HEAD:work.txt") == "whole"
    assert not (project.path / "half.txt").exists()
    (kept,) = [ref for ref in refs(project) if scene.bad in ref]
    assert project.git("show", f"{kept}:half.txt") == "half"
    assert not (project.path / ".git/index.lock").exists()
    with store_of(project) as store:
        good, bad = store.tasks.find(scene.good), store.tasks.find(scene.bad)
        assert (good.status, bad.status) == ("done", "failed")
        assert {good.claimed_by, bad.claimed_by} == {None}
        assert (good.retry_count, good.strikes) == (0, 0)
        sessions = store.sessions.select()
        assert {session.checkpoint for session in sessions} == {Checkpoint.SETTLED}
        ends = {session.id: session.ending.ended for session in sessions if session.ending}
        assert store.runs.live() == []
    # One that ended is not repeated; one that was lost is, once.
    for task in (scene.good, scene.bad):
        mine = [ended for name, ended in ends.items() if name.startswith(task)]
        assert mine in ([EndingKind.FINISHED], [EndingKind.LOST, EndingKind.FINISHED])
    begun = [line.replace(" ", ":") for line in lines(project.path.parent / "sessions")]
    assert set(begun) <= set(ends), "a session without a record"
    assert len(begun) == len(set(begun)), "an attempt was made twice"
    assert left_running(project) == []


@pytest.mark.parametrize("share", SAMPLE)
def test_killed_between_two_looks_at_the_checkout(scene: Scene, tmp_path: Path, share: int) -> None:
    for project in killed_at_each(scene, tmp_path, share, LOOKS, late=False):
        check_after_death(scene, project)
        project.ralph("run", code=5)
        check_after_recovery(scene, project)


@pytest.mark.parametrize("share", SAMPLE)
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_killed_while_git_writes(scene: Scene, tmp_path: Path, share: int, late: bool) -> None:  # noqa: FBT001
    for project in killed_at_each(scene, tmp_path, share, WRITES, late=late):
        check_after_death(scene, project)
        project.ralph("run", code=5)
        check_after_recovery(scene, project)


@pytest.mark.soak
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_killed_at_every_single_call(scene: Scene, tmp_path: Path, share: int, late: bool) -> None:  # noqa: FBT001
    for project in killed_at_each(scene, tmp_path, share, "*", late=late):
        check_after_death(scene, project)
        project.ralph("run", code=5)
        check_after_recovery(scene, project)


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """One task, whose work is looked at by a second session."""
    made = Project(tmp_path_factory.mktemp("checked") / "project")
    made.ralph("init")
    working = AGENT.format(sessions="../sessions")
    made.agent(f"if [ $RALPH_ROLE = verify ]; then echo '<verify-pass/>'; exit; fi\n{working}")
    return Scene(made, made.add("good"), "")


@pytest.mark.parametrize("share", SAMPLE)
@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_killed_while_a_verifier_gets_its_checkout(
    checked: Scene,
    tmp_path: Path,
    share: int,
    late: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RALPH_EXECUTION_VERIFY")
    for project in killed_at_each(checked, tmp_path, share, CLONES, late=late):
        check_sound(project)
        project.ralph("run")
        check_sound(project)
        task = project.task(checked.good)
        assert (task["status"], task["verification_status"]) == ("done", "passed")
        assert len(lines(project.path.parent / "sessions")) == 1, "the work was done twice"
        assert trailers(project) == [checked.good]
        assert not list((project.path / ".ralph/checkouts").iterdir())
        assert refs(project) == []
        assert left_running(project) == []
