"""`ralph sandbox show`, and flags that open doors."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    home = tmp_path / "home"
    for name in (".aws", ".ssh"):
        (home / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


def _places(shown: dict[str, Any]) -> dict[str, str]:
    return {place["path"]: place["access"] for place in shown["places"]}


def test_show_tells_what_is_open_and_what_is_closed(ralph: Cli, home: Path) -> None:
    shown = json.loads(ralph("sandbox", "show", "--json").out)
    here = os.getcwd()
    places = _places(shown)
    assert places[here] == "write"
    assert places[f"{here}/.ralph.toml"] == "read"
    assert places[f"{home}/.aws"] == "hide"
    assert {"name": "ssh", "rule": "ssh"}.items() <= next(
        one for one in shown["programs"] if one["name"] == "ssh"
    ).items()
    text = ralph("sandbox", "show").out
    for word in ("can be written", "hidden", f"{home}/.aws", "--allow aws opens it", "network  on"):
        assert word in text


def test_a_flag_opens_one_more_door_than_the_file(ralph: Cli, home: Path) -> None:
    Path(".ralph.toml").write_text('[sandbox]\nallow = ["aws"]\nwrite = ["~/shared"]\n')
    (home / "shared").mkdir()
    shown = json.loads(
        ralph("sandbox", "show", "--json", "--allow", "ssh", "--allow-write", "build").out
    )
    places = _places(shown)
    assert places[f"{home}/.aws"] == "write"
    assert places[f"{home}/.ssh"] == "write"
    assert places[f"{home}/shared"] == "write"


def test_a_rule_that_does_not_exist_is_named(ralph: Cli) -> None:
    said = ralph("sandbox", "show", "--allow", "awz", code=64).err
    assert "there is no sandbox rule 'awz'" in said
    Path(".ralph.toml").write_text('[sandbox]\nallow = ["awz"]\n')
    said = ralph("sandbox", "show", code=78).err
    assert ".ralph.toml:2: there is no sandbox rule 'awz'" in said


def test_a_wall_that_runs_do_not_use_says_so(ralph: Cli) -> None:
    Path(".ralph.toml").write_text('[sandbox]\nmode = "off"\n')
    assert "a project/.ralph.toml:2): runs use none of this" in ralph("sandbox", "show").out
