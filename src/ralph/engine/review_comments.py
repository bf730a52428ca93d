"""Part of step 4: what a session has done about the comments of people and the findings of
reviewers."""

from collections.abc import Sequence
from operator import attrgetter

from ralph.core.errors import RalphError, TemporaryFailure
from ralph.core.line_comments import FileTexts, answer_of, read_lines
from ralph.core.message_tags import read_message_tags
from ralph.core.review_thread import LineComment, LineRange
from ralph.core.snapshot import Snapshot
from ralph.core.verdict import Verdict
from ralph.core.verification_and_review import dismissals_in, on_comments
from ralph.engine.run_context import RunContext
from ralph.engine.run_state import EndedAttempt
from ralph.engine.state_files import write_review_file


def answer_comments(ctx: RunContext, attempt: EndedAttempt) -> Verdict | None:
    """Record which findings the session has dismissed and which comments its change answers. None:
    no comment is left without an answer."""
    store, task, number = ctx.store, attempt.task, attempt.session.attempt
    thread, message = store.reviews.thread(task.id), attempt.ending.message
    for one in dismissals_in(message, thread, f"attempt {number}"):
        store.checks.dismiss_finding(task.id, one, attempt.claim)
    if not thread.comments:
        return None
    tags = read_message_tags(message).addressed
    named: dict[str, list[LineRange]] = {}
    for tag in tags:
        lines = map(read_lines, tag.text.replace(",", "\n").splitlines())
        named.setdefault(tag.id.upper(), []).extend(filter(None, lines))
    for comment in store.reviews.thread(task.id).comments:
        if comment.dismissal is None:
            answers = named.get(comment.finding, [])
            texts = _texts(ctx, attempt, comment, answers)
            answer = answer_of(comment, number, texts, answers)
            if answer != comment.answer:
                store.reviews.answer(comment, answer, number, attempt.claim)
    write_review_file(store, ctx.project_files, task)
    return on_comments(store.reviews.thread(task.id).open_comments)


def _texts(
    ctx: RunContext, attempt: EndedAttempt, comment: LineComment, named: Sequence[LineRange]
) -> dict[str, FileTexts]:
    """The files that a comment and its answers are about, at the three moments that matter."""
    paths = sorted({comment.lines.path, *map(attrgetter("path"), named)})
    moments = (Snapshot(tree=comment.at), _begun(ctx, attempt, comment), attempt.after)
    then, before, after = (_contents(ctx, at, paths) for at in moments)
    return {one: FileTexts(then.get(one), before.get(one), after.get(one)) for one in paths}


def _begun(ctx: RunContext, attempt: EndedAttempt, comment: LineComment) -> Snapshot:
    """The checkout when the first session began that knew the comment."""
    sessions = ctx.store.sessions.select(task=attempt.task.id)
    since = (one.before for one in sessions if one.started_at >= comment.made_at and one.before)
    return next(since, attempt.session.before or attempt.base)


def _contents(ctx: RunContext, at: Snapshot, paths: Sequence[str]) -> dict[str, str]:
    try:
        found = ctx.workspace.file_contents(at, paths)
    except TemporaryFailure:
        raise
    except RalphError:
        return {}  # git keeps what no branch has for two weeks
    return {path: text.decode("utf-8", "replace") for path, text in found.items()}
