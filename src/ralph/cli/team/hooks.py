"""Commands that install the hooks for Claude Code's own teams, and remove them."""

import os
import shlex
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable
from difflib import unified_diff

from ralph.cli.command import command
from ralph.cli.options import YES
from ralph.cli.project_access import open_project
from ralph.cli.prompts import confirm
from ralph.documents.claude_hooks import PATH, with_hooks, without_hooks
from ralph.documents.text_encoding import decode_text
from ralph.wiring.project import open_project_files


@command(YES)
def install(args: Namespace) -> None:
    """Let Ralph judge the tasks of Claude Code's own agent teams.

    Shows the change, then adds two hooks to the project's `.claude/settings.json`: a task counts as
    completed only when the gates pass (`ralph hook task-completed`), and a teammate rests only when
    no work is left for it (`ralph hook teammate-idle`). Ralph's own workers need none of it.

    examples:
      ralph team install
    """
    beside = os.path.join(os.path.dirname(sys.executable), "ralph")
    # All people of the project share these settings: a plain name where that is enough.
    ralph = "ralph" if shutil.which("ralph") else shlex.quote(beside)
    _change(args, lambda text: with_hooks(text, ralph), "install the hooks")


@command(YES)
def uninstall(args: Namespace) -> None:
    """Remove Ralph's hooks from the project's Claude settings.

    Shows the change first, and removes only what `ralph team install` has added.

    examples:
      ralph team uninstall
    """
    _change(args, lambda text: without_hooks(text) if text else text, "remove the hooks")


def _change(args: Namespace, edit: Callable[[str], str], what: str) -> None:
    """Show the change of the settings, ask, and write it."""
    project_files = open_project_files(open_project())
    before = decode_text(project_files.read_bytes(PATH) or b"")
    after = edit(before.text)
    if after == before.text:
        print(f"nothing to do: {PATH} is as it should be")
        return
    old, new = before.text.splitlines(), after.splitlines()
    for line in unified_diff(old, new, PATH, PATH, lineterm=""):
        print(line.rstrip("\r\n"))
    confirm(args, what)
    project_files.write(PATH, before.bytes_of(after))
    print(f"wrote   {PATH}")
