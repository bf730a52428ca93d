"""The process behind the scripted agent: does what its steps say, and tells of it in events.

Runs as `python -m ralph.adapters.agents.player` with `{"task": id, "model": name, "steps": […]}`
on stdin.
"""

import json
import os
import subprocess
import sys
import time
from typing import Any


def main() -> int:
    """Play the steps in order."""
    job = json.load(sys.stdin)
    _tell("started", model=job["model"], tools=["write", "run", "commit"])
    for number, step in enumerate(job["steps"]):
        code = _play(step, job["task"], str(number))
        if code is not None:
            return code
    return 0


def _play(step: dict[str, Any], task: str, call: str) -> int | None:  # noqa: C901 - one table
    match step:
        case {"think": text}:
            _tell("thinking", text=text)
        case {"say": text}:
            _tell("text", text=text)
        case {"write": path, "text": text}:
            _tell("tool_use", name="write", summary=path, call=call)
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            _tell("tool_result", call=call)
        case {"run": line}:
            _run("run", line, ["/bin/sh", "-c", line], call)
        case {"commit": message}:
            _run("commit", message, ["git", "add", "-A"], call)
            _run("commit", message, ["git", "commit", "-q", "-m", message], call)
        case {"sleep": seconds}:
            time.sleep(seconds)
        case {"limit": seconds}:
            _tell("limit", status="rejected", resets_at=time.time() + seconds, window="scripted")
            return 1
        case {"hang": True}:
            while True:
                time.sleep(3600)
        case {"exit": code}:
            return int(code)
        case {"signal": number}:
            os.kill(os.getpid(), number)
        case {"error": text}:
            _tell("result", text="", error=True, detail=text)
        case {"done": True}:
            _tell("result", text=f"<task-done>{task}</task-done>", **_price(step))
        case {"fail": True}:
            _tell("result", text=f"<task-failed>{task}</task-failed>", **_price(step))
        case {"result": text}:
            _tell("result", text=text.replace("{task}", task), **_price(step))
        case _:
            _tell("result", text="", error=True, detail=f"no such step: {step}")
    return None


def _run(name: str, summary: str, argv: list[str], call: str) -> None:
    _tell("tool_use", name=name, summary=summary, call=call)
    done = subprocess.run(argv, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")[-2000:]
    _tell("tool_result", call=call, text=said, error=done.returncode != 0)


def _price(step: dict[str, Any]) -> dict[str, Any]:
    known = {"cost_usd": step.get("cost")}
    return {**known, "usage": {"event": "usage", **step["tokens"]}} if "tokens" in step else known


def _tell(event: str, **fields: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
