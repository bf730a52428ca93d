"""Every setting there is, taken from the definitions themselves."""

from typing import Any

import msgspec

from ralph.config.load import Loaded
from ralph.config.reference import PLACES, describe
from ralph.config.settings import Config
from ralph.core.errors import Missing
from ralph.core.safe_text import one_line


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One of them."""

    key: str
    value: Any
    source: str
    default: Any
    meaning: str


def settings(loaded: Loaded) -> list[Setting]:
    """All of them, in the order in which they are defined."""
    meanings = _meanings()
    defaults = Config()
    found = []
    for section in Config.__struct_fields__:
        table, default = getattr(loaded.config, section), getattr(defaults, section)
        names = getattr(table, "__struct_fields__", None)
        for name in names or ("",):
            key = f"{section}.{name}" if name else section
            found.append(
                Setting(
                    key=key,
                    value=getattr(table, name) if name else table,
                    source=str(loaded.source(key)),
                    default=getattr(default, name) if name else default,
                    meaning=meanings.get(key, ""),
                )
            )
    return found


def chosen(found: list[Setting], key: str | None) -> list[Setting]:
    """The one with that key, or those of that section, or all."""
    if key is None:
        return found
    wanted = [one for one in found if one.key == key or one.key.startswith(f"{key}.")]
    if not wanted:
        from difflib import get_close_matches

        near = get_close_matches(key, [one.key for one in found])
        raise Missing(
            f"there is no setting {one_line(key, 60)}",
            hint=f"did you mean {' or '.join(near)}?" if near else "ralph config show",
        )
    return wanted


def _meanings() -> dict[str, str]:
    """What each setting means; tables with names of a person's own stand under their field."""
    fields = {(place.partition(".")[0], key): place for place, (key, _) in PLACES.items()}
    return {
        fields.get((one.section, one.key), f"{one.section}.{one.key}"): one.doc
        for one in describe()
    }
