"""Discovery: from a request to a PRD with stories."""

from collections.abc import Mapping

from msgspec.structs import replace

from ralph.core.errors import Missing, RalphError
from ralph.core.events import RunEnded
from ralph.core.feature_texts import Talk
from ralph.core.policy.decision import Phase
from ralph.documents.stories.checking import flaws
from ralph.documents.stories.marks import all_boxes
from ralph.documents.stories.prd import Story
from ralph.engine.kit import Kit
from ralph.ports.library import Library
from ralph.workflows.errand import Errand, send
from ralph.workflows.one_file import OneFile
from ralph.workflows.pipeline import Pipeline, prd_of
from ralph.workflows.uncommitted import uncommitted_edits

SHOWN = 10
AT_ONCE = 3
"""Of them on the first line."""


def prd_errand(library: Library, pipeline: Pipeline, request: str) -> Errand:
    """Write the PRD without asking."""
    if not request.strip():
        raise Missing(
            "nobody can be asked what is wanted",
            hint='say it: ralph prd "what you want", --file FILE, or on standard input',
        )
    built = ticked(library, pipeline)
    there = (
        f"There is a `{pipeline.prd}` already. Revise it: keep what still holds, with the ids and"
        " the boxes of its stories, and change what the request asks for.\n\n"
        if library.content(pipeline.prd)
        else ""
    )
    return Errand(
        alias=f"{pipeline.feature}-prd",
        title=f"Write {pipeline.prd}",
        description=there + pipeline.prompt(library, "prd", {"REQUEST": _quoted(request)}),
        phase=Phase.DISCOVERY,
        missing=lambda: wrong_with(library, pipeline, built),
        command=pipeline.command("prd"),
        feature=pipeline.feature,
    )


def discover(kit: Kit, pipeline: Pipeline, errand: Errand) -> RunEnded:
    """Let a session write the PRD, and nothing beside it."""
    kit.document = OneFile(kit, pipeline.prd)
    told = uncommitted_edits(kit, kit.document.paths)
    kit.settings = replace(kit.settings, warnings=(*kit.settings.warnings, *told))
    return send(kit, errand)


def prd_talk(library: Library, pipeline: Pipeline, request: str, context: str) -> Talk:
    """Find out what is wanted, with the person."""
    asked = _quoted(request) if request.strip() else "(The person will tell you.)"
    there = library.content(pipeline.prd)
    opening = (
        f"There is a PRD already, `{pipeline.prd}`. Read it, say in a few lines what it settles and"
        " what is open, and let us go on from there."
        if there
        else f"Let us write `{pipeline.prd}`."
    )
    return Talk(
        title=f"PRD {pipeline.prd}",
        phase=Phase.DISCOVERY,
        rules="\n\n".join(
            (
                "You help a person to write a product requirements document. Look at the code"
                " first, then ask about one thing at a time what it does not answer, and offer"
                " choices. When enough is clear, write the document, show it, and change it until"
                " the person is content.",
                pipeline.prompt(library, "prd", {"REQUEST": asked}),
                "Where this says that nobody can be asked: the person can.",
                context,
            )
        ),
        opening="\n\n".join(filter(None, (opening, request.strip()))),
    )


def ticked(library: Library, pipeline: Pipeline) -> dict[str, bool]:
    """The stories that are ticked, if only in part; and whether they are ticked as done."""
    stories = prd_of(library, pipeline).stories
    return {one.id: _is_done(one) for one in stories if any(b.ticked for b in all_boxes(one))}


def _is_done(story: Story) -> bool:
    return story.is_ticked or story.has_all_criteria


def _is_built(story: Story, before: Mapping[str, bool]) -> bool:
    """May its boxes stand as they do? Whoever words a story does not say that it is done."""
    if not any(box.ticked for box in all_boxes(story)):
        return True
    return story.id in before and (before[story.id] or not _is_done(story))


def wrong_with(library: Library, pipeline: Pipeline, before: Mapping[str, bool]) -> str:
    """What keeps the PRD from being built, for whoever writes it; empty where nothing does. Only
    stories that were ticked `before` may be."""
    try:
        prd = prd_of(library, pipeline)
    except RalphError as error:
        return str(error)
    if not prd.text.strip():
        return f"there is no {pipeline.prd}, or nothing is in it"
    lines = [str(one) for one in (*flaws(prd), *prd.remarks)]
    lines += [
        f"line {story.line}: {story.id} has no criteria; write at least one: - [ ] …"
        for story in prd.stories
        if not story.criteria
    ]
    lines += [
        f"line {story.line}: {story.id} is not built yet: clear all its boxes"
        for story in prd.stories
        if not _is_built(story, before)
    ]
    if not lines:
        return ""
    found = list(dict.fromkeys(lines))
    # Screens show the first line of a reason.
    first, rest = "; ".join(found[:AT_ONCE]), found[AT_ONCE:SHOWN]
    listed = "".join(f"\n- {line}" for line in rest)
    more = f"\n- and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return f"{pipeline.prd} cannot be built as it is: {first}{listed}{more}"


def _quoted(request: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in request.strip().splitlines())
