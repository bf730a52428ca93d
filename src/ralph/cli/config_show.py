"""Show every setting, its value and where it came from.

With a name: that setting or section, with what it means.
"""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from ralph.cli.parser import add_json

if TYPE_CHECKING:
    from ralph.cli.setting_list import Setting

EXAMPLES = """
ralph config show
ralph config show timeouts.session
ralph config show gates --json
"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("key", metavar="KEY", nargs="?", help="such as execution.max_retries")
    add_json(parser, "print an array of settings with key, value, source, default and meaning")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project
    from ralph.cli.setting_list import chosen, settings

    project = the_project()
    found = chosen(settings(project.loaded), args.key)
    if args.json:
        from ralph.cli.as_json import show_array

        show_array(found)
        return 0
    if len(found) == 1:
        _explain(found[0])
        return 0
    from ralph.cli.screen import Screen
    from ralph.ui.tables import table

    screen = Screen(args, project)
    rows = [(one.key, _text(one.value), one.source) for one in found]
    headers = ("KEY", "VALUE", "FROM")
    print("\n".join(table(rows, headers, width=screen.width, color=screen.has_colour)))
    return 0


def _explain(setting: "Setting") -> None:
    print(f"{setting.key} = {_text(setting.value)}")
    print(f"from {setting.source}; the default is {_text(setting.default)}")
    if setting.meaning:
        print(setting.meaning)


def _text(value: Any) -> str:
    """As it would stand in `.ralph.toml`, near enough; safe to show."""
    import msgspec

    from ralph.core.safe_text import one_line

    return one_line(msgspec.json.encode(value).decode())
