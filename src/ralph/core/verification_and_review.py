"""The prompts of verifiers and reviewers, their answers, and when a review thread is closed."""

import re
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from ralph.core.brief import BriefInputs, WrittenBrief, list_section, write_brief
from ralph.core.brief_sections import BriefSection
from ralph.core.gates import GateResult, gate_inputs_changed
from ralph.core.message_tags import FindingTag, MessageTags, normalize_answer, read_message_tags
from ralph.core.review_thread import (
    DiffSide,
    Dismissal,
    Finding,
    LineComment,
    ReviewRound,
    ReviewThread,
    ReviewVerdict,
)
from ralph.core.safe_text import first_few, one_line
from ralph.core.settings import Config
from ralph.core.transitions import Rejected
from ralph.core.verdict import Verdict
from ralph.prompts import prompt

NO_VERIFICATION: Final = "the verifier came to no verdict"
NO_REASON: Final = "no reason was given"


def verification_rules(own: str = "") -> str:
    """How to check: as a person has it, or as Ralph does; and how to finish, in any case."""
    rules = own or prompt("verification_rules")
    return f"{rules.rstrip()}\n\n{prompt('verification_answer')}"


def write_check_brief(
    heading: str,
    inputs: BriefInputs,
    sections: Sequence[BriefSection],
    config: Config,
    rules: str,
) -> WrittenBrief:
    """The task, what is known about it and these sections, in the room that the rules leave."""
    # It judges the work, not the attempts before it.
    task = replace(inputs.task, reason=None)
    known = replace(inputs, heading=heading, task=task, extra_sections=tuple(sections))
    return write_brief(known, config, rules)


def work_sections(changed: Sequence[str], gates: Sequence[GateResult]) -> tuple[BriefSection, ...]:
    """What verifiers and reviewers read about the work."""
    files = [(path, f"- `{one_line(path, 200)}`") for path in changed] or [("", "- no file")]
    more = (
        list_section("changed", "What was changed", files),
        list_section(
            "gates", "What the gates say", [(one.name, f"- {_gate_line(one)}") for one in gates]
        ),
    )
    return tuple(one for one in more if one is not None)


def _gate_line(result: GateResult) -> str:
    said = f"{result.name} {'passes' if result.passed else 'fails, as it did before'}"
    if changed := gate_inputs_changed(result):
        said += f". Look closely: {changed}. Has the check been weakened?"
    return said


def read_answer(message: str) -> tuple[bool, str]:
    """Did it pass, and if not, why? A refusal wins over a pass: both are there when in doubt."""
    tags = read_message_tags(normalize_answer(message, prompt("verification_answer")))
    if tags.verify_fail is not None:
        return False, tags.verify_fail or NO_REASON
    return (True, "") if tags.verify_pass else (False, NO_VERIFICATION)


def on_check(*, passed: bool, reason: str) -> Verdict | None:
    """Step 5: what the verifier says. None: it passes, go on."""
    if passed:
        return None
    why = f"verification failed: {reason}"
    return Verdict(transition=Rejected(why, by_verifier=True), message=why.splitlines()[0])


SUMMARY_WORDS: Final = 8
"""What people, and the lead of a team, get to see of a review."""
STALE_ROUNDS: Final = 2
"""Rounds that find nothing new, and end the matter."""
LONGEST: Final = 4000
LONGEST_ASSESSMENT: Final = 100_000
TAGS: Final = re.compile(r"<\s*/?\s*(?:review-\w+|finding)\b[^<>]{0,400}>")
"""Characters of a finding."""
NO_VERDICT: Final = "the reviewer came to no verdict"


def review_rules(own: str = "") -> str:
    """How to review: as a person has it, or as Ralph does; and how to finish, in any case."""
    return f"{(own or prompt('review_rules')).rstrip()}\n\n{prompt('review_answer')}"


def read_review(message: str, before: ReviewThread) -> ReviewRound:
    """The answer of a reviewer, measured against all rounds before it."""
    tags = read_message_tags(normalize_answer(message, prompt("review_answer")))
    word, said = _verdict(tags)
    if word is None:
        word, said = _last_line(message)
    number = len(before.rounds) + 1
    if word is None:
        return ReviewRound(
            round=number, word=None, summary=NO_VERDICT, assessment=_without_tags(message)
        )
    remarks = tags.findings
    if word is ReviewVerdict.FAIL and not remarks:
        # What it says about the whole is then all there is to fix.
        remarks = (FindingTag(text=said or "the reviewer gives no reason"),)
    review = ReviewRound(
        round=number,
        word=word,
        summary=short_summary(said) or word.lower(),
        why=said[:LONGEST],
        findings=_with_finding_ids(remarks, before),
        assessment=_without_tags(message),
    )
    closed = _closing_reason(review, before) if word is ReviewVerdict.FAIL else ""
    return replace(review, closed=closed)


def _without_tags(message: str) -> str:
    """The message without its tags, so that quoting it later claims nothing."""
    return TAGS.sub("", message).strip()[:LONGEST_ASSESSMENT]


def _verdict(tags: MessageTags) -> tuple[ReviewVerdict | None, str]:
    """The worst of what it says: both are there when in doubt."""
    found = (
        (ReviewVerdict.BLOCKED, tags.review_blocked),
        (ReviewVerdict.FAIL, tags.review_fail),
        (ReviewVerdict.PASS, tags.review_pass),
    )
    return next(((word, said) for word, said in found if said is not None), (None, ""))


