"""What commands have in common that hand the terminal over to an agent."""

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from ralph.core.errors import UsageError

if TYPE_CHECKING:
    from ralph.core.feature_texts import Talk
    from ralph.wiring.project import Project


def add_agent(parser: ArgumentParser) -> None:
    """Which agent, and which model."""
    parser.add_argument("--agent", metavar="NAME", help="which agent does it")
    parser.add_argument("--model", metavar="MODEL", help="haiku, sonnet, opus or any name")


def flags(args: Namespace) -> dict[str, object]:
    """As settings."""
    found: dict[str, object] = {}
    if args.agent is not None:
        found["agent.name"] = args.agent
    if args.model is not None:
        found["models.model"] = args.model
    if getattr(args, "no_sandbox", False):
        found["sandbox.mode"] = "off"
    return found


def has_terminal() -> bool:
    """Can a program talk with a person here?"""
    streams = (sys.stdin, sys.stdout)
    return all(stream is not None and stream.isatty() for stream in streams)


def need_terminal(what: str, otherwise: str) -> None:
    """Some things cannot be done without a person."""
    if not has_terminal():
        raise UsageError(f"{what} needs a terminal with a person at it", hint=otherwise)


def hold(project: "Project", talk: "Talk") -> None:
    """Step aside for a session with the person."""
    from ralph.core.safe_text import one_line
    from ralph.wiring.conversation import a_conversation

    with a_conversation(project) as conversation:
        program = conversation.agent.traits.name
        title = one_line(talk.title)
        print(f"{title}: {program} takes over; leave it when you are done", flush=True)
        code = conversation.hold(talk)
    if code != 0:
        print(f"ralph: {program} ended with {code}", file=sys.stderr)
