"""What a session can do to its run, other than its work. Each is a line of shell that runs in its
checkout, and a line that sets right what no run can."""

import shlex
import sys
from typing import Final

SOCKET: Final = """
import json, os, socket, sys, time
def connect():
    client = socket.socket(socket.AF_UNIX)
    client.connect(os.environ["RALPH_SOCKET"])
    return client
def call(method, **args):
    client = connect()
    told = {"token": os.environ["RALPH_TOKEN"], "method": method, "args": args}
    client.sendall(json.dumps(told).encode() + b"\\n")
    return client
def answered(method, **args):
    if b'"error"' in call(method, **args).recv(100):
        open("refused", "w").close()
        sys.exit(method)
mine = os.environ["RALPH_TASK_ID"]
"""
DEEP: Final = """
import os, sys
os.makedirs(sys.argv[1], exist_ok=True)
os.chdir(sys.argv[1])
for _ in range(1500):
    os.mkdir("d")
    os.chdir("d")
"""


def python(code: str, *args: str) -> str:
    return shlex.join([sys.executable, "-c", code, *args])


def fifo(path: str) -> str:
    return f"rm -rf {path}; mkdir -p $(dirname {path}); mkfifo {path}"


def beside(command: str) -> str:
    """Goes on while the session does."""
    return f"{command} & sleep 0.5"


PIPES: Final = (
    ".gitignore",
    ".gitattributes",
    "README.md",
    "sub/.gitignore",
    "AGENTS.md",
    "package.json",
    ".ralph/guardrails.md",
    ".ralph/progress.md",
    ".ralph/activity.log",
    ".ralph/progress.md.lock",
)
"""In the place of these a run gets along with a pipe by itself."""
PIPES_IN_GIT: Final = (
    ".git/HEAD",
    ".git/index",
    ".git/packed-refs",
    ".git/refs/heads/main",
    ".git/info/exclude",
    ".git/config",
    ".git/objects/info/alternates",
    ".ralph.toml",
    ".ralph/progress.db",
)
"""In the place of these it ends, at the latest when it is asked to."""

ACTS: Final = {
    **{f"a pipe for {path}": fifo(path) for path in (*PIPES, *PIPES_IN_GIT)},
    "idle connections": beside(
        python(SOCKET + "all = [connect() for _ in range(300)]\ntime.sleep(1000)")
    ),
    "answers that nobody reads": beside(
        python(
            SOCKET
            + "for _ in range(5): answered('tasks.log', task=mine, message='x' * 900_000)\n"
            + "all = [call('tasks.logs', task=mine) for _ in range(30)]\ntime.sleep(1000)"
        )
    ),
    "a flood of calls": beside(
        python(
            SOCKET
            + "answered('claims.counts', target={'type': 'AllTasks'})\n"
            + "while True: call('claims.counts', target={'type': 'AllTasks'}).recv(100)"
        )
    ),
    "a search for a million words": beside(
        python(
            SOCKET
            + "words = [f'word{number}' for number in range(1_000_000)]\n"
            + "while True: call('memories.search', words=words, limit=5).recv(100)"
        )
    ),
    "a call of 16 MB": beside(
        python(
            SOCKET
            + "client = connect()\nwhile True:\n  try: client.sendall(b'x' * 100_000)\n"
            + "  except OSError: client = connect()"
        )
    ),
    "deaf to signals": "trap '' INT TERM HUP",
    "a daemon": "setsid sh -c 'trap \"\" INT TERM HUP; while :; do sleep 1; done' &",
    "a child that holds the pipes": "sh -c 'trap \"\" INT TERM; sleep 1000' &",
    "silence": "exec >&- 2>&-",
    "much output": python("import os\nfor _ in range(50): os.write(1, b'x' * 1_000_000)"),
    "many lines": python("import os\nfor _ in range(100): os.write(1, b'x\\n' * 100_000)"),
    "stopped": "(until [ -e there ]; do sleep 0.01; done; kill -STOP $$) &",
    "folders without end": python(DEEP, "deep"),
    "folders without end in .git": python(DEEP, ".git/refs"),
    "folders without end in .ralph": python(DEEP, ".ralph/runs"),
    "a hole for .git/index": "truncate -s 1T .git/index",
    "zeros behind .git/index": "truncate -s +1M .git/index",
    "a hole for .gitignore": "mkdir in; truncate -s 300G .gitignore in/.gitignore",
    "a hole for .gitattributes": "truncate -s 300G .gitattributes",
    "a hole for a ref": "truncate -s 300G .git/refs/heads/main",
    "a file of holes": "truncate -s 300G README.md new",
    "a whole group that is stopped": "(until [ -e there ]; do sleep 0.01; done; kill -STOP 0) &",
    "a long lock": "touch .git/refs/heads/$(printf %0250d 0).lock",
    "links in a circle": "rm -f README.md; ln -s README.md README.md; ln -s . here",
    "a folder for README.md": "rm -f README.md; mkdir README.md",
    "a socket for README.md": "rm -f README.md; "
    + python("import socket; socket.socket(socket.AF_UNIX).bind('README.md')"),
    "no .git/HEAD": "rm -f .git/HEAD",
    "a folder for .git/index": "rm -f .git/index; mkdir .git/index",
    "no .ralph": "rm -rf .ralph",
    "locked folders": "mkdir -p closed/inner; touch closed/inner/file; chmod 000 closed",
}

SPOILT: Final = ("no .git/HEAD", "a folder for .git/index")
"""After these git answers that there is no repository, or none that it can read."""
