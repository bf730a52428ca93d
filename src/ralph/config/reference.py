"""Every setting in words: for `ralph config show` and for the reference page."""

import ast
import inspect

import msgspec

from ralph.config.value_errors import describe_kind
from ralph.core import settings
from ralph.core.settings import SECTIONS, Config, PriceSection, RuleSection
from ralph.core.toml_text import toml_value

PLACES = {
    "gates.commands": ("<name>", "a command"),
    "models.tiers": ("<agent>.<tier>", "the model that an agent calls haiku, sonnet or opus"),
    "sandbox.rules": ("rules.<name>", ""),
    "prices": ('"<model>"', ""),
}
"""How tables with names of a person's own are written, and what their values are."""


class SettingDoc(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    """`section.key`, where the configuration holds its value."""
    section: str
    key: str
    type: str
    """What a value looks like, in words."""
    default: str
    """As it would stand in `.ralph.toml`; empty for tables of free names."""
    doc: str


def describe() -> list[SettingDoc]:
    """All settings in the order of their definition, with the sentence below each field."""
    docs = _sentences()
    defaults = Config()
    found = []
    for section in Config.__struct_fields__:
        kind = SECTIONS.get(section)
        if kind is None:
            found.append(_free(section, section, docs["Config"][section]))
            continue
        for field in kind.__struct_fields__:
            doc = docs[kind.__name__][field]
            if f"{section}.{field}" in PLACES:
                found.append(_free(section, f"{section}.{field}", doc))
                continue
            found.append(
                SettingDoc(
                    path=f"{section}.{field}",
                    section=section,
                    key=field,
                    type=describe_kind(kind.__annotations__[field]),
                    default=toml_value(getattr(getattr(defaults, section), field)),
                    doc=doc,
                )
            )
    return found


def _free(section: str, place: str, doc: str) -> SettingDoc:
    key, kind = PLACES[place]
    fields = {"sandbox.rules": RuleSection, "prices": PriceSection}.get(place)
    words = kind if fields is None else "a table of " + ", ".join(fields.__struct_fields__)
    return SettingDoc(path=place, section=section, key=key, type=words, default="", doc=doc)


def _sentences() -> dict[str, dict[str, str]]:
    """The text below each field, by class and field; Python itself throws these away."""
    found: dict[str, dict[str, str]] = {}
    for made in ast.parse(inspect.getsource(settings)).body:
        if isinstance(made, ast.ClassDef):
            fields = found.setdefault(made.name, {})
            for field, below in zip(made.body, made.body[1:], strict=False):
                match field, below:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ):
                        fields[name] = " ".join(text.split())
                    case _:
                        pass
    return found
