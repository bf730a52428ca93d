"""Events in words: what a person is told about each, on whatever screen."""

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core import check_events, events, handoff_events, team_events
from ralph.core.breaker import Recovery
from ralph.core.duration import spoken
from ralph.core.ended import Ended
from ralph.core.gates import Evidence
from ralph.core.ids import TaskId
from ralph.core.memory import MemoryKind
from ralph.core.safe_text import one_line
from ralph.core.task import Status
from ralph.ui.board import TITLE_WIDTH, Board, Hold, Settled
from ralph.ui.wording import (
    clock,
    cost,
    day,
    denials,
    dollars,
    first_line,
    many,
    time_of_day,
    whole,
)

LONG_WAIT_S: Final = 60.0
NEXT: Final[Mapping[str, str]] = {
    Recovery.BACK_OFF: "one session is tried after a while",
    Recovery.SKIP: "its task is put aside, and another one tried after a while",
    Recovery.HAND_OFF: "a fresh session is told what was seen of the last, after a while",
    Recovery.PERSON: "a person is needed",
}
"""What follows when a breaker opens."""
SAFE: Final = "Ctrl-C and `ralph stop` lose nothing; `ralph resume` goes on at once"


class Tone(StrEnum):
    """How it is meant; screens give it a colour and a mark."""

    GOOD = "good"
    BAD = "bad"
    AGAIN = "again"
    """It did not count; the task comes again."""
    WARNING = "warning"
    NOTE = "note"
    DETAIL = "detail"
    """Worth a line in a log, not on a live screen, which shows it by itself."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that matters. Everything in here is safe to show on one line."""

    tone: Tone
    word: str
    """What happened: `done`, `rejected`."""
    task_id: TaskId | None = None
    task: str = ""
    """What people call it."""
    seat: str = ""
    """Whose it is, where several work."""
    title: str = ""
    facts: tuple[str, ...] = ()
    why: str = ""
    advice: str = ""
    """What a person can do. The live view says it as long as it holds."""


def tell(event: events.Event, board: Board) -> Told | None:
    """What to say about an event that the board has just taken; None: nothing."""
    is_hold = isinstance(event, events.RunPaused | events.RunResumed | events.RunWaiting)
    told = None if is_hold and not board.is_news else _tell(event, board)
    if told is None or told.task_id is None:
        return told
    name = one_line(board.names.of(told.task_id), 40)
    return replace(told, task=name, seat=board.team.who(told.task_id))


