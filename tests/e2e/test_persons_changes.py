"""What a person has not committed is theirs: not committed, not reset, not lost, and said."""

import subprocess

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import CLAIM, Stage, ended, refs, until, warnings

FAIL = 'echo "<task-failed>$RALPH_TASK_ID</task-failed>"'


class Mess:
    """Every kind of uncommitted change in one tree."""

    def __init__(self, project: Project) -> None:
        self.project = project
        for name in ("staged", "edited", "both", "deleted", "removed", "mode", "shared"):
            project.write(f"{name}.txt", "as committed\n")
        project.git("add", "-A")
        project.git("commit", "-q", "-m", "before the mess")
        project.write("staged.txt", "staged\n")
        project.write("new.txt", "staged and new\n")
        project.write("both.txt", "staged\n")
        project.git("add", "staged.txt", "new.txt", "both.txt")
        project.write("both.txt", "staged, then edited\n")
        project.write("edited.txt", "edited\n")
        project.write("folder/untracked.txt", "untracked\n")
        project.write("odd \n name é.txt", "untracked\n")
        (project.path / "deleted.txt").unlink()
        project.git("rm", "-q", "removed.txt")
        (project.path / "mode.txt").chmod(0o755)
        project.write("shared.txt", "a person's line\n")
        self.before = self.look()

    def look(self) -> tuple[str, str, dict[str, str]]:
        """Status, what is staged, and every file, the agent's and Ralph's own aside."""
        project = self.project
        files = {
            str(file.relative_to(project.path)): file.read_text()
            for file in sorted(project.path.rglob("*.txt"))
            if file.name != "work.txt" and file.parent.name != ".ralph"
        }
        return project.git("status", "--porcelain"), project.git("diff", "--cached"), files

    def unharmed(self) -> None:
        assert self.look() == self.before


@pytest.fixture
def messy(project: Project) -> Mess:
    """Its agents come by AGENT_CMD: a new setting would be one more uncommitted file."""
    return Mess(project)


def test_accepted_work_is_committed_without_them(messy: Mess) -> None:
    project = messy.project
    task = project.add("x")
    events = project.events(AGENT_CMD=DONE)
    assert "not committed, and left as they are: both.txt, deleted.txt" in warnings(events)
    assert project.status(task) == "done"
    assert project.git("show", "--name-only", "--format=", "HEAD") == "work.txt"
    messy.unharmed()


@pytest.mark.parametrize(
    "fate", [FAIL, f"git add -A; git commit -qm all; {FAIL}", f"git checkout -qb other; {FAIL}"]
)
def test_failed_work_is_put_aside_without_them(messy: Mess, fate: str) -> None:
    project = messy.project
    harm = "echo half > work.txt; echo agent > shared.txt; rm edited.txt; echo x > folder/more.txt"
    task = project.add("x")
    project.ralph("run", code=5, AGENT_CMD=f"{harm}; {fate}")
    messy.unharmed()
    ref = f"refs/ralph/{task}/1"
    assert ref in refs(project)
    assert project.git("show", f"{ref}:work.txt") == "half"
    assert project.git("show", f"{ref}:shared.txt") == "agent"
    assert project.git("symbolic-ref", "HEAD") == "refs/heads/main"


def test_a_claim_without_work_leaves_them_alone(messy: Mess) -> None:
    """Uncommitted changes of a person are no work of an agent."""
    project = messy.project
    task = project.add("x", "--max-retries", "0")
    project.ralph("run", code=5, AGENT_CMD=CLAIM)
    assert "nothing in the tree has changed" in project.task(task)["reason"]
    messy.unharmed()


def test_work_in_their_files_alone_is_refused_by_name(messy: Mess) -> None:
    project = messy.project
    task = project.add("x", "--max-retries", "0")
    project.ralph("run", code=5, AGENT_CMD=f"echo an agent >> shared.txt; {CLAIM}")
    assert "except shared.txt" in project.task(task)["reason"]


def test_an_agent_that_edits_the_same_file_leaves_it_to_the_person(messy: Mess) -> None:
    project = messy.project
    task = project.add("x")
    events = project.events(AGENT_CMD=f"echo an agent >> shared.txt; {DONE}")
    assert project.status(task) == "done"
    assert project.git("show", "--name-only", "--format=", "HEAD") == "work.txt"
    assert (project.path / "shared.txt").read_text() == "a person's line\nan agent\n"
    assert "shared.txt" in warnings(events), "somebody has to look at it"


def test_an_agent_that_commits_everything_is_said(messy: Mess) -> None:
    project = messy.project
    task = project.add("x")
    events = project.events(AGENT_CMD=f"{DONE}; git add -A; git commit -q -m everything")
    assert project.status(task) == "done"
    said = warnings(events)
    assert "the session committed changes of yours" in said
    assert "edited.txt" in said
    assert "work.txt" not in said
    messy.unharmed()


