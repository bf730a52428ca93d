"""The settings, described: read from the sentences below their fields.

python -m ralph.config.reference > docs/reference/settings.md
"""

import ast
import sys

import msgspec

from ralph.config import settings as definitions


class SettingDoc(msgspec.Struct, frozen=True, kw_only=True):
    """One setting."""

    section: str
    key: str
    default: object
    doc: str


def describe() -> list[SettingDoc]:
    """Every setting, in the order in which they are defined."""
    sentences = _sentences()
    return [
        SettingDoc(
            section=section,
            key=key,
            default=getattr(type_(), key),
            doc=sentences.get((type_.__name__, key), ""),
        )
        for section, type_ in definitions.SECTIONS.items()
        for key in type_.__struct_fields__
    ]


def section_docs() -> dict[str, str]:
    """What each section is about."""
    return {name: (type_.__doc__ or "").strip() for name, type_ in definitions.SECTIONS.items()}


def as_toml(value: object) -> str:
    """A default as it would be written in `.ralph.toml`."""
    match value:
        case bool():
            return "true" if value else "false"
        case tuple() | list():
            return f"[{', '.join(as_toml(one) for one in value)}]"
        case dict():
            return "{}"
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case _:
            return str(value)


def markdown() -> str:
    """The reference page."""
    lines = [
        "# Settings",
        "",
        "Every key of `.ralph.toml` is optional. Defaults < `config.sh` < `.ralph.toml` <",
        "`RALPH_<SECTION>_<KEY>` < flags; `ralph config show` prints each value and its source.",
        "Durations are `30s`, `10m`, `8h`; an empty one is without limit.",
    ]
    about = section_docs()
    here = ""
    for one in describe():
        if one.section != here:
            here = one.section
            lines += ["", f"## [{here}]", "", about[here], ""]
            lines += ["| key | default | meaning |", "| --- | --- | --- |"]
        lines.append(f"| `{one.key}` | `{as_toml(one.default)}` | {one.doc} |")
    return "\n".join(lines) + "\n"


def _sentences() -> dict[tuple[str, str], str]:
    """The string below each field, by class and field."""
    with open(definitions.__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    found: dict[tuple[str, str], str] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for field, below in zip(node.body, node.body[1:], strict=False):
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    text = _text(below)
                    if text:
                        found[node.name, field.target.id] = text
    return found


def _text(node: ast.stmt) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return str(node.value.value).replace("\n", " ").strip()
    return ""


if __name__ == "__main__":
    sys.stdout.write(markdown())