def _tell(event: events.Event, board: Board) -> Told | None:  # noqa: C901 - one table
    match event:
        case events.RunStarted():
            return _run_started(event, board)
        case events.RunPaused(reason=reason):
            return Told(tone=Tone.WARNING, word="paused", why=first_line(reason))
        case events.RunResumed():
            return Told(tone=Tone.NOTE, word="resumed")
        case events.RunWaiting():
            return _waiting(board.hold)
        case events.BreakerOpened(reason=reason, recovery=recovery, until=until):
            return _opened(reason, NEXT.get(recovery, ""), until, board.hold)
        case events.BreakerTried():
            return Told(tone=Tone.NOTE, word="breaker half open", why="one session is tried")
        case events.BreakerClosed(by=by):
            return Told(tone=Tone.NOTE, word="breaker closed", why=by)
        case events.AgentChosen(agent=agent, reason=reason, account=account):
            word = f"{one_line(agent, 60)} takes over"
            return Told(tone=Tone.NOTE, word=word, facts=(_paid(account),), why=first_line(reason))
        case events.BaselineTaken(red=red, green=green):
            return _baseline(red, green)
        case events.Warned(message=message, task_id=task_id):
            why = whole(message)
            return Told(tone=Tone.WARNING, word="warning", task_id=task_id, why=why)
        case events.TaskDone() | events.TaskFailed():
            return _settled(board.finished[-1])
        case (
            events.TaskRejected()
            | events.TaskStruck()
            | events.TaskReleased()
            | events.TaskConflicted()
        ):
            return _again(event)
        case events.TaskBlocked():
            return _moved(event, Tone.WARNING, "blocked")
        case events.TaskUnblocked():
            return _moved(event, Tone.NOTE, "unblocked")
        case events.TaskReopened():
            return _moved(event, Tone.NOTE, "reopened")
        case events.ModelOverridden(task_id=task_id, model=model, planned=planned):
            return Told(
                tone=Tone.NOTE,
                word=f"model {one_line(model, 60)}",
                task_id=task_id,
                why=f"the last session asked for it, instead of {one_line(planned, 60)}",
            )
        case events.SessionStarted():
            return _session_started(event)
        case events.SessionEnded():
            return _session_ended(event)
        case handoff_events.WrapUpAsked() | handoff_events.SessionHandedOver():
            return _hand_off(event)
        case check_events.VerificationStarted() | check_events.ReviewStarted():
            return _check_started(event)
        case check_events.VerificationEnded():
            return _check_ended(event, "verification")
        case check_events.ReviewEnded():
            return _check_ended(event, "review")
        case check_events.FindingDismissed(task_id=task_id, finding=finding, reason=reason, by=by):
            said = f"{one_line(finding, 20)} dismissed by {one_line(by, 60)}"
            return Told(tone=Tone.NOTE, word=said, task_id=task_id, why=first_line(reason))
        case (
            team_events.WorkerJoined()
            | team_events.WorkerLeft()
            | team_events.MergeQueued()
            | team_events.MergeBegun()
            | team_events.WorkMerged()
            | team_events.TeammateJudged()
        ):
            return _team(event)
        case events.ToolCalled() | events.ToolJudged():
            return _tool(event)
        case events.GateEnded():
            return _gate_ended(event)
        case events.GatesWeighed(task_id=task_id, evidence=Evidence.IMPROVED):
            return Told(
                tone=Tone.NOTE, word="a gate that failed before passes now", task_id=task_id
            )
        case events.WorkCommitted(task_id=task_id, commit=commit, files=files):
            return Told(
                tone=Tone.DETAIL,
                word="committed",
                task_id=task_id,
                facts=(one_line(commit[:10]), many(files, "file")),
            )
        case events.WorkSaved(task_id=task_id, ref=ref):
            return Told(
                tone=Tone.NOTE, word="work kept", task_id=task_id, why=f"under {one_line(ref, 120)}"
            )
        case events.MemoryKept(task_id=task_id, kind=MemoryKind.KNOWLEDGE, title=title):
            learned = one_line(title, TITLE_WIDTH)
            return Told(tone=Tone.DETAIL, word="learned", task_id=task_id, title=learned)
        case events.MemoryForgotten(task_id=task_id, title=title):
            gone = one_line(title, TITLE_WIDTH)
            return Told(tone=Tone.DETAIL, word="forgotten", task_id=task_id, title=gone)
        case events.GuidanceGiven(text=text, task_id=task_id):
            why = first_line(text)
            return Told(tone=Tone.NOTE, word="guidance received", task_id=task_id, why=why)
        case events.GuidanceDelivered(task_id=task_id, count=count):
            facts = (many(count, "note"),)
            return Told(tone=Tone.NOTE, word="guidance delivered", task_id=task_id, facts=facts)
        case events.ControlSent(word=word, task_id=task_id, reason=reason):
            asked = f"{one_line(word, 40)} asked for"
            return Told(tone=Tone.NOTE, word=asked, task_id=task_id, why=first_line(reason))
        case events.FeatureChanged(feature=feature):
            word = f"feature {one_line(feature.name, 60)} is {feature.status.value}"
            return Told(tone=Tone.DETAIL, word=word)
        case events.TaskAdded(task=task):
            title = one_line(task.title, TITLE_WIDTH)
            return Told(tone=Tone.DETAIL, word="added", task_id=task.id, title=title)
        case events.TaskDeleted(task_id=task_id, title=title):
            title = one_line(title, TITLE_WIDTH)
            return Told(tone=Tone.DETAIL, word="deleted", task_id=task_id, title=title)
        case (
            events.RunEnded()  # the account tells of it
            | events.TaskClaimed()  # its session is told of
            | events.GateStarted()
            | events.GatesWeighed()
            | events.TaskEdited()
            | events.EdgeAdded()
            | events.EdgeRemoved()
            | events.FeatureAdded()
            | events.FeatureDeleted()
            | events.TaskLogged()
            | events.MemoryKept()  # notes about an attempt are told with it
        ):
            return None


def sentence(told: Told) -> str:
    """`done: Read the config (3m 12s, $0.21): reason`"""
    facts = f" ({', '.join(filter(None, told.facts))})" if any(told.facts) else ""
    named = f"{told.word}: {told.title}" if told.title else told.word
    return f"{named}{facts}: {told.why}" if told.why else f"{named}{facts}"


