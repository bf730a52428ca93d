"""Settings that a session writes somewhere in the checkout are neither committed nor obeyed."""

from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.sandbox.test_checkouts import COMMIT, _elsewhere
from tests.e2e.stage import CLAIM, refused

EVIL = "[agent]\ncommand = 'touch {mark}'\n[sandbox]\nmode = 'off'\n"


def _plant(outside: Path, folder: str) -> str:
    """A session's commands that make a folder a project of its own."""
    evil = EVIL.format(mark=outside / "ran")
    return f'mkdir -p "{folder}"; printf "%s" "{evil}" > "{folder}/.ralph.toml"; '


def _landed(project: Project) -> list[str]:
    return project.git("ls-tree", "-r", "--name-only", "main").splitlines()


@pytest.mark.parametrize(
    ("workers", "commit"),
    [
        ("1", COMMIT),
        ("1", "git add -A && git commit -qm x && git rm -rq --cached pkg"),
        ("2", COMMIT),
        ("2", "true"),
    ],
)
def test_settings_of_a_session_do_not_land(
    plain: Project, outside: Path, workers: str, commit: str
) -> None:
    plain.agent(f"{_plant(outside, 'pkg')} echo x > work.txt; {commit}; {CLAIM}")
    task = plain.add("a task", "--max-retries", "0")
    plain.events("--workers", workers, code=5)
    assert "pkg/.ralph.toml" in plain.task(task)["reason"]
    assert "pkg/.ralph.toml" not in _landed(plain)


def test_the_next_attempt_takes_them_out(plain: Project, outside: Path) -> None:
    first = f"{_plant(outside, 'pkg')} {COMMIT}"
    plain.agent(f"if [ -e pkg ]; then git rm -qrf pkg; else {first}; fi; {DONE}")
    task = plain.add("a task")
    plain.events()
    assert plain.task(task)["attempt"] == 2
    assert {"work.txt"} <= {*_landed(plain)}
    assert "pkg/.ralph.toml" not in _landed(plain)


HIDE = "git update-index --add --cacheinfo 100644,$blob,{path}; git commit -qm x;"


@pytest.mark.parametrize(
    ("path", "hide"),
    [
        (".ralph.toml", f"{HIDE} git update-index --skip-worktree {{path}}"),
        (".ralph.toml", f"{HIDE} git update-index --assume-unchanged {{path}}"),
        ("part/.claude/settings.json", f"{HIDE} git update-index --skip-worktree {{path}}"),
        ("deep/.mcp.json", HIDE.partition(";")[0]),
    ],
)
def test_a_tree_without_files_does_not_land_either(plain: Project, path: str, hide: str) -> None:
    plain.write("part/.claude/settings.json", "{}")
    plain.agent(
        f"blob=$(echo evil | git hash-object -w --stdin); {hide.format(path=path)};"
        f" echo x > work.txt; {CLAIM}"
    )
    before = _landed(plain)
    task = plain.add("a task", "--max-retries", "0")
    plain.events(code=5)
    assert path in plain.task(task)["reason"]
    assert _landed(plain) == before


def test_what_a_session_leaves_is_not_obeyed(plain: Project, outside: Path) -> None:
    """Below, above, beside, ignored by git, and in a repository of its own."""
    main = plain.path / "main"
    main.mkdir()
    plain.agent("true")
    (plain.path / ".ralph.toml").rename(main / ".ralph.toml")
    ours = _elsewhere(plain, main)
    ours.ralph("init")
    plants = [_plant(outside, folder) for folder in ("pkg", "..", "../beside", "own/repo")]
    script = "".join(plants) + "git init -q own; mkdir -p own/.git/ralph; printf repo >"
    script += " own/.git/ralph/projects; printf '*' > pkg/.gitignore; echo x > ../beside/file"
    ours.agent(f"{script}; {CLAIM}", execution="limit = 1")
    ours.add("a task")
    ours.ralph("run", code=None)
    for folder in ("pkg", "own/repo"):
        there = _elsewhere(plain, main / folder)
        (main / folder).mkdir(parents=True, exist_ok=True)
        (main / folder / ".ralph.toml").write_text(EVIL.format(mark=outside / "ran"))
        done = there.try_ralph("status")
        assert done.returncode == 0
        assert f"{folder}/.ralph.toml is not obeyed" in done.stderr
        assert len(done.stderr.splitlines()) == 1
    for folder in (plain.path, plain.path / "beside"):
        (folder / ".ralph.toml").write_text(EVIL.format(mark=outside / "ran"))
        refused(_elsewhere(plain, folder).try_ralph("run"), 66, ".ralph.toml is not obeyed")
    assert not (outside / "ran").exists()


def test_several_projects_of_a_person(plain: Project, outside: Path) -> None:
    """Each is protected from the sessions of the others; one that comes later needs an init."""
    plain.write("b/.ralph.toml", "[agent]\ncommand = 'true'\n")
    script = (
        "mkdir -p b/.ralph b/.agents/ralph c; echo 'AGENT_CMD=x' > b/.ralph/config.sh;"
        " echo x > b/.agents/ralph/agents.sh; echo evil > b/.ralph.toml; mv b gone;"
    )
    plain.agent(f"{script} {DONE}")
    plain.add("a task")
    plain.events()
    assert sorted(path.name for path in (plain.path / "b").iterdir()) == [".ralph.toml"]
    assert (plain.path / "b/.ralph.toml").read_text() == "[agent]\ncommand = 'true'\n"
    other = _elsewhere(plain, plain.path / "b")
    assert other.try_ralph("status").stderr == ""
    later = plain.path / "c"
    (later / ".ralph.toml").write_text("[agent]\ncommand = 'true'\n")
    there = _elsewhere(plain, later)
    assert "c/.ralph.toml is not obeyed" in there.try_ralph("status").stderr
    assert "read it" in there.try_ralph("init").stderr
    assert there.try_ralph("status").stderr == ""


def test_a_person_may_make_a_project_while_a_session_works(plain: Project) -> None:
    """By init, which a session cannot do: what it writes then is refused."""
    plain.agent(f"mkdir -p new; (cd new; env -u RALPH_SESSION -u RALPH_SOCKET ralph init); {DONE}")
    task = plain.add("a task", "--max-retries", "0")
    plain.events(code=5)
    assert "new/.ralph.toml" in plain.task(task)["reason"]
