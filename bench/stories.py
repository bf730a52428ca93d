"""A PRD of five hundred stories: does an iteration cost the same at the end as at the beginning?

In a small repository, with an agent that does next to nothing, so that what grows is Ralph's own.
"""

import json
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.loop import RALPH, _do, _periods

Report = Callable[[str, float, str, float | None, bool | None], None]

STORIES = 500
EDGE = 10
"""So many iterations at each end."""
PRD, PLAN = ".agents/tasks/prd.md", ".ralph/IMPLEMENTATION_PLAN.md"
AGENT = 'echo "$RALPH_STORY_ID" > work.txt; echo "<task-done>$RALPH_STORY_ID</task-done>"'


def run(report: Report) -> None:
    """Measure, and tell."""
    root = Path(tempfile.mkdtemp(prefix="ralph-bench-"))
    try:
        _project(root)
        periods = _periods(_build(root))
    finally:
        shutil.rmtree(root)
    first, last = statistics.median(periods[:EDGE]), statistics.median(periods[-EDGE:])
    report("stories: one iteration of 500", statistics.median(periods) * 1000, "ms", None, None)
    report("stories: last ten against first ten", last / first, "x", 1.25, last / first <= 1.25)


def _project(root: Path) -> None:
    names = [f"US-{number:03}" for number in range(1, STORIES + 1)]
    for path, text in (
        (PRD, "# P\n\n" + "".join(f"### [ ] {n}: Story\n- [ ] a\n- [ ] b\n\n" for n in names)),
        (PLAN, "# Plan\n\n" + "".join(f"### {n}: Story\n- [ ] a step\n\n" for n in names)),
        (".ralph.toml", f"[agent]\ncommand = {json.dumps(AGENT)}\n"),
    ):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    _do(root, "git", "init", "-q")
    _do(root, "git", "config", "user.name", "Bench")
    _do(root, "git", "config", "user.email", "bench@localhost")
    _do(root, RALPH, "init")
    (root / ".ralph.toml").write_text(f"[agent]\ncommand = {json.dumps(AGENT)}\n")
    _do(root, "git", "add", "-A")
    _do(root, "git", "commit", "-q", "-m", "first")


def _build(root: Path) -> list[dict[str, str]]:
    argv = [RALPH, "build", str(STORIES), "--json", "--no-sandbox", "--no-verify"]
    done = subprocess.run(argv, cwd=root, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]
