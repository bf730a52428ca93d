"""Whoever checks the work is in a sandbox of its own, around a checkout that is thrown away."""

import json
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import warnings


@pytest.fixture(autouse=True)
def verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RALPH_EXECUTION_VERIFY")


def two(project: Project, check: str, **sections: str) -> None:
    """An agent that works, and another one that checks."""
    project.write("check.sh", check)
    project.write(".agents/ralph/agents.sh", "AGENT_CHECKER_CMD='sh ./check.sh'\n")
    project.agent(DONE, verify='agent = "checker"', **sections)


@pytest.mark.parametrize("use", ["bubblewrap", "landlock"])
def test_a_verifier_cannot_write_the_persons_checkout(
    sandboxed: Project, outside: Path, use: str
) -> None:
    here = sandboxed.path
    two(
        sandboxed,
        f"echo x >> '{here}/work.txt'; echo x > '{here}/planted'; rm -f '{here}/README.md'\n"
        f"git -C '{here}' commit -q --allow-empty -m planted\n"
        f"echo x > '{here}/.git/planted'; echo x > '{here}/.ralph/features/planted'\n"
        f"echo x > '{outside}/planted'\n"
        # It may ask the loop about its tools, and nothing else.
        '! ralph task add planted && test "$(cat work.txt)" = x && git log -1 >/dev/null &&'
        " echo more > work.txt && git commit -qam mine && echo '<verify-pass/>'\n",
        sandbox=f'use = "{use}"',
    )
    task = sandboxed.add("x")
    events = sandboxed.events()
    assert events[-1]["outcome"] == "complete", events
    assert events[0]["sandbox"] == use
    assert sandboxed.task(task)["verification_status"] == "passed"
    assert [
        one["id"] for one in json.loads(sandboxed.quick("task", "list", "--all", "--json"))
    ] == [task]
    assert (here / "work.txt").read_text() == "x\n"
    assert (here / "README.md").exists()
    planted = (here / "planted", here / ".git/planted", outside / "planted")
    assert not any(path.exists() for path in (*planted, here / ".ralph/features/planted"))
    assert sandboxed.git("status", "--porcelain") == ""
    assert sandboxed.commits()[0] == "x"
    tasks = json.loads(sandboxed.ralph("task", "list", "--all", "--json"))
    assert [one["title"] for one in tasks] == ["x"]
    assert not list((here / ".ralph/checkouts").iterdir()), "the checkout is thrown away"
    assert warnings(events) == "" or use == "landlock"


def test_what_prepares_its_checkout_runs_in_the_sandbox_as_well(
    sandboxed: Project, outside: Path
) -> None:
    """The command may be the session's own: it lies in the tree that it wrote."""
    two(
        sandboxed,
        "test -e built && echo '<verify-pass/>'\n",
        workspace=f"setup = [\"touch '{outside}/by-setup'; touch built\"]",
    )
    task = sandboxed.add("x")
    assert sandboxed.events()[-1]["outcome"] == "complete"
    assert sandboxed.task(task)["verification_status"] == "passed"
    assert not (outside / "by-setup").exists()
    assert not (sandboxed.path / "built").exists()
