"""One frozen configuration from all its layers."""

import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ralph.config.environment import read_environment
from ralph.config.settings import SECTIONS, Config, Duration
from ralph.config.shell_files import read_shell_files, runs_folder
from ralph.config.sources import RANK, Layer, Source, Values
from ralph.config.text_values import from_text, holds_zero, kind_of, truth
from ralph.config.toml_file import NAME, find_roots, read_toml
from ralph.core.duration import seconds
from ralph.core.errors import Missing, UsageError
from ralph.core.safe_text import one_line

DEFAULT = Source("default")
RUNS = ".ralph/runs"
IMPLIED = (("agent.command", "agent.name", "command"), ("models.model", "models.strategy", "fixed"))
"""`AGENT_CMD=…` means that agent, and `--model …` that model, unless the same place says more."""

ADDED = frozenset({"sandbox.allow", "sandbox.write", "sandbox.read"})
"""Flags that open one more door, and close none."""


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration, and where each setting came from."""

    root: str
    config: Config
    sources: dict[str, Source]
    """Of what is not default, by `section.key`; also of single gates, prices and the like."""
    warnings: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    """All that the shell files say, also what is no setting (paths of the story pipeline)."""

    def own_command(self, agent: str) -> str:
        """A person's own command line for an agent, from `agents.sh`; empty without one."""
        return self.variables.get(f"AGENT_{agent.upper().replace('-', '_')}_CMD", "")

    @property
    def own_agents(self) -> tuple[str, ...]:
        """Those that a person has command lines for."""
        commands = (name for name in self.variables if name.startswith("AGENT_"))
        names = (name[len("AGENT_") : -len("_CMD")].lower() for name in commands)
        found = (name for name in names if name and self.own_command(name))
        return tuple(name for name in found if not name.endswith("_interactive"))

    @property
    def runs_dir(self) -> str:
        """Where logs, briefs and streams go."""
        return os.path.join(self.root, runs_folder(self.variables.get("RUNS_DIR", "")) or RUNS)

    def source(self, key: str) -> Source:
        """Where a setting came from."""
        return self.sources.get(key, DEFAULT)


IsProject = Callable[[str], bool]
"""Is the `.ralph.toml` in a folder to be obeyed, or did a session put it there?"""


def load(
    start: str,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    is_project: IsProject = lambda _: True,
) -> Loaded:
    """The configuration of the project around `start`."""
    root, ignored = _find(start, is_project)
    if root is None and ignored:
        raise Missing(ignored[0], hint="cd to a project of yours")
    if root is None:
        raise Missing(f"no {NAME} here or in any folder above", hint="ralph init")
    return _load_project(root, environ, flags, ignored)


def load_anywhere(
    start: str,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    is_project: IsProject = lambda _: True,
) -> Loaded:
    """The same; where there is no project, what the environment and the flags say."""
    root, ignored = _find(start, is_project)
    if root is None:
        layers = (Layer({}, ignored, {}), read_environment(environ), _read_flags(flags))
        return _merge(start, layers, {})
    return _load_project(root, environ, flags, ignored)


def _find(start: str, is_project: IsProject) -> tuple[str | None, list[str]]:
    """The nearest project, and a line about each `.ralph.toml` on the way that is not obeyed."""
    ignored: list[str] = []
    for root in find_roots(start):
        if is_project(root):
            return root, ignored
        ignored.append(
            f"{os.path.join(root, NAME)} is not obeyed, since a session may have written it;"
            " if it is yours, run ralph init in that folder"
        )
    return None, ignored


def _load_project(
    root: str, environ: Mapping[str, str], flags: Mapping[str, object], ignored: list[str]
) -> Loaded:
    shell, variables = read_shell_files(root)
    if truth(environ.get("NO_COMMIT", "")) is False:
        # The variable answers the one of the same name in the file.
        shell.values.pop("git.commit", None)
    layers = (
        Layer({}, ignored, {}),
        shell,
        read_toml(os.path.join(root, NAME)),
        read_environment(environ),
        _read_flags(flags),
    )
    return _merge(root, layers, variables)


def _merge(root: str, layers: tuple[Layer, ...], variables: dict[str, str]) -> Loaded:
    merged: Values = {}
    sources: dict[str, Source] = {}
    for layer in layers:
        for key, (value, source) in layer.values.items():
            merged[key] = (_joined(key, merged.get(key), value, source), source)
        sources |= layer.parts
    _imply(merged)
    unused = _unused(merged)
    return Loaded(
        root=root,
        config=_convert(merged, sources),
        sources={key: source for key, (_, source) in merged.items()} | sources,
        warnings=tuple(
            one_line(warning)
            for warning in (*(each for layer in layers for each in layer.warnings), *unused)
        ),
        variables=variables,
    )


def _read_flags(flags: Mapping[str, object]) -> Layer:
    """What the command line sets; None is a flag that was not given."""
    values: Values = {}
    for key, value in flags.items():
        section, _, field = key.partition(".")
        if section not in SECTIONS or field not in SECTIONS[section].__struct_fields__:
            raise UsageError(f"{key} is no setting", hint="ralph config show")
        if value is not None:
            meant = from_text(key, value) if isinstance(value, str) else value
            values[key] = (list(meant) if isinstance(meant, tuple) else meant, Source("flag", key))
    return Layer(values, [], {})


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
        if field:
            good = _checked(key, value, kind_of(key), source, parts)
            tables.setdefault(section, {})[field] = good
        else:
            made[key] = _checked(key, value, Config.__annotations__[key], source, parts)
    made.update((section, SECTIONS[section](**table)) for section, table in tables.items())
    config = Config(**made)
    if config.models.strategy == "fixed" and not config.models.model:
        from ralph.config.wrong_values import no_model

        raise no_model(merged["models.strategy"][1])
    return config


def _checked(key: str, value: Any, kind: Any, source: Source, parts: Mapping[str, Source]) -> Any:
    try:
        good = msgspec.convert(value, kind)
        if kind is Duration:
            seconds(good)
        if holds_zero(value):
            raise ValueError
    except ValueError as error:
        from ralph.config.wrong_values import wrong

        raise wrong(key, value, kind, source, parts) from error
    if key == "gates.commands":
        return {name: command for name, command in good.items() if command.strip()}
    return good
