"""What reaches the model of a real agent: the whole brief, and what earlier sessions learned."""

import pytest

from ralph.testing.model import Shell, do, say
from tests.e2e.agents.conftest import Real
from tests.e2e.agents.real import CLAIM
from tests.e2e.agents.setups import ONE_FOR_ALL

FACT = '<knowledge tags="db" title="Pool">the connection pool is small</knowledge>'


@pytest.mark.parametrize("agent", ONE_FOR_ALL)
def test_the_brief_and_what_a_session_learned_reach_the_model(real: Real, agent: str) -> None:
    project = real(agent)
    project.write(".ralph/features/login/spec.md", "log in by mail\n")
    project.write(".ralph/features/login/plan.md", "first the form\n")
    project.write(".ralph/skills/forms/SKILL.md", "---\ndescription: Making forms\n---\n")
    project.ralph("memory", "add", "use port 0 in tests")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "what is known")
    for name in ("one", "two"):
        commit = f"echo {name} > {name}.txt && git add {name}.txt && git commit -q -m 'Add {name}'"
        project.server.script(name, do(Shell(command=commit)), say(f"{FACT}\n{CLAIM}"))
    first = project.add("Read settings", "--feature", "login", "-d", "[[scenario:one]]")
    second = project.add("Tune the connection pool", "--feature", "login", "-d", "[[scenario:two]]")
    project.ralph("run", "login")
    assert [project.status(task) for task in (first, second)] == ["done", "done"]
    before, after = (project.server.asked_in(name)[0] for name in ("one", "two"))
    for asked in (before, after):
        said = asked.system + asked.user
        for words in (
            "You work in a Ralph loop",
            "log in by mail",
            "first the form",
            "**forms**: Making forms",
            "Pattern: use port 0 in tests",
        ):
            assert words in said
    assert "the connection pool is small" not in before.user
    assert "**Pool**: the connection pool is small (db)" in after.user
