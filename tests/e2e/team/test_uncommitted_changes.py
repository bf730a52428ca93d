"""A person edits in their checkout while a team works: what was built comes in, or how is said."""

from shlex import quote

from tests.e2e.conftest import Project

CATCH_UP = "git merge --ff-only refs/ralph/tip/main"


def edits(project: Project, path: str) -> None:
    """While a session builds `a.txt`, the person changes a file of theirs."""
    project.write("a.txt", "old\n")
    theirs = quote(str(project.path / path))
    project.agent(
        f'echo built > a.txt; echo mine > {theirs}; echo "<task-done>$RALPH_TASK_ID</task-done>"',
        sandbox='mode = "off"',
    )
    project.add("x")


def test_an_edit_of_another_file_does_not_keep_the_branch_behind(project: Project) -> None:
    edits(project, "README.md")
    out = project.ralph("run", "--workers", "2")
    assert project.git("show", "HEAD:a.txt") == "built"
    assert (project.path / "README.md").read_text() == "mine\n"
    assert project.git("status", "--porcelain").strip() == "M README.md"
    assert "git merge" not in out + project.ralph("status")


def test_an_edit_of_what_was_built_is_kept_and_every_screen_names_the_way_on(
    project: Project,
) -> None:
    edits(project, "a.txt")
    out = project.ralph("run", "--workers", "2")
    assert f"next  {CATCH_UP}\n" in out
    assert (project.path / "a.txt").read_text() == "mine\n"
    for screen in (project.ralph("status"), project.ralph("report")):
        assert CATCH_UP in screen
    project.git("stash", "-q")
    project.git(*CATCH_UP.split()[1:])
    assert (project.path / "a.txt").read_text() == "built\n"
    assert "git merge" not in project.ralph("status") + project.ralph("report")
