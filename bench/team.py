"""What a team costs: its makespan against what is possible at all, and a merge as history grows.

The lower bound is the longest chain, or the work divided by the workers. Agents sleep for at least
twenty times of what a task costs beside its session, measured just before on the same machine.
"""

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

Report = Callable[[str, float, str, float | None, bool | None], None]

TASKS = 12
WORKERS = (1, 2, 4, 8)
TIMES = 20
BAR = 1.15
MANY, NAP_S = 24, 2.0
SHORT, LONG = 10, 10_000
AGENT = (
    'sleep "$(cat naps/"$RALPH_TASK_ID")"; '
    'echo x > "$RALPH_TASK_ID.txt"; echo "<task-done>$RALPH_TASK_ID</task-done>"'
)
RALPH = str(Path(sys.executable).parent / "ralph")

Graph = list[tuple[float, tuple[int, ...]]]
"""Of each task how long it takes, and what it waits for."""


def run(report: Report) -> None:
    """Measure, and tell."""
    idle: Graph = [(0.0, ()) for _ in range(TASKS)]
    with _repository(SHORT, idle) as root:
        events = _run(root, 1)
    costs = _costs(events)
    overhead = statistics.median(costs["all"])
    for name, label in (
        ("checkout", "team: checkout of a task"),
        ("merge", "team: gates, commit and merge of a task"),
        ("all", "team: a task beside its session"),
    ):
        report(label, statistics.median(costs[name]) * 1000, "ms", None, None)
    graph = _random_graph(TIMES * overhead)
    for workers in WORKERS:
        with _repository(SHORT, graph) as root:
            events = _run(root, workers)
        ratio = _makespan(events) / _bound(graph, workers)
        name = f"team: makespan of {workers} against the lower bound"
        report(name, ratio, "x", BAR, ratio <= BAR)
    _short_tasks(report)
    with _repository(LONG, idle) as root:
        grown = _costs(_run(root, 1))
    ratio = statistics.median(grown["merge"]) / statistics.median(costs["merge"])
    report(f"team: merge after {LONG:,} commits against {SHORT}", ratio, "x", 2.0, ratio <= 2.0)


def _short_tasks(report: Report) -> None:
    """Many short tasks that wait for nothing: what several workers gain against one."""
    graph: Graph = [(NAP_S, ()) for _ in range(MANY)]
    alone = 0.0
    for workers in WORKERS[:3]:
        with _repository(SHORT, graph) as root:
            took = _makespan(_run(root, workers))
        alone = alone or took
        name = f"team: gain of {workers} with {MANY} tasks of {NAP_S:g} s"
        report(name, alone / took, "x", None, None)


def _random_graph(nap: float) -> Graph:
    chance = random.Random(7)
    graph: Graph = []
    for number in range(TASKS):
        earlier = range(max(0, number - 6), number)
        blockers = chance.sample(earlier, k=min(len(earlier), chance.choice((0, 0, 1))))
        graph.append((nap * chance.uniform(1.0, 1.5), tuple(blockers)))
    return graph


def _bound(graph: Graph, workers: int) -> float:
    chains: list[float] = []
    for nap, blockers in graph:
        chains.append(nap + max((chains[one] for one in blockers), default=0.0))
    return max(*chains, sum(nap for nap, _ in graph) / workers)


@contextmanager
def _repository(commits: int, graph: Graph) -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="ralph-bench-"))
    try:
        _git(root, "init", "-q", "-b", "main")
        _git(root, "config", "user.name", "Bench")
        _git(root, "config", "user.email", "bench@localhost")
        subprocess.run(
            ["git", "fast-import", "--quiet"], cwd=root, input=_history(commits), check=True
        )
        _git(root, "reset", "-q", "--hard", "main")
        (root / "naps").mkdir()
        for number, (nap, _) in enumerate(graph):
            (root / "naps" / f"t-{number:06x}").write_text(f"{nap:.3f}\n")
        _ralph(root, "init")
        settings = f"[agent]\ncommand = {json.dumps(AGENT)}\n[sandbox]\nmode = 'off'\n"
        settings += "[execution]\nverify = false\n[gates]\ntest = 'test -d naps'\n"
        (root / ".ralph.toml").write_text(settings)
        _git(root, "add", "-A")
        _git(root, "commit", "-q", "-m", "set up")
        lines = [
            {"id": f"t-{number:06x}", "title": f"task {number}", "blockers": _ids(blockers)}
            for number, (_, blockers) in enumerate(graph)
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines).encode()
        subprocess.run(
            [RALPH, "task", "import", "-"], cwd=root, input=text, check=True, capture_output=True
        )
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _ids(numbers: Sequence[int]) -> list[str]:
    return [f"t-{number:06x}" for number in numbers]


def _history(commits: int) -> bytes:
    parts = []
    for number in range(1, commits + 1):
        content = f"{number}\n".encode()
        parts.append(
            b"commit refs/heads/main\nmark :%d\ncommitter B <b@localhost> %d +0000\n"
            b"data 2\nc\n%bM 100644 inline f%d.txt\ndata %d\n%b\n"
            % (
                number,
                1_700_000_000 + number,
                b"from :%d\n" % (number - 1) if number > 1 else b"",
                number % 500,
                len(content),
                content,
            )
        )
    return b"".join(parts)


def _run(root: Path, workers: int) -> list[dict[str, str]]:
    # One worker of a team as well: it is the same road, taken alone.
    code = (
        "import sys; from ralph.wiring.project import find_project;"
        " from ralph.wiring.screen import RunOutput;"
        " from ralph.wiring.team_assembly import open_team;"
        " from ralph.engine.team_lead import run_team\n"
        "with open_team(find_project(), None, RunOutput(stream=sys.stdout, json=True)) as t:\n"
        f"    sys.exit(run_team(t.ctx, t.merge_branch, t.worker_pool, {workers}).exit_code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, check=True, capture_output=True, env=os.environ
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def _costs(events: list[dict[str, str]]) -> dict[str, list[float]]:
    """Seconds from claim to session, from its end to the merge, and both."""
    at: dict[tuple[str, str], float] = {}
    for event in events:
        if "task_id" in event:
            at[event["event"], event["task_id"]] = _time(event)
    found: dict[str, list[float]] = {"checkout": [], "merge": [], "all": []}
    for kind, task in list(at):
        if kind == "work_merged":
            checkout = at["session_started", task] - at["task_claimed", task]
            merge = at["work_merged", task] - at["session_ended", task]
            found["checkout"].append(checkout)
            found["merge"].append(merge)
            found["all"].append(checkout + merge)
    return found


def _makespan(events: list[dict[str, str]]) -> float:
    begun = min(_time(one) for one in events if one["event"] == "task_claimed")
    return max(_time(one) for one in events if one["event"] == "work_merged") - begun


def _time(event: dict[str, str]) -> float:
    return datetime.fromisoformat(event["time"]).timestamp()


def _git(root: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=root, check=True, capture_output=True)


def _ralph(root: Path, *args: str) -> None:
    subprocess.run([RALPH, *args], cwd=root, check=True, capture_output=True)
