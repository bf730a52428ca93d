"""Take Ralph's hooks out of the project's Claude settings again.

Exactly what `ralph team install` has put there goes, after the change was shown; everything else
stays as it is, to the byte.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.team.settings_file import add_yes, change

EXAMPLES = """\
ralph team uninstall
ralph team uninstall --yes"""


def arguments(parser: ArgumentParser) -> None:
    add_yes(parser)


def run(args: Namespace) -> int:
    from ralph.documents.claude_hooks import uninstalled

    return change(args, uninstalled, "remove the hooks")
