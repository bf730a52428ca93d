"""Part of step 4: a second session checks the work, in a checkout of its own."""

from collections.abc import Sequence

from msgspec.structs import replace

from ralph.core.brief import Material, Telling, Written
from ralph.core.check_events import VerificationEnded, VerificationStarted
from ralph.core.ending import Ending
from ralph.core.role import Role
from ralph.core.transitions import Accepted
from ralph.core.verdict import Verdict
from ralph.core.verification import NO_VERDICT, answer, on_check, rules, write_check
from ralph.engine.check import Case, as_begun, as_ended
from ralph.engine.checking import decided
from ralph.engine.kit import Kit
from ralph.ports.history import Check


def verify(kit: Kit, case: Case, so_far: Verdict) -> Verdict:
    """What the gates let through still has to pass the second session."""
    done = decided(kit, Verification(kit, case), case)
    refused = on_check(passed=bool(done.passed), reason=done.reason)
    if refused is not None:
        return refused
    message = f"{so_far.message}; verified"
    return replace(so_far, transition=Accepted(verified=True), message=message)


class Verification:
    """Does it do what the task asks for?"""

    def __init__(self, kit: Kit, case: Case) -> None:
        self.kit = kit
        self.case = case
        self.role = Role.VERIFY
        self.who = "verifier"
        self.model = kit.settings.verify_model
        self.prompt = kit.settings.verify_prompt

    def rules(self, own: str) -> str:
        """How to verify, and how to finish."""
        return rules(own)

    def write(
        self, known: Material, changed: Sequence[str], telling: Telling, told: str
    ) -> Written:
        """The task, what was changed for it, and what the gates say."""
        return write_check(known, changed, self.case.session.gates, telling, told)

    def heard(self, check: Check, message: str) -> Check:
        """Passed, or why not."""
        passed, reason = answer(message)
        if reason == NO_VERDICT:
            self.kit.warn_once(
                f"{check.agent} came to no verdict about the work; if it cannot verify, let another"
                " agent do it ([verify] agent) or nobody ([execution] verify = false, --no-verify)"
            )
        return replace(check, passed=passed, reason=reason)

    def started(self, check: Check, account: str) -> VerificationStarted:
        """For the journal."""
        return VerificationStarted(**as_begun(check, account))

    def ended(self, check: Check, ending: Ending) -> VerificationEnded:
        """The same, when it is over."""
        return VerificationEnded(**as_ended(check, ending))
