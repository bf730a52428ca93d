"""Settings from the environment: `RALPH_<SECTION>_<KEY>` and a few short names."""

from collections.abc import Mapping
from typing import Any

from ralph.config.settings import SECTIONS
from ralph.config.sources import Layer, Source, nearest

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
        "RALPH_SOCKET", "RALPH_TOKEN", "RALPH_ATTEMPT", "RALPH_ITERATION", "RALPH_TOTAL",
    }
)  # fmt: skip


def read_environment(environ: Mapping[str, str]) -> Layer:
    """What the variables say; unknown ones that begin with `RALPH_` are warnings."""
    values: dict[str, tuple[Any, Source]] = {}
    warnings: list[str] = []
    if environ.get("NO_COMMIT", "").lower() in ("1", "true", "yes"):
        values["git.commit"] = ("none", Source("environment", "NO_COMMIT"))
    for name, text in environ.items():
        if name in INTERNAL or not (name.startswith("RALPH_") or name in SHORT):
            continue
        key = SHORT.get(name) or _long(name)
        if key is None:
            hint = nearest(name, [*SHORT, *_all_long()])
            warnings.append(f"unknown variable {name}{hint}")
        elif text:
            values[key] = (_value(key, text), Source("environment", name))
    return Layer(values, warnings)


def _long(name: str) -> str | None:
    section, _, key = name.removeprefix("RALPH_").lower().partition("_")
    known = SECTIONS.get(section)
    return f"{section}.{key}" if known and key in known.__struct_fields__ else None


def _all_long() -> list[str]:
    return [
        f"RALPH_{section}_{key}".upper()
        for section, type_ in SECTIONS.items()
        for key in type_.__struct_fields__
    ]


def _value(key: str, text: str) -> object:
    """Lists are separated by commas; the rest is converted with everything else."""
    section, _, field = key.partition(".")
    kind = SECTIONS[section].__annotations__[field]
    if kind == tuple[str, ...]:
        return [part.strip() for part in text.split(",") if part.strip()]
    if kind is bool:
        return {"1": True, "yes": True, "on": True, "0": False, "no": False, "off": False}.get(
            text.lower(), text
        )
    return text
