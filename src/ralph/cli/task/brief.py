"""Show what the next session of a task would be told."""

import sys
from argparse import ArgumentParser, Namespace

from ralph.cli.parser import add_json
from ralph.cli.task.naming import add_task

EXAMPLES = """
ralph task brief t-4f2a1b
ralph task brief US-001 --json | jq .given
"""


def arguments(parser: ArgumentParser) -> None:
    add_task(parser)
    add_json(parser, "print rules, text, tokens and what was given and cut as JSON")


def run(args: Namespace) -> int:
    from ralph.cli.opening import the_project, the_store
    from ralph.core.safe_text import block, one_line
    from ralph.core.sections import tokens
    from ralph.core.target import Everything
    from ralph.engine.material import gather, tell
    from ralph.engine.reading import Reader
    from ralph.wiring.project import guardrails_of, open_library
    from ralph.wiring.settings import honest_gates, telling

    project = the_project()
    how = telling(project)
    with the_store(project) as store:
        task = store.find(args.task)
        known = gather(
            store,
            Reader(open_library(project), guardrails_of(project)),
            task,
            telling=how,
            target=Everything(),
            gates=tuple(gate.command for gate in honest_gates(project)),
            guidance=tuple(store.guidance_for(task.id)),
        )
    told = tell(known, how, project.loaded.config.git.commit)
    for trouble in told.troubles:
        print(f"ralph: warning: {one_line(trouble, 300)}", file=sys.stderr)
    if args.json:
        from ralph.cli.as_json import show

        show(
            {
                "task_id": task.id,
                "rules": told.rules,
                "text": told.written.text,
                "tokens": tokens(told.rules) + tokens(told.written.text),
                "given": told.written.given,
                "troubles": told.troubles,
            }
        )
        return 0
    text = f"{told.rules}\n\n{told.written.text}"
    print(block(text) if sys.stdout.isatty() else text, end="")
    return 0
