"""What is written about a goal: what its planning sessions are asked for, and the runbook and the
guide that Ralph writes itself."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ralph.core.safe_text import one_line
from ralph.documents.code_tasks.compiling import Placed
from ralph.documents.code_tasks.reading import SUFFIX
from ralph.documents.goal_files import GUIDE, GoalFiles
from ralph.documents.markdown import blocks, first_line, rank_of
from ralph.documents.stack import Stack

MOST: Final = 15
"""Lines of one part of the guide: it is read by everybody, every time."""


def ask_referents(files: GoalFiles, goal: str) -> str:
    """Step 2."""
    return f"""\
{_goal(goal)}
Find out what this work can be modelled on, and write it to `{files.catalog}`. Look at this
repository first (what it does already in the same way, which libraries it has), then at projects
and standards that you know.

The document has these sections:

- `## Referents`: what to follow, each with what to take from it and what not
- `## Recommendation`: which one, and why
- `## Constraints`: what the work must keep to; one line each
- `## Patterns`: how things of this kind are done here; one line each

Change nothing else. {_FIRST_COME}"""


def ask_design(files: GoalFiles, goal: str) -> str:
    """Step 3."""
    return f"""\
{_goal(goal)}
Design how it is reached, and write that to `{files.design}`. Read `{files.catalog}` and the code
that will change first.

The document has these sections: `## Overview`, `## Requirements` (numbered, each one can be
tested), `## Architecture`, `## Interfaces`, `## Data`, `## Errors`, `## Testing`, `## Decisions`
(what was chosen, what else there was, and why). Name files and functions. Change nothing else.
{_FIRST_COME}"""


def ask_tasks(files: GoalFiles, goal: str) -> str:
    """Step 4."""
    return f"""\
{_goal(goal)}
Break the design down into tasks. Read `{files.design}`; then write

- `{files.plan}`: the steps in their order, with what each one leaves working
- a file for each task, `{files.implementation}/stepNN/task-NN-some-words{SUFFIX}`

A task is what one session can do in one go: one to three files, with the tests for them. Tasks that
need nothing of each other can be done at the same time, so let none wait without need, and let no
two modify the same file unless one waits for the other. Foundations come first. A file looks like
this:

    ---
    Status: PENDING
    Blocked-By: task-01-other-words{SUFFIX}, ../step01/task-02-more{SUFFIX}
    ---
    # Task: what it is, in a few words

    ## Description
    ## Background
    ## References
    the part of `{files.design}` that it serves
    ## Requirements
    ## Dependencies
    ## Approach
    ## Acceptance Criteria
    1. Given …, When …, Then …
    ## Metadata
    - Complexity: low, medium or high
    - Labels: a, b
    - Files to Modify: `src/a.py`, `tests/test_a.py`
    - Files to Read: `src/b.py`

`Blocked-By: none` where it can start at once. Every requirement of the design is served by a task.
Change nothing else. {_FIRST_COME}"""


_FIRST_COME: Final = "If the document is there already, read it and make it better."


def _goal(goal: str) -> str:
    quoted = "\n".join(f"> {line}".rstrip() for line in goal.strip().splitlines())
    return f"A team is going to work on this goal:\n\n{quoted}\n"


def guide(
    stacks: Sequence[Stack],
    gates: Mapping[str, str],
    *,
    files: GoalFiles,
    catalog: str,
    design: str,
) -> str:
    """Step 5: `.ralph/agents.md`, from what the other documents say."""
    parts = [
        "# What everybody should know here",
        "## Stack\n\n" + (_list(stack.name for stack in stacks) or "- see the code"),
        f"## Design\n\n`{files.design}`:\n\n" + (_list(_headings(design)) or "- as it stands"),
        "## Constraints\n\n"
        + (_list(_items(catalog, "constraints")) or "- none beyond the design"),
        "## Patterns\n\n" + (_list(_items(catalog, "patterns")) or "- as the code around does it"),
        "## Gates\n\n" + (gate_list(gates) or "- none are set"),
    ]
    return "\n\n".join(parts) + "\n"


def runbook(files: GoalFiles, goal: str, placed: Sequence[Placed], gates: Mapping[str, str]) -> str:
    """Step 8: what to do in which order, for workers and for people."""
    order = "\n".join(_row(one) for one in placed)
    shared = [
        f"- {one.task.name} after {', '.join(one.after)}: they modify the same files"
        for one in placed
        if one.after
    ]
    return f"""\
# Runbook: {files.name}

{goal.strip()}

Read `{GUIDE}` first, then `{files.design}` where your task points to it.

## Order

| task | what | after | files |
| --- | --- | --- | --- |
{order}

{chr(10).join(shared) + chr(10) if shared else ""}
## Gates

{gate_list(gates) or "None are set: what a session claims is checked by another one only."}

## Commands

    ralph team run {files.name}              start, and go on after any stop
    ralph team run {files.name} --workers 3  three at a time
    ralph pause · ralph resume · ralph stop   from another terminal
    touch .ralph/ABORT                        stop everybody at once; remove it to go on

## What holds for every task

- Do what your task asks for, with its tests, and nothing else.
- Ralph writes the status of the task files, runs the gates and merges.
- What others should know goes to `.ralph/guardrails.md`, by `ralph guardrails add`.
- What you cannot do, you say, and why: the next task goes on without you.
"""


def gate_list(gates: Mapping[str, str]) -> str:
    """In their order."""
    return "\n".join(f"- {name}: `{command}`" for name, command in gates.items())


def _row(one: Placed) -> str:
    after = ", ".join((*one.needs, *one.after)) or "at once"
    files = ", ".join(f"`{file}`" for file in one.task.files) or "not said"
    title = one_line(one.task.title, 80).replace("|", "/")
    return f"| {one.task.name} | {title} | {after} | {files} |"


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {one_line(line, 160)}" for line in list(lines)[:MOST])


def _headings(text: str) -> list[str]:
    """Of the second rank."""
    lines = text.splitlines()
    found = [token for token in blocks(text) if token.type == "heading_open"]
    return [lines[first_line(token)].lstrip("# ").strip() for token in found if rank_of(token) == 2]


def _items(text: str, section: str) -> list[str]:
    """The entries of the lists below a heading."""
    found: list[str] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("#"):
            inside = line.lstrip("# ").strip().lower().startswith(section)
        elif inside and line.startswith(("- ", "* ")):
            found.append(line[2:].strip())
    return found
