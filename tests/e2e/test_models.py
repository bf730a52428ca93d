"""Models and costs from the command line to the record, with an agent that plays a script."""

import json
from typing import Any

import pytest

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import refused

SCRIPT = """
[[session]]
task = "hard"
steps = [{ done = true }]

[[session]]
task = "hard"
steps = [{ write = "hard.txt", text = "x" }, { done = true, cost = 0.25 }]

[[session]]
task = "easy"
steps = [
  { write = "easy.txt", text = "x" },
  { result = "<next-model>haiku</next-model><task-done>{task}</task-done>", cost = 0.5 },
]

[[session]]
task = "last"
steps = [
  { write = "last.txt", text = "x" },
  { done = true, tokens = { input_tokens = 2000000, output_tokens = 100000 } },
]
"""
PRICES = '[prices]\n"haiku" = { input = 1.0, output = 5.0 }\n'


def play(project: Project, more: str = "") -> None:
    """Three tasks in this order; the first one needs two tries."""
    # Below .ralph, where it is nobody's work.
    script = project.write(".ralph/script.toml", SCRIPT)
    project.write(".ralph.toml", f'[agent]\nname = "scripted"\ncommand = "{script}"\n{more}')
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "configure")
    for priority, title in enumerate(("hard", "easy", "last")):
        project.add(title, "--priority", str(priority))


def started(lines: str) -> list[str]:
    answer = [json.loads(line) for line in lines.splitlines()]
    return [one["model"] for one in answer if one["event"] == "session_started"]


@pytest.mark.parametrize(
    ("flags", "models"),
    [
        ([], ["sonnet", "opus", "opus", "haiku"]),
        (["--model-strategy", "escalate"], ["haiku", "sonnet", "sonnet", "haiku"]),
        (["--model-strategy", "plan-then-execute"], ["opus", "sonnet", "sonnet", "haiku"]),
        (["--model", "gpt-5.5"], ["gpt-5.5", "gpt-5.5", "gpt-5.5", "haiku"]),
        (["--model-strategy", "fixed", "--model", "opus"], ["opus", "opus", "opus", "haiku"]),
    ],
    ids=["default", "escalate", "plan-then-execute", "model", "fixed"],
)
def test_each_strategy_runs_its_models(
    project: Project, flags: list[str], models: list[str]
) -> None:
    play(project)
    assert started(project.ralph("run", "--json", *flags)) == models
    sessions = json.loads(project.ralph("logs", "--json"))
    assert [one["model"] for one in sessions] == models
    assert [one["ending"]["model"] for one in sessions] == models


def test_variables_and_tables_say_it_too(project: Project) -> None:
    play(project, '[models.scripted]\nopus = "big-one"\n')
    out = project.ralph("run", "--once", "--json", code=4, RALPH_MODEL="opus")
    assert started(out) == ["big-one"]
    out = project.ralph("run", "--once", "--json", code=4, RALPH_MODEL_STRATEGY="escalate")
    assert started(out) == ["sonnet"]


def test_a_dry_run_shows_the_model(project: Project) -> None:
    play(project)
    assert "model   sonnet (cost-optimized)" in project.ralph("run", "--dry-run")
    assert "model   gpt-5.5 (fixed)" in project.ralph("run", "--dry-run", "--model", "gpt-5.5")
    project.ralph("run", "--once", code=4)
    answer = json.loads(project.ralph("run", "--dry-run", "--json"))
    assert (answer["model"], answer["strategy"]) == ("opus", "cost-optimized")


@pytest.mark.parametrize(
    ("flags", "env", "code", "words"),
    [
        (["--model-strategy", "fixed"], {}, 64, "models.model is empty"),
        (["--model-strategy", "esclate"], {}, 64, "did you mean escalate?"),
        ([], {"RALPH_MODEL_STRATEGY": "fixed"}, 78, "models.model is empty"),
        ([], {"RALPH_MODEL_STRATEGY": "esclate"}, 78, "did you mean escalate?"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(
    project: Project, flags: list[str], env: dict[str, str], code: int, words: str
) -> None:
    play(project)
    refused(project.try_ralph("run", *flags, **env), code, words)


def test_costs_are_reported_estimated_or_unknown_and_never_nothing(project: Project) -> None:
    play(project, PRICES)
    out = project.ralph("run")
    assert "· ~$3.25 and 1 session of unknown cost" in out
    costs = json.loads(project.ralph("costs", "--by", "model", "--json"))
    by_model = {one["model"]: one for one in costs["costs"]}
    assert by_model["haiku"]["estimated_usd"] == pytest.approx(2.5)
    assert by_model["opus"]["cost_usd"] == pytest.approx(0.75)
    assert _without_zero(by_model["sonnet"]) == {"sessions": 1, "unknown": 1}
    assert costs["total"]["known_usd"] == pytest.approx(3.25)
    assert "~$2.50" in project.ralph("logs")
    assert "~$3.25 and 1 session of unknown cost" in project.ralph("status")


def _without_zero(spent: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spent.items() if value and key != "model"}


def test_a_hint_that_is_followed_is_told_and_logged(project: Project) -> None:
    play(project)
    out = project.ralph("run", "--json")
    answer = [json.loads(line) for line in out.splitlines()]
    (overridden,) = [one for one in answer if one["event"] == "model_overridden"]
    assert (overridden["model"], overridden["planned"]) == ("haiku", "opus")
    log = project.ralph("task", "log", overridden["task_id"])
    assert "asked for haiku (cost-optimized: opus)" in log
