"""Does the attempt count? Decided from what was said, what changed and what the gates say."""

from collections.abc import Sequence, Set

import msgspec

from ralph.core.ended import Cost
from ralph.core.ending import Ending
from ralph.core.gates import Evidence, GateResult, judge_changed
from ralph.core.safe_text import one_line
from ralph.core.sigils import Promise, Sigils
from ralph.core.task import Task
from ralph.core.transitions import Accepted, GaveUp, Rejected, Released, Struck, Transition


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """The transition that follows, and what to say about it."""

    transition: Transition
    message: str
    ends_run: bool = False
    """The agent declared the whole run a failure."""
    improved: bool = False
    """A gate passes that failed before, whatever became of the attempt."""
    warnings: tuple[str, ...] = ()


def on_ending(ending: Ending) -> Verdict | None:
    """Step 1: an ending that needs no judge. None: the session finished, go on."""
    said = ending.detail or str(ending.ended)
    match ending.cost:
        case Cost.JUDGE:
            return None
        case Cost.STRIKE:
            return Verdict(transition=Struck(said), message=said)
        case Cost.WAIT | Cost.BACK_OFF | Cost.PAUSE | Cost.END_RUN | Cost.NOTHING:
            return Verdict(transition=Released(said), message=said)


def on_claim(task: Task, sigils: Sigils, told: str | None) -> Verdict | None:
    """Step 2: what the session claims. None: it claims this task is done, go on.

    `told` is a claim made over the session's socket (`ralph task done` or `fail`): "done" or the
    reason of a failure.
    """
    if sigils.promise is Promise.FAILURE:
        why = "the agent declared the run a failure"
        return Verdict(transition=Released(why), message=why, ends_run=True)
    names = {str(task.id), task.name}
    if sigils.task_done in names or (told == "done" and sigils.task_failed is None):
        return None
    if sigils.task_failed in names or (told is not None and told != "done"):
        said = told if told not in (None, "done") else sigils.why_failed
        why = sigils.journal or said or "the agent says that it cannot be done"
        return Verdict(transition=GaveUp(why), message=one_line(why, 300))
    other = sigils.task_done or sigils.task_failed
    if other is not None:
        why = f"the session spoke about {other[:80]!r}, but its task is {task.name}"
    else:
        why = "the session ended without claiming its task"
    return Verdict(transition=Struck(why), message=why)


def on_document(broken: str) -> Verdict | None:
    """Before step 2: whoever breaks the document that he works from has to do better. None: it is
    whole."""
    if not broken:
        return None
    return Verdict(transition=Rejected(broken), message=broken.partition("\n")[0])


def on_history(lost: Sequence[str]) -> Verdict | None:
    """Also step 3: commits that were there before the task are not the session's to take away,
    or one task undoes another. None: all are there."""
    if not lost:
        return None
    why = f"the branch has lost commit {lost[-1][:10]}, which was there before: bring it back"
    return Verdict(transition=Rejected(why), message=why)


def on_tampering(paths: Sequence[str]) -> Verdict | None:
    """Also step 3: what judges, and what Ralph or an agent would obey later, is not a session's to
    write. None: it has left that alone."""
    if not paths:
        return None
    names = ", ".join(one_line(path, 60) for path in paths[:5])
    why = f"it put into git what only a person may change: {names}; take that out again"
    return Verdict(transition=Rejected(why), message=why)


def on_nested(paths: Sequence[str]) -> Verdict | None:
    """Also step 3: git looks into other repositories, and runs what they name; and it gives up over
    a list of them that it cannot read. None: the work has no new one."""
    if not paths:
        return None
    names = ", ".join(one_line(path, 60) for path in paths[:5])
    why = (
        f"it put another repository into git: {names}; take that out again, or add its files alone"
    )
    if lists := [path for path in paths if path.lower().endswith(".gitmodules")]:
        why = f"git cannot read {one_line(lists[0], 60)}; set it right, or take it out again"
    return Verdict(transition=Rejected(why), message=why)


def on_change(task: Task, changed: Set[str], kept: Set[str]) -> Verdict | None:
    """Step 3: a claim needs work behind it. None: there is, or none is needed.

    `kept` files hold a person's own uncommitted changes, so they are never committed.
    """
    if changed - kept or not task.needs_change:
        return None
    why = "it was claimed done, but nothing in the tree has changed"
    if changed:
        names = ", ".join(one_line(path, 60) for path in sorted(changed)[:5])
        why += f" except {names}, where a person has changes that are not committed"
    return Verdict(transition=Rejected(why), message=why)


def on_result(missing: str) -> Verdict | None:
    """Also step 3: some results are not in the tree, such as new tasks. None: all is there."""
    return Verdict(transition=Rejected(missing), message=missing) if missing else None


def on_gates(evidence: Evidence, decisive: GateResult | None) -> Verdict:
    """Step 4: what the gates say."""
    name = decisive.name if decisive else ""
    match evidence:
        case Evidence.BROKEN:
            assert decisive is not None
            why = f"gate {name} fails{_how(decisive)}"
            return Verdict(transition=Rejected(f"{why}\n{decisive.output}".rstrip()), message=why)
        case Evidence.NONE if decisive is not None and decisive.passed:
            return Verdict(transition=Accepted(), message=f"accepted; gate {name} proves nothing")
        case Evidence.NONE:
            warning = f"gate {name} failed before and still fails, so it proves nothing"
            return Verdict(transition=Accepted(), message="accepted", warnings=(warning,))
        case Evidence.NO_GATES:
            return Verdict(transition=Accepted(), message="accepted; no gates are set")
        case Evidence.IMPROVED:
            return Verdict(transition=Accepted(), message=f"accepted; gate {name} passes now")
        case Evidence.GREEN:
            return Verdict(transition=Accepted(), message="accepted; all gates pass")


def on_changed_judge(results: Sequence[GateResult], *, verifies: bool) -> Verdict | None:
    """Also step 4: a gate that passes only with files that the task has changed needs somebody else
    to look. None: there is no such gate, or a verifier comes next."""
    doubtful = next((one for one in results if one.passed and not one.proves), None)
    if doubtful is None or verifies:
        return None
    why = f"{judge_changed(doubtful)}, so that it passes proves nothing"
    way_out = "leave those files as they were: where nobody verifies, only a person changes them"
    return Verdict(transition=Rejected(f"{why}; {way_out}"), message=why)


def _how(result: GateResult) -> str:
    if result.code == 0:
        return ""  # by what it measures: its last line says so
    return " (out of time)" if result.code is None else f" (exit {result.code})"
