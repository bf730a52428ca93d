"""After a session, the git of whoever comes next runs nothing that the session wrote."""

from pathlib import Path

import pytest

from tests.conftest import EXAMPLES
from tests.e2e.sandbox.layouts import ALONE, LAYOUTS, LED, Garden, at_random, planting


@pytest.fixture
def garden(outside: Path, monkeypatch: pytest.MonkeyPatch) -> Garden:
    monkeypatch.delenv("RALPH_SANDBOX_MODE")
    monkeypatch.setenv("HOME", str(outside / "home"))
    return Garden(outside)


def _is_unharmed(garden: Garden, top: Path) -> None:
    assert garden.visit(top) == []
    assert not garden.caught.exists()
    assert (garden.home / ".bashrc").read_text() == "# mine\n"
    assert not (garden.home / ".git").exists()


@pytest.mark.parametrize("name", LAYOUTS)
def test_git_runs_nothing_that_a_session_wrote(garden: Garden, name: str) -> None:
    top = garden.checkout("x")
    said = garden.session(top, planting(LAYOUTS[name].values()))
    assert said, "whatever is found is told"
    for branch in ("side", "main"):
        assert "first" in garden.says(top, "log", "--format=%s", branch), said
    garden.says(top, "status")
    _is_unharmed(garden, top)


@pytest.mark.parametrize("name", ["led", "a rebase", "what is under way", "pipes"])
def test_nor_where_landlock_stands_in(
    garden: Garden, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_SANDBOX_USE", "landlock")
    top = garden.checkout("x")
    hook = 'cp "$TRAP" .git/hooks/pre-commit; monitor >> .git/config'
    garden.session(top, planting([*LAYOUTS[name].values(), hook]))
    garden.says(top, "status")
    _is_unharmed(garden, top)


def test_without_a_wall_it_would(garden: Garden) -> None:
    """Else the tests above would prove nothing."""
    top = garden.checkout("led")
    garden.without_wall(top, planting(LED.values()))
    assert garden.visit(top, "git status")
    assert {*garden.caught.read_text().split()} == {str(at) for at in range(len(LED))}
    for name, script in ALONE.items():
        top = garden.checkout(name)
        garden.without_wall(top, planting([script]))
        assert garden.visit(top, "git status; git rebase --continue")


@pytest.mark.parametrize("seed", range(6))
def test_nor_anything_by_chance(garden: Garden, seed: int) -> None:
    _plant_at_random(garden, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 100 + int(EXAMPLES or 200)))
def test_nor_anything_by_much_chance(garden: Garden, seed: int) -> None:
    _plant_at_random(garden, seed)


def _plant_at_random(garden: Garden, seed: int) -> None:
    top = garden.checkout("x")
    garden.session(top, at_random(seed))
    _is_unharmed(garden, top)
