"""Settings from the environment: `RALPH_<SECTION>_<KEY>` and a few short names."""

from collections.abc import Mapping

from ralph.config.settings import SECTIONS
from ralph.config.sources import Layer, Source
from ralph.config.text_values import from_text, truth

SHORT = {
    "RALPH_AGENT": "agent.name",
    "RALPH_MODEL": "models.model",
    "RALPH_MODEL_STRATEGY": "models.strategy",
    "RALPH_LIMIT": "execution.limit",
    "RALPH_WORKERS": "workers.count",
    "AGENT_CMD": "agent.command",
}
INTERNAL = frozenset(
    {
        "RALPH_DB", "RALPH_TASK_ID", "RALPH_STORY_ID", "RALPH_RUN_ID", "RALPH_SESSION",
        "RALPH_SOCKET", "RALPH_TOKEN", "RALPH_ATTEMPT", "RALPH_ROLE", "RALPH_ITERATION",
        "RALPH_TOTAL", "RALPH_AGENT_PROGRAM", "RALPH_SEAT", "RALPH_PORT_BASE", "RALPH_PORT_COUNT",
    }
)  # fmt: skip
"""Between Ralph and its sessions and gates; no settings."""
TABLES = frozenset({"gates.commands", "models.tiers", "sandbox.rules"})
"""Too rich for a variable; a single gate fits in `RALPH_GATES_<NAME>`."""


def read_environment(environ: Mapping[str, str]) -> Layer:
    """What the variables say; unknown ones that begin with `RALPH_` are warnings."""
    layer = Layer({}, [], {})
    for name, text in environ.items():
        if not (name.startswith("RALPH_") or name in SHORT or name == "NO_COMMIT"):
            continue
        # An empty variable is how a shell says "not set" for one command.
        if name in INTERNAL or not text:
            continue
        source = Source("environment", name)
        key = SHORT.get(name) or _long(name)
        if name == "NO_COMMIT":
            if truth(text) is not False:
                layer.values["git.commit"] = ("none" if truth(text) else text, source)
        elif key is None:
            layer.warn(f"${name} is no setting", name, _all_names())
        elif key.startswith("gates.") and key != "gates.min_coverage":
            gates, _ = layer.values.get("gates.commands", ({}, source))
            layer.values["gates.commands"] = ({**gates, key.removeprefix("gates."): text}, source)
            layer.parts[key] = source
        else:
            layer.values[key] = (from_text(key, text), source)
    return layer


def _long(name: str) -> str | None:
    section, _, field = name.removeprefix("RALPH_").lower().partition("_")
    key = f"{section}.{field}"
    if section not in SECTIONS or key in TABLES or not field:
        return None
    return key if section == "gates" or field in SECTIONS[section].__struct_fields__ else None


def _all_names() -> list[str]:
    keys = [
        f"{section}.{field}"
        for section, kind in SECTIONS.items()
        for field in kind.__struct_fields__
    ]
    return [
        *SHORT,
        *(f"RALPH_{key.replace('.', '_')}".upper() for key in keys if key not in TABLES),
    ]
