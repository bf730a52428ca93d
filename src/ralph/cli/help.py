"""Show how a command is used, or list all of them."""

from argparse import ArgumentParser, Namespace

from ralph.cli.commands import COMMANDS, GROUPS, listed, load, summary

EXAMPLES = """
ralph help
ralph help --all
ralph help task add
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("command", metavar="COMMAND", nargs="*", help="such as: task add")
    parser.add_argument("--all", action="store_true", help="list every command")


def run(args: Namespace) -> int:
    from ralph.cli.unknown import unknown_command

    name = " ".join(args.command)
    if args.all or not name:
        return show_all() if args.all else show_start()
    if name in GROUPS:
        return show_group(name)
    if name not in COMMANDS:
        raise unknown_command(name)
    from ralph.cli.parser import help_text

    print(help_text(name, load(name)), end="")
    return 0


def show_start() -> int:
    """What a newcomer needs."""
    from ralph.cli.welcome import HELP

    print(HELP, end="")
    return 0


def show_all() -> int:
    """Every command with its summary."""
    _print_list(listed())
    print("\nralph COMMAND --help shows options and examples")
    return 0


def show_group(group: str) -> int:
    """The commands of one group."""
    print(f"ralph {group}: {GROUPS[group]}\n")
    _print_list(listed(group))
    print(f"\nralph {group} COMMAND --help shows options and examples")
    return 0


def _print_list(names: list[str]) -> None:
    width = max(map(len, names))
    for name in names:
        print(f"  ralph {name:<{width}}  {summary(name)}")
