"""The end of a session as Claude Code tells it."""

from collections.abc import Iterator, Mapping
from typing import Final

from ralph.adapters.agents.claude import failures, shapes
from ralph.adapters.agents.plausible import amount, count
from ralph.adapters.agents.summary import summary
from ralph.core.agent_events import Denied, Result, Usage
from ralph.core.safe_text import one_line

DETAIL_CHARS: Final = 300
NAME_CHARS: Final = 100
DULL: Final = ("[ede_diagnostic]", "completed", "success")
"""Tells people nothing."""


def last_word(line: shapes.Result) -> Iterator[Denied | Result]:
    """What was not permitted on the way, then the result."""
    for denial in line.permission_denials:
        yield Denied(
            name=one_line(denial.tool_name, NAME_CHARS), summary=summary(denial.tool_input)
        )
    # Only what says in so many words that all is well is no error: `subtype` alone is "success"
    # for a request that was refused, too.
    failed = line.is_error is not False or line.subtype != "success"
    yield Result(
        text="" if failed else line.result,
        error=failed,
        detail=_detail(line) if failed else "",
        failure=failures.of_result(line) if failed else None,
        model=_model(line.used),
        cost_usd=amount(line.total_cost_usd),
        turns=count(line.num_turns),
        duration_s=None if line.duration_ms is None else amount(line.duration_ms / 1000),
        usage=_usage(line.used),
    )


def _detail(line: shapes.Result) -> str:
    said = (line.result, *line.errors, line.terminal_reason or "", line.subtype)
    telling = (text for text in said if text and not text.startswith(DULL))
    return one_line(next(telling, ""), DETAIL_CHARS)


def _model(used: Mapping[str, shapes.Used]) -> str:
    """The one that did most of the work: helpers run on others."""
    dearest = max(used, key=lambda name: (used[name].cost_usd, used[name].written), default="")
    return one_line(dearest, NAME_CHARS)


def _usage(used: Mapping[str, shapes.Used]) -> Usage | None:
    # Of all models together. The line's own `usage` is 0 after some failures, this is not.
    if not used:
        return None
    each = used.values()
    cached = sum(count(one.from_cache) or 0 for one in each)
    fresh = sum((count(one.read) or 0) + (count(one.into_cache) or 0) for one in each)
    return Usage(
        input_tokens=fresh + cached,
        cached_tokens=cached,
        output_tokens=sum(count(one.written) or 0 for one in each),
    )
