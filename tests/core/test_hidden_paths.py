"""Names of settings that Ralph or an agent obeys."""

import pytest

from ralph.core.hidden_paths import is_agent_settings, settings_root


@pytest.mark.parametrize(
    ("path", "project"),
    [
        (".ralph.toml", ""),
        ("pkg/.ralph.toml", "pkg"),
        ("pkg/.Ralph.TOML", "pkg"),
        ("a/b/.ralph/config.sh", "a/b"),
        (".agents/ralph/agents.sh", ""),
        ("x/.agents/ralph", "x"),
        ("x/.agents/ralph/PROMPT_build.md", "x"),
        (".agents/tasks/prd.md", None),
        (".ralph/specs/s.md", None),
        ("src/ralph.toml", None),
        ("x.ralph.toml", None),
    ],
)
def test_settings_of_ralph_belong_to_a_folder(path: str, project: str | None) -> None:
    assert settings_root(path) == project


def test_settings_of_agents_are_known_in_every_folder() -> None:
    known = (".claude/settings.json", "deep/down/.Claude/x.sh", "pkg/.mcp.json", "a/.codex/b")
    assert all(map(is_agent_settings, known))
    assert not any(map(is_agent_settings, ("claude/x", ".mcp.json/x", "src/codex.py")))
