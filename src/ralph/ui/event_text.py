"""Describe events in words, for all screens."""

from collections import Counter
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from ralph.core import events, session_events
from ralph.core.breaker import BreakerRecovery
from ralph.core.gates import GateEvidence
from ralph.core.ids import TaskId
from ralph.core.memory import MemoryKind
from ralph.core.run import WaitKind
from ralph.core.safe_text import one_line
from ralph.core.session_ending import EndingKind
from ralph.core.task import TaskStatus
from ralph.core.times import format_duration
from ralph.ui.formatting import (
    cost_text,
    count_text,
    denials,
    dollars,
    first_line,
    format_day,
    format_time,
    parse_time,
    time_of_day,
)
from ralph.ui.run_view import RunView, RunWait, SettledTask, check_name
from ralph.ui.team_view import TITLE_WIDTH, SessionEnds

LONG_WAIT_S: Final = 60.0
NEXT: Final[dict[str, str]] = {
    BreakerRecovery.BACK_OFF: "one session is tried after a while",
    BreakerRecovery.SKIP: "its task is put aside, and another one tried after a while",
    BreakerRecovery.HAND_OFF: "a fresh session gets what was seen of the last, after a while",
    BreakerRecovery.PERSON: "a person is needed",
}
"""What follows when a breaker opens."""
SAFE: Final = "Ctrl-C and `ralph stop` lose nothing; `ralph resume` goes on at once"


class MessageTone(StrEnum):
    """What a message means for the user; screens give it a colour and a mark."""

    GOOD = "good"
    BAD = "bad"
    AGAIN = "again"
    """The attempt did not count; the task is tried again."""
    WARNING = "warning"
    NOTE = "note"
    DETAIL = "detail"
    """Worth a line in a log, but not on a live screen, which shows the state anyway."""


GOOD, BAD, AGAIN, WARNING, NOTE, DETAIL = MessageTone


class ScreenMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message for screens. All of it is safe to display on one line."""

    tone: MessageTone
    word: str
    """What happened: `done`, `rejected`."""
    task_id: TaskId | None = None
    task: str = ""
    """The task's name."""
    worker: str = ""
    """The task's worker, if the run has several."""
    title: str = ""
    facts: tuple[str, ...] = ()
    why: str = ""
    advice: str = ""
    """What a person can do. The live view shows it as long as it applies."""


def message_for(event: events.Event, run_view: RunView) -> ScreenMessage | None:
    """Describe an event that the run view has just taken; None: it has no message."""
    message = _message_for(event, run_view)
    if message is None or message.task_id is None:
        return message
    name = run_view.name_of(message.task_id)
    return replace(message, task=name, worker=run_view.team.worker_of(message.task_id))


def _message_for(event: events.Event, run_view: RunView) -> ScreenMessage | None:  # noqa: C901 - one table
    if isinstance(event, events.TaskMoved):
        return _task_moved(event, run_view)
    if isinstance(event, events.WaitEvent):
        return _wait_changed(event, run_view)
    if isinstance(event, session_events.HandoffEvent | session_events.CheckEvent):
        return _session_checked(event)
    if isinstance(event, events.TeamEvent):
        return _team(event)
    if isinstance(event, events.GraphEvent | events.WorkEvent):
        return _work_done(event)
    match event:
        case events.RunStarted():
            return _run_started(event, run_view)
        case events.AgentChosen(agent=agent, reason=reason, account=account):
            word = f"{one_line(agent, 60)} takes over"
            return _message(event, NOTE, word, _paid(account), why=reason)
        case events.BaselineTaken(red=(), green=green):
            word = "every gate passes before the work" if green else "no gates are set"
            return _message(event, DETAIL, word)
        case events.BaselineTaken(red=red):
            why = f"gates that fail: {one_line(', '.join(red), 120)}"
            return _message(event, WARNING, "red before the work", why=why)
        case events.Warned(message=message):
            # Whole: at its end there often is the command that helps.
            return replace(_message(event, WARNING, "warning"), why=one_line(message, 1000))
        case events.ModelOverridden(model=model, planned=planned):
            why = f"the last session asked for it, instead of {one_line(planned, 60)}"
            return _message(event, NOTE, f"model {one_line(model, 60)}", why=why)
        case events.SessionStarted(attempt=attempt, title=title, log=log):
            agent = _named(event.agent, event.model)
            log = f"log {one_line(log, 300)}"
            return _message(event, DETAIL, f"attempt {attempt}", agent, log, title=title)
        case events.SessionEnded():
            return _session_ended(event)
        case events.GuidanceGiven(text=text):
            return _message(event, NOTE, "guidance received", why=text)
        case events.GuidanceDelivered(count=count):
            return _message(event, NOTE, "guidance delivered", count_text(count, "note"))
        case events.ControlSent(word=word, reason=reason):
            return _message(event, NOTE, f"{one_line(word, 40)} asked for", why=reason)
        case events.RunEnded():
            return None  # the closing summary describes it


