"""Write down the prompt templates of the story pipeline, for you to edit.

They go to `.agents/ralph/PROMPT_*.md` and take the place of what Ralph would tell its sessions. A
file that is there already stays as it is. With `--skills` agents get a skill `prd` in the project's
folder for it, so that they write such documents also when you start them yourself.
"""

import os
from argparse import ArgumentParser, Namespace

EXAMPLES = """\
ralph install
ralph install --skills
ralph install --force"""


def arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--skills", action="store_true", help="also the skill `prd`")
    parser.add_argument("--agent", metavar="NAME", help="only for this agent")
    parser.add_argument("--force", action="store_true", help="write over what is there")


def run(args: Namespace) -> int:
    """Say what was written."""
    from ralph.cli.agents_seen import all_agents
    from ralph.cli.opening import the_project
    from ralph.core import reviewing, verification
    from ralph.core.errors import UsageError
    from ralph.documents.prd_skill import FILE, TEXT
    from ralph.documents.prompts import TEMPLATES
    from ralph.documents.templates import template_path
    from ralph.wiring.project import open_library

    project = the_project()
    templates = {**TEMPLATES, "verify": verification.HOW, "review": reviewing.HOW}
    files = {template_path(name): text for name, text in templates.items()}
    folders = {one.traits.name: one.traits.skills for one in all_agents([]) if one.traits.skills}
    if args.agent is not None and args.agent not in folders:
        raise UsageError(
            f"nobody knows where {args.agent!r} keeps its skills",
            hint=f"agents with skills: {', '.join(folders)}",
        )
    if args.skills:
        agents = [args.agent] if args.agent else list(folders)
        files |= {os.path.join(folders[name], FILE): TEXT for name in agents}
    library = open_library(project)
    for path, text in files.items():
        if library.exists(path) and not args.force:
            print(f"kept    {path}")
        else:
            library.put(path, text.encode())
            print(f"wrote   {path}")
    return 0
