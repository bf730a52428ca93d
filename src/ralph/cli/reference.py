"""The commands, described: what `--help` says, as one page.

python -m ralph.cli.reference > docs/reference/commands.md
"""

import sys

from ralph.cli.commands import COMMANDS, load
from ralph.cli.parser import help_text


def page() -> str:
    parts = ["# Commands\n\nWhat `ralph COMMAND --help` says.\n"]
    parts += [f"\n## ralph {name}\n\n```\n{help_text(name, load(name))}```\n" for name in COMMANDS]
    return "".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
