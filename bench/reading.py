"""How fast the lines of real agents are understood, against `json.loads` on every line."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, NamedTuple

from ralph.core.session_output import StreamSummary
from ralph.ports.agent import Agent, AgentSetup

Report = Callable[[str, float, str, float | None, bool | None], None]

MEGABYTES = 200
ROUNDS = 3
BLOCK_BYTES = 1024 * 1024
RATIO = 1.5
GROWTH_MB = 8.0

WITNESS = """
import sys
from bench.reading import SAMPLES, understood
understood(SAMPLES[int(sys.argv[1])], int(sys.argv[2]))
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


class Sample(NamedTuple):
    """A line as an agent prints it all day."""

    agent: str
    name: str
    line: dict[str, Any]
    odd: bytes = b""
    """A line that nobody knows, after each hundred of the others."""

    @property
    def block(self) -> bytes:
        """A megabyte of it: what is read from a pipe at once."""
        line = json.dumps(self.line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        lines = line * 100 + self.odd if self.odd else line
        return lines * (BLOCK_BYTES // len(lines))


def _source() -> str:
    with open(__file__, encoding="utf-8") as file:
        return file.read()


DELTA = {
    "type": "stream_event",
    "event": {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "text_delta", "text": " the file"},
    },
    "session_id": "d2997882-3f3b-4ed3-aa87-f6b134d14081",
    "parent_tool_use_id": None,
    "uuid": "6279bf9d-c64e-4632-8c57-303e9323c2b0",
}

SAMPLES = (
    Sample(
        "claude",
        "long lines",
        {
            "type": "user",
            "message": {
                "role": "user",
                "content": [
                    {"tool_use_id": "toolu_1", "type": "tool_result", "content": _source() * 4}
                ],
            },
            "parent_tool_use_id": None,
            "session_id": "198b942a-0250-4dfc-8421-83594ddbe66d",
            "uuid": "60d50aaa-b15f-487d-b345-7dc852b55237",
            "tool_use_result": {"stdout": _source() * 4, "stderr": "", "interrupted": False},
        },
    ),
    Sample("claude", "deltas of 240 bytes", DELTA),
    Sample("claude", "deltas and odd lines", DELTA, odd=b'{"type":"tomorrow","of":["a"]}\n'),
    Sample(
        "codex",
        "long lines",
        {
            "type": "item.completed",
            "item": {
                "id": "item_1",
                "type": "command_execution",
                "command": "/bin/bash -lc 'cat reading.py'",
                "aggregated_output": _source() * 4,
                "exit_code": 0,
                "status": "completed",
            },
        },
    ),
    Sample(
        "droid",
        "long lines",
        {
            "type": "tool_result",
            "id": "call_1",
            "messageId": "08ab2bb8-eb92-46b4-9df4-27e33fa9d9f1",
            "toolId": "Execute",
            "isError": False,
            "value": _source() * 4,
            "timestamp": 1794724026000,
            "session_id": "d2997882-3f3b-4ed3-aa87-f6b134d14081",
        },
    ),
)


def run(report: Report) -> None:
    """Throughput for each kind of line, and whether the memory stays flat."""
    for number, sample in enumerate(SAMPLES):
        ours, theirs = [], []
        for _ in range(ROUNDS):
            # In turns, so that a busy moment of the machine hits both.
            theirs.append(parsed(sample, MEGABYTES))
            ours.append(understood(sample, MEGABYTES))
        ratio = min(theirs) / min(ours)
        name = f"reading: {sample.agent}, {sample.name}"
        report(name, MEGABYTES / min(ours), "MB/s", None, None)
        report(f"{name}, against json.loads", ratio, "x", RATIO, ratio >= RATIO)
        if sys.platform.startswith("linux"):
            few, many = _peak_mb(number, MEGABYTES // 20), _peak_mb(number, MEGABYTES)
            report(f"{name}, peak memory", many, "MB", None, None)
            report(f"{name}, growth", many - few, "MB", GROWTH_MB, many - few <= GROWTH_MB)


def understood(sample: Sample, megabytes: int) -> float:
    """Seconds until the agent's lines are events, and what matters of them is remembered."""
    agent, block, digest = _agent(sample.agent), sample.block, StreamSummary()
    began = time.perf_counter()
    events = 0
    for _ in range(megabytes):
        for event in agent.read(block):
            digest.add(event)
            events += 1
    took = time.perf_counter() - began
    assert events == megabytes * block.count(b"\n")
    return took


def parsed(sample: Sample, megabytes: int) -> float:
    """Seconds for the same lines as plain dictionaries."""
    block = sample.block
    began = time.perf_counter()
    lines = 0
    for _ in range(megabytes):
        for line in block.splitlines():
            json.loads(line)
            lines += 1
    took = time.perf_counter() - began
    assert lines == megabytes * block.count(b"\n")
    return took


def _agent(name: str) -> Agent:
    (found,) = entry_points(group="ralph.agents", name=name)
    agent: Agent = found.load()(AgentSetup())
    return agent


def _peak_mb(number: int, megabytes: int) -> float:
    # Of a process of its own, and of its address space: what wait4 says would count its parent's.
    argv = (sys.executable, "-c", WITNESS, str(number), str(megabytes))
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    printed = subprocess.run(argv, cwd=here, check=True, stdout=subprocess.PIPE).stdout
    return int(printed) / 1024
