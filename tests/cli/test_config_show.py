"""What is set, and where."""

import pytest

from ralph.core.settings import SECTIONS
from tests.cli.conftest import Cli, assert_one_line


def test_every_setting_is_listed_with_its_source(ralph: Cli) -> None:
    shown = ralph("config", "show").out
    for section, kind in SECTIONS.items():
        for name in kind.__struct_fields__:
            assert f"\n{section}.{name} " in shown
    assert "default" in shown


def test_a_setting_names_the_line_it_stands_on(ralph: Cli) -> None:
    (ralph.path / ".ralph.toml").write_text("[execution]\nmax_retries = 7\n")
    ralph.monkeypatch.setenv("RALPH_LIMIT", "9")
    by_key = {one["key"]: one for one in ralph.json("config", "show")}
    assert by_key["execution.max_retries"]["value"] == 7
    assert by_key["execution.max_retries"]["default"] == 3
    assert by_key["execution.max_retries"]["source"].endswith(".ralph.toml:2")
    assert by_key["execution.limit"]["source"] == "$RALPH_LIMIT"
    assert by_key["execution.verify"]["source"] == "default"


def test_one_setting_is_explained(ralph: Cli) -> None:
    lines = ralph("config", "show", "execution.max_retries").out.splitlines()
    assert lines[0] == "execution.max_retries = 3"
    assert "default" in lines[1]
    assert "four tries" in lines[2]


def test_a_section(ralph: Cli) -> None:
    keys = [one["key"] for one in ralph.json("config", "show", "ui")]
    assert keys == ["ui.color"]


@pytest.mark.parametrize(("key", "near"), [("execution.max_retry", "max_retries"), ("xyz", "")])
def test_an_unknown_setting_gets_near_matches(key: str, near: str, ralph: Cli) -> None:
    answer = ralph("config", "show", key, code=66)
    assert_one_line(answer, hint=True)
    assert near in answer.err


def test_every_setting_has_a_meaning(ralph: Cli) -> None:
    assert all(one["meaning"] for one in ralph.json("config", "show"))
