"""The state of a run is changed by its own methods only."""

import ast
from pathlib import Path

import pytest

import ralph
from ralph.engine.run_context import RunContext
from tests.engine.world import World

PARTS = ("state", "checkout", "controls", "agents", "log", "budget_tracker", "memory_file")
SOURCE = Path(ralph.__file__).parent


def assigned(tree: ast.AST) -> list[str]:
    """`x.state.y = …` and the like, wherever it is."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            owner = node.value
            if isinstance(owner, ast.Attribute) and owner.attr in PARTS:
                found.append(ast.unparse(node))
    return found


def test_no_module_assigns_to_a_part_of_the_context() -> None:
    wrong = [
        f"{path.relative_to(SOURCE)}: {one}"
        for folder in ("engine", "workflows", "wiring", "cli")
        for path in sorted((SOURCE / folder).rglob("*.py"))
        for one in assigned(ast.parse(path.read_text()))
    ]
    assert wrong == []


def test_a_context_is_frozen(tmp_path: Path) -> None:
    context: RunContext = World(tmp_path).ctx()
    with pytest.raises(AttributeError):
        context.settings = context.settings  # type: ignore[misc]
