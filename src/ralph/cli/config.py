"""Show every setting, its value and where it came from.

With a name: that setting or section, with what it means.

examples:
  ralph config show
  ralph config show timeouts.session
  ralph config show gates --json
"""

from argparse import Namespace
from operator import attrgetter
from typing import Any

import msgspec

from ralph.cli.command import command, option
from ralph.cli.options import json_option
from ralph.cli.output import print_list
from ralph.cli.project_access import open_project
from ralph.config.reference import describe
from ralph.config.sources import nearest
from ralph.core.errors import Missing
from ralph.core.safe_text import one_line
from ralph.core.settings import Config


@command(
    option("key", "KEY", "such as execution.max_retries", nargs="?"),
    json_option("print an array of settings with key, value, source, default and meaning"),
)
def show(args: Namespace) -> None:
    project = open_project()
    defaults = Config()
    known = describe()
    found = [
        {
            "key": one.path,
            "value": attrgetter(one.path)(project.config),
            "source": str(project.source(one.path)),
            "default": attrgetter(one.path)(defaults),
            "meaning": one.doc,
        }
        for one in known
        if args.key is None or one.path == args.key or one.path.startswith(f"{args.key}.")
    ]
    if not found:
        near = nearest(args.key, [one.path for one in known]).removeprefix("; ")
        shown = one_line(args.key, 60)
        raise Missing(f"there is no setting {shown}", hint=near or "ralph config show")
    if len(found) == 1 and not args.json:
        (row,) = found
        print(f"{row['key']} = {_text(row['value'])}")
        print(f"from {row['source']}; the default is {_text(row['default'])}")
        if row["meaning"]:
            print(row["meaning"])
        return
    headers = ("KEY", "VALUE", "FROM")
    print_list(
        args, project, found, headers, lambda one: (one["key"], _text(one["value"]), one["source"])
    )


def _text(value: Any) -> str:
    """A value nearly as in `.ralph.toml`, safe to show."""
    return one_line(msgspec.json.encode(value).decode())
