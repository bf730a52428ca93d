"""A session whose last message is longer than anything that a model says."""

import json
import os
import sys

from tests.e2e.conftest import Project
from tests.e2e.logins import log_in

CLAUDE = f"""#!{sys.executable}
import json, os, sys
if "--version" in sys.argv:
    sys.exit(print("2.1.197 (Claude Code)"))
sys.stdin.read()
open("work.txt", "a").write("x")
message = f"<task-done>{{os.environ['RALPH_TASK_ID']}}</task-done>\\n" + "some words\\n" * 2_700_000
said = {{"role": "assistant", "content": [{{"type": "text", "text": message}}]}}
print(json.dumps({{"type": "assistant", "message": said}}), flush=True)
print(json.dumps(
    {{"type": "result", "subtype": "success", "is_error": False, "result": message}}
))
"""


def test_a_claim_before_30_megabytes_of_words_counts(project: Project) -> None:
    program = project.write("../bin/claude", CLAUDE)
    program.chmod(0o755)
    log_in()
    project.write(".ralph.toml", '[agent]\nname = "claude"\n')
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "configure")
    task = project.add("Write it")
    events = project.events(PATH=f"{program.parent}:{os.environ['PATH']}")
    assert project.status(task) == "done"
    # Neither is it handed over, as if its context were full, nor kept as a whole.
    assert [one["event"] for one in events].count("session_ended") == 1, json.dumps(events)[-2000:]
    assert (project.path / ".ralph/progress.db").stat().st_size < 2_000_000
