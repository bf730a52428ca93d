"""Settings from variables: of the environment, and of the older `agents.sh` and `config.sh`."""

import os
from collections.abc import Mapping

from ralph.config.sources import SettingsLayer, Source, parse_bool, parse_value
from ralph.config.toml_file import read_text
from ralph.core.errors import BadConfig, UnusableData
from ralph.core.settings import SECTIONS

NO_COMMIT = 'git.commit = "none"'
"""What `NO_COMMIT=true` stands for."""
SHORT = {
    "RALPH_AGENT": "agent.name",
    "RALPH_MODEL": "models.model",
    "RALPH_MODEL_STRATEGY": "models.strategy",
    "RALPH_LIMIT": "execution.limit",
    "RALPH_WORKERS": "workers.count",
    "AGENT_CMD": "agent.command",
    "NO_COMMIT": NO_COMMIT,
}
INTERNAL = frozenset(
    {
        "RALPH_DB", "RALPH_TASK_ID", "RALPH_STORY_ID", "RALPH_RUN_ID", "RALPH_SESSION",
        "RALPH_SOCKET", "RALPH_TOKEN", "RALPH_ATTEMPT", "RALPH_ROLE", "RALPH_ITERATION",
        "RALPH_TOTAL", "RALPH_AGENT_PROGRAM", "RALPH_SLOT", "RALPH_PORT_BASE", "RALPH_PORT_COUNT",
        "RALPH_WATCH", "RALPH_HOOK",
    }
)  # fmt: skip
"""Between Ralph and its sessions and gates; no settings."""
TABLES = frozenset({"gates.commands", "models.tiers", "sandbox.rules"})
"""Too rich for a variable; a single gate fits in `RALPH_GATES_<NAME>`."""

SHELL_FILES = (".agents/ralph/agents.sh", ".agents/ralph/config.sh", ".ralph/config.sh")
"""Agents, stories, then team: a later one wins."""
GATES = ("TEST", "TYPECHECK", "LINT", "BUILD", "INTEGRATION", "E2E", "COVERAGE")
"""In the order in which they run, whatever the order in the file."""
SHELL_SETTINGS = {
    "DEFAULT_AGENT": "agent.name",
    "AGENT_CMD": "agent.command",
    "PRD_AGENT_CMD": "agent.interactive",
    "MODEL": "models.model",
    "MAX_ITERATIONS": "execution.limit",
    "MAX_TEAMMATES": "workers.count",
    "MAX_CONSECUTIVE_FAILURES": "breaker.failures",
    "MIN_TEST_COVERAGE": "gates.min_coverage",
    "MEMORIES_ENABLED": "memory.enabled",
    "NO_COMMIT": NO_COMMIT,
    **{f"GATE_{gate}": f"gates.{gate.lower()}" for gate in GATES},
}
OTHERS = (
    "PRD_PATH", "PLAN_PATH", "PROGRESS_PATH", "GUARDRAILS_PATH", "ERRORS_LOG_PATH",
    "ACTIVITY_LOG_PATH", "TMP_DIR", "RUNS_DIR", "AGENTS_PATH", "PROMPT_PLAN", "PROMPT_BUILD",
    "STALE_SECONDS",
)  # fmt: skip
"""Known, and no settings: the story pipeline reads them from `Project.variables`."""
NO_EFFECT = {
    "TMP_DIR": (".ralph/.tmp", "sessions' folders hold logins, and stay in .ralph/.tmp"),
    "STALE_SECONDS": ("0", "what a dead run held is given back at once"),
}
"""Known, and not followed where they say anything but this; and why."""
TAKEN = frozenset({"checkouts", "features", "skills", "specs", "memory", "reviews"})
"""Folders in `.ralph` that hold something else."""


