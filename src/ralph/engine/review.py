"""Part of step 4: a reviewer reads the change. All rounds about a task are one matter."""

from collections.abc import Sequence

from msgspec.structs import replace

from ralph.core.brief import Material, Telling, Written
from ralph.core.check_events import ReviewEnded, ReviewStarted
from ralph.core.ending import Ending
from ralph.core.review import Matter, Word
from ralph.core.reviewing import dismissed_in, read_review, rules, the_change, write_review
from ralph.core.role import Role
from ralph.core.safe_text import one_line
from ralph.core.task import Task
from ralph.core.transitions import Accepted, Blocked, Rejected
from ralph.core.verdict import Verdict
from ralph.core.verification import what_was_done
from ralph.documents.review_file import BLOCKERS, with_blocker
from ralph.engine.check import Case, as_begun, as_ended
from ralph.engine.checking import decided
from ralph.engine.kit import Kit
from ralph.engine.matter import file_of, matter_of, write_file
from ralph.ports.history import Check


def review(kit: Kit, case: Case, so_far: Verdict) -> Verdict:
    """What all others let through still has to pass the reviewer."""
    task = case.claim.task
    if kit.document is not None:
        kit.document.review(task)
    _answer(kit, case)
    done = decided(kit, Reviewing(kit, case), case)
    write_file(kit.store, kit.library, task)
    said, transition = done.review, so_far.transition
    if done.passed and isinstance(transition, Accepted):
        how = f"reviewed ({said.closed})" if said is not None and said.closed else "reviewed"
        warned = _standing(kit, task, done) if said is not None and said.closed else ()
        return replace(
            so_far,
            transition=Accepted(verified=transition.verified, reviewed=True),
            message=f"{so_far.message}; {how}",
            warnings=(*so_far.warnings, *warned),
        )
    if said is not None and said.word is Word.BLOCKED:
        attempt, why = case.session.attempt, said.why or said.summary
        kit.library.change(BLOCKERS, lambda text: with_blocker(text, task, attempt, why))
        message = f"the reviewer blocks it: {one_line(why, 200)}"
        return Verdict(transition=Blocked(message), message=message)
    why = f"review failed: {said.summary if said is not None else done.reason}"
    reason = f"{why}\nThe whole review: {file_of(kit.store, task)}"
    return Verdict(transition=Rejected(reason, by_reviewer=True), message=why)


def _answer(kit: Kit, case: Case) -> None:
    """What the session has dismissed with a reason is settled before anybody looks again."""
    task, session = case.claim.task, case.session
    message = session.ending.message if session.ending is not None else ""
    before = matter_of(kit.store, task)
    for one in dismissed_in(message, before, f"attempt {session.attempt}"):
        kit.store.dismiss(task.id, one)


def _standing(kit: Kit, task: Task, done: Check) -> tuple[str, ...]:
    """What is accepted without the reviewer's consent is worth a word."""
    said = done.review
    assert said is not None
    return (
        f"{task.name} is accepted though its reviewer does not agree ({said.closed}):"
        f" {said.summary}; see {file_of(kit.store, task)}",
    )


class Reviewing:
    """Is it what was asked for, and will it hold?"""

    def __init__(self, kit: Kit, case: Case) -> None:
        self.kit = kit
        self.case = case
        self.role = Role.REVIEW
        self.who = "reviewer"
        self.model = kit.settings.review_model
        self.prompt = kit.settings.review_prompt

    def rules(self, own: str) -> str:
        """How to review, and how to finish."""
        return rules(own)

    def write(
        self, known: Material, changed: Sequence[str], telling: Telling, told: str
    ) -> Written:
        """The task and its design, the change, and what was said in earlier rounds."""
        done = what_was_done(changed, self.case.session.gates)
        more = (*done, the_change(self.case.base.head))
        return write_review(known, more, self._before(), telling, told)

    def heard(self, check: Check, message: str) -> Check:
        """The round, measured against those before it."""
        said = read_review(message, self._before())
        if said.word is None:
            self.kit.warn_once(
                f"{check.agent} came to no verdict about the change; if it cannot review, let"
                " another agent do it ([review] agent) or nobody (--no-review)"
            )
        return replace(check, passed=said.passes, reason=said.summary, review=said)

    def _before(self) -> Matter:
        return matter_of(self.kit.store, self.case.claim.task)

    def started(self, check: Check, account: str) -> ReviewStarted:
        """For the journal."""
        return ReviewStarted(**as_begun(check, account))

    def ended(self, check: Check, ending: Ending) -> ReviewEnded:
        """The same, when it is over."""
        said = check.review
        if said is None:
            return ReviewEnded(**as_ended(check, ending))
        return ReviewEnded(
            **as_ended(check, ending),
            round=said.round,
            word=said.word or "",
            summary=said.summary,
            findings=len(said.findings),
        )
