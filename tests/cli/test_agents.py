"""`ralph agents`: what is installed, who pays, and what a version was seen to do."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.ralph_process import RALPH

STUB = """\
#!/bin/sh
# Does what the prompt of a probe asks for, and tells of it as the real program does.
if [ "$1" = --version ]; then echo "{version} (Claude Code)"; exit 0; fi
word=$(grep -o 'ralph-[0-9a-f]*' | head -n 1)
{deed}
echo '{{"type":"system","subtype":"init","model":"claude-tiny","tools":["Bash"]}}'
echo '{{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.01,"num_turns":2,'\\
'"result":"{says}"}}'
exit {code}
"""
OBEYS = 'echo "$word" > probe.txt; git add -A; git commit -qm probe'
OFF = {"RALPH_SANDBOX_MODE": "off"}
CLAIM = "<task-done>t-000000</task-done>"


class Machine:
    """A machine with a home, git, and perhaps an agent."""

    def __init__(self, root: Path) -> None:
        self.root = self.folder = root
        self.home = root / "home"
        self.bin = root / "bin"
        for folder in (self.home, self.bin):
            folder.mkdir()
        for program in ("git", "sh", "grep", "head", "env"):
            (self.bin / program).symlink_to(str(shutil.which(program)))

    def install(
        self, version: str = "2.1.0", deed: str = OBEYS, says: str = CLAIM, code: int = 0
    ) -> None:
        path = self.bin / "claude"
        path.write_text(STUB.format(version=version, deed=deed, says=says, code=code))
        path.chmod(0o755)

    def log_in(self) -> None:
        folder = self.home / ".claude"
        folder.mkdir()
        login = {"claudeAiOauth": {"accessToken": "hush", "subscriptionType": "max"}}
        (folder / ".credentials.json").write_text(json.dumps(login))

    def ralph(self, *args: str, code: int = 0, **env: str) -> str:
        """Its few programs make no sandbox: that is tested elsewhere."""
        done = subprocess.run(
            [RALPH, *args],
            cwd=self.folder,
            env={"PATH": str(self.bin), "HOME": str(self.home), "LANG": "C.UTF-8", **OFF, **env},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    def listed(self, **env: str) -> dict[str, Any]:
        found = json.loads(self.ralph("agents", "list", "--json", **env))  # type: ignore[arg-type]
        return next(one for one in found if one["name"] == "claude")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_without_any_agent_the_list_says_how_to_get_them(machine: Machine) -> None:
    said = machine.ralph("agents", "list")
    for name in ("claude", "codex", "droid"):
        assert f"{name} is not installed: npm install" in said


def test_an_agent_is_listed_with_its_version_and_who_pays(machine: Machine) -> None:
    machine.install()
    assert machine.listed()["account"]["logged_in"] is False
    assert "claude is not logged in: " in machine.ralph("agents", "list")
    machine.log_in()
    found = machine.listed()
    assert (found["version"], found["path"]) == ("2.1.0", str(machine.bin / "claude"))
    assert (found["account"]["billed"], found["account"]["logged_in"]) == (False, True)
    assert "subscription (max)" in found["account"]["name"]


def test_a_key_that_sessions_do_not_get_pays_for_nothing(machine: Machine) -> None:
    machine.install()
    assert machine.listed(ANTHROPIC_API_KEY="hush")["account"]["logged_in"] is False
    subprocess.run(["git", "init", "-q", str(machine.root)], check=True)
    (machine.root / ".ralph.toml").write_text('[agent]\npass_env = ["ANTHROPIC_API_KEY"]\n')
    found = machine.listed(ANTHROPIC_API_KEY="hush")
    assert found["account"]["billed"] is True
    assert "hush" not in json.dumps(found)


def test_a_probe_records_what_the_version_does(machine: Machine) -> None:
    machine.install()
    said = machine.ralph("agents", "probe")
    assert "claude 2.1.0: works" in said
    record = machine.listed()["record"]
    assert (record["ended"], record["exit_code"]) == ("finished", 0)
    assert (record["reads_prompt"], record["claims"], record["commits"]) == (True, True, True)
    assert record["events"] == {"result": 1, "started": 1}
    assert (record["model"], record["cost_usd"]) == ("claude-tiny", 0.01)
    assert record["sandbox"] == "off"
    assert sorted(os.listdir(machine.root)) == ["bin", "home"], "nothing is left where it was run"


@pytest.mark.parametrize(("name", "told"), [("claude", "mine"), ("codex", "haiku")])
def test_a_probe_uses_a_models_name_only_for_the_agent_that_it_is_meant_for(
    machine: Machine, name: str, told: str
) -> None:
    machine.install(deed=f'echo "$*" > "{machine.root}/argv"; {OBEYS}')
    subprocess.run(["git", "init", "-q", str(machine.root)], check=True)
    settings = f'[agent]\nname = "{name}"\n[models]\nmodel = "mine"\n'
    (machine.root / ".ralph.toml").write_text(settings)
    machine.ralph("agents", "probe", "claude")
    assert f"--model {told} " in (machine.root / "argv").read_text()


@pytest.mark.parametrize(
    ("deed", "says", "what"),
    [
        (":", CLAIM, "reads_prompt"),
        (OBEYS, "I am done", "claims"),
        ('echo "$word" > probe.txt', CLAIM, "commits"),
    ],
)
def test_a_probe_notices_what_does_not_work(
    machine: Machine, deed: str, says: str, what: str
) -> None:
    machine.install(deed=deed, says=says)
    # Ralph can commit for an agent that cannot.
    machine.ralph("agents", "probe", "claude", code=0 if what == "commits" else 1)
    record = machine.listed()["record"]
    assert record[what] is False


def test_a_probe_is_renewed_when_the_version_changes(machine: Machine) -> None:
    machine.install("2.1.0")
    machine.ralph("agents", "probe")
    assert "nothing to probe" in machine.ralph("agents", "probe")
    machine.install("2.2.0")
    assert "2.1.0)" in machine.ralph("agents", "list")
    assert "claude 2.2.0: works" in machine.ralph("agents", "probe")
    assert machine.listed()["record"]["version"] == "2.2.0"
    assert "claude 2.2.0: works" in machine.ralph("agents", "probe", "--again")


def test_the_doctor_shows_the_record(machine: Machine) -> None:
    machine.install("2.1.0")
    machine.log_in()
    subprocess.run(["git", "init", "-q", str(machine.root)], check=True)
    machine.ralph("init")
    assert "claude 2.1.0 was never probed" in machine.ralph("doctor")
    machine.ralph("agents", "probe")
    said = machine.ralph("doctor")
    assert "claude works: probed" in said
    assert "exit code 0, commits; reports result, started" in said
    machine.install("2.2.0")
    assert "probed in version 2.1.0, now it is 2.2.0" in machine.ralph("doctor")


@pytest.mark.parametrize("inside", ["a project", ""])
def test_a_probe_needs_a_sandbox_unless_it_is_told_otherwise(machine: Machine, inside: str) -> None:
    machine.install()
    if inside:
        # Not around its programs: sessions could change them there.
        machine.folder = machine.root / inside
        subprocess.run(["git", "init", "-q", str(machine.folder)], check=True)
        (machine.folder / ".ralph.toml").write_text("")
    said = machine.ralph("agents", "probe", code=69, RALPH_SANDBOX_MODE="")
    assert "sessions need a sandbox, and bubblewrap is not installed" in said
    assert "--no-sandbox" in said
    assert machine.listed()["record"] is None, "nothing is known about the agent yet"
    asked = machine.ralph("agents", "probe", "--no-sandbox", RALPH_SANDBOX_MODE="")
    assert "claude 2.1.0: works" in asked
    assert "  sandbox   off" in asked


@pytest.mark.parametrize("inside", ["a project", ""])
def test_a_wrong_setting_stops_a_probe(machine: Machine, inside: str) -> None:
    machine.install()
    if inside:
        (machine.root / ".ralph.toml").write_text("")
    said = machine.ralph("agents", "probe", code=78, RALPH_SANDBOX_MODE="maybe")
    assert "RALPH_SANDBOX_MODE" in said


@pytest.mark.parametrize("name", ["clod", "command"])
def test_what_cannot_be_probed_is_said_in_one_line(machine: Machine, name: str) -> None:
    said = machine.ralph("agents", "probe", name, code=69)
    assert name in said
    assert "hint: " in said


def test_a_missing_agent_is_not_probed(machine: Machine) -> None:
    assert "claude is not installed" in machine.ralph("agents", "probe", "claude", code=69)
    assert "nothing to probe" in machine.ralph("agents", "probe")
