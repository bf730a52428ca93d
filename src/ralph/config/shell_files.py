"""`agents.sh` and `config.sh`: the older way to configure, still understood."""

import os

from ralph.config.sources import Layer, Source
from ralph.config.text_values import from_text, truth
from ralph.config.toml_file import read_text
from ralph.core.errors import BadConfig, UnusableData

FILES = (
    os.path.join(".agents", "ralph", "agents.sh"),
    os.path.join(".agents", "ralph", "config.sh"),
    os.path.join(".ralph", "config.sh"),
)
"""Agents, stories, then team: a later one wins."""

SETTINGS = {
    "DEFAULT_AGENT": "agent.name",
    "AGENT_CMD": "agent.command",
    "PRD_AGENT_CMD": "agent.interactive",
    "MODEL": "models.model",
    "MAX_ITERATIONS": "execution.limit",
    "MAX_TEAMMATES": "workers.count",
    "MAX_CONSECUTIVE_FAILURES": "breaker.failures",
    "MIN_TEST_COVERAGE": "gates.min_coverage",
    "MEMORIES_ENABLED": "memory.enabled",
}
GATES = ("TEST", "TYPECHECK", "LINT", "BUILD", "INTEGRATION", "E2E", "COVERAGE")
"""In the order in which they run, whatever the order in the file."""
OTHERS = frozenset(
    {
        "PRD_PATH", "PLAN_PATH", "PROGRESS_PATH", "GUARDRAILS_PATH", "ERRORS_LOG_PATH",
        "ACTIVITY_LOG_PATH", "TMP_DIR", "RUNS_DIR", "AGENTS_PATH", "PROMPT_PLAN", "PROMPT_BUILD",
        "STALE_SECONDS", "NO_COMMIT",
    }
)  # fmt: skip
"""Known, and no settings: the story pipeline reads them from `Loaded.variables`."""
NO_EFFECT = {
    "TMP_DIR": (".ralph/.tmp", "sessions' folders hold logins, and stay in .ralph/.tmp"),
    "STALE_SECONDS": ("0", "what a dead run held is given back at once"),
}
"""Known, and not followed where they say anything but this; and why."""
TAKEN = frozenset({"checkouts", "features", "skills", "specs", "memory", "reviews"})
"""Folders in `.ralph` that hold something else."""


def read_shell_files(root: str) -> tuple[Layer, dict[str, str]]:
    """What both files set, and all their variables."""
    layer = Layer({}, [], {})
    variables: dict[str, str] = {}
    for name in FILES:
        path = os.path.join(root, name)
        if os.path.lexists(path):
            _read(path, layer, variables)
    return layer, variables


def runs_folder(path: str) -> str:
    """`RUNS_DIR`, from the project's root; empty where logs cannot be. Only in a folder of Ralph's
    own are they out of the reach of sessions."""
    parts = os.path.normpath(path).split(os.sep)
    is_free = parts[0] == ".ralph" and len(parts) > 1 and parts[1] not in TAKEN
    return "/".join(parts) if is_free and "." not in parts[1] else ""


def _read(path: str, layer: Layer, variables: dict[str, str]) -> None:
    from ralph.documents.shell_variables import read

    text = read_text(path)
    try:
        found = read(text, path)
    except UnusableData as error:
        raise BadConfig(str(error), hint=error.hint) from error
    variables.update((name, each.value) for name, each in found.items())
    for name, variable in found.items():
        value, source = variable.value, Source("config.sh", path, variable.line, name)
        if name == "NO_COMMIT" and value and truth(value) is not False:
            layer.values["git.commit"] = ("none" if truth(value) else value, source)
        elif name in SETTINGS and value:
            layer.values[SETTINGS[name]] = (from_text(SETTINGS[name], value), source)
        elif name in NO_EFFECT and value.rstrip("/") not in ("", NO_EFFECT[name][0]):
            layer.warn(f"{source}: {name} has no effect: {NO_EFFECT[name][1]}")
        elif name == "RUNS_DIR" and value and not runs_folder(value):
            variables.pop(name)
            layer.warn(
                f"{source}: logs stay in .ralph/runs: {value} is no folder of their own in .ralph"
            )
        elif not _is_known(name):
            known = [*SETTINGS, *OTHERS, *(f"GATE_{gate}" for gate in GATES)]
            layer.warn(f"{source}: {name} is no setting", name, known)
    gates: dict[str, str] = layer.values.get("gates.commands", ({},))[0]
    for gate in GATES:
        if command := found.get(f"GATE_{gate}"):
            source = Source("config.sh", path, command.line, f"GATE_{gate}")
            gates[gate.lower()] = command.value
            layer.values["gates.commands"] = (gates, source)
            layer.parts[f"gates.{gate.lower()}"] = source


def _is_known(name: str) -> bool:
    return (
        name in SETTINGS
        or name in OTHERS
        or name.removeprefix("GATE_") in GATES
        # An agent of any name may have a command line of its own.
        or (name.startswith("AGENT_") and name.endswith("_CMD"))
    )
