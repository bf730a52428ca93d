"""Traps that a session leaves in its checkout, waiting for Ralph's own next git command."""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project

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
