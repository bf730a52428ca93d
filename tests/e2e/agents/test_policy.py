"""The policy in a real session: a denial tells the model why, a rewritten command runs as such."""

import pytest

from ralph.testing.model import ModelRequestLog, Shell, Turn, do, say
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import CLAIM, work
from tests.e2e.agents.setups import AGENTS
from tests.e2e.crash_points import store_of


def test_a_denied_command_tells_the_model_why(real: Real) -> None:
    project = real("claude", git={"commit": "ralph"})
    task = project.scripted(
        "x",
        do(Shell(command="echo x > x.txt && git add x.txt && git commit -q -m 'Add x'")),
        do(Shell(command="echo x > x.txt")),
        say(CLAIM),
    )
    events = project.events()
    judged = [one for one in events if one["event"] == "tool_judged"]
    assert [one["decision"] for one in judged] == ["denied"]
    output = "\n".join(text for one in project.server.asked_in("x") for text in one.results)
    assert str(judged[0]["reason"]) in output
    assert project.status(task) == "done"
    assert project.git("show", "HEAD:x.txt") == "x", "Ralph has committed it"


def test_a_rewritten_command_runs_as_it_was_rewritten(real: Real) -> None:
    project = real("claude", policy={"packaging": "uv"})
    uv = project.path.parent / "bin" / "uv"
    uv.parent.mkdir(exist_ok=True)
    uv.write_text('#!/bin/sh\necho "uv was asked: $*" > uv.txt\n')
    uv.chmod(0o755)
    project.scripted("x", do(Shell(command=f"PATH={uv.parent}:$PATH pytest -q")), *work("x"))
    events = project.events()
    assert [one["decision"] for one in events if one["event"] == "tool_judged"] == ["rewritten"]
    assert (project.path / "uv.txt").read_text() == "uv was asked: run pytest -q\n"


@pytest.mark.parametrize("agent", ["claude", pytest.param("codex", marks=pytest.mark.soak)])
def test_a_session_that_forgets_to_claim_is_reminded(real: Real, agent: str) -> None:
    project = real(agent)

    def ends(asked: ModelRequestLog) -> Turn:
        return say(CLAIM if "not reported the state of task" in asked.user else "It works.")

    project.server.script("x", do(Shell(command="echo x > x.txt")), ends, repeat=True)
    task = project.add("forgetful", "-d", "[[scenario:x]]")
    project.ralph("run")
    assert project.endings(task) == ["finished"]
    assert (project.status(task), project.task(task)["attempt"]) == ("done", 1)


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_is_on_the_permissions(real: Real, agent: str) -> None:
    project = real(agent)
    task = project.scripted(
        "x",
        do(Shell(command="git push origin HEAD")),
        do(Shell(command="echo and that is all; exit 3")),
        *work("x"),
    )
    events = project.events()
    judged = [one for one in events if one["event"] == "tool_judged"]
    assert [(one["decision"], one["command"]) for one in judged] == [
        ("denied", "git push origin HEAD")
    ]
    output = "\n".join(text for one in project.server.asked_in("x") for text in one.results)
    assert str(judged[0]["reason"]) in output
    assert project.status(task) == "done"
    with store_of(project) as store:
        (session,) = store.sessions.select()
    # What its tools have answered, and that some of them have failed, is kept with the session.
    assert session.tools.tokens > 0
    assert session.tools.errors > 0
