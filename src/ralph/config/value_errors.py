"""Error messages for wrong values: where the value is, and what would be right."""

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

import msgspec

from ralph.config.sources import Source, holds_zero, nearest
from ralph.core.errors import BadConfig, RalphError, UsageError
from ralph.core.safe_text import one_line
from ralph.core.settings import Config, Duration, Size
from ralph.core.toml_text import toml_value


def wrong_value_error(
    key: str, value: Any, kind: Any, source: Source, parts: Mapping[str, Source]
) -> RalphError:
    """The error for a value that is not of its kind."""
    # This variable is true or false, unlike the setting that it stands for.
    is_no_commit = "NO_COMMIT" in (source.name, source.variable)
    key, value, kind, inner = _culprit(key, value, bool if is_no_commit else kind)
    source = parts.get(key, source) if inner else source
    said = f"is {_shown(value)}, but must be {describe_kind(kind)}"
    if holds_zero(value) and not is_no_commit:
        said = "holds a zero byte, which no program can be given"
    hint = "" if inner or is_no_commit else _near(value, kind) or _default(key)
    return setting_error(source, key, said, hint=hint)


def describe_kind(kind: Any) -> str:
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
            return describe_kind(next(each for each in get_args(kind) if each is not type(None)))
        case msgspec.inspect.DictType() | msgspec.inspect.StructType():
            return "a table"
        case _:
            return "a text in quotes"


def _shown(value: Any) -> str:
    return "a table" if isinstance(value, dict) else one_line(toml_value(value), 60)


def setting_error(source: Source, key: str, said: str, *, hint: str) -> RalphError:
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
    return f"the default is {_shown(default)}" if default not in (None, {}) else ""


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
            place = {"gates.commands": "gates", "models.tiers": "models"}.get(key, key)
            return *_culprit(f"{place}.{name}", value[name], each)[:3], True
    return key, value, kind, False


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return not holds_zero(value)