def read_environment(environ: Mapping[str, str]) -> SettingsLayer:
    """What the variables say; unknown ones that begin with `RALPH_` are warnings."""
    layer = SettingsLayer()
    for name, text in environ.items():
        # An empty variable is how a shell says "not set" for one command.
        if not text or name in INTERNAL or not (name.startswith("RALPH_") or name in SHORT):
            continue
        if key := SHORT.get(name) or _setting_of(name):
            _set(layer, key, text, Source("environment", name))
        else:
            layer.warn(f"${name} is no setting", name, _all_names())
    return layer


def _setting_of(name: str) -> str | None:
    section, _, field = name.removeprefix("RALPH_").lower().partition("_")
    key = f"{section}.{field}"
    if section not in SECTIONS or key in TABLES or not field:
        return None
    return key if section == "gates" or field in SECTIONS[section].__struct_fields__ else None


def _all_names() -> list[str]:
    keys = (f"{name}.{key}" for name, kind in SECTIONS.items() for key in kind.__struct_fields__)
    return [
        *SHORT,
        *(f"RALPH_{key.replace('.', '_')}".upper() for key in keys if key not in TABLES),
    ]


def read_shell_files(root: str) -> tuple[SettingsLayer, dict[str, str]]:
    """What these files set, and all their variables."""
    layer = SettingsLayer()
    variables: dict[str, str] = {}
    for name in SHELL_FILES:
        path = os.path.join(root, name)
        if os.path.lexists(path):
            _read_shell_file(path, layer, variables)
    return layer, variables


def _read_shell_file(path: str, layer: SettingsLayer, variables: dict[str, str]) -> None:
    from ralph.documents.shell_variables import read

    text = read_text(path)
    try:
        found = read(text, path)
    except UnusableData as error:
        raise BadConfig(str(error), hint=error.hint) from error
    for name in sorted(found, key=_place):
        value, source = found[name].value, Source("config.sh", path, found[name].line, name)
        variables[name] = value
        if name in SHELL_SETTINGS:
            # An empty gate switches one off.
            if value or name.startswith("GATE_"):
                _set(layer, SHELL_SETTINGS[name], value, source)
        elif name in NO_EFFECT and value.rstrip("/") not in ("", NO_EFFECT[name][0]):
            layer.warn(f"{source}: {name} has no effect: {NO_EFFECT[name][1]}")
        elif name == "RUNS_DIR" and value and not runs_folder(value):
            del variables[name]
            layer.warn(
                f"{source}: logs stay in .ralph/runs: {value} is no folder of their own in .ralph"
            )
        # An agent of any name may have a command line of its own.
        elif name not in (*OTHERS, *GATES) and not (name[:6] == "AGENT_" and name[-4:] == "_CMD"):
            layer.warn(f"{source}: {name} is no setting", name, (*SHELL_SETTINGS, *OTHERS))


def _place(name: str) -> int:
    gate = name.removeprefix("GATE_")
    return GATES.index(gate) if gate != name and gate in GATES else -1


def runs_folder(path: str) -> str:
    """`RUNS_DIR`, from the project's root; empty where logs cannot be. Only in a folder of Ralph's
    own are they out of the reach of sessions."""
    parts = os.path.normpath(path).split(os.sep)
    is_free = parts[0] == ".ralph" and len(parts) > 1 and parts[1] not in TAKEN
    return "/".join(parts) if is_free and "." not in parts[1] else ""


def _set(layer: SettingsLayer, key: str, text: str, source: Source) -> None:
    """Set what a variable stands for: a setting, a gate, or that nothing is committed."""
    if key == NO_COMMIT:
        is_set = parse_bool(text)
        if is_set is not False:
            layer.values["git.commit"] = ("none" if is_set else text, source)
    elif key.startswith("gates.") and key != "gates.min_coverage":
        gates, _ = layer.values.get("gates.commands", ({}, source))
        layer.values["gates.commands"] = ({**gates, key.removeprefix("gates."): text}, source)
        layer.parts[key] = source
    else:
        layer.values[key] = (parse_value(key, text), source)
