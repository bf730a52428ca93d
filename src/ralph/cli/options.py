"""Options that several commands share, and the types of their values."""

import os
from argparse import ArgumentTypeError, BooleanOptionalAction, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ralph.cli.command import exclusive, flag, option, setting

if TYPE_CHECKING:
    from ralph.cli.command import Option

LARGEST: Final = 2**31 - 1
PHASES: Final = ("discovery", "planning", "building", "validation")
STRATEGIES: Final = ("fixed", "cost-optimized", "escalate", "plan-then-execute")


def at_least(smallest: int) -> Callable[[str], int]:
    """A type for whole numbers that are not too small, nor too large for a database."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = smallest - 1
        if not smallest <= value <= LARGEST:
            wanted = f" of at least {smallest}" if smallest > -LARGEST else ""
            raise ArgumentTypeError(f"{text!r} is not a whole number{wanted}")
        return value

    return number


NUMBER: Final = at_least(-LARGEST)
"""Where the settings say which numbers are allowed."""


def json_option(what: str = "print JSON") -> "Option":
    return flag("--json", what)


def limit_option(default: int, what: str = "at most N") -> "Option":
    """`--limit`; see `limit_of`."""
    how_many = f"{what} (default {default}, 0 for all)"
    return option("--limit", "N", how_many, type=at_least(0))


def limit_of(args: Namespace, default: int) -> int:
    """How many rows to show, 0 for all: JSON output has all unless a limit is given."""
    return int(args.limit if args.limit is not None else 0 if args.json else default)


def no_commit(what: str) -> "Option":
    return setting("git.commit", "--no-commit", f"leave {what} uncommitted", const="none")


JSON: Final = json_option()
EVENTS: Final = json_option("print events as JSON lines")
YES: Final = flag("-y", "--yes", "do not ask")
TASK: Final = option("task", "TASK", "id (t-4f2a1b) or alias (US-001)")
TASKS: Final = option("tasks", "TASK", "ids or aliases", nargs="+")
FEATURE: Final = option("name", "FEATURE", "the feature's name")
PRD: Final = option("--prd", "FILE", "the PRD, if it is not .agents/tasks/prd.md")
DRY_RUN: Final = flag("--dry-run", "show what would be done")
NO_SANDBOX: Final = setting("sandbox.mode", "--no-sandbox", "run without the sandbox", const="off")
AGENT: Final = setting("agent.name", "--agent", "AGENT", "which agent does it")
MODEL: Final = setting("models.model", "--model", "MODEL", "haiku, sonnet, opus or any name")
SESSION: Final = (AGENT, MODEL, NO_SANDBOX)
"""What every command takes that runs a single session."""
SANDBOX_RULES: Final = tuple(
    setting(key, name, metavar, what, action="append")
    for key, name, metavar, what in (
        ("sandbox.allow", "--allow", "RULE", "allow what a rule names: aws, docker, ssh…"),
        ("sandbox.write", "--allow-write", "PATH", "allow sessions to write there"),
        ("sandbox.read", "--allow-read", "PATH", "allow sessions to read there"),
    )
)
RUN_OPTIONS: Final = (
    exclusive(
        setting("execution.limit", "--once", "stop after one iteration", const=1),
        setting("execution.limit", "--limit", "N", "stop after N iterations", type=NUMBER),
    ),
    setting(
        "workers.count", "--workers", "N", "how many sessions work at the same time", type=NUMBER
    ),
    setting("agent.name", "--agent", "AGENT", "which agent does the work"),
    setting("models.model", "--model", "MODEL", "always this one: haiku, sonnet, opus or any name"),
    setting(
        "models.strategy",
        "--model-strategy",
        "STRATEGY",
        "fixed, cost-optimized, escalate or plan-then-execute",
        choices=STRATEGIES,
    ),
    setting("execution.max_retries", "--max-retries", "N", "retries of each task", type=NUMBER),
    setting("execution.verify", "--no-verify", "skip verification", const=False),
    option(
        "--review",
        "review every change, or skip reviews",
        dest="review.enabled",
        action=BooleanOptionalAction,
    ),
    setting("execution.learn", "--no-learn", "do not ask sessions what they learned", const=False),
    setting("git.branch", "--branch", "NAME", "work on this branch; a new one if there is none"),
    no_commit("the work"),
    NO_SANDBOX,
    *SANDBOX_RULES,
    DRY_RUN,
    EVENTS,
)
"""What every command takes that runs the loop."""


def settings_of(args: Namespace) -> dict[str, object]:
    """The settings that were given on the command line."""
    found = {key: value for key, value in vars(args).items() if "." in key and value is not None}
    for key, name in (("sandbox.write", "--allow-write"), ("sandbox.read", "--allow-read")):
        if key in found:
            # Here and not while parsing: paths are relative to where -C leads.
            found[key] = [_existing(name, path) for path in found[key]]
    return found


def _existing(name: str, path: str) -> str:
    """Check that a path exists or is in the checkout, and make it absolute."""
    from ralph.core.errors import UsageError
    from ralph.core.sandbox_rules import is_inside
    from ralph.git_layout import top_of

    whole, here = os.path.abspath(os.path.expanduser(path)), os.getcwd()
    if not os.path.lexists(whole) and not is_inside(whole, top_of(here) or here):
        raise UsageError(f"{name} {path}: there is no such file or folder", hint="make it first")
    return whole
