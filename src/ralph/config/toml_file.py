"""`.ralph.toml`: found walking up, read with file, line and key at hand."""

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, get_args, get_origin

from ralph.config.sources import SettingsLayer, Source, nearest
from ralph.core.errors import BadConfig
from ralph.core.message_tags import MODELS
from ralph.core.settings import SECTIONS, Config
from ralph.files import read_regular

NAME = ".ralph.toml"
OWN = {"gates": "commands", "models": "tiers"}
"""Sections with names of a person's own beside the settings, and the field that takes those."""
LARGEST = 4 * 1024 * 1024
"""Bytes of a file of settings."""

TOKEN = re.compile(
    r'''"""(?:\\.|[^\\])*?"""+|\'{3}.*?\'{3,}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*|[][{}\n]''',
    re.DOTALL,
)
"""What tells where a statement ends: strings and comments as a whole, brackets, ends of lines."""

Path = tuple[str, ...]


def find_roots(start: str) -> list[str]:
    """The folders with a `.ralph.toml`, from `start` upwards."""
    folder = os.path.abspath(start)
    found = []
    while True:
        # A link that leads nowhere counts too: reading it says what is wrong.
        if os.path.lexists(os.path.join(folder, NAME)):
            found.append(folder)
        above = os.path.dirname(folder)
        if above == folder:
            return found
        folder = above


def read_toml(path: str) -> SettingsLayer:
    """Every setting of the file; unknown ones are warnings, a mistyped section is an error."""
    layer = SettingsLayer()
    text = read_text(path)
    # As `ralph init` leaves it, the file holds comments only: no need to load a parser for that.
    if all(line.lstrip()[:1] in ("", "#") for line in text.split("\n")):
        return layer
    tables, lines = _parse(path, text)
    layer.parts.update((".".join(keys), Source("file", path, at)) for keys, at in lines.items())
    for section, table in tables.items():
        place = layer.parts.pop(section)
        kind = Config.__annotations__.get(section)
        if kind is None:
            _warn_of_section(section, table, layer, place)
        elif not isinstance(table, dict):
            raise BadConfig(
                f"{place}: {section} is a section, not a setting",
                hint=f"write [{section}] on a line of its own, and its settings below",
            )
        elif section not in SECTIONS:
            layer.values[section] = (_known(table, kind, section, layer), place)
        else:
            for key, value in _known(table, kind, section, layer).items():
                name = f"{section}.{key}"
                layer.values[name] = (value, layer.parts[name])
    return layer


def _known(value: Any, kind: Any, name: str, layer: SettingsLayer) -> Any:
    """A value without the keys that tables of its kind do not have; each of them is a warning."""
    if not isinstance(value, dict):
        return value
    if get_origin(kind) is dict:
        entry = get_args(kind)[1]
        return {key: _known(each, entry, f"{name}.{key}", layer) for key, each in value.items()}
    if not isinstance(kind, type):
        return value
    own, kinds = OWN.get(name, ""), kind.__annotations__
    kept: dict[str, Any] = {}
    for key, each in value.items():
        path = f"{name}.{key}"
        if key in kinds and key != own:
            kept[key] = _known(each, kinds[key], path, layer)
        elif own and (name == "gates" or isinstance(each, dict)):
            kept.setdefault(own, {})[key] = each
            layer.parts.setdefault(f"{name}.{own}", layer.parts[path])
            for tier in each if isinstance(each, dict) else ():
                # Any other word than a tier is never asked for.
                if tier not in MODELS:
                    _warn_of(layer, f"{path}.{tier}", MODELS)
        else:
            _warn_of(layer, path, [one for one in kinds if one != own])
    return kept


def _warn_of(layer: SettingsLayer, key: str, known: Iterable[str]) -> None:
    layer.warn(f"{layer.parts[key]}: {key} is no setting", key.rpartition(".")[2], known)


def _warn_of_section(section: str, table: object, layer: SettingsLayer, place: Source) -> None:
    known = [*SECTIONS, "prices"]
    if isinstance(table, dict):
        if meant := nearest(section, known):
            # [gate] would leave a run without gates.
            raise BadConfig(f"{place}: [{section}] is no section{meant}")
        layer.warn(f"{place}: [{section}] is no section")
        return
    # Most likely a line whose section header is still commented out.
    homes = [
        f"[{name}]"
        for name, kind in SECTIONS.items()
        if section in kind.__annotations__ and section != OWN.get(name)
    ]
    if homes:
        below = " or ".join(homes)
        layer.warn(f"{place}: {section} is outside of its section; it belongs below {below}")
    else:
        layer.warn(f"{place}: {section} is no setting", section, known)


def read_text(path: str) -> str:
    """A file's text, without the mark that some editors put before it."""
    try:
        return read_regular(path, most=LARGEST).decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise BadConfig(f"{path} is not UTF-8 text") from error
    except OSError as error:
        said = (error.strerror or "no reason is known").lower()
        raise BadConfig(f"{path} cannot be read: {said}") from error


def _parse(path: str, text: str) -> tuple[dict[str, Any], dict[Path, int]]:
    from ralph.core.toml_text import parse_toml

    try:
        return parse_toml(text), line_numbers(text)
    except RecursionError as error:
        raise BadConfig(f"{path} is nested too deeply") from error
    except ValueError as error:
        # "Invalid value (at line 3, column 5)"; some errors of the library name no place.
        what, _, place = str(error).partition(" (at ")
        number = place.removeprefix("line ").partition(",")[0].rstrip(")")
        where = f"{path}:{number}" if number.isdecimal() else path
        what = what[:1].lower() + what[1:]
        if place.startswith("end"):
            what += " at the end"
        raise BadConfig(f"{where}: not valid TOML: {what}") from error


def line_numbers(text: str) -> dict[Path, int]:
    """The line of every table and key, by its path; of the first one where there are several.

    The parser of the library does not tell them, so it is given each statement alone.
    """
    from ralph.core.toml_text import parse_toml

    found: dict[Path, int] = {}
    table: Path = ()
    depth, start, line = 0, 0, 1
    for token in TOKEN.finditer(text := f"{text}\n"):
        depth += (token[0] in ("[", "{")) - (token[0] in ("]", "}"))
        if token[0] != "\n" or depth:
            continue
        statement = text[start : token.end()]
        is_header = statement.lstrip().startswith("[")
        for path in _paths(parse_toml(statement)):
            whole = path if is_header else table + path
            found.setdefault(whole, line)
            table = path if is_header else table
        start, line = token.end(), line + statement.count("\n")
    return found


def _paths(value: object, *above: str) -> Iterator[Path]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield (*above, key)
            yield from _paths(below, *above, key)
