"""People are called when something needs them; nothing about it can hurt a run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.fault_helpers import CLAIM
from tests.e2e.terminal import Terminal


def listening(project: Project) -> tuple[Path, str]:
    """A file in which messages arrive, and the command that brings them there."""
    heard = project.path.parent / "heard.txt"
    return heard, f"command = 'printf \"%s\\n\" >> {heard}'\n"


def test_a_command_hears_of_the_end_and_of_failures(project: Project) -> None:
    heard, command = listening(project)
    project.agent(
        'case "$RALPH_TASK_ID" in '
        '*) if grep -q bad {prompt}; then echo "<task-failed>$RALPH_TASK_ID</task-failed>";'
        f" else {DONE}; fi;; esac",
        notify=command,
    )
    project.add("a good one")
    project.add("a bad one")
    project.ralph("run", code=5)
    wait_for(lambda: heard.exists() and heard.read_text().count("\n") == 2, "both arrived")
    assert sorted(heard.read_text().splitlines()) == [
        "Ralph in a project: complete: 1 done, 1 failed, cost unknown",
        "Ralph in a project: failed: a bad one: the agent says that it cannot be done",
    ]


def test_a_command_that_fails_or_hangs_changes_nothing(project: Project) -> None:
    project.agent(DONE, notify="command = 'sleep 3600; exit 3; echo'\ndesktop = true\n")
    task = project.add("Write it")
    events = project.events()
    assert events[-1]["outcome"] == "complete"
    assert project.status(task) == "done"


def test_services_get_their_addresses_where_no_list_of_processes_shows_them(
    project: Project, tmp_path: Path
) -> None:
    heard = tmp_path / "heard.json"
    stand_in = tmp_path / "stand-in"
    stand_in.mkdir()
    (stand_in / "apprise.py").write_text(
        f"""
import json, os, sys
class Apprise:
    def add(self, urls):
        self.urls = urls
        return True
    def notify(self, title, body):
        told = {{"urls": self.urls, "title": title, "body": body, "argv": sys.argv}}
        with open({str(heard)!r} + ".part", "w") as file:
            json.dump(told, file)
        os.rename({str(heard)!r} + ".part", {str(heard)!r})
        return True
"""
    )
    project.agent(DONE, notify='urls = ["json://user:secret@host/"]\n')
    project.add("Write it")
    command, env = [sys.executable, "-P", "-m", "ralph", "run"], {"PYTHONPATH": str(stand_in)}
    subprocess.run(command, cwd=project.path, check=True, env={**os.environ, **env})
    wait_for(heard.exists, "the service was told")
    answer = json.loads(heard.read_text())
    assert answer["urls"] == ["json://user:secret@host/"]
    assert answer["title"] == "Ralph in a project"
    assert answer["body"] == "complete: 1 done, cost unknown"
    assert not any("secret" in word for word in answer["argv"])


def test_what_cannot_be_used_is_said_once_and_stops_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.agent(DONE, notify='urls = ["json://host/"]\n')
    project.add("Write it")
    events = project.events(PYTHONPATH="")
    warned = [event["message"] for event in events if event["event"] == "warned"]
    assert [line for line in warned if "notify" in line] == [
        "notify.urls is set, but apprise is not installed: pip install 'ralphloop[notify]'"
    ]
    assert events[-1]["outcome"] == "complete"


def test_the_bell_rings_at_the_end(project: Project) -> None:
    project.agent(DONE)
    project.add("Write it")
    terminal = Terminal(project, "run")
    assert terminal.ended() == 0
    assert terminal.seen.count(b"\a") == 1


def test_no_bell_where_it_is_not_wanted(project: Project) -> None:
    project.agent(DONE, notify="bell = false\n")
    project.add("Write it")
    terminal = Terminal(project, "run")
    assert terminal.ended() == 0
    assert b"\a" not in terminal.seen


def test_the_machine_is_kept_awake_as_long_as_the_run_works(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for `systemd-inhibit` says when it begins, and when its pipe ends."""
    programs = tmp_path / "programs"
    programs.mkdir()
    file = tmp_path / "told"
    stand_in = programs / "systemd-inhibit"
    stand_in.write_text(f'#!/bin/sh\necho "$@" > {file}\ncat\necho over >> {file}\n')
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    project.agent(f"until [ -s {file} ]; do sleep 0.01; done; ! grep over {file} && {DONE}")
    task = project.add("Write it")
    project.ralph("run")
    assert project.status(task) == "done"
    assert file.read_text().splitlines()[0].split()[0] == "--what=idle:sleep"


def test_speech_tells_of_each_task_that_is_done(project: Project) -> None:
    heard, tools = project.path.parent / "heard.txt", project.path.parent / "tools"
    tools.mkdir()
    speaker = tools / "say"
    speaker.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$*\" >> '{heard}'\n")
    speaker.chmod(0o755)
    project.agent(f"echo $RALPH_TASK_ID >> work.txt; {CLAIM}", notify="sound = true")
    project.add("the parser")
    project.add("the printer")
    project.ralph("run", PATH=f"{tools}:{os.environ['PATH']}")
    wait_for(lambda: heard.exists() and heard.read_text().count("\n") == 3, "all were told")
    said = heard.read_text()
    assert "done: the parser" in said
    assert "done: the printer" in said
