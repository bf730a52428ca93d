"""The validation of a story: the prompt of its session, and the report with a verdict and the
evidence for each criterion."""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from ralph.core.safe_text import one_line

LINE: Final = re.compile(
    r"[\s>*_#-]*([0-9]{1,4})[.):]?[*_\s]+(PASS|FAIL)\b[*_]*[\s:.\u2013\u2014-]*(.*)"
)
"""A line of an answer: the number of a criterion, the verdict, and the evidence."""


class CriterionReport(msgspec.Struct, frozen=True, kw_only=True):
    criterion: str
    verdict: str
    """pass, fail, unknown (there is no verdict) or open (the story is not built)."""
    evidence: str = ""


class StoryReport(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    title: str
    criteria: tuple[CriterionReport, ...]

    @property
    def passed(self) -> bool:
        return all(one.verdict == "pass" for one in self.criteria)


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    passed: bool
    command: str = ""
    evidence: str = ""
    """The last line of its output, if it failed."""


class ValidationReport(msgspec.Struct, frozen=True, kw_only=True):
    prd: str
    head: str
    time: str
    gates: tuple[GateReport, ...] = ()
    stories: tuple[StoryReport, ...] = ()

    @property
    def passed(self) -> bool:
        return all(one.passed for one in self.gates) and all(one.passed for one in self.stories)


def read_verdicts(message: str, criteria: Sequence[str]) -> tuple[tuple[CriterionReport, ...], str]:
    """The verdicts in a final message, and a sentence about what it lacks. Of two verdicts about a
    criterion, the worse counts."""
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


def render_report(report: ValidationReport) -> str:
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


def validate_story(path: str, block: str, criteria: Sequence[str]) -> str:
    listed = "\n".join(f"{number}. {text}" for number, text in enumerate(criteria, 1))
    return _without_answers(
        f"Does this story of `{path}` hold, as the code is now?\n\n{block.rstrip()}\n\n"
        f"Decide about each of these criteria:\n\n{listed}\n"
    )


def _without_answers(text: str) -> str:
    """The text with quotes around lines that would count as an answer."""
    lines = text.splitlines()
    return "".join(
        f'"{line}"\n' if LINE.fullmatch(line.rstrip()) else f"{line}\n" for line in lines
    )
