"""`.ralph.toml`: found walking up, read with file, line and key at hand."""

import os
from collections.abc import Callable
from typing import Any

from ralph.config.settings import SECTIONS
from ralph.config.sources import Layer, Source, nearest
from ralph.core.errors import BadConfig

NAME = ".ralph.toml"
FREE = {"gates": "commands", "models": "tiers"}
"""Tables with names of a person's own, and the field that takes those."""


def find_root(start: str) -> str | None:
    """The nearest folder, from `start` upwards, with a `.ralph.toml`."""
    folder = os.path.abspath(start)
    while not os.path.exists(os.path.join(folder, NAME)):
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def read_toml(path: str) -> Layer:
    """Every setting of the file; unknown ones are warnings."""
    text = _read(path)
    tables = _parse(path, text)
    values: dict[str, tuple[Any, Source]] = {}
    warnings: list[str] = []
    for section, table in tables.items():
        line = line_of(text, section, "")
        if section == "prices" and isinstance(table, dict):
            values["prices"] = (table, Source("file", path, line))
        elif section not in SECTIONS:
            hint = nearest(section, [*SECTIONS, "prices"])
            warnings.append(f"{path}:{line}: unknown section [{section}]{hint}")
        elif not isinstance(table, dict):
            raise BadConfig(f"{path}:{line}: {section} must be a table: write [{section}]")
        else:
            found = _read_section(section, table, _places(path, text, section))
            values |= found.values
            warnings += found.warnings
    return Layer(values, warnings)


def _places(path: str, text: str, section: str) -> Callable[[str], Source]:
    return lambda key: Source("file", path, line_of(text, section, key))


def _read_section(section: str, table: dict[str, Any], at: Callable[[str], Source]) -> Layer:
    values: dict[str, tuple[Any, Source]] = {}
    warnings: list[str] = []
    known = SECTIONS[section].__struct_fields__
    own = FREE.get(section)
    for key, value in table.items():
        source = at(key)
        if own is not None and _is_own(section, key, value, known):
            taken, _ = values.get(f"{section}.{own}", ({}, source))
            values[f"{section}.{own}"] = ({**taken, key: value}, source)
        elif key in known and key != own:
            values[f"{section}.{key}"] = (value, source)
        else:
            hint = nearest(key, [name for name in known if name != own])
            warnings.append(f"{source}: unknown key {section}.{key}{hint}")
    return Layer(values, warnings)


def _is_own(section: str, key: str, value: object, known: tuple[str, ...]) -> bool:
    if section == "gates":
        return key != "min_coverage"
    return key not in known and isinstance(value, dict)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise BadConfig(f"{path} is not UTF-8 text") from error
    except OSError as error:
        raise BadConfig(f"{path} cannot be read: {error.strerror}") from error


def _parse(path: str, text: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{path}: not valid TOML: {error}", hint="see the line it names") from error


def line_of(text: str, section: str, key: str) -> int:
    """The line on which a key stands, as near as plain looking finds it."""
    here, best = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("["):
            here = bare.strip("[]").partition("]")[0].strip()
            if not best and here.partition(".")[0] == section:
                best = number
            if key and here in (f"{section}.{key}", f'{section}."{key}"'):
                return number
            continue
        name = bare.partition("=")[0].strip().replace('"', "")
        if (here == section and key and name == key) or name == f"{section}.{key}":
            return number
        if not key and here == "" and name == section:
            return number
    return best