@pytest.mark.parametrize(
    "harm", ["git checkout -q -- .", "git reset -q --hard", "git stash -q -u", "rm -f *.txt"]
)
def test_an_agent_that_throws_them_away_is_said_with_the_way_back(messy: Mess, harm: str) -> None:
    project = messy.project
    project.add("x")
    said = warnings(project.events(AGENT_CMD=f"{harm}; {DONE}"))
    assert "edited.txt" in said
    (command,) = [part for part in said.split("`") if part.startswith("git restore")]
    subprocess.run(command, shell=True, cwd=project.path, check=True)
    assert (project.path / "edited.txt").read_text() == "edited\n"


def test_what_they_have_staged_stays_staged_while_tasks_are_committed(messy: Mess) -> None:
    project = messy.project
    for number in range(3):
        project.add(f"task {number}")
    project.ralph("run", AGENT_CMD=f'mkdir -p work; echo x > "work/$RALPH_TASK_ID"; {CLAIM}')
    assert len(project.git("ls-files", "work").splitlines()) == 3
    messy.unharmed()


def test_without_commits_everything_stays_in_the_tree(messy: Mess) -> None:
    project = messy.project
    head = project.git("rev-parse", "HEAD")
    task = project.add("x")
    project.ralph("run", "--no-commit", AGENT_CMD=DONE)
    assert project.status(task) == "done"
    assert project.git("rev-parse", "HEAD") == head
    assert (project.path / "work.txt").exists()
    (project.path / "work.txt").unlink()
    messy.unharmed()


def test_the_settings_themselves_may_be_uncommitted(project: Project) -> None:
    project.write(".ralph.toml", f"[agent]\ncommand = '''{DONE}'''\n")
    task = project.add("x")
    project.ralph("run")
    assert project.status(task) == "done"
    assert project.git("status", "--porcelain") == "M .ralph.toml"


def test_what_a_person_edits_in_a_pause_is_theirs(project: Project) -> None:
    """Nothing tells edits apart while a session runs; between sessions they are known."""
    stage = Stage(project)
    project.agent(stage.agent())
    project.add("first")
    second = project.add("second")
    run = project.start("run", "--json")
    stage.enter()
    project.ralph("pause")
    stage.go()
    until(run, "run_paused")
    project.write("mine.txt", "by hand\n")
    project.ralph("resume")
    ended(run)
    assert project.status(second) == "done"
    assert "mine.txt" not in project.git("ls-files")
    assert (project.path / "mine.txt").read_text() == "by hand\n"


@pytest.mark.parametrize("end", [CLAIM, FAIL], ids=["done", "failed"])
def test_what_an_agent_sweeps_into_its_commits_is_taken_out_again(
    project: Project, end: str
) -> None:
    commit = "git add -A && git commit -qm"
    project.agent(f"echo x > one.txt; {commit} 'mine, too'; echo y > two.txt; {commit} more; {end}")
    mess = Mess(project)
    head = project.git("rev-parse", "HEAD")
    project.add("x")
    said = warnings(project.events(code=0 if end == CLAIM else 5))
    assert "they are taken out of its commits" in said
    status, staged, files = mess.look()
    own = {"one.txt", "two.txt"}
    there = {name: text for name, text in files.items() if name not in own}
    assert (status, staged, there) == mess.before
    committed = project.git("diff", "--name-only", head, "HEAD").split()
    assert committed == (["one.txt", "two.txt"] if end == CLAIM else [])
    if end == CLAIM:
        assert project.commits()[:2] == ["more", "mine, too"]
    # Nothing is lost: what was replaced can be looked up.
    assert any(one.startswith("refs/ralph/rescued/") for one in refs(project))


def test_what_an_agent_commits_and_removes_again_is_not_in_the_history(project: Project) -> None:
    project.agent(
        "echo x > one.txt; git add -A; git commit -qm all; git rm -q --cached mine.txt;"
        f" git commit -qm less; {CLAIM}"
    )
    project.write("mine.txt", "mine\n")
    head = project.git("rev-parse", "HEAD")
    project.add("x")
    assert "taken out of its commits" in warnings(project.events())
    assert project.git("log", "--format=", "--name-only", f"{head}..HEAD").split() == ["one.txt"]
    assert (project.path / "mine.txt").read_text() == "mine\n"
    assert project.git("status", "--porcelain") == "?? mine.txt"


def test_the_brief_names_what_is_not_to_be_committed(project: Project) -> None:
    file = project.path.parent / "told"
    project.agent(f"cat > '{file}'; {DONE}")
    project.write("notes of mine.txt", "mine\n")
    project.add("x")
    project.ralph("run")
    assert "## Not yours to commit" in file.read_text()
    assert "- `notes of mine.txt`" in file.read_text()


def test_a_person_who_commits_their_own_files_meanwhile_keeps_that_commit(
    project: Project,
) -> None:
    stage = Stage(project)
    project.write("mine.txt", "mine\n")
    project.git("add", "mine.txt")
    project.agent(stage.agent())
    project.write("mine.txt", "mine, again\n")
    project.add("x")
    process = project.start("run", "--json")
    stage.enter()
    project.git("commit", "-qm", "of a person", "--", "mine.txt")
    stage.go()
    ended(process)
    assert project.commits()[1] == "of a person"
    assert project.git("show", "HEAD:mine.txt") == "mine, again"
