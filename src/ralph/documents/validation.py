"""What validation finds: a verdict and the evidence for each criterion, and the report of all."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from ralph.core.safe_text import one_line

LINE: Final = re.compile(
    r"[\s>*_#-]*([0-9]{1,4})[.):]?[*_\s]+(PASS|FAIL)\b[*_]*[\s:.\u2013\u2014-]*(.*)"
)
"""The number of a criterion, a word, and how that was seen."""


class CriterionReport(msgspec.Struct, frozen=True, kw_only=True):
    """About one criterion."""

    criterion: str
    verdict: str
    """pass, fail, unknown (nobody came to a verdict) or open (the story is not built)."""
    evidence: str = ""


class StoryReport(msgspec.Struct, frozen=True, kw_only=True):
    """About one story."""

    id: str
    title: str
    criteria: tuple[CriterionReport, ...]

    @property
    def passed(self) -> bool:
        return all(one.verdict == "pass" for one in self.criteria)


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    """About one gate."""

    name: str
    passed: bool
    command: str = ""
    evidence: str = ""
    """Its last words, where it fails."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """About the whole."""

    prd: str
    head: str
    time: str
    gates: tuple[GateReport, ...] = ()
    stories: tuple[StoryReport, ...] = ()

    @property
    def passed(self) -> bool:
        return all(one.passed for one in self.gates) and all(one.passed for one in self.stories)


def read_verdicts(message: str, criteria: Sequence[str]) -> tuple[tuple[CriterionReport, ...], str]:
    """What a session says about each criterion, and what its answer lacks; empty: nothing. Where
    it says two things about one, the worse counts."""
    said: dict[int, tuple[str, str]] = {}
    for line in message.splitlines():
        found = LINE.fullmatch(line.rstrip())
        if found is None:
            continue
        number, word = int(found[1]), found[2].lower()
        if number not in said or word == "fail":
            said[number] = (word, one_line(found[3], 500))
    missing = [str(number) for number in range(1, len(criteria) + 1) if number not in said]
    reports = tuple(
        CriterionReport(criterion=text, verdict=said[number][0], evidence=said[number][1])
        for number, text in enumerate(criteria, 1)
        if number in said
    )
    bare = [str(n) for n, text in enumerate(criteria, 1) if n in said and not said[n][1]]
    if missing:
        return reports, f"there is no verdict about criterion {', '.join(missing)}"
    return reports, f"there is no evidence for criterion {', '.join(bare)}" if bare else ""


def render(report: Report) -> str:
    """As Markdown."""
    lines = [
        f"# Validation of {report.prd}",
        "",
        f"- Result: {'passed' if report.passed else 'failed'}",
        f"- Commit: {report.head or 'none'}",
        f"- Time: {report.time}",
        "",
        "## Gates",
        "",
        *(
            f"- {'PASS' if one.passed else 'FAIL'} {one.name}: `{one_line(one.command)}`"
            + _seen(one.evidence)
            for one in report.gates
        ),
        *(["- none are set"] if not report.gates else []),
    ]
    for story in report.stories:
        lines += ["", f"## {'PASS' if story.passed else 'FAIL'} {story.id}: {story.title}", ""]
        lines += [
            f"- {one.verdict.upper()} {one.criterion}" + _seen(one.evidence)
            for one in story.criteria
        ]
    return "\n".join(lines) + "\n"


def _seen(evidence: str) -> str:
    return f"\n  - Evidence: {evidence}" if evidence else ""
