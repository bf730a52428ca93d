"""A project in which a real agent works, and what is looked at afterwards."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ralph.testing.model import ModelServer, Shell, Turn, Write, do, say
from ralph.testing.model.script import Fault, Scripted
from tests.e2e.agents.setups import Setup
from tests.e2e.conftest import Project
from tests.e2e.crash_points import store_of

MARK: Final = "E2E_MARK"
"""A variable that everything inherits which a test starts."""

CHECKED: Final = "## The task that is said to be done"
"""What only a verifier is told."""

CLAIM: Final = "It is done.\n<task-done>{task}</task-done>"


def work(name: str, *, faults: tuple[Fault, ...] = ()) -> tuple[Turn, ...]:
    """A session that writes a file, commits it and claims its task."""
    return (
        do(
            Write(path=f"{{cwd}}/{name}.txt", text=f"{name}\n"),
            text=f"I write {name}.",
            faults=faults,
        ),
        do(Shell(command=f"git add {name}.txt && git commit -q -m 'Add {name}'")),
        say(CLAIM),
    )


class RealProject(Project):
    """A repository with `ralph init` behind it and the agent set up."""

    def __init__(
        self,
        path: Path,
        setup: Setup,
        server: ModelServer,
        sections: Mapping[str, Mapping[str, object]],
    ) -> None:
        super().__init__(path, initialised=True)
        self.setup, self.server = setup, server
        self.write(".ralph.toml", _toml(setup, sections))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "set up Ralph")

    def endings(self, task: str) -> list[str]:
        """How the sessions of a task ended, in order."""
        with store_of(self) as store:
            found = [one for one in store.sessions.select() if one.task_id == task]
        return [str(one.ending.ended) if one.ending else "unknown" for one in found]

    def scripted(
        self, name: str, *turns: Scripted, blocked_by: str = "", whole: bool = True
    ) -> str:
        """Add a task whose sessions follow this script; without turns, one that does it."""
        self.server.script(name, *(turns or work(name)), whole=whole)
        after = ["--blocked-by", blocked_by] if blocked_by else []
        return self.add(f"Task {name}", "-d", f"[[scenario:{name}]]", *after)


def _toml(setup: Setup, sections: Mapping[str, Mapping[str, object]]) -> str:
    """`.ralph.toml`; what a test gives comes on top of what every test needs."""
    tables: dict[str, dict[str, object]] = {
        "agent": {"name": setup.name, "pass_env": list(setup.pass_env)},
        "models": {"strategy": "fixed", "model": setup.model},
    }
    for name, more in sections.items():
        tables.setdefault(name, {}).update(more)
    return "".join(
        f"[{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in table.items())
        for name, table in tables.items()
    )


def left_behind(mark: str) -> dict[int, str]:
    """Processes that a test has started, directly or not, and that still run."""
    wanted = f"{MARK}={mark}".encode()
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                variables = (entry / "environ").read_bytes().split(b"\0")
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
            except OSError:
                continue  # it ended, or is not ours
            if wanted in variables:
                found[int(entry.name)] = line.decode("utf-8", "replace")[:300]
    return found


def either(working: Turn, checking: Turn) -> Scripted:
    """One turn for the session that does the work, another one for the session that checks it."""
    return lambda asked: checking if CHECKED in asked.user else working