def message_text(message: ScreenMessage) -> str:
    """`done: Read the config (3m 12s, $0.21): reason`"""
    facts = f" ({', '.join(filter(None, message.facts))})" if any(message.facts) else ""
    named = f"{message.word}: {message.title}" if message.title else message.word
    return f"{named}{facts}: {message.why}" if message.why else f"{named}{facts}"


def effort_facts(settled: SettledTask) -> tuple[str, ...]:
    """The attempt, time and cost; nothing for a task that was settled without work of its own."""
    if settled.duration_s is None:
        return ()
    # Its number: earlier attempts may be of other runs, whose time and cost are not counted here.
    tries = (f"attempt {settled.attempt}",) if settled.attempt > 1 else ()
    # A session that was judged after a crash was paid for in another run.
    paid = (cost_text(settled.spent),) if settled.spent.sessions else ()
    return (*tries, format_duration(settled.duration_s), *paid)


def _message(
    event: events.Event,
    tone: MessageTone,
    word: str,
    *facts: str,
    title: str = "",
    why: str | None = "",
) -> ScreenMessage:
    return ScreenMessage(
        tone=tone,
        word=word,
        task_id=getattr(event, "task_id", None),
        title=one_line(title, TITLE_WIDTH),
        facts=facts,
        why=first_line(why),
    )


def _work_done(event: events.WorkEvent | events.GraphEvent) -> ScreenMessage | None:  # noqa: C901 - one table
    match event:
        case events.ToolCalled(tool=tool, error=error):
            word = one_line(f"{tool} refused" if error else tool, 100)
            return _message(event, WARNING if error else DETAIL, word, why=error)
        case events.ToolJudged(decision=decision, command=command, tool=tool, reason=reason):
            word = one_line(f"{decision}: {first_line(command) or tool}", 100)
            return _message(event, WARNING if decision == "denied" else DETAIL, word, why=reason)
        case events.GateEnded(name=name, passed=passed, code=code):
            word = f"gate {one_line(name, 60)} {'passed' if passed else 'failed'}"
            problem = "out of time" if code is None else f"exit {code}"
            facts = [] if passed else [problem]
            return _message(event, DETAIL, word, *facts, format_duration(event.duration_s))
        case events.GatesWeighed(evidence=GateEvidence.IMPROVED):
            return _message(event, NOTE, "a gate that failed before passes now")
        case events.WorkCommitted(commit=commit, files=files):
            facts = [one_line(commit[:10]), count_text(files, "file")]
            return _message(event, DETAIL, "committed", *facts)
        case events.WorkSaved(ref=ref):
            return _message(event, NOTE, "work kept", why=f"under {one_line(ref, 120)}")
        case events.MemoryKept(kind=MemoryKind.KNOWLEDGE, title=title):
            return _message(event, DETAIL, "learned", title=title)
        case events.MemoryForgotten(title=title):
            return _message(event, DETAIL, "forgotten", title=title)
        case events.GateStarted() | events.GatesWeighed() | events.MemoryKept():
            return None  # notes about an attempt are shown with it
        case events.TaskAdded(task=task):
            return replace(_message(event, DETAIL, "added", title=task.title), task_id=task.id)
        case events.TaskDeleted(title=title):
            return _message(event, DETAIL, "deleted", title=title)
        case events.FeatureChanged(feature=feature):
            word = f"feature {one_line(feature.name, 60)} is {feature.status.value}"
            return _message(event, DETAIL, word)
        case events.TaskEdited() | events.EdgeAdded() | events.EdgeRemoved():
            return None
        case events.FeatureAdded() | events.FeatureDeleted() | events.TaskLogged():
            return None


