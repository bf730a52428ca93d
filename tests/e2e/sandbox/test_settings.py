"""Settings that a session writes somewhere in the checkout are neither committed nor obeyed."""

import shlex
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.fault_helpers import CLAIM, refused
from tests.e2e.sandbox.test_checkouts import COMMIT, _elsewhere

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
    for place in (plain.path, plain.path / "beside"):
        (place / ".ralph.toml").write_text(EVIL.format(mark=outside / "ran"))
        refused(_elsewhere(plain, place).try_ralph("run"), 66, ".ralph.toml is not obeyed")
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


STAGE = "git update-index --cacheinfo 100755,$blob,.hooks/pre-commit"
WITHOUT_HOOKS = "git -c core.hooksPath=/dev/null commit -qm x"


FORGE = """import hashlib, subprocess, sys
subprocess.run(["git", "read-tree", "HEAD"])
subprocess.run(["git", "update-index", "--refresh"])
index = open(".git/index", "rb").read()[:-20]
at = index.index(b".hooks/pre-commit") - 22
index = index[:at] + bytes.fromhex(sys.argv[1]) + index[at + 20 :]
open(".git/index", "wb").write(index + hashlib.sha1(index).digest())
"""
"""Stages a file, and leaves the tree in the index of which git believes that it is staged."""

TAKEN_BACK = {
    "staged": f"{STAGE}; {CLAIM}",
    "staged, where git does not look": f"python3 -c {shlex.quote(FORGE)} $blob; {CLAIM}",
    "committed with work, and undone": f"git add -A; {STAGE}; {WITHOUT_HOOKS};"
    f" git reset -q .hooks; git add .hooks; {WITHOUT_HOOKS}; {CLAIM}",
    "a file in the place of the folder, on another branch, without a claim": "git rm -q --cached"
    " .hooks/pre-commit; git update-index --add --cacheinfo 100755,$blob,.hooks;"
    f" {WITHOUT_HOOKS}; git branch evil; git symbolic-ref HEAD refs/heads/evil",
}


def _with_hooks(plain: Project, outside: Path, how: str) -> str:
    """An agent that puts a hook into git in that way; the head before."""
    plain.write(".hooks/pre-commit", "#!/bin/sh\n").chmod(0o755)
    plain.git("config", "core.hooksPath", ".hooks")
    evil = f"printf '#!/bin/sh\\ntouch {outside / 'ran'}\\n' | git hash-object -w --stdin"
    session = f"[ ! -e work.txt ] || exit 1; echo x > work.txt; blob=$({evil}); {how}"
    plain.agent(session, execution="limit = 1")
    plain.add("a task")
    return plain.git("rev-parse", "main")


def _is_taken_back(plain: Project, outside: Path, head: str) -> None:
    assert plain.git("rev-parse", "main", "HEAD") == f"{head}\n{head}"
    assert (plain.path / "work.txt").exists()
    for command in ("checkout .", "stash", "checkout -f HEAD"):
        plain.git(*command.split())
        plain.git("commit", "-q", "--allow-empty", "-m", "mine")
    assert (plain.path / ".hooks/pre-commit").read_text() == "#!/bin/sh\n"
    assert not (outside / "ran").exists()


@pytest.mark.parametrize("how", TAKEN_BACK)
def test_a_protected_file_that_is_only_in_git_is_taken_back(
    plain: Project, outside: Path, how: str
) -> None:
    """It is never written in the checkout; a person's next `git checkout .` would do that."""
    head = _with_hooks(plain, outside, TAKEN_BACK[how])
    plain.ralph("run", code=None)
    _is_taken_back(plain, outside, head)


def test_also_after_a_session_that_was_killed_with_ralph(plain: Project, outside: Path) -> None:
    there = plain.path / "there"
    head = _with_hooks(plain, outside, f"{STAGE}; {WITHOUT_HOOKS}; touch there; sleep 100")
    process = plain.start("run")
    wait_for(there.exists, "the session has committed")
    process.kill()
    process.wait()
    plain.ralph("run", code=None)
    _is_taken_back(plain, outside, head)


@pytest.mark.parametrize("then", ["", WITHOUT_HOOKS])
def test_nor_by_a_gate_that_runs_what_a_session_wrote(
    plain: Project, outside: Path, then: str
) -> None:
    _with_hooks(plain, outside, "true")
    evil = f"printf '#!/bin/sh\\ntouch {outside / 'ran'}\\n' | git hash-object -w --stdin"
    check = f"blob=$({evil}); {STAGE}; {then}"
    session = f"printf '%s\\n' {shlex.quote(check)} > work.txt; {CLAIM}"
    plain.agent(session, gates="test = '[ ! -e work.txt ] || sh work.txt'")
    plain.ralph("run", "--limit", "1", code=None)
    _is_taken_back(plain, outside, plain.git("rev-parse", "HEAD"))
