"""Which gates are no gates: commands whose exit status can never be a failure."""

from typing import TYPE_CHECKING, Final

from ralph.core.safe_text import one_line
from ralph.documents.shell.statements import can_fail
from ralph.documents.shell.words import parse, syntax_error, text_of

if TYPE_CHECKING:
    from tree_sitter import Node


LONGEST: Final = 32_000


def cannot_fail(command: str) -> str | None:
    """Why the command is no gate, as the rest of a sentence that begins with its name, or None.

    "ends with `|| true`, so it cannot fail"; also "is not valid shell: …".
    """
    if len(command) > LONGEST:
        return "is too long to be checked: put it into a script"
    if any(char < " " and char not in "\n\t" for char in command):
        return "holds control characters, which no command needs"
    root = parse(command)
    if wrong := syntax_error(root):
        return f"is not valid shell: {wrong}"
    try:
        return None if can_fail(root.children) else _reason(root)
    except RecursionError:
        # What nobody can follow proves nothing to a reader either.
        return "is nested too deeply to be checked"


def _reason(root: "Node") -> str:
    """What to look at: nearly always the last statement."""
    statements = [child for child in root.children if child.type not in ("comment", ";", "\n")]
    if not statements:
        return "runs nothing, so it cannot fail"
    last = statements[-1]
    if last.type == "&":
        return "runs in the background, so its failure is never seen"
    if can_fail([last]):
        return "always ends with success, so it cannot fail"
    inner = last.child_by_field_name("body") if last.type == "redirected_statement" else last
    match inner.type if inner else "":
        case "list" if inner and inner.children[-2].type == "||":
            return f"ends with `|| {_short(inner.children[-1])}`, so it cannot fail"
        case "pipeline" if inner:
            shown = _short(inner.children[-1])
            return f"ends with `| {shown}`, which succeeds whatever comes before (set -o pipefail)"
        case _:
            only = "is" if len(statements) == 1 else "ends with"
            return f"{only} `{_short(last)}`, which always succeeds"


def _short(node: "Node") -> str:
    return one_line(text_of(node), 40)
