"""Check the whole against the PRD, criterion by criterion.

Gates and sessions look at a clean checkout of the newest commit; each story that is said to be done
gets a session of its own. The report is `.ralph/validation.md`. A story of which a criterion does
not hold is opened again, and its next session hears why. Exits with 1 where anything does not hold.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.cli.pipeline import add_prd

if TYPE_CHECKING:
    from ralph.documents.validation import Report
    from ralph.wiring.project import Project
    from ralph.workflows.pipeline import Pipeline

EXAMPLES = """\
ralph validate
ralph validate --json
ralph validate --prd docs/shop.md"""


def arguments(parser: ArgumentParser) -> None:
    from ralph.cli.with_a_person import add_agent

    add_prd(parser)
    add_agent(parser)
    parser.add_argument("--no-sandbox", action="store_true", help="run without a wall, knowingly")
    parser.add_argument("--no-commit", action="store_true", help="leave the report uncommitted")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(args: Namespace) -> int:
    """0 where everything holds."""
    from ralph.cli.opening import the_project
    from ralph.cli.pipeline import the_pipeline
    from ralph.cli.with_a_person import flags

    wanted = flags(args) | ({"git.commit": "none"} if args.no_commit else {})
    project = the_project(wanted | {"execution.limit": 0})
    return validate_stories(project, the_pipeline(project, args), args)


def validate_stories(
    project: "Project",
    pipeline: "Pipeline",
    args: Namespace,
    *,
    events: bool = False,
    command: str = "validate",
) -> int:
    """Run it, and say what was found: in words, as JSON, or by nothing but events."""
    from ralph.cli.opening import warn
    from ralph.cli.pipeline import color_of
    from ralph.core.errors import Missing
    from ralph.ports.store import Store
    from ralph.wiring.project import open_library
    from ralph.wiring.run import assemble
    from ralph.workflows.minding import note
    from ralph.workflows.pipeline import require_prd
    from ralph.workflows.stories import Stories
    from ralph.workflows.validation import STOPPED, root_task, validate

    library = open_library(project)
    retries = project.loaded.config.execution.max_retries
    require_prd(library, pipeline)

    def followed(store: Store) -> Stories:
        stories = Stories(
            store=store,
            library=library,
            path=pipeline.prd,
            feature=store.add_feature(pipeline.feature),
            max_retries=retries,
        )
        note(store, stories, project.root)
        stories.follow()
        if not stories.tasks.done():
            raise Missing(f"no story of {pipeline.prd} is built", hint=pipeline.command("build"))
        return stories

    def prepare(store: Store) -> str:
        followed(store)
        return root_task(store, pipeline).id

    screen = sys.stderr if args.json and not events else sys.stdout
    color = color_of(project, args)
    again = pipeline.command(command)
    with assemble(project, prepare, screen, json=events, color=color, again=again) as kit:
        stories = followed(kit.store)
        report, ended, told = validate(kit, pipeline, stories, retries)
    for line in told:
        warn(line)
    if args.json and not events:
        from ralph.cli.as_json import show

        show({**_as_values(report), "passed": report.passed})
    elif not events:
        _tell(report, pipeline, is_over=ended.outcome not in STOPPED)
    # Paused or interrupted is another matter than a criterion that does not hold.
    if ended.exit_code not in (0, 5):
        return ended.exit_code
    return 0 if report.passed else 1


def _as_values(report: "Report") -> dict[str, object]:
    import msgspec

    values: dict[str, object] = msgspec.to_builtins(report)
    return values


def _tell(report: "Report", pipeline: "Pipeline", *, is_over: bool) -> None:
    from ralph.core.safe_text import one_line

    for gate in report.gates:
        print(f"{'pass' if gate.passed else 'FAIL'}     gate {gate.name}")
    for story in report.stories:
        for one in story.criteria:
            word = "pass" if one.verdict == "pass" else one.verdict.upper()
            print(f"{word:<8} {story.id} {one_line(one.criterion, 80)}")
    if not is_over:
        return
    print(f"report: {pipeline.report}")
    verdicts = {one.verdict for story in report.stories for one in story.criteria}
    if "fail" in verdicts:
        print(f"next: {pipeline.command('build')}")
    elif not all(one.passed for one in report.stories):
        # Nothing was opened again: there is nothing to build.
        print(f"next: {pipeline.command('validate')}   looks again at what nobody could tell")
