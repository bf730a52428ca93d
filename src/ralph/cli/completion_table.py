"""What can be completed: taken from the commands' own parsers, so that it cannot go stale."""

from typing import NamedTuple

from ralph.cli.commands import GROUPS, listed, load, summary
from ralph.cli.parser import build

NAMES = {
    "TASK": "tasks",
    "BLOCKER": "tasks",
    "BLOCKED": "tasks",
    "TASK|RUN": "tasks",
    "FEATURE": "features",
    "TARGET": "targets",
}
"""The metavars that stand for a name which `ralph task ids --of` knows."""


class Option(NamedTuple):
    """One option of a command."""

    flags: tuple[str, ...]
    help: str
    takes: str
    """The metavar of its value; empty for a switch."""
    choices: tuple[str, ...]


class Entry(NamedTuple):
    """One command or group."""

    name: str
    summary: str
    options: tuple[Option, ...] = ()
    names: str = ""
    """Whose names its arguments are: tasks, features, or targets, which are both."""
    choices: tuple[str, ...] = ()
    """Of its first argument."""
    below: tuple[str, ...] = ()
    """The words that may follow a group's name."""


def entries() -> list[Entry]:
    """The top, every group and every command."""
    groups = {"": "", **GROUPS}
    return [
        *(Entry(name, text, below=_below(name)) for name, text in groups.items()),
        *map(_entry, listed()),
    ]


def _below(group: str) -> tuple[str, ...]:
    start = f"{group} " if group else ""
    names = [*listed(), *GROUPS]
    return tuple(
        dict.fromkeys(name[len(start) :].split()[0] for name in names if name.startswith(start))
    )


def _entry(name: str) -> Entry:
    actions = build(name, load(name))._actions  # argparse has no other way
    positionals = [action for action in actions if not action.option_strings]
    return Entry(
        name=name,
        summary=summary(name),
        options=tuple(
            Option(
                flags=tuple(action.option_strings),
                help=(action.help or "").replace("%%", "%"),
                takes=_metavar(action) if action.nargs != 0 else "",
                choices=tuple(map(str, action.choices or ())),
            )
            for action in actions
            if action.option_strings
        ),
        names=next(filter(None, (NAMES.get(_metavar(one), "") for one in positionals)), ""),
        choices=tuple(str(one) for action in positionals for one in action.choices or ()),
    )


def _metavar(action: object) -> str:
    return str(getattr(action, "metavar", None) or getattr(action, "dest", "")).upper()
