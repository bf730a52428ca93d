"""One frozen configuration from all its layers."""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from ralph.config.environment import read_environment
from ralph.config.settings import SECTIONS, Config, Duration
from ralph.config.shell_files import read_shell_files
from ralph.config.sources import Source
from ralph.config.toml_file import NAME, find_root, read_toml
from ralph.core.errors import BadConfig, Missing

DEFAULT = Source("default")


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration, and where each setting came from."""

    root: str
    config: Config
    sources: dict[str, Source]
    """Of the settings that are not defaults, by `section.key`."""
    warnings: tuple[str, ...] = ()

    def source(self, key: str) -> Source:
        """Where a setting came from."""
        return self.sources.get(key, DEFAULT)


def load(start: str, environ: Mapping[str, str], flags: Mapping[str, object]) -> Loaded:
    """The configuration of the project around `start`."""
    root = find_root(start)
    if root is None:
        raise Missing(f"no {NAME} here or above", hint="ralph init")
    layers = (
        read_shell_files(root),
        read_toml(os.path.join(root, NAME)),
        read_environment(environ),
    )
    merged: dict[str, tuple[Any, Source]] = {}
    for layer in layers:
        merged |= layer.values
    merged |= {key: (value, Source("flag", key)) for key, value in flags.items()}
    return Loaded(
        root=root,
        config=_convert(merged),
        sources={key: source for key, (_, source) in merged.items()},
        warnings=tuple(warning for layer in layers for warning in layer.warnings),
    )


def _convert(merged: Mapping[str, tuple[Any, Source]]) -> Config:
    """Only what is set needs checking; the defaults are right."""
    tables: dict[str, dict[str, Any]] = {}
    for key, (value, source) in merged.items():
        section, _, name = key.partition(".")
        if name:
            field = SECTIONS[section].__annotations__[name]
            tables.setdefault(section, {})[name] = _checked(key, value, field, source)
    made: dict[str, Any] = {name: SECTIONS[name](**table) for name, table in tables.items()}
    if "prices" in merged:
        value, source = merged["prices"]
        made["prices"] = _checked("prices", value, Config.__annotations__["prices"], source)
    return Config(**made)


def _checked(key: str, value: Any, kind: Any, source: Source) -> Any:
    # Only variables are text that may mean a number or a truth.
    strict = source.kind != "environment"
    try:
        good = msgspec.convert(value, kind, strict=strict)
        if kind == Duration:
            _seconds(good)
    except (msgspec.ValidationError, ValueError) as error:
        said = str(error).replace("`", "").replace(" - at $", " at ").rstrip(" .")
        raise BadConfig(
            f"{source}: {key}: {said[:1].lower()}{said[1:]}",
            hint=f"`ralph config show {key}` describes it",
        ) from error
    return good


def _seconds(text: str) -> None:
    from ralph.core.duration import seconds

    seconds(text)
