"""Check that everything Ralph needs is there and sound.

Counters of the database that are wrong are put right. Ends with 1 when something has to be mended.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json

EXAMPLES = """
ralph doctor
ralph doctor --json
"""

MARKS = {"ok": ("✓", "32"), "warning": ("!", "33"), "failed": ("✗", "31")}


def arguments(parser: ArgumentParser) -> None:
    add_json(parser, "print an array of checks, each with state, what and way_out")


def run(args: Namespace) -> int:
    from ralph.cli.checks import all_checks

    checks = list(all_checks())
    code = 1 if any(check.state == "failed" for check in checks) else 0
    if args.json:
        from ralph.cli.as_json import show

        show(checks)
        return code
    from ralph.cli.screen import Screen
    from ralph.core.safe_text import one_line

    screen = Screen(args)
    for check in checks:
        mark, colour = MARKS[check.state]
        print(f"{screen.paint(mark, colour)} {one_line(check.what)}")
        if check.way_out:
            print(f"    {one_line(check.way_out)}")
    return code
