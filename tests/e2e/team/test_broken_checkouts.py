"""A session that breaks its own checkout costs its task an attempt, and the other tasks nothing."""

from tests.e2e.conftest import Project

CLAIM = 'echo x > "$RALPH_TASK_ID.txt"; echo "<task-done>$RALPH_TASK_ID</task-done>"'
ACTS = [
    "rm -rf .git",
    'here=$PWD; cd ..; rm -rf "$here"; mkdir "$here"; cd "$here"',
    'here=$PWD; cd ../../runs; rm -rf "$here"',
    # Git would work in the repository of the user.
    'rm -rf .git; echo "gitdir: ../../../.git" > .git',
    "rm -rf .git; ln -s ../../../.git .git",
    'echo "[[[" > .git/config',
    "git config core.bare true",
    "rm .git/objects/info/alternates",
]


def test_a_session_that_breaks_its_checkout_is_its_tasks_trouble_alone(project: Project) -> None:
    good = [project.add("good 0")]
    bad = {
        act: project.add(f"bad {number}", "--max-retries", "0") for number, act in enumerate(ACTS)
    }
    good += [project.add("good 1", "--priority", "9")]
    cases = "".join(f"{task}) {act};;\n" for act, task in bad.items())
    project.agent(
        f'case "$RALPH_TASK_ID" in\n{cases}esac\n{CLAIM}',
        breaker="failures = 100\nstagnation = 100",
    )
    before = project.git("rev-parse", "HEAD")
    project.ralph("run", "--workers", "2", code=5)
    assert [project.status(task) for task in good] == ["done"] * 2
    for act, task in bad.items():
        failed = project.task(task)
        assert (failed["status"], act) == ("failed", act)
        assert "its checkout is broken" in failed["reason"], act
    assert project.git("branch", "--format=%(refname:short)") == "main"
    merged = project.git("log", "--format=%s", f"{before}..main").split("\n")
    assert sorted(merged) == ["good 0", "good 1"]
    assert project.git("status", "--porcelain") == ""
