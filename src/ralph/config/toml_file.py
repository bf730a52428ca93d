"""`.ralph.toml`: found walking up, read with file, line and key at hand."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from ralph.config.settings import SECTIONS, Price, Rule
from ralph.config.sources import Layer, Source
from ralph.core.errors import BadConfig, Missing
from ralph.files import read_regular

NAME = ".ralph.toml"
FREE = {"gates": "commands", "models": "tiers"}
"""Tables with names of a person's own, and the field that takes those."""
RECORDS = {"prices": Price, "sandbox.rules": Rule}
"""Tables of tables: what each entry holds."""
LARGEST = 4 * 1024 * 1024
"""Bytes of a file of settings."""
MOST_PARTS = 1000
"""Dots outside of strings, on one line."""

At = Callable[..., Source]


def find_roots(start: str) -> list[str]:
    """The folders with a `.ralph.toml`, from `start` upwards."""
    try:
        folder = os.path.abspath(start)
    except FileNotFoundError:
        raise Missing("the current folder does not exist any more", hint="cd to another") from None
    found = []
    while True:
        # A link that leads nowhere counts too: reading it says what is wrong.
        if os.path.lexists(os.path.join(folder, NAME)):
            found.append(folder)
        above = os.path.dirname(folder)
        if above == folder:
            return found
        folder = above


def read_toml(path: str) -> Layer:
    """Every setting of the file; unknown ones are warnings."""
    layer = Layer({}, [], {})
    text = read_text(path)
    # As `ralph init` leaves it, the file holds comments only: no need to load a parser for that.
    if all(line.lstrip()[:1] in ("", "#") for line in text.split("\n")):
        return layer
    tables = _parse(path, text)
    from ralph.config.toml_lines import line_numbers

    lines = line_numbers(text)

    def at(*keys: str) -> Source:
        """Keys inside `{ … }` have no line of their own: then the line of what holds them."""
        known = (
            lines[keys[:length]] for length in range(len(keys), 0, -1) if keys[:length] in lines
        )
        return Source("file", path, next(known, 0))

    for section, table in tables.items():
        if section != "prices" and section not in SECTIONS:
            _warn_of_section(section, table, layer, at(section))
        elif not isinstance(table, dict):
            raise BadConfig(
                f"{at(section)}: {section} is a section, not a setting",
                hint=f"write [{section}] on a line of its own, and its settings below",
            )
        elif section == "prices":
            _read_records("prices", table, layer, at)
        else:
            _read_section(section, table, layer, at)
    return layer


def _read_section(section: str, table: dict[str, Any], layer: Layer, at: At) -> None:
    known = SECTIONS[section].__struct_fields__
    own = FREE.get(section)
    for key, value in table.items():
        name = f"{section}.{key}"
        source = at(section, key)
        if own is not None and _is_own(section, key, value, known):
            taken, _ = layer.values.setdefault(f"{section}.{own}", ({}, source))
            taken[key] = value
            layer.parts[name] = source
            if isinstance(value, dict):
                layer.parts.update((f"{name}.{each}", at(section, key, each)) for each in value)
                _warn_of_tiers(name, value, layer)
        elif name in RECORDS and isinstance(value, dict):
            _read_records(name, value, layer, at)
        elif key in known and key != own:
            layer.values[name] = (value, source)
        else:
            warn_of(layer, source, name, _keys(section))


def _warn_of_tiers(name: str, table: dict[str, Any], layer: Layer) -> None:
    """`[models.AGENT]`: any other word than a tier is never asked for."""
    from ralph.core.sigils import MODELS

    for tier in table:
        if tier not in MODELS:
            key = f"{name}.{tier}"
            warn_of(layer, layer.parts[key], key, MODELS)


def _is_own(section: str, key: str, value: object, known: tuple[str, ...]) -> bool:
    if section == "gates":
        return key != "min_coverage"
    return key not in known and isinstance(value, dict)


def _read_records(name: str, table: dict[str, Any], layer: Layer, at: At) -> None:
    """`[prices]` and `[sandbox.rules]`: what an entry holds beyond its fields is left out."""
    path, fields = name.split("."), RECORDS[name].__struct_fields__
    kept: dict[str, Any] = {}
    for key, entry in table.items():
        layer.parts[f"{name}.{key}"] = at(*path, key)
        kept[key] = entry
        if isinstance(entry, dict):
            kept[key] = {each: value for each, value in entry.items() if each in fields}
            for each in entry:
                source = at(*path, key, each)
                layer.parts[f"{name}.{key}.{each}"] = source
                if each not in fields:
                    warn_of(layer, source, f"{name}.{key}.{each}", fields)
    layer.values[name] = (kept, at(*path))


def _keys(section: str) -> list[str]:
    own = FREE.get(section)
    return [key for key in SECTIONS[section].__struct_fields__ if key != own]


def warn_of(layer: Layer, source: Source, key: str, known: Iterable[str]) -> None:
    """Warn about a setting that does not exist."""
    layer.warn(f"{source}: {key} is no setting", key.rpartition(".")[2], known)


def _warn_of_section(section: str, table: object, layer: Layer, source: Source) -> None:
    known = [*SECTIONS, "prices"]
    if isinstance(table, dict):
        layer.warn(f"{source}: [{section}] is no section", section, known)
        return
    # Most likely a line whose section header is still commented out.
    homes = " or ".join(f"[{name}]" for name in SECTIONS if section in _keys(name))
    if homes:
        layer.warn(f"{source}: {section} stands outside its section; it belongs below {homes}")
    else:
        layer.warn(f"{source}: {section} is no setting", section, known)


def read_text(path: str) -> str:
    """A file's text, without the mark that some editors put before it."""
    try:
        return read_regular(path, most=LARGEST).decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise BadConfig(f"{path} is not UTF-8 text") from error
    except OSError as error:
        said = (error.strerror or "no reason is known").lower()
        raise BadConfig(f"{path} cannot be read: {said}") from error


def _refuse_long_keys(path: str, text: str) -> None:
    """The library takes a time that grows with the square of a key's parts."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.count(".") <= MOST_PARTS:
            continue
        import re

        bare = re.sub(r'"(?:[^"\\]|\\.)*"|\'[^\']*\'', "", line)
        if bare.count(".") > MOST_PARTS:
            raise BadConfig(f"{path}:{number}: a key has more than {MOST_PARTS:,} parts")


def _parse(path: str, text: str) -> dict[str, Any]:
    import tomllib

    _refuse_long_keys(path, text)
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise BadConfig(f"{path} is nested too deeply") from error
    except ValueError as error:
        # "Invalid value (at line 3, column 5)"; some errors of the library name no place.
        what, _, place = str(error).partition(" (at ")
        number = place.removeprefix("line ").partition(",")[0]
        where = f"{path}:{number}" if number.isdecimal() else path
        what = what[:1].lower() + what[1:]
        if place.startswith("end"):
            what += " at the end"
        raise BadConfig(f"{where}: not valid TOML: {what}") from error
