"""`ralph sandbox show`, and flags that allow more."""

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


def test_a_sandbox_that_runs_do_not_use_says_so(ralph: Cli) -> None:
    Path(".ralph.toml").write_text('[sandbox]\nmode = "off"\n')
    assert "a project/.ralph.toml:2): runs use none of this" in ralph("sandbox", "show").out


def test_show_tells_what_a_session_has_of_its_own_and_what_it_does_not_get(
    ralph: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORGE_TOKEN", "hush")
    shown = json.loads(ralph("sandbox", "show", "--json").out)
    places = _places(shown)
    assert (places["/tmp"], places["/run"]) == ("write", "hide")
    assert places[f"{os.getcwd()}/.ralph/.tmp/agents/…"] == "write"
    assert "FORGE_TOKEN" in shown["dropped"]
    assert "hush" not in json.dumps(shown)


@pytest.mark.parametrize("flag", ["--allow-write", "--allow-read"])
@pytest.mark.parametrize("command", [("run",), ("sandbox", "show"), ("sandbox", "run", "true")])
def test_what_is_not_there_cannot_be_opened(
    ralph: Cli, home: Path, flag: str, command: tuple[str, ...]
) -> None:
    said = ralph(*command, flag, str(home / "nope"), code=64).err
    assert f"{flag} {home}/nope: there is no such file or folder" in said


def test_a_setting_that_opens_nothing_is_said(ralph: Cli, home: Path) -> None:
    Path(".ralph.toml").write_text('[sandbox]\nwrite = ["~/nope", "here"]\n')
    done = ralph("sandbox", "run", "true")
    assert f"{home}/nope is not there, so it cannot be opened to sessions" in done.err
    assert "here" not in done.err.replace("there", ""), "the checkout is open anyway"


@pytest.mark.parametrize(
    "domain", ["https://example.com", "example.com/path", "example.com:x", "*", "a b", "-x.com", ""]
)
def test_what_is_no_domain_is_named(ralph: Cli, domain: str) -> None:
    settings = f'[sandbox]\nnetwork = "proxy"\ndomains = [{json.dumps(domain)}]\n'
    Path(".ralph.toml").write_text(settings)
    said = ralph("sandbox", "show", code=78).err
    assert f".ralph.toml:3: {domain!r} is no domain" in said


@pytest.mark.parametrize(
    "domain", ["example.com", "*.example.com", "a_b.example.com:8443", "127.0.0.1", "[::1]:80"]
)
def test_a_domain_may_be_written_in_many_ways(ralph: Cli, domain: str) -> None:
    settings = f'[sandbox]\nnetwork = "proxy"\ndomains = [{json.dumps(domain)}]\n'
    Path(".ralph.toml").write_text(settings)
    assert f"network  proxy {domain}" in ralph("sandbox", "show").out


def test_domains_that_nobody_heeds_and_a_proxy_without_any_are_said(ralph: Cli) -> None:
    Path(".ralph.toml").write_text('[sandbox]\ndomains = ["example.com"]\n')
    assert "sandbox.domains is not used, since the network is on" in ralph("sandbox", "show").err
    Path(".ralph.toml").write_text('[sandbox]\nnetwork = "proxy"\n')
    assert "no domain is listed" in ralph("sandbox", "run", "true").err


def test_a_system_that_sessions_may_write_holds_no_sandbox(ralph: Cli) -> None:
    Path(".ralph.toml").write_text('[sandbox]\nwrite = ["/"]\n')
    said = ralph("sandbox", "run", "true", code=69).err
    assert "is where they can write" in said


def test_what_a_persons_own_commands_name_can_be_read(
    ralph: Cli, home: Path, tmp_path: Path
) -> None:
    """A script below /tmp, say, which is another folder inside; but no key, and in the checkout a
    session may change it."""
    for file in (tmp_path / "agent.py", tmp_path / "gate.sh", home / ".ssh" / "id"):
        file.write_text("x")
    (ralph.path / "mine.sh").write_text("x")
    (ralph.path / ".ralph.toml").write_text(
        f"""[agent]
command = "cat {{prompt}} | python3 '{tmp_path}/agent.py' -i {home}/.ssh/id"
[gates]
one = "sh '{tmp_path}/gate.sh'"
two = "sh mine.sh"
"""
    )
    places = _places(json.loads(ralph("sandbox", "show", "--json").out))
    assert places[f"{tmp_path}/agent.py"] == places[f"{tmp_path}/gate.sh"] == "read"
    assert f"{home}/.ssh/id" not in places
    assert f"{ralph.path}/mine.sh" not in places
