"""A person uses git on the branch at any moment while workers build: nothing of theirs is lost."""

import random
import subprocess
from pathlib import Path
from shlex import quote

import pytest

from tests.e2e.conftest import Project, wait_for
from tests.e2e.crash_points import check_sound

AGENT = (
    'sleep 0.$(( $(printf %d 0x${RALPH_TASK_ID#t-}) % 5 )); echo x > "$RALPH_TASK_ID.txt";'
    ' echo "<task-done>$RALPH_TASK_ID</task-done>"'
)
PATIENCE_S = 300.0
"""For a broken program only."""


class Person:
    """Somebody who works on `main` and on a branch of their own, in bursts."""

    def __init__(self, project: Project, seed: int) -> None:
        self.project = project
        self.chance = random.Random(seed)
        self.number = 0
        self.left = self._main()
        """Where they left the branch."""
        self.made: set[str] = set()
        """Commits that they made, and did not replace themselves."""

    def act(self) -> None:
        """See that the branch has only gone forward since, then do something."""
        self.look()
        deeds = (self.commit, self.commit, self.amend, self.rebase, self.cherry_pick, self.switch)
        self.chance.choice(deeds)()
        self.left = self._main()

    def look(self) -> None:
        now = self._main()
        assert self._try("merge-base", "--is-ancestor", self.left, now), (
            f"main was at {self.left} and went to {now}:\n"
            + self.project.git("reflog", "-8", "refs/heads/main")
        )

    def commit(self) -> None:
        for _ in range(self.chance.choice((1, 3))):
            self.number += 1
            path = f"person-{self.number}"
            self.project.write(path, "mine")
            is_on_branch = self._try("symbolic-ref", "-q", "HEAD")
            done = self._try("add", path) and self._try("commit", "-q", "-m", path, "--", path)
            if done and is_on_branch:
                self.made.add(path)

    def amend(self) -> None:
        self._try("commit", "-q", "--amend", "--only", "--no-edit", "--allow-empty")

    def rebase(self) -> None:
        if not self._try("rebase", "-q", "side"):
            self._try("rebase", "--abort")

    def cherry_pick(self) -> None:
        if not self._try("cherry-pick", "--allow-empty", "side"):
            self._try("cherry-pick", "--abort")

    def switch(self) -> None:
        self._try("switch", "-q", "side")
        self.commit()
        self._try("switch", "-q", "main")

    def tidy_up(self) -> None:
        """Finish what a lock has refused in the middle: several workers start from commits."""
        for left in ("rebase", "cherry-pick"):
            self._try(left, "--abort")
        self._try("switch", "-q", "main")
        self._try("commit", "-q", "-m", "what was staged")

    def _main(self) -> str:
        return self.project.git("rev-parse", "refs/heads/main")

    def _try(self, *args: str) -> bool:
        """What a person types may be refused: a lock, a file in the way."""
        done = subprocess.run(
            ["git", *args], cwd=self.project.path, capture_output=True, check=False
        )
        return done.returncode == 0


def everything_is_there(project: Project, made: set[str]) -> None:
    """Is every file that was committed in a commit that some ref leads to?"""
    names = set(project.git("log", "--all", "--format=", "--name-only").splitlines())
    assert made <= names, project.git("reflog", "-80", "HEAD")


def missing(project: Project, tasks: list[str]) -> set[str]:
    """The files of tasks that are not on the branch."""
    files = set(project.git("ls-tree", "--name-only", "main").splitlines())
    return {f"{task}.txt" for task in tasks} - files


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("seed", "tasks", "workers"),
    [
        (1, 4, "2"),
        (2, 4, "1"),
        *(pytest.param(seed, 24, "3", marks=pytest.mark.soak) for seed in range(10, 20)),
        *(pytest.param(seed, 12, "1", marks=pytest.mark.soak) for seed in range(20, 30)),
    ],
)
def test_whatever_a_person_does_nothing_of_theirs_is_lost(
    tmp_path: Path, seed: int, tasks: int, workers: str
) -> None:
    project = Project(tmp_path / "project", initialised=True)
    project.agent(AGENT, sandbox='mode = "off"')
    project.git("switch", "-q", "-c", "side")
    project.write("side", "side")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "on the side")
    project.git("switch", "-q", "main")
    known = [project.add(f"task {number}") for number in range(tasks)]
    person = Person(project, seed)
    run = project.start("run", "--workers", workers)
    runs = project.path / ".ralph/runs"
    wait_for(lambda: any(runs.glob("*.prompt.md")), "the first session")
    while run.poll() is None:
        person.act()
        try:
            run.wait(person.chance.uniform(0.1, 0.8))
        except subprocess.TimeoutExpired:
            continue
    out, err = run.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in out + err, out + err
    person.look()
    everything_is_there(project, person.made)
    check_sound(project)
    settled = [project.status(task) for task in known]
    if run.returncode == 0:
        assert settled == ["done"] * tasks
        said = ("stays behind", "main stays", "not on main", "no branch has these commits")
        if missing(project, known) and not any(line in out + err for line in said):
            # A rebase that the person aborted last takes the branch back without a word.
            person.tidy_up()
            project.ralph("run", "--workers", workers)
            assert not missing(project, known), "not there, and not said"
    else:
        assert "main" in out + err or "failed" in out, "what stopped it is said"


ON_TOP = "echo 1 > theirs; git add theirs; git commit -q -m theirs"


@pytest.mark.parametrize("last", ["", "echo 2 > rejected; git add -A; git commit -qm again; "])
@pytest.mark.parametrize(
    ("act", "branch"),
    [
        (ON_TOP, "main"),
        ("git commit -q --amend -m amended", "main"),
        (f"{ON_TOP}; git commit -q --amend -m amended", "main"),
        (f"git reset -q --hard HEAD~1; {ON_TOP}", "main"),
        ("git rebase -q side", "main"),
        ("git cherry-pick side", "main"),
        ("git switch -q side", "side"),
        (f"git switch -q side; {ON_TOP}", "side"),
        ("git switch -q -c fix", "fix"),
    ],
)
def test_a_task_that_fails_takes_no_branch_behind_a_persons_commit(
    project: Project, act: str, branch: str, last: str
) -> None:
    seen = project.path.parent / "seen"
    project.agent(
        "echo 1 > work; git add work; git commit -q -m session;"
        f" (unset GIT_REFLOG_ACTION; {act}; git rev-parse HEAD > {quote(str(seen))}) >&2;"
        f' {last}echo left > left; echo "<task-failed>$RALPH_TASK_ID: no</task-failed>"'
    )
    project.git("switch", "-q", "-c", "side", "HEAD~1")
    project.write("side", "side")
    project.git("add", "side")
    project.git("commit", "-q", "-m", "on the side")
    project.git("switch", "-q", "main")
    task = project.add("x")
    project.ralph("run", code=5)
    assert project.status(task) == "failed"
    assert project.git("rev-parse", branch) == seen.read_text().strip()
    assert project.git("branch", "--show-current") == branch
    assert project.git("status", "--porcelain") == ""
    assert not (project.path / "left").exists()
