"""However much a child says, memory stays small."""

import subprocess
import sys
from pathlib import Path

import pytest

BYTES = 200_000_000
PEAK_KB = 120 * 1024

# In a process of its own, whose address space tells its peak. (What wait4 tells would count the
# test runner's memory as well.)
WITNESS = """
import os, sys
from ralph.adapters.executor.event_loop import SystemClock
from ralph.adapters.executor.process_executor import ProcessExecutor
from ralph.ports.executor import Command, Timeouts

class Count:
    has_result = is_busy = False
    bytes = longest = 0
    def output(self, block):
        self.bytes += len(block)
        self.longest = max(self.longest, len(block))
    def tick(self):
        return None

script, log, limit = sys.argv[1:]
count = Count()
exit_ = ProcessExecutor(SystemClock()).run(
    Command(argv=("/bin/sh", "-c", script), cwd="/", env=dict(os.environ)),
    log=log, timeouts=Timeouts(), listener=count, line_limit=int(limit),
)
if sys.platform.startswith("linux"):
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
else:
    import resource
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(exit_.code, count.bytes, count.longest, peak)
"""


def witness(script: str, log: Path, limit: int) -> list[int]:
    argv = (sys.executable, "-c", WITNESS, script, str(log), str(limit))
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
    return [int(word) for word in done.stdout.split()]


@pytest.mark.parametrize(
    ("script", "limit"),
    [
        pytest.param(f"yes a line of some words | head -c {BYTES}", 64 * 1024, id="lines"),
        pytest.param(f"head -c {BYTES} /dev/zero", 64 * 1024, id="one-line-of-nul-bytes"),
        pytest.param(f"head -c {BYTES} /dev/zero", 16 * 1024 * 1024, id="a-high-line-limit"),
        pytest.param(f"yes | head -c {BYTES} >&2", 64 * 1024, id="standard-error"),
    ],
)
def test_200_mb_pass_in_little_memory(tmp_path: Path, script: str, limit: int) -> None:
    log = tmp_path / "log"
    code, received, longest, peak_kb = witness(script, log, limit)
    assert code == 0
    assert received == (0 if ">&2" in script else BYTES)
    assert log.stat().st_size == BYTES
    assert longest <= max(limit, 2 * 1024 * 1024)
    assert peak_kb < PEAK_KB
    log.unlink()
