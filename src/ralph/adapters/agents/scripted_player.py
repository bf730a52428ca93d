"""The process of the scripted agent: plays its steps and prints events.

Runs as `python -m ralph.adapters.agents.scripted_player` with `{"task": id, "model": name, "steps":
[…]}` on stdin."""

import json
import os
import subprocess
import sys
import time
from typing import Any


def main() -> int:
    job = json.load(sys.stdin)
    _emit("started", model=job["model"], tools=["write", "run", "commit"])
    for number, step in enumerate(job["steps"]):
        code = _play(step, job["task"], str(number))
        if code is not None:
            return code
    return 0


def _play(step: dict[str, Any], task: str, call: str) -> int | None:  # noqa: C901 - one table
    match step:
        case {"think": text}:
            _emit("thinking", text=text)
        case {"say": text}:
            _emit("text", text=text)
        case {"write": path, "text": text}:
            _emit("tool_use", name="write", summary=path, call=call)
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            _emit("tool_result", call=call)
        case {"run": line}:
            _run("run", line, ["/bin/sh", "-c", line], call)
        case {"commit": message}:
            script = 'git add -A && git commit -q -m "$1"'
            _run("commit", message, ["/bin/sh", "-c", script, "sh", message], call)
        case {"sleep": seconds}:
            time.sleep(seconds)
        case {"limit": seconds}:
            _emit("limit", status="rejected", resets_at=time.time() + seconds, window="scripted")
            return 1
        case {"hang": True}:
            while True:
                time.sleep(3600)
        case {"exit": code}:
            return int(code)
        case {"signal": number}:
            os.kill(os.getpid(), number)
        case {"error": text}:
            _emit("result", text="", error=True, detail=text)
        case {"done": True}:
            _emit("result", text=f"<task-done>{task}</task-done>", **_price(step))
        case {"fail": True}:
            _emit("result", text=f"<task-failed>{task}</task-failed>", **_price(step))
        case {"result": text}:
            _emit("result", text=text.replace("{task}", task), **_price(step))
        case _:
            _emit("result", text="", error=True, detail=f"no such step: {step}")
    return None


def _run(name: str, summary: str, argv: list[str], call: str) -> None:
    _emit("tool_use", name=name, summary=summary, call=call)
    done = subprocess.run(argv, capture_output=True, check=False, stdin=subprocess.DEVNULL)
    said = (done.stdout + done.stderr).decode("utf-8", "replace")[-2000:]
    _emit("tool_result", call=call, text=said, error=done.returncode != 0)


def _price(step: dict[str, Any]) -> dict[str, Any]:
    known = {"cost_usd": step.get("cost")}
    return {**known, "usage": {"event": "usage", **step["tokens"]}} if "tokens" in step else known


def _emit(event: str, **fields: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