def _run_started(event: events.RunStarted, board: Board) -> Told:
    facts = [f"agent {one_line(event.agent, 40)}", f"sandbox {one_line(event.sandbox, 40)}"]
    if event.gates:
        facts.append(f"gates {one_line(', '.join(event.gates), 120)}")
    return Told(
        # Who pays is worth knowing before it is spent.
        tone=Tone.NOTE if event.account else Tone.DETAIL,
        word=f"run {one_line(event.run_id, 40)} started",
        title=one_line(event.target, 120),
        facts=(day(board.started), *facts, _paid(event.account)),
    )


def _paid(account: str) -> str:
    return f"paid by {one_line(account, 80)}" if account else ""


def _waiting(hold: Hold | None) -> Told | None:
    if hold is None or hold.until is None:
        return None
    took = hold.until - hold.since if hold.since is not None else 0.0
    is_long = took >= LONG_WAIT_S
    when = clock(hold.until, hold.since) if is_long else time_of_day(hold.until)
    return Told(
        # The live view counts a short one down by itself.
        tone=Tone.WARNING if is_long else Tone.DETAIL,
        word="waiting",
        facts=(f"goes on at {when}, in {spoken(took)}",),
        why=hold.reason,
        advice=SAFE if is_long else "",
    )


def _opened(reason: str, follows: str, until: str | None, hold: Hold | None) -> Told:
    facts = [follows] if follows else []
    if until is not None and hold is not None and hold.until and hold.since is not None:
        left = spoken(max(0.0, hold.until - hold.since))
        facts.append(f"goes on at {time_of_day(hold.until)}, in {left}")
    return Told(
        tone=Tone.WARNING,
        word="breaker open",
        facts=tuple(facts),
        why=first_line(reason),
        advice="`ralph resume` goes on at once" if len(facts) > 1 else "",
    )


def _baseline(red: tuple[str, ...], green: tuple[str, ...]) -> Told:
    if not red:
        word = "every gate passes before the work" if green else "no gates are set"
        return Told(tone=Tone.DETAIL, word=word)
    names = one_line(", ".join(red), 120)
    return Told(tone=Tone.WARNING, word="red before the work", why=f"gates that fail: {names}")


def effort_facts(settled: Settled) -> tuple[str, ...]:
    """Attempts, time and cost; nothing for a task that was settled without work of its own."""
    if settled.duration_s is None:
        return ()
    tries = (many(settled.attempts, "attempt"),) if settled.attempts > 1 else ()
    # What was judged after a crash was paid for in another run.
    paid = (cost(settled.spent),) if settled.spent.sessions else ()
    return (*tries, spoken(settled.duration_s), *paid)


def _settled(settled: Settled) -> Told:
    is_failed = settled.status is Status.FAILED
    return Told(
        tone=Tone.BAD if is_failed else Tone.GOOD,
        word="failed" if is_failed else "done",
        task_id=settled.task_id,
        title=settled.title,
        facts=effort_facts(settled),
        why=settled.reason,
    )


Again = events.TaskRejected | events.TaskStruck | events.TaskReleased | events.TaskConflicted


def _again(event: Again) -> Told:
    match event:
        case events.TaskRejected(retry_count=retries):
            return _moved(event, Tone.AGAIN, "rejected", (f"retry {retries} follows",))
        case events.TaskStruck(strikes=strikes):
            cost = f"strike {strikes}" if strikes else f"retry {event.retry_count} follows"
            return _moved(event, Tone.AGAIN, "no claim", (cost,))
        case events.TaskReleased():
            return _moved(event, Tone.AGAIN, "given back", ("at no cost",))
        case events.TaskConflicted():
            return _moved(event, Tone.AGAIN, "conflict", ("at no cost",))


def _moved(event: events.TaskMoved, tone: Tone, word: str, facts: tuple[str, ...] = ()) -> Told:
    return Told(
        tone=tone,
        word=word,
        task_id=event.task_id,
        title=one_line(event.title, TITLE_WIDTH),
        facts=facts,
        why=first_line(event.reason),
    )


def _session_started(event: events.SessionStarted) -> Told:
    agent = " ".join(filter(None, (one_line(event.agent, 40), one_line(event.model, 60))))
    return Told(
        tone=Tone.DETAIL,
        word=f"attempt {event.attempt}",
        task_id=event.task_id,
        title=one_line(event.title, TITLE_WIDTH),
        facts=(agent, f"log {one_line(event.log, 300)}"),
    )


def _tool(event: events.ToolCalled | events.ToolJudged) -> Told:
    if isinstance(event, events.ToolCalled):
        word, why = f"{event.tool} refused" if event.error else event.tool, event.error
        is_bad = bool(event.error)
    else:
        word, why = f"{event.decision}: {first_line(event.command) or event.tool}", event.reason
        is_bad = event.decision == "denied"
    tone = Tone.WARNING if is_bad else Tone.DETAIL
    return Told(tone=tone, word=one_line(word, 100), task_id=event.task_id, why=first_line(why))


