"""Gates judge by files in the checkout: a session that rewrites those proves nothing."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import CLAIM, warnings

PASS = "[ $RALPH_ROLE != verify ] || { cp {prompt} ../home/brief; echo '<verify-pass/>'; exit; }; "
FAIL = "[ $RALPH_ROLE != verify ] || { echo '<verify-fail>no</verify-fail>'; exit; }; "


def _red(project: Project, agent: str, gate: str = "./check.sh", **files: str) -> str:
    """A project whose gate is red until `fixed` is there, and a task with one try."""
    project.write("check.sh", "#!/bin/sh\n. ./lib.sh\n").chmod(0o755)
    project.write("lib.sh", "test -e fixed\n")
    for name, text in files.items():
        project.write(name, text)
    project.agent(agent, gates=f'check = "{gate}"')
    return project.add("a task", "--max-retries", "0")


def _weighed(events: list[dict[str, Any]]) -> list[str]:
    return [one["evidence"] for one in events if one["event"] == "gates_weighed"]


COMMIT = "git add -A; git commit -qm x; "
REWRITES = {
    "rewritten": "printf '#!/bin/sh\\nexit 0\\n' > check.sh; ",
    "committed": f"printf 'exit 0\\n' > lib.sh; {COMMIT}",
    "both": "printf '#!/bin/sh\\n' > check.sh; echo exit 0 > lib.sh; ",
    "link": "ln -sf /bin/true check.sh; ",
}


@pytest.mark.parametrize("how", REWRITES)
def test_a_rewritten_check_does_not_turn_red_into_green(plain: Project, how: str) -> None:
    task = _red(plain, f"{REWRITES[how]} echo x > work.txt; {CLAIM}")
    events = plain.events(code=5)
    assert _weighed(events) == ["none"]
    (failed,) = [one for one in events if one["event"] == "task_failed"]
    assert "gate check judges by" in failed["reason"]
    assert "which this task has changed" in warnings(events)
    assert plain.status(task) == "failed"
    assert "work.txt" not in plain.git("ls-files")


def test_in_a_team_neither(plain: Project) -> None:
    task = _red(plain, f"{REWRITES['rewritten']} {COMMIT} {CLAIM}")
    plain.events("--workers", "2", code=5)
    assert plain.status(task) == "failed"
    assert "exit 0" not in plain.git("show", "main:check.sh")


def test_what_an_earlier_attempt_rewrote_is_seen(plain: Project) -> None:
    task = _red(
        plain, f"[ -e work.txt ] || {{ {REWRITES['rewritten']} }}; date >> work.txt; {CLAIM}"
    )
    plain.quick("task", "update", task, "--max-retries", "1")
    plain.events(code=5)
    assert plain.task(task)["attempt"] == 2


def test_work_that_the_old_check_passes_counts(plain: Project) -> None:
    task = _red(plain, f"touch fixed; echo '# tidy' >> check.sh; {CLAIM}")
    events = plain.events()
    assert _weighed(events) == ["improved"]
    assert "it passes as well" in warnings(events)
    assert plain.status(task) == "done"


def test_a_green_gate_that_the_old_check_would_fail_does_not_count(plain: Project) -> None:
    plain.write("fixed", "")
    task = _red(plain, f"rm fixed; {REWRITES['rewritten']} {CLAIM}")
    events = plain.events(code=5)
    assert plain.status(task) == "failed"
    assert _weighed(events) == ["none"]


@pytest.mark.parametrize(("verifier", "status"), [(PASS, "done"), (FAIL, "failed")])
def test_a_verifier_is_told_and_decides(
    plain: Project, outside: Path, monkeypatch: pytest.MonkeyPatch, verifier: str, status: str
) -> None:
    monkeypatch.setenv("RALPH_EXECUTION_VERIFY", "true")
    text = verifier.replace("cp {prompt} ../home/brief; ", "grep -q 'Look closely' {prompt} && ")
    task = _red(plain, f"{text} {REWRITES['rewritten']} echo x > work.txt; {CLAIM}")
    events = plain.events(code=None)
    assert plain.status(task) == status
    assert _weighed(events) == ["none"]


SIBLINGS = {
    "make": ("make -s test", {"Makefile": "test:\n\ttest -e fixed\n"}, "test:\n\ttrue\n"),
    "included": (
        "make -s test",
        {"Makefile": "include rules.mk\n", "rules.mk": "test:\n\ttest -e fixed\n"},
        "test:\n\ttrue\n",
    ),
    "python": (
        "python3 -B tools/check.py",
        {"tools/check.py": "import rules", "tools/rules.py": "open('fixed')"},
        "pass",
    ),
    "for": (
        "for one in checks/*.sh; do sh $one || exit 1; done",
        {"checks/a.sh": "test -e fixed"},
        "exit 0",
    ),
    "piped": ("cat t.sh | sh", {"t.sh": "test -e fixed"}, "exit 0"),
    "! grep": ("! sh t.sh | grep -q bad", {"t.sh": "test -e fixed || echo bad"}, ""),
    "sh -c": ("cd part && sh -c 'sh ./t.sh'", {"part/t.sh": "test -e ../fixed"}, "exit 0"),
}


@pytest.mark.parametrize("how", SIBLINGS)
def test_the_files_that_a_gate_names_are_followed(project: Project, how: str) -> None:
    """Without a sandbox, which is quicker."""
    gate, files, evil = SIBLINGS[how]
    last = [*files][-1]
    project.write("evil", evil)
    task = _red(project, f"cp evil {last}; echo x > work.txt; {CLAIM}", gate, **files)
    events = project.events(code=5)
    assert f"judges by {last}" in project.task(task)["reason"]
    assert _weighed(events) == ["none"]


@pytest.mark.parametrize("gate", [".venv/bin/pytest -q", "pytest -q"])
def test_a_program_that_git_ignores_is_seen_as_well(
    project: Project, monkeypatch: pytest.MonkeyPatch, gate: str
) -> None:
    """Also one that the PATH leads to."""
    monkeypatch.setenv("PATH", f"{project.path}/.venv/bin:{os.environ['PATH']}")
    project.write(".gitignore", "/.venv/\n/dist/\n")
    project.write(".venv/bin/pytest", "#!/bin/sh\ntest -e fixed\n").chmod(0o755)
    evil = "printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/pytest; "
    task = _red(project, f"{evil} echo x > work.txt; {CLAIM}", gate)
    project.events(code=5)
    assert "judges by .venv/bin/pytest" in project.task(task)["reason"]


def test_what_a_gate_builds_itself_is_no_judge(project: Project) -> None:
    project.write(".gitignore", "/dist/\n")
    gate = "mkdir -p dist && cp source.sh dist/test.sh && sh dist/test.sh"
    source = "exit 1\n"
    agent = f"echo exit 0 > source.sh; mkdir -p dist; cp source.sh dist/test.sh; {CLAIM}"
    task = _red(project, agent, gate, **{"source.sh": source})
    project.events()
    assert project.status(task) == "done"


def test_what_a_gate_looks_at_is_no_judge(project: Project) -> None:
    """A program whose output is compared, a file that is asked for, one that is to be made."""
    project.write("app.sh", "echo 41\n")
    project.agent(
        f"echo 'echo 42' > app.sh; touch made; echo 'exit 0' > new.sh; {CLAIM}",
        gates="output = 'sh app.sh | grep -q 42'\nvalue = '[ $(sh app.sh) = 42 ]'\n"
        "there = 'test -e made'\nnew = 'test -e new.sh && sh new.sh'",
    )
    task = project.add("a task")
    events = project.events()
    assert project.status(task) == "done"
    assert _weighed(events) == ["improved"]
    assert os.path.exists(project.path / "made")