def _task_moved(event: events.TaskMoved, run_view: RunView) -> ScreenMessage | None:
    tone, word, facts = AGAIN, "given back", ["no retry used"]
    match event:
        case events.TaskClaimed():
            return None  # the start of its session has a message
        case events.TaskDone() | events.TaskFailed():
            return _settled(run_view.finished[-1])
        case events.TaskRejected(retry_count=retries):
            word, facts = "rejected", [f"retry {retries} follows"]
        case events.TaskStruck(strikes=strikes, retry_count=retries):
            word = "no claim"
            facts = [f"strike {strikes}" if strikes else f"retry {retries} follows"]
        case events.TaskReleased():
            pass
        case events.TaskConflicted():
            word = "conflict"
        case events.TaskBlocked():
            tone, word, facts = WARNING, "blocked", []
        case events.TaskUnblocked():
            tone, word, facts = NOTE, "unblocked", []
        case events.TaskReopened():
            tone, word, facts = NOTE, "reopened", []
    return _message(event, tone, word, *facts, title=event.title, why=event.reason)


def _wait_changed(event: events.WaitEvent, run_view: RunView) -> ScreenMessage | None:
    is_pause = isinstance(event, events.RunPaused | events.RunResumed | events.RunWaiting)
    if is_pause and not run_view.is_news:
        return None
    match event:
        case events.RunPaused(kind=WaitKind.ANSWER):
            return None  # the question itself is on the terminal
        case events.RunPaused(reason=reason):
            return _message(event, WARNING, "paused", why=reason)
        case events.RunResumed():
            return _message(event, NOTE, "resumed")
        case events.RunWaiting():
            return _waiting(run_view.wait)
        case events.BreakerOpened():
            return _breaker_opened(event, run_view)
        case events.BreakerTried():
            return _message(event, NOTE, "breaker half open", why="one session is tried")
        case events.BreakerClosed(by=by):
            return _message(event, NOTE, "breaker closed", why=by)


def _session_checked(
    event: session_events.HandoffEvent | session_events.CheckEvent,
) -> ScreenMessage:
    match event:
        case session_events.WrapUpAsked(reason=reason):
            return _message(event, NOTE, "asked to wrap up", why=reason)
        case session_events.SessionHandedOver(reason=reason):
            word = "handed over to a fresh session"
            return _message(event, NOTE, word, *_time_and_cost(event), why=reason)
        case session_events.VerificationStarted() | session_events.ReviewStarted():
            by = (_named(event.agent, event.model), one_line(event.account, 60))
            return _message(event, DETAIL, check_name(event), *filter(None, by))
        case session_events.VerificationEnded() | session_events.ReviewEnded():
            nothing = f"came to nothing: {event.ended.replace('_', ' ')}"
            result = {True: "passed", False: "failed", None: nothing}[event.passed]
            word = f"{check_name(event)} {result}"
            tone = DETAIL if event.passed else WARNING
            return _message(event, tone, word, *_time_and_cost(event), why=event.reason)
        case session_events.FindingDismissed(finding=finding, reason=reason, by=by):
            word = f"{one_line(finding, 20)} dismissed by {one_line(by, 60)}"
            return _message(event, NOTE, word, why=reason)
        case session_events.CommentAdded(finding=finding, lines=lines, text=text):
            word = f"comment {one_line(finding, 20)} on {one_line(str(lines), 120)}"
            return _message(event, NOTE, word, why=text)
        case session_events.CommentAnswered(finding=finding, state=state, lines=lines):
            where = one_line(str(lines), 120) if lines else ""
            return _message(event, DETAIL, f"comment {one_line(finding, 20)} {state}", where)


