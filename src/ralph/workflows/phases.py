"""The phases of a pipeline in a row, and where it stopped."""

from collections.abc import Mapping
from typing import Final

import msgspec

from ralph.core.policy.decision import Phase
from ralph.ports.papers import Paper, Papers
from ralph.workflows.pipeline import Pipeline

NEXT: Final[Mapping[Phase, Phase | None]] = {
    Phase.DISCOVERY: Phase.PLANNING,
    Phase.PLANNING: Phase.BUILDING,
    Phase.BUILDING: Phase.VALIDATION,
    Phase.VALIDATION: None,
}
"""What follows; nothing is left to do behind the last one."""

COMMANDS = {
    "prd": Phase.DISCOVERY,
    "plan": Phase.PLANNING,
    "build": Phase.BUILDING,
    "validate": Phase.VALIDATION,
}
"""The same by the commands that do them."""


class Journey(msgspec.Struct, frozen=True, kw_only=True):
    """What is being made of an idea, and how far it has come."""

    idea: str = ""
    phase: Phase | None = Phase.DISCOVERY
    """What comes next; None at the end."""
    approved: bool = False
    """A person has seen the plan."""


def _place(pipeline: Pipeline) -> str:
    return f"journey:{pipeline.feature}"


def journey_of(papers: Papers, pipeline: Pipeline) -> Journey | None:
    """The one that is under way, or was the last."""
    kept = papers.paper(_place(pipeline))
    return None if kept is None else msgspec.json.decode(kept.content, type=Journey)


def remember(papers: Papers, pipeline: Pipeline, journey: Journey) -> Journey:
    """So that the next one goes on from here."""
    papers.keep_paper(Paper(path=_place(pipeline), content=msgspec.json.encode(journey)))
    return journey


def give_way(papers: Papers, pipeline: Pipeline, mine: Journey, before: Journey | None) -> None:
    """Another run is at work: where nothing has come of mine yet, the one before it goes on."""
    if before is not None and journey_of(papers, pipeline) == mine:
        remember(papers, pipeline, before)


def set_out(
    before: Journey | None, idea: str, start: Phase | None, *, has_open: bool = False
) -> Journey:
    """Where to begin: where one is told to, where the same idea stopped, or at the beginning. At
    the end of a journey there may be stories that are open: a person has written them since."""
    known = before or Journey()
    if start is not None:
        # Who says where to go on has seen what is before it.
        seen = start in (Phase.BUILDING, Phase.VALIDATION)
        return Journey(idea=idea or known.idea, phase=start, approved=seen)
    if before is not None and idea in ("", before.idea):
        is_longer = before.phase is None and has_open
        return Journey(idea=before.idea, phase=Phase.PLANNING) if is_longer else before
    return Journey(idea=idea)
