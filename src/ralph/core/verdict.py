"""Decide whether an attempt counts, from the session's claim, its changes and the gates."""

from collections.abc import Sequence, Set
from enum import StrEnum
from typing import Final

import msgspec

from ralph.core.gate_output import WHOLE_OUTPUT, headline
from ralph.core.gates import GateEvidence, GateResult, gate_inputs_changed
from ralph.core.ids import RunId, TaskId
from ralph.core.message_tags import MessageTags, Promise
from ralph.core.safe_text import first_few_paths, one_line
from ralph.core.session_ending import Consequence, SessionEnding
from ralph.core.task import Task
from ralph.core.transitions import (
    Accepted,
    Conflicted,
    GaveUp,
    Rejected,
    Released,
    Struck,
    Transition,
)


class AttemptVerdict(StrEnum):
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    STRUCK = "struck"
    GAVE_UP = "gave_up"
    CONFLICT = "conflict"
    """It counts, and does not fit what others have merged meanwhile."""
    SPLIT = "split"
    """It has split its task up: the tasks below it decide."""
    RELEASED = "released"
    """Given back at no cost, or held back: it says nothing about the model."""


VERDICTS: Final[dict[type, AttemptVerdict]] = {
    Accepted: AttemptVerdict.ACCEPTED,
    Rejected: AttemptVerdict.REJECTED,
    Struck: AttemptVerdict.STRUCK,
    GaveUp: AttemptVerdict.GAVE_UP,
    Conflicted: AttemptVerdict.CONFLICT,
}

FAILURES: Final = frozenset(VERDICTS.values()) - {AttemptVerdict.ACCEPTED}
"""Verdicts that the next attempt at the task reads."""


def attempt_verdict(transition: Transition) -> AttemptVerdict:
    return VERDICTS.get(type(transition), AttemptVerdict.RELEASED)


class AttemptRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that counted. Attempts that were released at no cost are not recorded."""

    task_id: TaskId
    attempt: int
    run_id: RunId
    judged: AttemptVerdict
    ended_at: str = ""
    strategy: str = ""
    """By which its model was chosen."""
    tier: str = ""
    """What it ran on, where that was a tier."""
    message: str = ""
    """Its final message, for a hint and a note."""
    notes: tuple[str, ...] = ()
    """What the task's log and the verdict say about it."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The resulting transition, and the message about it."""

    transition: Transition
    message: str
    ends_run: bool = False
    """The agent declared the whole run a failure."""
    improved: bool = False
    """A gate passes that failed before, whatever became of the attempt."""
    warnings: tuple[str, ...] = ()


def _rejected(why: str, *, reason: str = "") -> Verdict:
    """`reason` is what the next session reads, where that is more than the message."""
    return Verdict(transition=Rejected(reason or why), message=why.partition("\n")[0])


def on_ending(ending: SessionEnding) -> Verdict | None:
    """Step 1: an ending that needs no judge. None: the session finished."""
    why = ending.detail or str(ending.ended)
    if ending.consequence is Consequence.JUDGE:
        return None
    is_strike = ending.consequence is Consequence.STRIKE
    return Verdict(transition=Struck(why) if is_strike else Released(why), message=why)


def on_claim(task: Task, tags: MessageTags, socket_claim: str | None) -> Verdict | None:
    """Step 2: what the session claims. None: it claims that this task is done.

    `socket_claim` was made over the session's socket (`ralph task done` or `fail`): "done", or the
    reason of a failure.
    """
    if tags.promise is Promise.FAILURE:
        why = "the agent declared the run a failure"
        return Verdict(transition=Released(why), message=why, ends_run=True)
    done, failed = (_named(task, said) for said in (tags.task_done, tags.task_failed))
    if done is not None or (socket_claim == "done" and tags.task_failed is None):
        return None
    if failed is not None or (socket_claim is not None and socket_claim != "done"):
        said = socket_claim if socket_claim not in (None, "done") else failed or tags.why_failed
        parts = dict.fromkeys(filter(None, (said, tags.journal)))
        why = "\n".join(parts) or "the agent says that it cannot be done"
        return Verdict(transition=GaveUp(why), message=one_line(why, 300))
    other = tags.task_done or tags.task_failed
    if other is not None:
        why = f"the session spoke about {other[:80]!r}, but its task is {task.name}"
    else:
        why = "the session ended without claiming its task"
    return Verdict(transition=Struck(why), message=why)


