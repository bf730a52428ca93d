"""Features in the sandbox: sessions write documents and add tasks, and find `ralph` there."""

import json
import os
from pathlib import Path

import pytest

from tests.e2e.conftest import Project
from tests.e2e.ralph_process import RALPH

AGENT = """
folder=.ralph/features/login
case $RALPH_STORY_ID in
    login-spec) mkdir -p $folder; echo '# Login' > $folder/spec.md ;;
    login-plan) echo '# Plan' > $folder/plan.md ;;
    login-build)
        root=$(ralph task tree --json | grep 'Feature: login' | cut -d'"' -f4)
        ralph task add Model --parent $root ;;
    *) echo x > work.txt ;;
esac
echo "<task-done>$RALPH_TASK_ID</task-done>"
"""


def test_from_a_sentence_to_done_in_the_sandbox(
    sandboxed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = str(Path(RALPH).parent)
    others = [part for part in os.environ["PATH"].split(":") if part != own]
    monkeypatch.setenv("PATH", ":".join(others))
    sandboxed.write("agent.sh", AGENT)
    sandboxed.agent("sh agent.sh")
    sandboxed.ralph("feature", "create", "login", "--request", "sign in by mail")
    sandboxed.ralph("run", "login")
    shown = json.loads(sandboxed.ralph("feature", "show", "login", "--json"))
    assert shown["status"] == "done"
    assert sandboxed.git("status", "--porcelain") == ""
