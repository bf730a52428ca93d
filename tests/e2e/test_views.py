"""The files that show the state, read by another program all the time while a run writes them."""

import json
import subprocess
import sys

from tests.e2e.conftest import Project

READER = """\
import json, os, sys
names = "state.json implementation_plan.json sessions.jsonl progress.txt".split()
looked = dict.fromkeys(names, 0)
stop = sys.argv[1]
while True:
    is_over = os.path.exists(stop)
    for name in looked:
        try:
            with open(".ralph/" + name, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            continue
        if name.endswith(".json"):
            json.loads(data)
        elif name.endswith(".jsonl"):
            # What has no end yet is still being added.
            for line in data.split(b"\\n")[:-1]:
                json.loads(line)
        else:
            data.decode()
        looked[name] += 1
    if is_over:
        break
print(json.dumps(looked))
"""

LEARNS = (
    'echo x > "$RALPH_TASK_ID"; printf "<knowledge>about %s</knowledge>" "$RALPH_TASK_ID";'
    ' echo "<task-done>$RALPH_TASK_ID</task-done>"'
)
FILES = (
    ".ralph/state.json",
    ".ralph/implementation_plan.json",
    ".ralph/sessions.jsonl",
    ".ralph/progress.txt",
    ".ralph/failures.json",
    ".ralph/metrics.json",
)


def test_they_can_be_read_at_any_moment_and_drawn_again(project: Project) -> None:
    project.agent(LEARNS)
    tasks = [project.add(f"task {number}") for number in range(6)]
    stop = project.path.parent / "stop"
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(stop)],
        cwd=project.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        project.ralph("run")
        stop.touch()
        out, err = reader.communicate(timeout=60)
    finally:
        reader.kill()
    assert reader.returncode == 0, err
    assert min(json.loads(out).values()) > 0
    plan = json.loads((project.path / FILES[1]).read_text())
    assert {one["id"]: one["status"] for one in plan["tasks"]} == dict.fromkeys(tasks, "complete")
    kept = {name: (project.path / name).read_text() for name in FILES}
    assert kept[FILES[2]].count("\n") == 6
    assert all(f"about {task}" in kept[FILES[3]] for task in tasks)
    for name in FILES:
        (project.path / name).unlink()
    assert project.ralph("files", "rebuild").splitlines() == list(FILES)
    assert {name: (project.path / name).read_text() for name in FILES} == kept
    assert project.git("status", "--porcelain") == "", "none of them is anybody's work"
