"""Write down a lesson: later sessions are told of it.

One that says the same is not written a second time; its id is printed.
"""

from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json, one_of

EXAMPLES = """
ralph guardrails add "never edit generated files; change the template and run make generate"
ralph guardrails add --kind fix --tag tests "the port is taken in tests: use port 0"
git log -1 --format=%B | ralph guardrails add --kind decision -
"""

KINDS = ("fix", "decision", "pattern")


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="what to mind; - reads standard input")
    parser.add_argument(
        "--kind",
        type=one_of(KINDS),
        choices=KINDS,
        default="pattern",
        help="fix: what mends a fault; decision; pattern: how things are done (the default)",
    )
    parser.add_argument(
        "--tag", dest="tags", metavar="TAG", action="append", default=[], help="may be repeated"
    )
    add_json(parser, "print the entry as JSON")


def run(args: Namespace) -> int:
    import os
    import time

    from ralph.cli.opening import the_project
    from ralph.cli.task.options import described
    from ralph.core.errors import UsageError
    from ralph.core.shelf import Guardrail, GuardrailKind
    from ralph.documents import guardrails
    from ralph.wiring.project import open_lessons

    text = described(args.text).strip()
    if not text:
        raise UsageError("the text is empty")
    kind, now_s = GuardrailKind(args.kind), int(time.time())
    entry = Guardrail(
        id=guardrails.new_id(kind, now_s, os.urandom(2).hex()),
        kind=kind,
        text=text,
        tags=tuple(tag.strip() for word in args.tags for tag in word.split(",") if tag.strip()),
        created=time.strftime("%Y-%m-%d", time.localtime(now_s)),
    )
    entry = open_lessons(the_project()).add_guardrail(entry)
    if args.json:
        from ralph.cli.as_json import show

        show(entry)
    else:
        print(entry.id)
    return 0
