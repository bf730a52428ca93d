"""One frozen configuration from all its layers."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ralph.config.project import DEFAULT, Project
from ralph.config.sources import (
    RANK,
    SettingsLayer,
    Source,
    Values,
    holds_zero,
    kind_of,
    parse_bool,
    parse_value,
)
from ralph.config.toml_file import NAME, find_roots, read_toml
from ralph.config.variables import read_environment, read_shell_files
from ralph.core.errors import Missing, UsageError
from ralph.core.safe_text import one_line
from ralph.core.settings import SECTIONS, Config, Duration
from ralph.core.times import parse_duration

IMPLIED = (("agent.command", "agent.name", "command"), ("models.model", "models.strategy", "fixed"))
"""`AGENT_CMD=…` means that agent, and `--model …` that model, unless the same place says more."""

ADDED = frozenset({"sandbox.allow", "sandbox.write", "sandbox.read"})
"""Flags that add to what is allowed, and take nothing away."""


IsProject = Callable[[str], bool]
"""Is the `.ralph.toml` in a folder to be obeyed, or did a session put it there?"""


def load_config(
    start: str,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    is_project: IsProject = lambda _: True,
    *,
    anywhere: bool = False,
) -> Project:
    """The configuration of the project around `start`; `anywhere`: where there is no project, what
    the environment and the flags say."""
    ignored: list[str] = []
    above = (read_environment(environ), _read_flags(flags))
    for root in find_roots(start):
        if is_project(root):
            shell, variables = read_shell_files(root)
            if parse_bool(environ.get("NO_COMMIT", "")) is False:
                # The variable answers the one of the same name in the file.
                shell.values.pop("git.commit", None)
            file = read_toml(os.path.join(root, NAME))
            return _merge(root, (SettingsLayer(warnings=ignored), shell, file, *above), variables)
        ignored.append(
            f"{os.path.join(root, NAME)} is not obeyed, since a session may have written it;"
            " if it is yours, run ralph init in that folder"
        )
    if anywhere:
        return _merge(start, (SettingsLayer(warnings=ignored), *above), {})
    if ignored:
        raise Missing(ignored[0], hint="cd to a project of yours")
    raise Missing(f"no {NAME} here or in any folder above", hint="ralph init")


def _merge(root: str, layers: tuple[SettingsLayer, ...], variables: dict[str, str]) -> Project:
    merged: Values = {}
    sources: dict[str, Source] = {}
    for layer in layers:
        for key, (value, source) in layer.values.items():
            merged[key] = (_joined(key, merged.get(key), value, source), source)
        sources |= layer.parts
    _imply(merged)
    sources |= {key: source for key, (_, source) in merged.items()}
    warnings = [line for layer in layers for line in layer.warnings] + _unused(merged)
    return Project(
        root=root,
        config=_convert(merged, sources),
        sources=sources,
        warnings=tuple(map(one_line, warnings)),
        variables=variables,
    )


def _read_flags(flags: Mapping[str, object]) -> SettingsLayer:
    """What the command line sets; None is a flag that was not given."""
    values: Values = {}
    for key, value in flags.items():
        section, _, field = key.partition(".")
        if section not in SECTIONS or field not in SECTIONS[section].__struct_fields__:
            raise UsageError(f"{key} is no setting", hint="ralph config show")
        if value is not None:
            meant = parse_value(key, value) if isinstance(value, str) else value
            values[key] = (list(meant) if isinstance(meant, tuple) else meant, Source("flag", key))
    return SettingsLayer(values)


def _joined(key: str, below: tuple[Any, Source] | None, value: Any, source: Source) -> Any:
    """A higher layer wins; tables of free names (gates) are joined name by name."""
    if source.kind == "flag" and key in ADDED and below and isinstance(below[0], list):
        return [*below[0], *value]
    if below is None or not (isinstance(value, dict) and isinstance(below[0], dict)):
        return value
    if source.kind == "file":
        # Gates run in the order of the file that people look at.
        return {**value, **{key: old for key, old in below[0].items() if key not in value}}
    return {**below[0], **value}


def _imply(merged: Values) -> None:
    for given, key, value in IMPLIED:
        if given in merged and merged[given][0]:
            source, other = merged[given][1], merged.get(key, ("", DEFAULT))[1]
            if RANK[source.kind] > RANK[other.kind]:
                merged[key] = (value, source)


def _unused(merged: Values) -> list[str]:
    """A model beside a strategy that has no use for it is a misunderstanding, if one and the same
    place says both; so are domains without the proxy that would heed them."""
    found = []
    model, source = merged.get("models.model", ("", DEFAULT))
    strategy, other = merged.get("models.strategy", ("", DEFAULT))
    if model and strategy not in ("", "fixed") and source.kind == other.kind:
        found.append(f"{source}: models.model is not used, since the strategy is {strategy}")
    domains, source = merged.get("sandbox.domains", ((), DEFAULT))
    network, _ = merged.get("sandbox.network", ("on", DEFAULT))
    if domains and network != "proxy":
        found.append(f"{source}: sandbox.domains is not used, since the network is {network}")
    least, source = merged.get("gates.min_coverage", (0, DEFAULT))
    commands, _ = merged.get("gates.commands", ({}, DEFAULT))
    if least and isinstance(commands, dict) and not commands.get("coverage"):
        found.append(f"{source}: gates.min_coverage is not used, since there is no gate coverage")
    return found


def _convert(merged: Values, parts: Mapping[str, Source]) -> Config:
    """Only what is set needs checking; the defaults are right."""
    tables: dict[str, dict[str, Any]] = {}
    made: dict[str, Any] = {}
    for key, (value, source) in merged.items():
        section, _, field = key.partition(".")
        kind = kind_of(key) if field else Config.__annotations__[key]
        place = tables.setdefault(section, {}) if field else made
        place[field or key] = _checked(key, value, kind, source, parts)
    made.update((section, SECTIONS[section](**table)) for section, table in tables.items())
    config = Config(**made)
    if config.models.strategy == "fixed" and not config.models.model:
        from ralph.config.value_errors import setting_error

        said = "is fixed, but models.model is empty"
        hint = "name a model with --model or models.model"
        raise setting_error(merged["models.strategy"][1], "models.strategy", said, hint=hint)
    return config


def _checked(key: str, value: Any, kind: Any, source: Source, parts: Mapping[str, Source]) -> Any:
    try:
        good = msgspec.convert(value, kind)
        if kind is Duration:
            parse_duration(good)
        if holds_zero(value):
            raise ValueError
    except ValueError as error:
        from ralph.config.value_errors import wrong_value_error

        raise wrong_value_error(key, value, kind, source, parts) from error
    if key == "gates.commands":
        return {name: command for name, command in good.items() if command.strip()}
    return good
