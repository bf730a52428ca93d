"""Ralph beside other loops: how long each takes between two sessions of the same agent.

`python -m bench.peers` installs the others with npm into a cache, once; it needs Node.js. Each
works through the same tasks in a repository of its own. The agent is a script that changes one
file. For Ralph behind the sandbox the time includes building and checking that of the session.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

PACKAGES: Final = ("ralphy-cli@4.7.2", "ralph-tui@0.11.0", "bun@1.4.4")
CACHE: Final = Path(os.environ.get("RALPH_PEERS") or "~/.cache/ralph-peers").expanduser()
PROGRAMS: Final = CACHE / "node_modules" / ".bin"
RALPH: Final = str(Path(sys.executable).parent / "ralph")
TASKS: Final = 12
ROUNDS: Final = 3

SESSION: Final = """#!/bin/sh
case "$*" in *--version*) echo "2.0.0 (Claude Code)"; exit;; esac
date +%s.%N >> times
date +%N > work.txt
[ -t 0 ] || cat > /dev/null
"""
SAYS: Final = """
printf '%s\\n' '{"type":"assistant","message":{"role":"assistant","content":\
[{"type":"text","text":"<promise>COMPLETE</promise>"}]}}'
printf '%s\\n' '{"type":"result","subtype":"success","is_error":false,\
"result":"<promise>COMPLETE</promise>","usage":{"input_tokens":1,"output_tokens":1}}'
"""
"""In place of Claude Code, for those that start that."""
CLAIM: Final = '\necho "<task-done>$RALPH_TASK_ID</task-done>"\n'
END: Final = "date +%s.%N >> times\n"


class Loop(NamedTuple):
    """One way to work through the tasks."""

    name: str
    prepare: Callable[[Path], None]
    argv: tuple[str, ...]
    lacks: str
    """What it does not do between two sessions as it is started here, and Ralph does."""


def prepare_ralph(root: Path) -> None:
    """Tasks in the database."""
    _write(root / "agent.sh", SESSION + CLAIM + END)
    _do(root, RALPH, "init")
    (root / ".ralph.toml").write_text('[agent]\ncommand = "sh ./agent.sh"\n')
    lines = "".join(json.dumps({"title": name}) + "\n" for name in _names())
    _do(root, RALPH, "task", "import", "-", stdin=lines)


def prepare_ralphy(root: Path) -> None:
    """Tasks with boxes."""
    boxes = "".join(f"- [ ] {name}\n" for name in _names())
    (root / "PRD.md").write_text(f"# P\n\n## Tasks\n{boxes}")


def prepare_ralph_tui(root: Path) -> None:
    """Stories in JSON."""
    stories = [
        {
            "id": f"US-{number:03}",
            "title": name,
            "description": name,
            "acceptanceCriteria": ["it is done"],
            "priority": number,
            "passes": False,
            "dependsOn": [],
        }
        for number, name in enumerate(_names(), 1)
    ]
    prd = {"name": "p", "branchName": "main", "description": "p", "userStories": stories}
    (root / "prd.json").write_text(json.dumps(prd))


LOOPS: Final = (
    Loop("ralph, sandboxed", prepare_ralph, (RALPH, "run", "--no-verify"), ""),
    Loop(
        "ralph --no-sandbox",
        prepare_ralph,
        (RALPH, "run", "--no-verify", "--no-sandbox"),
        "a sandbox",
    ),
    Loop(
        "ralphy",
        prepare_ralphy,
        ("ralphy", "--prd", "PRD.md", "--fast"),
        "a sandbox, a look at what changed, a commit",
    ),
    Loop(
        "ralph-tui",
        prepare_ralph_tui,
        (
            *("ralph-tui", "run", "--headless", "--no-setup", "--prd", "./prd.json"),
            *("--agent", "claude", "--iterations", str(TASKS), "--delay", "0"),
        ),
        "a sandbox and a commit (it has options for both), a look at what changed",
    ),
)


def main() -> int:
    """Install, measure in turn, print a table."""
    install()
    gaps: dict[str, list[float]] = {loop.name: [] for loop in LOOPS}
    for _ in range(ROUNDS):
        for loop in LOOPS:
            gaps[loop.name] += gaps_of(loop)
    middle = {name: statistics.median(found) for name, found in gaps.items()}
    least = min(middle.values())
    print("| loop | between two sessions | against the quickest | what it does not do |")
    print("| --- | ---: | ---: | --- |")
    for loop in LOOPS:
        took = middle[loop.name]
        print(f"| {loop.name} | {took * 1000:.1f} ms | {took / least:.1f}x | {loop.lacks} |")
    return 0


def install() -> None:
    """Once: npm leaves what is there as it is."""
    CACHE.mkdir(parents=True, exist_ok=True)
    argv = ["npm", "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(CACHE)]
    subprocess.run([*argv, *PACKAGES], check=True)


def gaps_of(loop: Loop) -> list[float]:
    """Seconds from the end of each session to the beginning of the next."""
    folder = Path(tempfile.mkdtemp(prefix="ralph-bench-"))
    try:
        root, programs = folder / "repository", folder / "bin"
        for one in (root, programs, folder / "home"):
            one.mkdir()
        _write(programs / "claude", SESSION + SAYS + END)
        _repository(root, loop)
        path = os.pathsep.join((str(programs), str(PROGRAMS), os.environ["PATH"]))
        env = {**os.environ, "PATH": path, "HOME": str(folder / "home")}
        _do(root, *loop.argv, env=env)
        times = [float(line) for line in (root / "times").read_text().split()]
        if len(times) != 2 * TASKS:
            raise SystemExit(f"{loop.name} started {len(times) / 2:g} sessions, not {TASKS}")
        return [begun - ended for ended, begun in zip(times[1::2], times[2::2], strict=False)]
    finally:
        shutil.rmtree(folder)


def _repository(root: Path, loop: Loop) -> None:
    for number in range(20):
        (root / f"f{number}.txt").write_text(f"{number}\n")
    (root / ".gitignore").write_text("times\n.ralphy/\n.ralph-tui/\n")
    _do(root, "git", "init", "-q", "-b", "main")
    _do(root, "git", "config", "user.name", "Bench")
    _do(root, "git", "config", "user.email", "bench@localhost")
    loop.prepare(root)
    _do(root, "git", "add", "-A")
    _do(root, "git", "commit", "-q", "-m", "first")


def _names() -> list[str]:
    return [f"task {number}" for number in range(1, TASKS + 1)]


def _write(path: Path, script: str) -> None:
    path.write_text(script)
    path.chmod(0o755)


def _do(root: Path, *argv: str, stdin: str = "", env: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        argv, cwd=root, capture_output=True, text=True, input=stdin, env=env, check=False
    )
    if done.returncode:
        raise SystemExit(f"{argv[0]} ended with {done.returncode}: {done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
