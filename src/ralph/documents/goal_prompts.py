"""Prompts for the planning sessions of a goal, and the runbook and guide that Ralph writes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ralph.core.safe_text import markdown_quote, one_line
from ralph.documents.code_task_file import SUFFIX, CodeTask
from ralph.documents.feature_files import GUIDE, GoalFiles
from ralph.documents.markdown import blocks, first_line, rank_of
from ralph.documents.project_stack import Stack
from ralph.prompts import prompt

MOST: Final = 15
"""Lines of one part of the guide, which every session reads."""


def planning_prompt(files: GoalFiles, goal: str, step: str) -> str:
    """The prompt of a planning session: `referents`, `design` or `tasks`."""
    return prompt(f"goal_{step}").format(files=files, goal=markdown_quote(goal), suffix=SUFFIX)


def guide_text(
    stacks: Sequence[Stack],
    gates: Mapping[str, str],
    *,
    files: GoalFiles,
    catalog: str,
    design: str,
) -> str:
    parts = [
        "# What every session should know here",
        "## Stack\n\n" + (_list(stack.name for stack in stacks) or "- see the code"),
        f"## Design\n\n`{files.design}`:\n\n" + (_list(_headings(design)) or "- as it is"),
        "## Constraints\n\n"
        + (_list(_items(catalog, "constraints")) or "- none beyond the design"),
        "## Patterns\n\n" + (_list(_items(catalog, "patterns")) or "- as the code around does it"),
        "## Gates\n\n" + (gate_list(gates) or "- none are set"),
    ]
    return "\n\n".join(parts) + "\n"


def runbook_text(
    files: GoalFiles, goal: str, placed: Sequence[CodeTask], gates: Mapping[str, str]
) -> str:
    """The runbook: what is done in which order, for workers and for people."""
    order = "\n".join(_row(one) for one in placed)
    return prompt("goal_runbook").format(
        files=files,
        goal=goal.strip(),
        guide=GUIDE,
        order=order,
        gates=gate_list(gates)
        or "None are set: what a session claims is checked by another one only.",
    )


def gate_list(gates: Mapping[str, str]) -> str:
    return "\n".join(f"- {name}: `{command}`" for name, command in gates.items())


def _row(one: CodeTask) -> str:
    after = ", ".join(one.needs) or "at once"
    files = ", ".join(f"`{file}`" for file in one.files) or "not said"
    title = one_line(one.title, 80).replace("|", "/")
    return f"| {one.name} | {title} | {after} | {files} |"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {one_line(line, 160)}" for line in list(lines)[:MOST])


def _headings(text: str) -> list[str]:
    lines = text.splitlines()
    found = [token for token in blocks(text) if token.type == "heading_open"]
    return [lines[first_line(token)].lstrip("# ").strip() for token in found if rank_of(token) == 2]


def _items(text: str, section: str) -> list[str]:
    """The items of the lists below a heading."""
    found: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("#"):
            inside = line.lstrip("# ").strip().lower().startswith(section)
        elif inside and line.startswith(("- ", "* ")):
            found.append(line[2:].strip())
    return found