def _team(event: team_events.TeamEvent) -> Told | None:
    match event:
        case team_events.WorkerJoined(seat=seat):
            return Told(tone=Tone.DETAIL, word=f"{one_line(seat, 40)} begins")
        case team_events.WorkerLeft(seat=seat, outcome=None, reason=reason):
            word = f"{one_line(seat, 40)} has died"
            return Told(tone=Tone.WARNING, word=word, why=first_line(reason))
        case team_events.WorkerLeft(seat=seat, outcome=outcome, reason=reason):
            word = f"{one_line(seat, 40)} leaves"
            why = first_line(reason)
            return Told(tone=Tone.DETAIL, word=word, facts=(str(outcome),), why=why)
        case team_events.MergeQueued(task_id=task_id):
            return Told(tone=Tone.DETAIL, word="waits to merge", task_id=task_id)
        case team_events.MergeBegun():
            return None  # what comes of it is told
        case team_events.WorkMerged(task_id=task_id, branch=branch, commit=commit):
            facts = (one_line(branch, 60), one_line(commit[:10]))
            return Told(tone=Tone.DETAIL, word="merged", task_id=task_id, facts=facts)
        case team_events.TeammateJudged(seat=seat, passed=passed, task_id=task_id, reason=reason):
            word = f"{one_line(seat, 40)}: {one_line(event.subject, 60)}"
            tone = Tone.GOOD if passed else Tone.BAD
            said = "the gates pass" if passed else first_line(reason)
            return Told(tone=tone, word=word, task_id=task_id, why=said)


def _session_ended(event: events.SessionEnded) -> Told:
    facts = [spoken(event.duration_s), dollars(event.cost_usd, estimated=event.estimated)]
    if event.commits:
        facts.append(many(len(event.commits), "commit"))
    if event.files:
        facts.append(many(len(event.files), "file"))
    if event.denied:
        facts.append(f"not permitted: {denials(Counter(event.denied))}")
    if event.swept:
        facts.append(f"{many(event.swept, 'process')} left behind and ended")
    ended = one_line(event.ended, 40).replace("_", " ")
    return Told(
        tone=Tone.DETAIL,
        word="session finished" if event.ended == Ended.FINISHED else f"session ended: {ended}",
        task_id=event.task_id,
        facts=tuple(facts),
        why=first_line(event.detail),
    )


def _hand_off(event: handoff_events.HandoffEvent) -> Told:
    if isinstance(event, handoff_events.WrapUpAsked):
        return Told(
            tone=Tone.NOTE,
            word="asked to wrap up",
            task_id=event.task_id,
            why=first_line(event.reason),
        )
    spent = dollars(event.cost_usd, estimated=event.estimated)
    return Told(
        tone=Tone.NOTE,
        word="handed over to a fresh session",
        task_id=event.task_id,
        facts=(spoken(event.duration_s), spent),
        why=first_line(event.reason),
    )


def _check_started(event: check_events.CheckStarted) -> Told:
    by = " ".join(filter(None, (one_line(event.agent, 60), one_line(event.model, 60))))
    facts = tuple(filter(None, (by, one_line(event.account, 60))))
    word = "review" if isinstance(event, check_events.ReviewStarted) else "verification"
    return Told(tone=Tone.DETAIL, word=word, task_id=event.task_id, facts=facts)


def _check_ended(event: check_events.CheckEnded, what: str) -> Told:
    came_to_nothing = f"came to nothing: {event.ended.replace('_', ' ')}"
    how = {True: "passed", False: "failed", None: came_to_nothing}[event.passed]
    return Told(
        tone=Tone.DETAIL if event.passed else Tone.WARNING,
        word=f"{what} {how}",
        task_id=event.task_id,
        facts=(spoken(event.duration_s), dollars(event.cost_usd, estimated=event.estimated)),
        why=first_line(event.reason),
    )


def _gate_ended(event: events.GateEnded) -> Told:
    how = "passed" if event.passed else "failed"
    facts = [spoken(event.duration_s)]
    if not event.passed:
        facts.insert(0, "out of time" if event.code is None else f"exit {event.code}")
    return Told(
        tone=Tone.DETAIL,
        word=f"gate {one_line(event.name, 60)} {how}",
        task_id=event.task_id,
        facts=tuple(facts),
    )
