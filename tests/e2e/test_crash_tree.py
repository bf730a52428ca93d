"""Git killed at any of its own system calls that make or end a lock, alone or together with Ralph:
the next run goes on, nothing is lost, nothing is done twice, and no lock is left."""

import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.conftest import Project
from tests.e2e.crash_points import check_sound, copy_of, left_running, store_of, trailers
from tests.e2e.fault_helpers import lines, refs
from tests.e2e.team.team_project import Yard

CALLS = "rename,renameat,renameat2,link,linkat,unlink,unlinkat,fsync,fdatasync"
"""With which git makes things durable, and gives its locks back."""
WRAPPER = """\
#!/bin/sh
exec 9>>"{folder}/turn"; flock 9
echo "$*" >> "{folder}/calls"; number=$(wc -l < "{folder}/calls")
exec 9>&-
{deed}
exec {git} "$@"
"""
RECORD = 'exec strace -f -qq -o "{folder}/$number.trace" -e trace={calls} {git} "$@"'
DIE = """\
if [ "$number" -eq {number} ]; then
  strace -f -qq -o /dev/null -e trace={call} -e inject={call}:{fault}:when={when} {git} "$@"{how}
fi"""
AGENT = """\
echo "$RALPH_TASK_ID $RALPH_ATTEMPT" >> '{sessions}'
case "$(cat)" in
*hopeless*) echo half > half.txt; echo "<task-failed>$RALPH_TASK_ID</task-failed>"; exit ;;
*commits*) echo whole > own.txt; git add own.txt; git commit -q -m "by the agent" ;;
*) echo whole > work.txt ;;
esac
echo "<task-done>$RALPH_TASK_ID</task-done>"
"""
WAYS = {
    # Killed as the system does it when memory is short; Ralph lives.
    "git": ("signal=KILL", "; exit $?"),
    # Everything dies at once, and git holds its locks.
    "both": ("signal=KILL", "; kill -9 $PPID; exit 1"),
    # Ralph dies, and its git lives on with its locks for a while.
    "ralph": ("delay_enter=1500000", " & sleep 0.3; kill -9 $PPID; wait; exit 1"),
}

PLAIN = {"RALPH_SANDBOX_MODE": "off", "RALPH_EXECUTION_VERIFY": "false"}
"""As the tests themselves have it."""


class Point(NamedTuple):
    """A system call of one git of a run."""

    number: int
    call: str
    when: int
    what: str
    """Which kind of file it is about."""


class Scene(NamedTuple):
    """One task whose work Ralph commits, one whose agent commits, one that fails; and a person's
    own file."""

    template: Project
    good: str
    own: str
    bad: str
    points: list[Point]


def a_git(folder: Path, deed: str) -> str:
    """A PATH with a git on it that counts its calls, and does something else at some."""
    folder.mkdir(parents=True)
    git = shutil.which("git")
    script = folder / "git"
    script.write_text(WRAPPER.format(folder=folder, git=git, deed=deed))
    script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def deadly(folder: Path, point: Point, way: str) -> str:
    git, (fault, how) = shutil.which("git"), WAYS[way]
    return a_git(
        folder,
        DIE.format(
            number=point.number, call=point.call, fault=fault, when=point.when, git=git, how=how
        ),
    )


def recorded(folder: Path) -> Iterator[Point]:
    """Every call of every git, in order."""
    traces = sorted(folder.glob("*.trace"), key=lambda path: int(path.stem))
    for trace in traces:
        seen: dict[tuple[str, str], int] = {}
        for line in trace.read_text("utf-8", "replace").splitlines():
            if found := re.match(r"(\d+) +(\w+)\((.*)", line):
                process, call, about = found.groups()
                seen[process, call] = seen.get((process, call), 0) + 1
                what = re.sub(r"[0-9a-f]{8,}|index-[0-9a-f]+|tmp_obj_\w+", "…", about)
                what = re.sub(r'"[^"]*/\.git/', '"', what)
                yield Point(int(trace.stem), call, seen[process, call], f"{call} {what}")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    made = Project(tmp_path_factory.mktemp("template") / "project")
    made.ralph("init")
    made.agent(AGENT.format(sessions="../sessions"), gates='test = "test -e README.md"')
    good, own = made.add("good"), made.add("commits")
    bad = made.add("hopeless", "--max-retries", "0")
    made.write("mine.txt", "a person's\n")
    folder = tmp_path_factory.mktemp("whole")
    git = shutil.which("git")
    path = a_git(
        folder / "bin",
        RECORD.format(folder=folder / "bin", calls=CALLS, git=git),
    )
    copy_of(made, folder / "project").ralph("run", code=5, PATH=path, **PLAIN)
    points = list(recorded(folder / "bin"))
    assert len(points) > 50
    return Scene(made, good, own, bad, points)