def _team(event: events.TeamEvent) -> ScreenMessage | None:
    match event:
        case events.WorkerJoined(slot=worker):
            return _message(event, DETAIL, f"{one_line(worker, 40)} begins")
        case events.WorkerLeft(slot=worker, outcome=None, reason=reason):
            return _message(event, WARNING, f"{one_line(worker, 40)} has died", why=reason)
        case events.WorkerLeft(slot=worker, outcome=outcome, reason=reason):
            word = f"{one_line(worker, 40)} leaves"
            return _message(event, DETAIL, word, str(outcome), why=reason)
        case events.MergeQueued():
            return _message(event, DETAIL, "waits to merge")
        case events.MergeBegun():
            return None  # its result has a message
        case events.WorkMerged(branch=branch, commit=commit):
            return _message(event, DETAIL, "merged", one_line(branch, 60), one_line(commit[:10]))
        case events.TeammateJudged(slot=worker, passed=passed, reason=reason):
            word = f"{one_line(worker, 40)}: {one_line(event.subject, 60)}"
            why = "the gates pass" if passed else reason
            return _message(event, GOOD if passed else BAD, word, why=why)


def _run_started(event: events.RunStarted, run_view: RunView) -> ScreenMessage:
    facts = (
        format_day(run_view.started),
        f"agent {one_line(event.agent, 40)}",
        f"sandbox {one_line(event.sandbox, 40)}",
        f"gates {one_line(', '.join(event.gates), 120)}" if event.gates else "",
        _paid(event.account),
    )
    # The account that pays is worth knowing before it pays.
    tone = NOTE if event.account else DETAIL
    word = f"run {one_line(event.run_id, 40)} started"
    return _message(event, tone, word, *facts, title=one_line(event.target, 120))


def _paid(account: str) -> str:
    return f"paid by {one_line(account, 80)}" if account else ""


def _named(agent: str, model: str) -> str:
    return " ".join(filter(None, (one_line(agent, 60), one_line(model, 60))))


def _time_and_cost(event: SessionEnds) -> tuple[str, str]:
    return format_duration(event.duration_s), dollars(event.cost_usd, estimated=event.estimated)


def _waiting(wait: RunWait | None) -> ScreenMessage | None:
    if wait is None or wait.until is None:
        return None
    took = wait.until - wait.since if wait.since is not None else 0.0
    is_long = took >= LONG_WAIT_S
    when = format_time(wait.until, wait.since) if is_long else time_of_day(wait.until)
    return ScreenMessage(
        # The live view counts a short wait down by itself.
        tone=WARNING if is_long else DETAIL,
        word="waiting",
        facts=(f"goes on at {when}, in {format_duration(took)}",),
        why=wait.reason,
        advice=SAFE if is_long else "",
    )


def _breaker_opened(event: events.BreakerOpened, run_view: RunView) -> ScreenMessage:
    follows, wait = NEXT.get(event.recovery, ""), run_view.wait
    facts = [follows] if follows else []
    if (until := parse_time(event.until)) is not None:
        facts.append(f"goes on at {time_of_day(until)}")
        if wait is not None and wait.since is not None:
            facts[-1] += f", in {format_duration(max(0.0, until - wait.since))}"
    message = _message(event, WARNING, "breaker open", *facts, why=event.reason)
    worker = event.slot if event.slot in run_view.team.workers else ""
    advice = "`ralph resume` goes on at once" if until is not None else ""
    return replace(message, worker=worker, advice=advice)


def _settled(settled: SettledTask) -> ScreenMessage:
    is_failed = settled.status is TaskStatus.FAILED
    return ScreenMessage(
        tone=BAD if is_failed else GOOD,
        word="failed" if is_failed else "done",
        task_id=settled.task_id,
        title=settled.title,
        facts=effort_facts(settled),
        why=settled.reason,
    )


def _session_ended(event: events.SessionEnded) -> ScreenMessage:
    facts = (
        *_time_and_cost(event),
        count_text(len(event.commits), "commit") if event.commits else "",
        count_text(len(event.files), "file") if event.files else "",
        f"not permitted: {denials(Counter(event.denied))}" if event.denied else "",
        f"{count_text(event.swept, 'process')} left behind and ended" if event.swept else "",
    )
    ended = one_line(event.ended, 40).replace("_", " ")
    is_finished = event.ended == EndingKind.FINISHED
    word = "session finished" if is_finished else f"session ended: {ended}"
    return _message(event, DETAIL, word, *facts, why=event.detail)
