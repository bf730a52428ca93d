"""The help of commands and groups, and what an unknown command gets."""

from ralph.cli.command import command, flag, option
from ralph.cli.commands import COMMANDS, GROUPS, groups, listed, load, summary
from ralph.core.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

ALIKE = 0.66
"""How similar names are at least: `rnu` is two thirds of `run`."""
LONGEST_COMMAND = 3
"""A command has no more words than that, so more are a wish without its quotes."""


def unknown_command(name: str, rest: "Sequence[str]" = ()) -> UsageError:
    """`rest`: the words that follow; they may be a wish without its quotes."""
    from difflib import get_close_matches
    from itertools import takewhile
    from shlex import quote

    known = [*listed(), *groups()]
    # `ralph list` means one of the commands that end in it.
    words = [word for one in known for word in (one, one.split()[-1])]
    # `rum` is rather `run` than the `rm` of `task deps rm`.
    places = (words,) if name in words else (known, words)
    close = next(filter(None, (get_close_matches(name, one, 1, ALIKE) for one in places)), [])
    near = [f"`ralph {one}`" for one in known if {one, one.split()[-1]} & {*close}]
    words = [name, *takewhile(lambda word: not word.startswith("-"), rest)]
    is_wish = " " not in name
    options = "".join(f" {quote(word)}" for word in rest[len(words) - 1 :])
    wish = f"if it is what you want: ralph go {quote(' '.join(words))}{options}"
    if near:
        said = f"there is no command {name!r}; did you mean {' or '.join(near[:3])}?"
        return UsageError(said, hint=wish if is_wish and len(words) > LONGEST_COMMAND else "")
    return UsageError(
        f"there is no command {name!r}", hint=f"ralph help --all{'; ' + wish if is_wish else ''}"
    )


HELP = """\
ralph turns an idea into verified commits: it gives each task of a graph to a fresh session of a
coding agent, checks the result itself, and goes on until every task is settled.

usage: ralph "what you want" [OPTIONS]
       ralph COMMAND [OPTIONS]

start
  go              plan what you want, show the plan, build it; `ralph "…"` is short for it
  init            make the current directory a Ralph project
  demo            watch a scripted agent build a sample project
  doctor          check that Ralph has all it needs and its data is sound

plan step by step
  task            add, list, show and change tasks
  story           write, plan, build and validate the stories of a PRD

run
  run             work through the tasks until all are settled
  status          what is running, what comes next, what is stuck
  watch           follow and steer on the whole terminal (on a web page: serve)
  stop            end a run after its session (also: pause, resume)

look back
  report          what a run has come to, what proves it, and what needs you
  logs            what happened in the sessions of a task or a run
  diff            what a task has changed
  undo            revert what a task has committed

more
  help COMMAND    options and examples of a command (also COMMAND --help)
  help --all      every command

options of every command
  -C DIR          work as if started in DIR
  --color WHEN    auto, always or never; NO_COLOR is honoured
  --debug         show a traceback when something goes wrong
  --version       print the version

examples
  ralph "add a health endpoint: GET /health answers 200"
  ralph go --file wishes.md
  ralph status
"""


def show_start() -> int:
    print(HELP, end="")
    return 0


def show_group(group: str) -> int:
    print(f"ralph {group}: {GROUPS[group]}\n")
    _print_list(listed(group))
    print(f"\nralph {group} COMMAND --help shows options and examples")
    return 0


def _print_list(names: list[str]) -> None:
    width = max(map(len, names))
    for name in names:
        print(f"  ralph {name:<{width}}  {summary(name)}")


@command(
    option("command", "COMMAND", "such as: task add", nargs="*"),
    flag("--all", "list every command"),
)
def show_help(args: "Namespace") -> int:
    """Show how a command is used, or list all of them.

    examples:
      ralph help
      ralph help --all
      ralph help task add
    """
    name = " ".join(args.command)
    if args.all:
        _print_list(listed())
        print("\nralph COMMAND --help shows options and examples")
    elif not name:
        return show_start()
    elif name in GROUPS:
        return show_group(name)
    elif name in COMMANDS:
        from ralph.cli.parser import help_text

        print(help_text(name, load(name)), end="")
    else:
        raise unknown_command(name)
    return 0