def sample(points: list[Point]) -> list[Point]:
    """Where locks end: of a branch, of the index, of a ref of Ralph's own."""
    kinds = ("refs/heads/", "index.lock", "refs/ralph/")
    found = ([one for one in points if ".lock" in one.what and kind in one.what] for kind in kinds)
    return [some[len(some) // 2] for some in found if some]


def check_whole(scene: Scene, project: Project) -> None:
    check_sound(project)
    assert {scene.good} <= set(trailers(project)) <= {scene.good, scene.own}
    assert project.git("status", "--porcelain") == "?? mine.txt"
    assert (project.path / "mine.txt").read_text() == "a person's\n"
    assert project.git("show", "HEAD:work.txt", "HEAD:own.txt").split() == ["whole", "whole"]
    subjects = project.git("log", "--format=%s").splitlines()
    assert subjects.count("good") == 1
    # The agent's own commit may be what was killed; then Ralph has committed its work.
    assert subjects.count("by the agent") + subjects.count("commits") == 1
    (kept,) = [ref for ref in refs(project) if scene.bad in ref]
    assert project.git("show", f"{kept}:half.txt") == "half"
    locks = [path for path in (project.path / ".git").rglob("*.lock") if path.name != "run.lock"]
    assert locks == []
    with store_of(project) as store:
        states = [
            store.tasks.find(task).status.value for task in (scene.good, scene.own, scene.bad)
        ]
        assert states == ["done", "done", "failed"]
        assert store.runs.live() == []
        good = store.tasks.find(scene.good)
        assert (good.retry_count, good.strikes) == (0, 0)
    begun = lines(project.path.parent / "sessions")
    assert len(begun) == len(set(begun)), "an attempt was made twice"
    assert left_running(project) == []


def live_through(scene: Scene, folder: Path, point: Point, way: str) -> None:
    project = copy_of(scene.template, folder / "project")
    path = deadly(folder / "bin", point, way)
    done = project.try_ralph("run", PATH=path)
    said = f"{point}\n{done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stdout + done.stderr, said
    if way == "git":
        assert done.returncode in (5, 6), said
    else:
        assert done.returncode in (-signal.SIGKILL, 5), said
    if done.returncode != 5:
        project.ralph("run", code=5)
    check_whole(scene, project)


@pytest.mark.parametrize("way", WAYS)
def test_killed_where_a_lock_ends(scene: Scene, tmp_path: Path, way: str) -> None:
    points = sample(scene.points)
    for number, point in enumerate(points[list(WAYS).index(way) :: len(WAYS)]):
        live_through(scene, tmp_path / str(number), point, way)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("share", range(8))
@pytest.mark.parametrize("way", WAYS)
def test_killed_at_every_call(scene: Scene, tmp_path: Path, way: str, share: int) -> None:
    for number, point in enumerate(scene.points[share::8]):
        folder = tmp_path / str(number)
        live_through(scene, folder, point, way)
        shutil.rmtree(folder)


def test_every_fifth_git_of_ralphs_is_killed_and_the_run_goes_on(
    scene: Scene, tmp_path: Path
) -> None:
    mortal = '[ -n "$RALPH_SESSION" ] || [ $((number % 5)) -ne 0 ] || kill -9 $$'
    project = copy_of(scene.template, tmp_path / "project")
    project.ralph("run", code=5, PATH=a_git(tmp_path / "bin", mortal))
    check_whole(scene, project)
    assert len(lines(tmp_path / "sessions")) == 3


def test_a_git_that_is_always_killed_pauses_the_run(scene: Scene, tmp_path: Path) -> None:
    mortal = 'case " $* " in *" commit-tree "*) kill -9 $$ ;; esac'
    project = copy_of(scene.template, tmp_path / "project")
    done = project.try_ralph("run", PATH=a_git(tmp_path / "bin", mortal))
    assert done.returncode == 6, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "git commit-tree was killed by signal 9" in done.stdout
    project.ralph("run", code=5)
    check_whole(scene, project)


# -- a team


def a_team(folder: Path) -> tuple[Yard, list[str]]:
    yard = Yard(folder / "project")
    return yard, yard.plan(4, quarrels=1)


@pytest.fixture(scope="module")
def team_points(tmp_path_factory: pytest.TempPathFactory) -> list[Point]:
    folder = tmp_path_factory.mktemp("team")
    yard, _ = a_team(folder)
    git = shutil.which("git")
    path = a_git(folder / "bin", RECORD.format(folder=folder / "bin", calls=CALLS, git=git))
    yard.ralph("run", "--workers", "2", PATH=path, **PLAIN)
    return list(recorded(folder / "bin"))


def of_each_kind(points: list[Point], way: str) -> list[Point]:
    """One of each kind, for each way another. All of them would take hours, and which git of a team
    has which number is chance anyway."""
    kinds: dict[str, list[Point]] = {}
    for one in points:
        kinds.setdefault(re.sub(r"t-\w+|\b\w\w/…|\d+|\bt\w{6}\b", "", one.what), []).append(one)
    at = list(WAYS).index(way)
    return [some[len(some) * at // len(WAYS)] for some in kinds.values()]


def live_as_a_team(folder: Path, point: Point, way: str) -> None:
    yard, tasks = a_team(folder)
    env = {"PATH": deadly(folder / "bin", point, way)}
    for _ in range(5):
        done = yard.try_ralph("run", "--workers", "2", **env)
        said = f"{point}\n{done.returncode}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stdout + done.stderr, said
        if done.returncode == 0:
            break
        assert done.returncode in (-signal.SIGKILL, 6, 75), said
        env = {}
    yard.check_all_done(tasks)
    check_sound(yard)
    locks = [path for path in (yard.path / ".git").rglob("*.lock") if path.parent.name != "ralph"]
    assert locks == []


def test_a_team_of_which_somebody_is_killed(tmp_path: Path, team_points: list[Point]) -> None:
    # Which git has which number is chance in a team: this one is as good as any.
    live_as_a_team(tmp_path, sample(team_points)[-1], "both")


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("share", range(4))
@pytest.mark.parametrize("way", WAYS)
def test_a_team_killed_at_every_kind_of_call(
    tmp_path: Path, team_points: list[Point], way: str, share: int
) -> None:
    for number, point in enumerate(of_each_kind(team_points, way)[share::4]):
        folder = tmp_path / str(number)
        live_as_a_team(folder, point, way)
        shutil.rmtree(folder)
