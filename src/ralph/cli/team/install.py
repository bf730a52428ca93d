"""Let Ralph judge the tasks of Claude Code's own agent teams.

Two hooks go into the project's `.claude/settings.json`, after the change was shown: a task counts
as completed only when the gates pass (`ralph hook task-completed`), and a teammate rests only when
there is nothing left for it to do (`ralph hook teammate-idle`). Ralph's own workers need none of
it.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.team.settings_file import add_yes, change

EXAMPLES = """\
ralph team install
ralph team install --yes"""


def arguments(parser: ArgumentParser) -> None:
    add_yes(parser)


def run(args: Namespace) -> int:
    import os
    import shlex
    import shutil
    import sys

    from ralph.documents.claude_hooks import installed

    beside = os.path.join(os.path.dirname(sys.executable), "ralph")
    # The settings are everybody's in the project: a plain name where that is enough.
    ralph = "ralph" if shutil.which("ralph") else shlex.quote(beside)
    return change(args, lambda text: installed(text, ralph), "install the hooks")
