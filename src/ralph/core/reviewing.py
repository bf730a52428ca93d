"""What a reviewer is told, what its answer means, and when a matter is closed.

What was dismissed is not raised again, and two rounds without anything new are the last ones.
"""

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from ralph.core.brief import Material, Telling, Written, listed, write_brief
from ralph.core.review import Dismissal, Finding, Matter, Review, Word
from ralph.core.safe_text import one_line
from ralph.core.sections import Section
from ralph.core.sigils import Remark, Sigils, plainly, read_sigils

SUMMARY_WORDS: Final = 8
"""What people, and the lead of a team, get to see of a review."""
STALE_ROUNDS: Final = 2
"""Rounds that find nothing new, and end the matter."""
LONGEST: Final = 4000
"""Characters of a finding."""
NO_VERDICT: Final = "the reviewer came to no verdict"

HOW: Final = """\
You review the change that another session has made, in a Ralph loop. Nobody can be asked.

- You have a checkout of your own, with exactly what was claimed. Read the change, and what is
  around it; run what helps you to judge. Whatever you change is thrown away, so mend nothing.
- Compare it with the task, and with the design that it serves: is it what was asked for, does it
  fit what is there, will it hold?
- Report what is wrong or will hurt: errors, missing cases, departures from the design, tests that
  show nothing. Taste is no finding.
- What was dismissed is settled, with the reason that stands beside it. Do not raise it again, in
  other words neither.
"""

FINISH: Final = """\
## How to finish

In your last message, write each finding in a tag of this form, without the spaces. One that was
raised before and still stands keeps its id; a new one has none.

    < finding > src/a.py:12: what is wrong, and what would be right < / finding >
    < finding id="F1" > what still stands < / finding >

End it with exactly one of these three, on a line of its own, without the spaces, with a summary of
at most eight words:

    < review-pass > the summary < / review-pass >
    < review-fail > the summary < / review-fail >
    < review-blocked > what only a person can decide < / review-blocked >

The last one is for work that no session can mend, such as a task that contradicts its design.
"""


def rules(own: str = "") -> str:
    """How to review: as a person has it, or as Ralph does; and how to finish, in any case."""
    return f"{(own or HOW).rstrip()}\n\n{FINISH}"


def read_review(message: str, before: Matter) -> Review:
    """The answer of a reviewer, measured against all rounds before it."""
    sigils = read_sigils(plainly(message, FINISH))
    word, said = _verdict(sigils)
    if word is None:
        word, said = _last_line(message)
    number = len(before.rounds) + 1
    if word is None:
        return Review(round=number, word=None, summary=NO_VERDICT)
    remarks = sigils.findings
    if word is Word.FAIL and not remarks:
        # What it says about the whole is then all there is to mend.
        remarks = (Remark(text=said or "the reviewer gives no reason"),)
    review = Review(
        round=number,
        word=word,
        summary=in_few_words(said) or word.lower(),
        why=said[:LONGEST],
        findings=_named(remarks, before),
    )
    return replace(review, closed=_closed(review, before)) if word is Word.FAIL else review


def _verdict(sigils: Sigils) -> tuple[Word | None, str]:
    """The worst of what it says: both are there when in doubt."""
    found = (
        (Word.BLOCKED, sigils.review_blocked),
        (Word.FAIL, sigils.review_fail),
        (Word.PASS, sigils.review_pass),
    )
    return next(((word, said) for word, said in found if said is not None), (None, ""))


def _last_line(message: str) -> tuple[Word | None, str]:
    """Reviewers of one's own may end with a plain `PASS`, `FAIL: why` or `BLOCKED: why`."""
    lines = message.split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    name, _, said = last.partition(":")
    return (Word(name), said.strip()) if name in {*Word} else (None, "")


def in_few_words(text: str) -> str:
    """A summary that is one, however much was written."""
    words = one_line(text, 400).split()
    return " ".join(words[:SUMMARY_WORDS])


def _named(remarks: Sequence[Remark], before: Matter) -> tuple[Finding, ...]:
    """Each with the name that it had before, or a new one; none of them twice."""
    known = {one.id: one for one in before.raised}
    by_words = {_plain(one.text): one.id for one in before.raised}
    found: dict[str, Finding] = {}
    for remark in remarks:
        text = remark.text[:LONGEST]
        named = remark.id.upper()
        old = named if named in known else by_words.get(_plain(text))
        name = old or f"F{len(by_words) + 1}"
        if old is None:
            by_words[_plain(text)] = name
        if name not in found:
            found[name] = Finding(id=name, text=text, is_new=name not in known)
    return tuple(found.values())


def _plain(text: str) -> str:
    """The same remark, though its lines have moved or its dots are others."""
    return " ".join(re.findall(r"[^\W\d_]+", text.casefold())) or text


def _closed(review: Review, before: Matter) -> str:
    """Why a reviewer that does not agree is not asked again; empty: it is right so far."""
    if all(one.id in before.dismissed for one in review.findings):
        return "all that it found was dismissed"
    stale = 0
    for one in reversed((*before.rounds, review)):
        if one.word is not Word.FAIL or one.closed or any(each.is_new for each in one.findings):
            break
        stale += 1
    return f"{STALE_ROUNDS} rounds without new findings" if stale >= STALE_ROUNDS else ""


# What the two sides are told


def the_change(base: str) -> Section:
    """Where to look."""
    how = f"`git diff {base} HEAD`" if base else "`git log -p`"
    return Section(name="diff", title="The change", parts=(f"All of it: {how}",))


def write_review(
    material: Material, more: Sequence[Section], before: Matter, telling: Telling, told: str
) -> Written:
    """For the reviewer: the task and its design, the change, and what was said before; beside the
    rules, which take their part of the room."""
    known = replace(
        material,
        heading="The task whose work you review",
        task=replace(material.task, reason=None),
        more=(*more, *filter(None, (_said_before(before),))),
    )
    return write_brief(known, telling, told)


def _said_before(before: Matter) -> Section | None:
    lines = []
    for one in before.raised:
        gone = before.dismissed.get(one.id)
        state = f"dismissed: {one_line(gone.reason, 300)}" if gone else "look whether it is mended"
        lines.append((one.id, f"- {one.id}: {one_line(one.text, 600)} ({state})"))
    return listed("review", "What reviewers have found before", lines)


def for_author(matter: Matter, path: str) -> Section | None:
    """What the next session has to mend; None where nothing stands."""
    return listed(
        "review",
        "What the reviewer found",
        [(one.id, f"- {one.id}: {one.text}") for one in matter.open],
        lead="Mend each of them. One that is wrong you may dismiss instead, with a reason that"
        " convinces, in your last message, in a tag of this form, without the spaces:"
        f' `< dismiss id="{matter.open[0].id if matter.open else "F1"}" > why < / dismiss >`.',
        source=f"`{path}`",
    )


def dismissed_in(message: str, matter: Matter, by: str) -> tuple[Dismissal, ...]:
    """What the author of the work has an answer to."""
    asked = {one.id for one in matter.open}
    return tuple(
        Dismissal(finding=one.id.upper(), reason=one.text[:LONGEST], by=by)
        for one in read_sigils(message).dismissed
        if one.id.upper() in asked
    )
