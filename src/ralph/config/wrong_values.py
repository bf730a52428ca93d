"""What to say about a value that is wrong: where it stands, and what would be right."""

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

import msgspec

from ralph.config.settings import Config, Duration, Size
from ralph.config.sources import Source, nearest
from ralph.config.text_values import holds_zero
from ralph.core.errors import BadConfig, RalphError, UsageError
from ralph.core.safe_text import one_line


def wrong(
    key: str, value: Any, kind: Any, source: Source, parts: Mapping[str, Source]
) -> RalphError:
    """The error for a value that is not of its kind."""
    if "NO_COMMIT" in (source.name, source.variable):
        kind = bool  # not the words of the setting that it stands for
    key, value, kind, inner = _culprit(key, value, kind)
    source = parts.get(key, source) if inner else source
    if "NO_COMMIT" in (source.name, source.variable):
        # The setting is another word than the variable, which is true or false.
        return _error(source, key, f"is {shown(value)}, but must be {right(bool)}", hint="")
    if holds_zero(value):
        said = "holds a zero byte, which no program can be given"
    else:
        said = f"is {shown(value)}, but must be {right(kind)}"
    return _error(source, key, said, hint="" if inner else _near(value, kind) or _default(key))


def no_model(source: Source) -> RalphError:
    """The error for a fixed strategy without a model."""
    said = "is fixed, but models.model is empty"
    return _error(source, "models.strategy", said, hint="name a model with --model or models.model")


def right(kind: Any) -> str:
    """What a value of this kind looks like, in words."""
    if kind is Duration:
        return "a duration such as 30s, 10m or 8h"
    if kind is Size:
        return "a size such as 512 MB or 8 GB, auto or off"
    if get_origin(kind) is Literal:
        *words, last = get_args(kind)
        return f"{', '.join(words)} or {last}"
    if get_origin(kind) is tuple and get_origin(get_args(kind)[0]) is Literal:
        return f"a list of {', '.join(get_args(get_args(kind)[0]))}"
    if get_origin(kind) is tuple:
        return 'a list of texts such as ["a", "b"]'
    if kind is bool:
        return "true or false"
    match msgspec.inspect.type_info(kind):
        case msgspec.inspect.IntType(ge=least, le=most):
            return "a whole number" + _range(least, most)
        case msgspec.inspect.FloatType(ge=least, le=most):
            return "a number" + _range(least, most)
        case msgspec.inspect.UnionType():
            return right(next(each for each in get_args(kind) if each is not type(None)))
        case msgspec.inspect.DictType() | msgspec.inspect.StructType():
            return "a table"
        case _:
            return "a text in quotes"


def shown(value: Any) -> str:
    """A value as it would stand in a file."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return one_line(f'"{value}"', 60)
        case dict():
            return "a table"
        case list() | tuple():
            return one_line(f"[{', '.join(shown(each) for each in value)}]", 60)
        case _:
            return one_line(str(value), 60)


def _error(source: Source, key: str, said: str, *, hint: str) -> RalphError:
    if source.kind == "flag":
        return UsageError(one_line(f"{key} {said}"), hint=hint)
    if source.kind == "environment":
        return BadConfig(one_line(f"{source} {said}"), hint=hint)
    return BadConfig(one_line(f"{source}: {source.variable or key} {said}"), hint=hint)


def _range(least: float | None, most: float | None) -> str:
    if least is None:
        return ""
    return f" from {least:g} to {most:.15g}" if most is not None else f" of at least {least:g}"


def _near(value: Any, kind: Any) -> str:
    """The word that was meant, where only some are allowed."""
    if get_origin(kind) is not Literal or not isinstance(value, str):
        return ""
    return nearest(value, list(get_args(kind))).removeprefix("; ")


def _default(key: str) -> str:
    section, _, field = key.partition(".")
    default = getattr(getattr(Config(), section), field, None)
    return f"the default is {shown(default)}" if default not in (None, {}) else ""


def _culprit(key: str, value: Any, kind: Any) -> tuple[str, Any, Any, bool]:
    """The entry of a table that is to blame, and whether it is one."""
    kinds: dict[str, Any] = {}
    if isinstance(value, dict):
        if get_origin(kind) is dict:
            kinds = dict.fromkeys(value, get_args(kind)[1])
        elif isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            kinds = kind.__annotations__
    for name, each in kinds.items():
        if name in value and not _fits(value[name], each):
            place = (
                "gates" if key == "gates.commands" else "models" if key == "models.tiers" else key
            )
            return *_culprit(f"{place}.{name}", value[name], each)[:3], True
    return key, value, kind, False


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return not holds_zero(value)