def _last_line(message: str) -> tuple[ReviewVerdict | None, str]:
    """Reviewers of one's own may end with a plain `PASS`, `FAIL: why` or `BLOCKED: why`."""
    lines = message.split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    name, _, said = last.partition(":")
    return (ReviewVerdict(name), said.strip()) if name in {*ReviewVerdict} else (None, "")


def short_summary(text: str) -> str:
    """A summary that is one, however much was written."""
    words = one_line(text, 400).split()
    return " ".join(words[:SUMMARY_WORDS])


def _with_finding_ids(remarks: Sequence[FindingTag], before: ReviewThread) -> tuple[Finding, ...]:
    """Each with the name that it had before, or a new one; none of them twice."""
    known = {one.id: one for one in before.all_findings}
    by_words = {_normalized_remark(one.text): one.id for one in before.all_findings}
    number = before.next_number
    found: dict[str, Finding] = {}
    for remark in remarks:
        text = remark.text[:LONGEST]
        named = remark.id.upper()
        old = named if named in known else by_words.get(_normalized_remark(text))
        name = old or f"F{number}"
        if old is None:
            by_words[_normalized_remark(text)] = name
            number += 1
        if name not in found:
            found[name] = Finding(id=name, text=text, is_new=name not in known)
    return tuple(found.values())


def _normalized_remark(text: str) -> str:
    """The same remark, though its lines have moved or its dots are others."""
    return " ".join(re.findall(r"[^\W\d_]+", text.casefold())) or text


def _closing_reason(review: ReviewRound, before: ReviewThread) -> str:
    """Why a reviewer that does not agree is not asked again; empty: it is right so far."""
    if all(one.id in before.dismissed for one in review.findings):
        return "all that it found was dismissed"
    stale = 0
    for one in reversed((*before.rounds, review)):
        if (
            one.word is not ReviewVerdict.FAIL
            or one.closed
            or any(each.is_new for each in one.findings)
        ):
            break
        stale += 1
    return f"{STALE_ROUNDS} rounds without new findings" if stale >= STALE_ROUNDS else ""


# What the two sides are given


def change_section(base: str) -> BriefSection:
    """Where to look."""
    how = f"`git diff {base} HEAD`" if base else "`git log -p`"
    return BriefSection(name="diff", title="The change", parts=(f"All of it: {how}",))


def review_sections(base: str, before: ReviewThread) -> tuple[BriefSection, ...]:
    """For the reviewer: the change, and what was said before."""
    return (change_section(base), *filter(None, (_earlier_rounds_section(before),)))


def _earlier_rounds_section(before: ReviewThread) -> BriefSection | None:
    lines = []
    for one in before.all_findings:
        gone = before.dismissed.get(one.id)
        state = f"dismissed: {one_line(gone.reason, 300)}" if gone else "look whether it is fixed"
        lines.append((one.id, f"- {one.id}: {one_line(one.text, 600)} ({state})"))
    return list_section("review", "What reviewers have found before", lines)


def findings_to_fix_section(review_thread: ReviewThread, path: str) -> BriefSection | None:
    """What the next session has to fix; None where nothing is open."""
    found = review_thread.open_findings
    comments = {one.finding: one for one in review_thread.open_comments}
    first = found[0].id if found else "F1"
    lead = (
        "Fix each of them. One that is wrong you may dismiss instead, with a reason that"
        " convinces, in your last message, in a tag of this form, without the spaces:"
        f' `< dismiss id="{first}" > why < / dismiss >`.'
    )
    if comments:
        lead += (
            " A person has written those with lines of code; the work does not count while one of"
            " them has no answer. To change these lines answers it. If others do, name them:"
            f' `< addressed id="{next(iter(comments))}" > src/a.py:12-14 < / addressed >`.'
        )
    return list_section(
        "review",
        "What reviewers found" if comments else "What the reviewer found",
        [
            (
                one.id,
                _comment(comments[one.id]) if one.id in comments else f"- {one.id}: {one.text}",
            )
            for one in found
        ],
        lead=lead,
        source=f"`{path}`",
    )


def _comment(comment: LineComment) -> str:
    """With the lines that it is about, as they were."""
    text = "\n".join(f"  {line}".rstrip() for line in comment.text.splitlines())
    code = "\n".join(f"      {line}".rstrip() for line in comment.excerpt.splitlines())
    what = " (removed)" if comment.side is DiffSide.OLD else ""
    where = f"`{one_line(str(comment.lines), 300)}`{what}"
    whose = f"{comment.about}, attempt {comment.attempt}"
    return f"- {comment.finding}: {where} of {whose}\n\n{code}\n\n{text}"


def comments_section(review_thread: ReviewThread) -> BriefSection | None:
    """For a verifier: what people have asked for."""
    return list_section(
        "review",
        "What a person wrote about lines of it",
        [(one.finding, _comment(one)) for one in review_thread.comments if one.dismissal is None],
        lead="The work has to answer each of them.",
    )


def on_comments(left: Sequence[LineComment]) -> Verdict | None:
    """Step 3: a person's comments need an answer: other lines, or a reason why not."""
    if not left:
        return None
    named = first_few([f"{one.finding} ({one_line(str(one.lines), 80)})" for one in left], 5)
    why = f"it has no answer to what a person wrote about its lines: {named}"
    return Verdict(transition=Rejected(why, by_reviewer=True), message=why)


def dismissals_in(message: str, review_thread: ReviewThread, by: str) -> tuple[Dismissal, ...]:
    """What the author of the work has an answer to."""
    asked = {one.id for one in review_thread.open_findings}
    return tuple(
        Dismissal(finding=one.id.upper(), reason=one.text[:LONGEST], by=by)
        for one in read_message_tags(message).dismissed
        if one.id.upper() in asked
    )
