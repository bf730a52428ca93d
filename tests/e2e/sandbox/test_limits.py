"""A session that takes too much of the machine ends, at once and as a whole; the run goes on.

The limits are tiny, so that nothing here harms whoever runs it; each bomb also ends by itself.
"""

import os
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.sandbox.world import USERS, a_world

LIMITS = """
memory = "200 MB"
processes = 60
open_files = 100
disk = "20 MB"
"""
EAT = "import sys, time; x = bytearray(b'x') * (int(sys.argv[1]) << 20); time.sleep(20)"
THREADS = """
import threading, time
for _ in range(90):
    threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
time.sleep(20)
"""
NAMELESS = """
import tempfile, time
files = [tempfile.TemporaryFile() for _ in range(3)]
for file in files:
    file.write(bytes(9 << 20)), file.flush()
time.sleep(20)
"""
DEEP = """
import os, time
for _ in range(25):
    os.mkdir("0" * 200), os.chdir("0" * 200)
for name in "123":
    open(name, "wb").write(bytes(9 << 20))
time.sleep(20)
"""
UNSEEN = """
import os, time
files = [os.memfd_create("x") for _ in range(20)]
for file in files:
    for _ in range(15):
        os.write(file, b"x" * (1 << 20))
time.sleep(20)
"""
WRITE = "for i in 1 2 3; do head -c 9000000 /dev/zero > $i; done; sleep 20"
FORK_BOMB = (
    "bomb() { if [ $1 -gt 0 ]; then bomb $(($1 - 1)) & bomb $(($1 - 1)) & wait;"
    " else sleep 20; fi; }; bomb 5"
)
"""63 shells and 32 sleeps. All bombs stay below twice the limit, where the kernel itself refuses:
a shell that cannot fork may end before Ralph has counted."""
ORPHANS = "for i in $(seq 100); do (sleep 20 &); done; sleep 20"
PROCESSES, MEMORY, DISK = "60 processes", "200 MB of memory", "20 MB to the disk"
BOMBS = {
    "a fork bomb": (FORK_BOMB, PROCESSES),
    "orphans": (ORPHANS, PROCESSES),
    "processes that left": ("for i in $(seq 90); do setsid sleep 20 & done; wait", PROCESSES),
    "threads": ('python3 -c "$THREADS"', PROCESSES),
    "memory": ('python3 -c "$EAT" 300', MEMORY),
    "memory of many": ('for i in $(seq 8); do python3 -c "$EAT" 40 & done; wait', MEMORY),
    "memory in no process": ('python3 -c "$UNSEEN"', MEMORY),
    "large files": (WRITE, DISK),
    "many files": ("for i in $(seq 90); do head -c 300000 /dev/zero > f$i; done; sleep 20", DISK),
    "temporary files": (f"cd /tmp; {WRITE}", DISK),
    "the cache": (f"cd $XDG_CACHE_HOME; {WRITE}", DISK),
    "files that are too deep": ('python3 -c "$DEEP"', DISK),
    "files without a name": ('python3 -c "$NAMELESS"', DISK),
}  # fmt: skip
TOOLS = {"THREADS": THREADS, "EAT": EAT, "NAMELESS": NAMELESS, "UNSEEN": UNSEEN, "DEEP": DEEP}


def test_what_takes_too_much_is_ended_at_once(plain: Project) -> None:
    plain.agent(DONE, sandbox=LIMITS)
    for name, (bomb, why) in BOMBS.items():
        done = plain.try_ralph("sandbox", "run", "--", "sh", "-c", bomb, **TOOLS)
        assert f"more than {why}: [sandbox]" in done.stderr, (name, done.stderr)
        assert done.returncode == 137, name
        assert not _left(plain.path), name
        plain.git("clean", "-fdqx", "-e", ".ralph*")


def test_a_session_that_takes_too_much_costs_a_strike_and_the_run_goes_on(plain: Project) -> None:
    output = "head -c 30000000 /dev/zero | tr '\\0' x; sleep 20"
    script = (
        f'case "$(cat)" in\n*BOMB*) {FORK_BOMB} ;;\n*OUTPUT*) {output} ;;\n*) {DONE} ;;\nesac\n'
    )
    plain.write("agent.sh", script)
    plain.agent("sh agent.sh", sandbox=LIMITS, breaker="failures = 0\nstagnation = 0")
    tasks = [plain.add(title) for title in ("a BOMB", "OUTPUT without end", "an ordinary one")]
    events = plain.events("--max-retries", "0", code=None)
    ended = {event["task_id"]: event for event in events if event.get("ended")}
    said = "it used more than 60 processes: [sandbox] processes raises it"
    assert (ended[tasks[0]]["ended"], ended[tasks[0]]["detail"]) == (
        "over_limit",
        said,
    )
    assert (
        ended[tasks[1]]["detail"]
        == "it added more than 20 MB to the disk: [sandbox] disk raises it"
    )
    assert [plain.status(task) for task in tasks] == ["failed", "failed", "done"]
    assert not _left(plain.path)


def _left(folder: Path) -> list[str]:
    """Who still works there."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "cwd").startswith(str(folder)):
                found.append((entry / "cmdline").read_text())
        except OSError:
            continue
    return found


@pytest.mark.parametrize("use", ["bubblewrap", "landlock"])
@pytest.mark.parametrize("user", USERS)
def test_a_command_of_a_person_is_bounded_as_well(user: str, use: str) -> None:
    with a_world(user, use=f'{use}"{LIMITS}#"') as world:
        for bomb in (FORK_BOMB, ORPHANS):
            done = world.sandboxed("sh", "-c", bomb)
            assert (done.returncode, "60 processes" in done.stderr) == (137, True), done.stderr
        assert not _left(world.project)
        cores = world.sandboxed("grep", "core file size", "/proc/self/limits").stdout
        assert cores.split()[4:6] == ["1", "1"], "a crash would start a program outside"
        files = "ulimit -n; ulimit -n 101"
        refused = world.sandboxed("sh", "-c", files)
        assert refused.stdout == "100\n"
        assert refused.returncode != 0


def test_a_gate_that_takes_too_much_fails_and_says_so(plain: Project) -> None:
    plain.write("gate.py", EAT)
    gates = 'full = "test ! -e work.txt || python3 gate.py 300"'
    plain.agent(DONE, sandbox=LIMITS, gates=gates)
    task = plain.add("a task")
    events = plain.events("--once", code=None)
    assert plain.status(task) == "pending"
    assert "it used more than 200 MB of memory" in str(events)


def test_a_size_that_is_none_is_refused(plain: Project) -> None:
    plain.agent(DONE, sandbox='memory = "plenty"')
    done = plain.try_ralph("run")
    assert done.returncode == 78
    assert "must be a size such as 512 MB or 8 GB, auto or off" in done.stderr
