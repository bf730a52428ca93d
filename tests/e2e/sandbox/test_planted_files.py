"""Traps that a session leaves in its checkout, waiting for Ralph's own next git command."""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.fault_helpers import ended

FAKE = 'cp -r .git fake; echo "$PWD/fake" > .git/commondir; '
"""Another repository in the place of the checkout's own."""

TRAPS = {
    "a monitor in another common folder": (
        FAKE + 'printf "[core]\\n\\tfsmonitor = $PWD/trap.sh\\n" >> fake/config'
    ),
    "a hook in another common folder": (
        FAKE + "mkdir -p fake/hooks; cp trap.sh fake/hooks/post-index-change"
    ),
    "a folder of hooks in another common folder": (
        FAKE + "mkdir evil; cp trap.sh evil/post-index-change;"
        ' printf "[core]\\n\\thooksPath = $PWD/evil\\n" >> fake/config'
    ),
    "a clean filter in another common folder": (
        FAKE + 'printf "[filter \\"x\\"]\\n\\tclean = $PWD/trap.sh\\n" >> fake/config;'
        ' echo "* filter=x" > .gitattributes'
    ),
    "a nested repository with a monitor, added as a link": (
        "git init -q nested; git -C nested commit -q --allow-empty -m n;"
        " git -C nested config core.fsmonitor $PWD/trap.sh; git add nested; git commit -q -m link"
    ),
    "a nested repository with a filter, added as a link": (
        "git init -q nested; cd nested; echo x > f; git add f; git commit -q -m n;"
        " git config filter.x.clean $PWD/../trap.sh; echo '* filter=x' > .gitattributes;"
        " echo y > f; cd ..; git add nested; git commit -q -m link"
    ),
    "settings of the worktree alone": (
        'printf "[core]\\n\\tfsmonitor = $PWD/trap.sh\\n" > .git/config.worktree'
    ),
}


def _lay(project: Project, caught: Path) -> None:
    trap = project.write("trap.sh", f"#!/bin/sh\ntouch {caught}\ncat\n")
    trap.chmod(0o755)
    # Some people have this switched on; it makes one more file count.
    project.git("config", "extensions.worktreeConfig", "true")
    project.git("add", "trap.sh")


@pytest.mark.parametrize("trap", TRAPS)
def test_ralphs_own_git_is_not_caught(plain: Project, outside: Path, trap: str) -> None:
    _lay(plain, outside / "caught")
    plain.agent(f"({TRAPS[trap]}); {DONE}")
    for title in ("first", "second"):
        plain.add(title)
    events = plain.events("--limit", "3", code=None)
    assert any(one["event"] == "session_ended" for one in events)
    assert not (outside / "caught").exists()
    assert not (plain.path / ".git/commondir").exists()
    assert not (plain.path / ".git/config.worktree").exists()


@pytest.mark.parametrize("trap", TRAPS)
def test_any_other_git_would_be_caught(plain: Project, outside: Path, trap: str) -> None:
    """Else the tests above would prove nothing."""
    _lay(plain, outside / "caught")
    plain.git("commit", "-q", "-m", "trap")
    subprocess.run(["sh", "-c", TRAPS[trap]], cwd=plain.path, check=True)
    plain.write("README.md", "another size than before\n")
    for words in (("status",), ("add", "README.md")):
        subprocess.run(["git", *words], cwd=plain.path, capture_output=True, check=False)
    assert (outside / "caught").exists()


PLUMBING = (
    "oid=$(echo planted | git hash-object -w --stdin);"
    " git update-index --add --cacheinfo 100644,$oid,{path}; "
)
"""Git writes a tree without any file."""


@pytest.mark.parametrize("path", [".ralph.toml", ".claude/settings.json", ".mcp.json"])
@pytest.mark.parametrize("then", ["git commit -q -m innocent", "true"])
def test_what_judges_cannot_be_committed_behind_its_own_back(
    plain: Project, path: str, then: str
) -> None:
    plant = PLUMBING.format(path=path)
    plain.agent(f"{plant}{then}; {DONE}")
    task = plain.add("a task", "--max-retries", "0")
    before = plain.git("rev-parse", "HEAD")
    events = plain.events(code=5)
    assert plain.status(task) == "failed"
    rejected = next(one for one in events if one["event"] == "task_failed")
    assert "what only a person may change" in str(rejected["reason"])
    assert path in str(rejected["reason"])
    assert plain.git("rev-parse", "HEAD") == before, "the checkout is back where it was"
    assert plain.git("status", "--porcelain") == ""


LINK = "git init -q sub; git -C sub commit -q --allow-empty -m x; git add sub"
AMONG = (
    "git init -q --bare sub; touch sub/refs/x sub/objects/x;"
    " git -C sub config core.fsmonitor evil; git add sub"
)
COMMIT = "git commit -q -m innocent"


@pytest.mark.parametrize("script", [LINK, f"{LINK}; {COMMIT}", f"{AMONG}; {COMMIT}"])
def test_another_repository_does_not_land(plain: Project, script: str) -> None:
    plain.agent(f"{script}; {DONE}")
    task = plain.add("a task", "--max-retries", "0")
    before = plain.git("rev-parse", "HEAD")
    events = plain.events(code=5)
    assert plain.status(task) == "failed"
    rejected = next(one for one in events if one["event"] == "task_failed")
    assert "it put another repository into git: sub" in str(rejected["reason"])
    assert plain.git("rev-parse", "HEAD") == before, "the checkout is back where it was"
    assert plain.git("ls-files", "sub") == ""


def test_a_repository_in_which_nothing_runs_is_work_like_any_other(plain: Project) -> None:
    """Such as one that tests need."""
    bare = "git init -q --bare sub; touch sub/refs/x sub/objects/x; git add sub"
    plain.agent(f"{bare}; {COMMIT}; {DONE}")
    task = plain.add("a task")
    plain.events()
    assert plain.status(task) == "done"
    assert (plain.path / "sub/HEAD").exists()


def test_what_a_person_commits_meanwhile_is_no_tampering(plain: Project) -> None:
    script = "touch there; until [ -e go ]; do sleep 0.02; done; rm go there; " + DONE
    plain.agent(script)
    task = plain.add("a task")
    run = plain.start("run", "--json")
    wait_for((plain.path / "there").exists, "the session began")
    with (plain.path / ".ralph.toml").open("a") as file:
        file.write("# mine\n")
    plain.git("commit", "-q", "-m", "mine", ".ralph.toml")
    (plain.path / "go").touch()
    ended(run)
    assert plain.status(task) == "done"
    assert "mine" in plain.commits()


def test_a_name_that_is_not_text_is_told(plain: Project) -> None:
    plant = 'd=$(printf "s\\377\\033"); git init -q "$d"; git -C "$d" config core.fsmonitor x; '
    plain.agent(plant + DONE)
    plain.add("a task")
    recorded = [event["message"] for event in plain.events() if event["event"] == "warned"]
    assert any(f"{plain.path}/s\ufffd\x1b/.git" in message for message in recorded)
