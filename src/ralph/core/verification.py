"""What the session is told that checks another one's work, and what follows from its answer.

It is told about its two answers in a way that is none of them: an echo must not pass anything.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from ralph.core.brief import Material, Telling, Written, listed, write_brief
from ralph.core.gates import GateResult, judge_changed
from ralph.core.safe_text import one_line
from ralph.core.sections import Section
from ralph.core.sigils import plainly, read_sigils
from ralph.core.transitions import Rejected
from ralph.core.verdict import Verdict

NO_VERDICT: Final = "the verifier came to no verdict"
NO_REASON: Final = "no reason was given"

HOW: Final = """\
You check the work of another session, in a Ralph loop. Nobody can be asked.

- You have a checkout of your own, with exactly what was claimed. Read it and run it: whatever you
  change is thrown away, so do not mend anything.
- Do not believe what the other session says about its work. Look at the code, run the tests, try
  the behaviour that the task asks for.
- It passes when everything that the task asks for is there and works, and nothing else is broken.
  Style and taste are no reasons to refuse it.
- Where it does not pass, say what is missing and how you found out, so that it can be mended.
"""

FINISH: Final = """\
## How to finish

End your last message with exactly one of these two tags, on a line of its own, written without the
spaces:

    < verify-pass / >
    < verify-fail > what is wrong, and how you saw it < / verify-fail >
"""


def rules(own: str = "") -> str:
    """How to check: as a person has it, or as Ralph does; and how to finish, in any case."""
    return f"{(own or HOW).rstrip()}\n\n{FINISH}"


def write_check(
    material: Material,
    changed: Sequence[str],
    gates: Sequence[GateResult],
    telling: Telling,
    told: str,
) -> Written:
    """The task and what is known about it, what was changed for it, and what the gates say; beside
    the rules, which take their part of the room."""
    known = replace(
        material,
        heading="The task that is said to be done",
        # It judges the work, not the attempts before it.
        task=replace(material.task, reason=None),
        more=what_was_done(changed, gates),
    )
    return write_brief(known, telling, told)


def what_was_done(changed: Sequence[str], gates: Sequence[GateResult]) -> tuple[Section, ...]:
    """For everybody who looks at the work of another session."""
    files = [(path, f"- `{one_line(path, 200)}`") for path in changed] or [("", "- no file")]
    more = (
        listed("changed", "What was changed", files),
        listed("gates", "What the gates say", [(one.name, f"- {_said(one)}") for one in gates]),
    )
    return tuple(one for one in more if one is not None)


def _said(result: GateResult) -> str:
    said = f"{result.name} {'passes' if result.passed else 'fails, as it did before'}"
    if changed := judge_changed(result):
        said += f". Look closely: {changed}. Has the check been weakened?"
    return said


def answer(message: str) -> tuple[bool, str]:
    """Did it pass, and if not, why? A refusal wins over a pass: both are there when in doubt."""
    sigils = read_sigils(plainly(message, FINISH))
    if sigils.verify_fail is not None:
        return False, sigils.verify_fail or NO_REASON
    return (True, "") if sigils.verify_pass else (False, NO_VERDICT)


def on_check(*, passed: bool, reason: str) -> Verdict | None:
    """Step 5: what the verifier says. None: it passes, go on."""
    if passed:
        return None
    why = f"verification failed: {reason}"
    return Verdict(transition=Rejected(why, by_verifier=True), message=why.splitlines()[0])
