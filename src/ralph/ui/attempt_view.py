"""The attempts at a task, each with what Ralph found: its chain of evidence."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.cost import CostSummary, session_cost
from ralph.core.gates import GateResult
from ralph.core.ids import kept_ref
from ralph.core.safe_text import first_few, one_line
from ralph.core.session_ending import Consequence
from ralph.core.session_events import SessionRole
from ralph.core.verdict import AttemptVerdict
from ralph.store.sessions import Session, SessionSegment, WorkCheck
from ralph.store.store import Store
from ralph.ui.formatting import count_text, first_line


class EvidenceStep(StrEnum):
    """The steps in which Ralph judges an attempt, in their order."""

    CLAIM = "claim"
    CHANGE = "change"
    GATES = "gates"
    VERIFICATION = "verification"
    REVIEW = "review"
    MERGE = "merge"


class EvidenceState(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    OPEN = "open"
    """Under way."""
    UNPROVEN = "unproven"
    """It was done and proves nothing: a gate that was red before, a check without a verdict."""
    DISPUTED = "disputed"
    """It was accepted although the reviewer did not agree."""
    ABSENT = "absent"
    """Not asked for, or an earlier step has decided."""


CHECKED_IN: Final = {
    EvidenceStep.VERIFICATION: SessionRole.VERIFY,
    EvidenceStep.REVIEW: SessionRole.REVIEW,
}


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What one step of the judgement found."""

    step: EvidenceStep
    state: EvidenceState
    detail: str = ""
    """One line, safe to show."""
    log: str = ""
    """The raw log of its session, relative to the project."""


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at a task."""

    session: Session
    segments: tuple[SessionSegment, ...] = ()
    """Its sessions that handed over, before `session`."""
    checks: tuple[WorkCheck, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    """All six steps."""
    spent: CostSummary = CostSummary()
    """By its sessions, without the checks."""
    kept: str = ""
    """The ref under which its work is kept, if it did not count."""

    @property
    def how(self) -> str:
        """How it ended, in a word or two."""
        ending = self.session.ending
        return ending.ended.value.replace("_", " ") if ending else "at work"

    @property
    def is_accepted(self) -> bool:
        return self.session.judged is AttemptVerdict.ACCEPTED


def attempts_of(store: Store, sessions: Iterable[Session]) -> Iterator[Attempt]:
    """The attempts of these sessions, read one by one."""
    for session in sessions:
        segments = tuple(store.sessions.segments(session.id))
        checks = tuple(store.checks.of_session(session.id))
        endings = [one.ending for one in segments] + [session.ending]
        costs = (session_cost(one.cost_usd, estimated=one.estimated) for one in endings if one)
        ref = kept_ref(session.task_id, session.attempt)
        yield Attempt(
            session=session,
            segments=segments,
            checks=checks,
            evidence=tuple(evidence_of(session, checks)),
            spent=sum(costs, start=CostSummary()),
            kept=ref if ref in store.events.kept_work(session.task_id) else "",
        )


def evidence_of(session: Session, checks: Sequence[WorkCheck]) -> Iterator[Evidence]:
    """The chain of evidence of an attempt: what each step found."""
    claim = _claim(session, checks)
    yield claim
    if claim.state is not EvidenceState.PASSED:
        yield from (Evidence(step=step, state=EvidenceState.ABSENT) for step in [*EvidenceStep][1:])
        return
    steps = [_change(session, checks), _gates(session, checks)]
    for step, role in CHECKED_IN.items():
        done = [check for check in checks if check.role is role]
        found = _check(step, done[-1]) if done else None
        steps.append(found or Evidence(step=step, state=EvidenceState.ABSENT))
    yield from steps
    yield _merge(session, is_refused=any(one.state is EvidenceState.FAILED for one in steps))


def _claim(session: Session, checks: Sequence[WorkCheck]) -> Evidence:
    ending, judged = session.ending, session.judged
    state, detail = EvidenceState.FAILED, _verdict(session)
    if ending is None:
        state, detail = EvidenceState.OPEN, "at work"
    elif ending.consequence is not Consequence.JUDGE:
        detail = first_line(ending.detail) or ending.ended.value.replace("_", " ")
    elif judged is None and not (session.gates or checks):
        state, detail = EvidenceState.OPEN, "is judged"
    elif judged is AttemptVerdict.RELEASED and not (session.gates or checks):
        state = EvidenceState.ABSENT
    elif judged not in (AttemptVerdict.STRUCK, AttemptVerdict.GAVE_UP):
        state, detail = EvidenceState.PASSED, ""
    return Evidence(step=EvidenceStep.CLAIM, state=state, detail=detail, log=session.log)


def _change(session: Session, checks: Sequence[WorkCheck]) -> Evidence:
    before, after = session.before, session.after
    is_decisive = session.judged is AttemptVerdict.REJECTED and not (session.gates or checks)
    if is_decisive:
        state, detail = EvidenceState.FAILED, _verdict(session)
    elif before is None or after is None or before.same_as(after):
        state, detail = EvidenceState.ABSENT, "nothing in the tree has changed"
    else:
        state = EvidenceState.PASSED
        detail = count_text(len(session.commits), "commit") if session.commits else "files changed"
    return Evidence(step=EvidenceStep.CHANGE, state=state, detail=detail)


def _gates(session: Session, checks: Sequence[WorkCheck]) -> Evidence:
    failed = [one for one in session.gates if not one.passed]
    doubtful = [one for one in session.gates if one.passed and not one.proves]
    is_rejected = session.judged is AttemptVerdict.REJECTED and not checks
    if not session.gates:
        state, detail = EvidenceState.ABSENT, ""
    elif failed:
        # Accepted all the same: it was red before the work, so it proves nothing.
        state = EvidenceState.FAILED if is_rejected else EvidenceState.UNPROVEN
        detail = ", ".join(map(gate_text, failed))
    elif doubtful:
        state = EvidenceState.FAILED if is_rejected else EvidenceState.UNPROVEN
        names = [one_line(one.name, 40) for one in doubtful]
        detail = f"{first_few(names, 5)} judged by files that the task changed"
    else:
        state = EvidenceState.PASSED
        detail = first_few([one_line(one.name, 40) for one in session.gates], 8)
    log = next((one.log for one in (*failed, *doubtful) if one.log), "")
    return Evidence(step=EvidenceStep.GATES, state=state, detail=detail, log=log)


def _check(step: EvidenceStep, check: WorkCheck) -> Evidence:
    detail = first_line(check.reason)
    if check.passed is None:
        is_open = check.ended_at is None
        state = EvidenceState.OPEN if is_open else EvidenceState.UNPROVEN
        ended = check.ending.ended.value.replace("_", " ") if check.ending else ""
        detail = detail or ("at work" if is_open else f"came to no verdict: {ended}")
    elif check.passed and check.review is not None and check.review.closed:
        state, detail = EvidenceState.DISPUTED, first_line(check.review.closed)
    else:
        state = EvidenceState.PASSED if check.passed else EvidenceState.FAILED
    return Evidence(step=step, state=state, detail=detail, log=check.log)


def _merge(session: Session, *, is_refused: bool) -> Evidence:
    """`is_refused`: by an earlier step."""
    match session.judged:
        case AttemptVerdict.ACCEPTED if session.commits:
            state, detail = EvidenceState.PASSED, f"commit {session.commits[-1][:12]}"
        case AttemptVerdict.CONFLICT | AttemptVerdict.REJECTED if not is_refused:
            # Every step passed, but not together with what others have merged meanwhile.
            state, detail = EvidenceState.FAILED, _verdict(session)
        case None:
            state, detail = EvidenceState.OPEN, ""
        case _:
            state, detail = EvidenceState.ABSENT, ""
    return Evidence(step=EvidenceStep.MERGE, state=state, detail=detail)


def _verdict(session: Session) -> str:
    return first_line(session.verdict.removeprefix(f"attempt {session.attempt}: "))


def gate_text(result: GateResult) -> str:
    """`lint passed`, `lint failed (exit 3)`"""
    how = "out of time" if result.code is None else f"exit {result.code}"
    return f"{one_line(result.name, 40)} {'passed' if result.passed else f'failed ({how})'}"


MARKS: Final = {
    EvidenceState.PASSED: "✓",
    EvidenceState.FAILED: "✗",
    EvidenceState.OPEN: "…",
    EvidenceState.UNPROVEN: "?",
    EvidenceState.DISPUTED: "!",
}


def chain_text(evidence: Sequence[Evidence]) -> str:
    """`claim ✓ → change ✓ → gates ✗`, without the steps that were not reached."""
    shown = (f"{one.step.value} {MARKS[one.state]}" for one in evidence if one.state in MARKS)
    return " → ".join(shown) or "none"
