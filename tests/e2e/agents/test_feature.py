"""From a sentence to finished work with the real agents: spec, plan, tasks, commits."""

import json

import pytest

from ralph.testing.model import Shell, Write, do, say
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import CLAIM, work
from tests.e2e.agents.setups import ONE_FOR_ALL

FOLDER = ".ralph/features/login"

DIVIDE = f"""\
root=$(ralph task tree --json | grep 'Feature: login' | cut -d'"' -f4)
model=$(ralph task add "Model" --parent $root -d "[[scenario:model]]")
view=$(ralph task add "View" --parent $root -d "[[scenario:view]]")
ralph task deps add $model $view && ! ralph task deps add $view $model && cat {FOLDER}/spec.md
"""


@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_a_sentence_becomes_tasks_and_tasks_become_commits(real: Real, agent: str) -> None:
    project = real(agent)
    server = project.server
    # Not every tool that writes a file makes its folder.
    (project.path / FOLDER).mkdir(parents=True)
    server.script("spec", do(Write(path=f"{{cwd}}/{FOLDER}/spec.md", text="# Login\n")), say(CLAIM))
    server.script("plan", do(Write(path=f"{{cwd}}/{FOLDER}/plan.md", text="# Plan\n")), say(CLAIM))
    server.script("default", do(Shell(command=DIVIDE)), say(CLAIM))
    for name in ("model", "view"):
        server.script(name, *work(name))
    project.ralph("feature", "spec", "login", "--request", "sign in by mail [[scenario:spec]]")
    project.ralph("feature", "plan", "login", "--yes", "--request", "[[scenario:plan]]")
    said = project.ralph("feature", "build", "login")
    assert "2 tasks, 1 dependency, 1 ready, 0 done" in said
    project.ralph("run", "login")
    shown = json.loads(project.ralph("feature", "show", "login", "--json"))
    assert (shown["status"], shown["tasks"]["done"]) == ("done", 3)
    assert project.commits()[:4] == [
        "Add view",
        "Add model",
        "Write the plan of login",
        "Write the spec of login",
    ]
    assert project.git("status", "--porcelain") == ""
