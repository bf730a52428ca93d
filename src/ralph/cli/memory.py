"""Commands about what later sessions get: guardrails, and what sessions have learned."""

import os
import re
import time
from argparse import Namespace

from ralph.cli.command import command, option
from ralph.cli.options import JSON, YES, at_least, json_option
from ralph.cli.output import print_answer, print_list
from ralph.cli.project_access import open_project, project_with_store
from ralph.cli.prompts import confirm, text_of
from ralph.config.sources import nearest
from ralph.core.brief import Guardrail, GuardrailKind
from ralph.core.errors import Missing, UnusableData, UsageError
from ralph.core.safe_text import one_line
from ralph.documents import guardrails
from ralph.wiring.project import guardrails_of, open_guardrail_writer, open_project_files

KINDS = ("fix", "decision", "pattern")
MEMORY_ID = re.compile(r"m-[0-9]{1,18}")


@command(JSON)
def list_guardrails(args: Namespace) -> None:
    """List the guardrails.

    examples:
      ralph memory guardrails
      ralph memory guardrails --json | jq -r .[].text
    """
    project = open_project()
    page = open_project_files(project).read(guardrails_of(project))
    if page.trouble:
        raise UnusableData(page.trouble, hint="look at what is in its place")
    print_list(
        args,
        project,
        guardrails.read(page.text or ""),
        ("ID", "CREATED", "TAGS", "TEXT"),
        lambda one: (one.id, one.created, ", ".join(one.tags), one.text),
        none="no guardrails; `ralph memory add TEXT` writes one down",
    )


@command(
    option("text", "TEXT", "the lesson; - reads standard input"),
    option(
        "--kind",
        "fix: what fixes a fault; decision; pattern: how things are done (the default)",
        choices=KINDS,
        default="pattern",
    ),
    option("--tag", "TAG", "may be repeated", dest="tags", action="append", default=[]),
    json_option("print the entry as JSON"),
)
def add_guardrail(args: Namespace) -> None:
    """Add a guardrail for later sessions.

    An equal one is not written twice; its id is printed.

    examples:
      ralph memory add "never edit generated files; change the template and run make generate"
      ralph memory add --kind fix --tag tests "the port is taken in tests: use port 0"
      git log -1 --format=%B | ralph memory add --kind decision -
    """

    text = text_of(args.text).strip()
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
    entry = open_guardrail_writer(open_project()).add_guardrail(entry)
    print_answer(args, entry, entry.id)


@command(option("ids", "ID", "as `ralph memory list` and `guardrails` show them", nargs="+"), YES)
def remove(args: Namespace) -> None:
    """Remove guardrails and memories, so that later sessions do not get them.

    The rest of the file of guardrails stays as it is.

    examples:
      ralph memory remove m-12
      ralph memory remove fix-1760000000-a1b2 m-15 --yes
    """
    ids = list(dict.fromkeys(args.ids))
    numbers = [int(one[2:]) for one in ids if MEMORY_ID.fullmatch(one)]
    names = [one for one in ids if not MEMORY_ID.fullmatch(one)]
    with project_with_store() as (project, store):
        project_files, path = open_project_files(project), guardrails_of(project)
        _without(project_files.read(path).text or "", names)
        confirm(args, f"removing {', '.join(ids)}")
        if names:
            project_files.change(path, lambda before: _without(before, names))
            print(f"removed {', '.join(names)}")
        for number in numbers:
            gone = store.memories.delete(number)
            print(f"forgot m-{number}  {one_line(gone.name, 80)}")


def _without(text: str, names: list[str]) -> str:
    """The text without these guardrails; an unknown name is an error before anything changes."""
    # From the end on: removing one does not change the names of those before it.
    order = [entry.id for entry in guardrails.read(text)]
    for name in sorted(names, key=lambda one: order.index(one) if one in order else -1)[::-1]:
        rest = guardrails.without_guardrail(text, name)
        if rest is None:
            near = nearest(name, order).removeprefix("; ")
            hint = near or "`ralph memory guardrails` and `ralph memory list` have them"
            raise Missing(f"there is no guardrail or memory {name}", hint=hint)
        text = rest
    return text


@command(
    option("words", "WORD", "the most relevant first; without: the newest", nargs="*"),
    option("--task", "TASK", "only what attempts at this task have left"),
    option("-n", "--limit", "N", "at most N (default 50)", type=at_least(1), default=50),
    JSON,
)
def list_memories(args: Namespace) -> None:
    """List or search what sessions have learned.

    examples:
      ralph memory list
      ralph memory list connection pool
      ralph memory list --task t-4f2a1b --json
    """
    if args.words and args.task:
        raise UsageError("either words or --task, not both")
    with project_with_store() as (project, store):
        if args.words:
            found = store.memories.search(args.words, args.limit)
        else:
            task = store.tasks.find(args.task).id if args.task else None
            found = store.memories.select(task=task, limit=args.limit)
    print_list(
        args,
        project,
        found,
        ("ID", "KIND", "FROM", "TITLE", "TEXT"),
        lambda one: (f"m-{one.id}", one.kind, f"{one.task_id}:{one.attempt}", one.title, one.text),
        none="nothing is remembered" + (" of that" if args.words or args.task else " yet"),
    )