def _named(task: Task, said: str | None) -> str | None:
    """What is said of the task by its name: `ID`, `ID: why`; None: of another task, or nothing."""
    name, *rest = (said or "").strip("`*'\" \n").split(maxsplit=1) or [""]
    is_named = name.strip("`*'\".,:;-") in (task.id, task.name)
    return "".join(rest).lstrip(":-\u2013\u2014 ") if is_named else None


def on_broken_document(broken: str) -> Verdict | None:
    """Before step 2: the session must not break the document that its task is in."""
    return _rejected(broken, reason=broken) if broken else None


def on_history(lost: Sequence[str]) -> Verdict | None:
    """Step 3: commits from before the task stay on the branch: no task undoes another."""
    if not lost:
        return None
    return _rejected(
        f"the branch has lost commit {lost[-1][:10]}, which was there before: bring it back"
    )


def on_tampering(paths: Sequence[str]) -> Verdict | None:
    """Step 3: a session must not change what judges it, nor what Ralph or an agent obeys later."""
    if not paths:
        return None
    names = first_few_paths(paths)
    return _rejected(f"it put into git what only a person may change: {names}; take that out again")


def on_nested_repositories(paths: Sequence[str]) -> Verdict | None:
    """Step 3: git looks into other repositories, and runs what they name. It fails on a list of
    them that it cannot read."""
    if not paths:
        return None
    if lists := [path for path in paths if path.lower().endswith(".gitmodules")]:
        return _rejected(
            f"git cannot read {first_few_paths(lists[:1])}; set it right, or take it out again"
        )
    names = first_few_paths(paths)
    return _rejected(
        f"it put another repository into git: {names}; take that out again, or add its files alone"
    )


def on_change(task: Task, changed: Set[str], kept: Set[str]) -> Verdict | None:
    """Step 3: a task that needs a change must have one.

    `kept` files hold a person's own uncommitted changes, so they are never committed.
    """
    if changed - kept or not task.needs_change:
        return None
    why = "it was claimed done, but nothing in the tree has changed"
    if changed:
        names = first_few_paths(sorted(changed))
        why += f" except {names}, where a person has changes that are not committed"
    return _rejected(why)


def on_missing_result(missing: str) -> Verdict | None:
    """Step 3: some results are not in the tree, such as new tasks."""
    return _rejected(missing) if missing else None


def on_gates(evidence: GateEvidence, decisive: GateResult | None) -> Verdict:
    """Step 4: what the gates say."""
    name = decisive.name if decisive else ""
    match evidence:
        case GateEvidence.BROKEN:
            assert decisive is not None
            lines = tuple(decisive.output.splitlines())
            why = f"gate {name} fails{_exit_text(decisive)}{_missing_text(decisive)}"
            why += f": {headline(lines)}" if lines else ""
            lines = lines if len(lines) > 1 else ()  # one line is in the message
            log = f"{WHOLE_OUTPUT}{decisive.log}" if decisive.log else ""
            return _rejected(why, reason="\n".join(filter(None, (why, *lines, log))))
        case GateEvidence.NONE if decisive is not None and decisive.passed:
            return Verdict(transition=Accepted(), message=f"accepted; gate {name} proves nothing")
        case GateEvidence.NONE:
            warning = f"gate {name} failed before and still fails, so it proves nothing"
            return Verdict(transition=Accepted(), message="accepted", warnings=(warning,))
        case GateEvidence.NO_GATES:
            return Verdict(transition=Accepted(), message="accepted; no gates are set")
        case GateEvidence.IMPROVED:
            return Verdict(transition=Accepted(), message=f"accepted; gate {name} passes now")
        case GateEvidence.GREEN:
            return Verdict(transition=Accepted(), message="accepted; all gates pass")


def on_changed_gate_inputs(results: Sequence[GateResult], *, verifies: bool) -> Verdict | None:
    """Step 4: a gate that passes only with files that the task changed needs a verifier."""
    doubtful = next((one for one in results if one.passed and not one.proves), None)
    if doubtful is None or verifies:
        return None
    why = f"{gate_inputs_changed(doubtful)}, so that it passes proves nothing"
    way_out = "leave those files as they were: without a verifier, only a person changes them"
    return _rejected(why, reason=f"{why}; {way_out}")


def _missing_text(result: GateResult) -> str:
    if not result.missing:
        return ""
    return (
        " in a fresh checkout of what would be committed; it passes only with what the commit does"
        f" not have, or not as it is in the checkout: {first_few_paths(result.missing)} (ignored by"
        " git, uncommitted, an empty folder, or changed by a gate)"
    )


def _exit_text(result: GateResult) -> str:
    if result.code == 0:
        return ""  # The gate measures something: its last line says what is wrong.
    return " (out of time)" if result.code is None else f" (exit {result.code})"
