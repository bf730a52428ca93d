"""The keys of the terminal view, for its help."""

from typing import Final

from rich.text import Text

KEYS: Final = {
    "look": (
        ("↑ ↓  j k", "move; page up and down, g and G: the ends"),
        ("→ enter", "open a branch, or go to the tabs"),
        ("← esc", "close a branch, or go back to the tree"),
        ("tab", "between the tree and the tabs"),
        ("1 … 5", "live, evidence, diff, log, costs"),
        ("[ ]", "an earlier or a later attempt, in diff and log"),
        ("/ n N", "search tasks, or in a tab; the next, the one before"),
        ("o", "only open tasks, or all"),
        ("z", "hide the tree, or show it"),
    ),
    "act": (
        ("p", "pause the run after its sessions, or let it go on"),
        ("a", "answer what needs you"),
        ("r", "retry the task"),
        ("s", "skip it"),
        ("i", "tell its next session something; on Overview: any"),
        ("c", "comment on lines of the diff; shift with ↑ ↓: several"),
    ),
    "leave": (("q", "leave; runs go on as they were"),),
}


def help_text() -> Text:
    text = Text()
    for heading, keys in KEYS.items():
        text.append(f"{heading}\n", "bold")
        for key, what in keys:
            text.append(f"  {key:<9}", "cyan").append(f" {what}\n")
    return text.append("These are commands of Ralph: ralph help --all. The mouse works.", "dim")
