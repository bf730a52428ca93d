"""Choose the model of the next session. The four strategies are pure functions of recorded
attempts, so that a restart makes the same choice."""

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import Final

import msgspec

from ralph.core.ids import RunId, TaskId
from ralph.core.message_tags import read_message_tags
from ralph.core.settings import ModelsSection
from ralph.core.verdict import FAILURES, AttemptRecord, AttemptVerdict


class Difficulty(IntEnum):
    NONE = 0
    MODERATE = 1
    SEVERE = 2


MODERATE: Final = frozenset({"error", "errors", "failure", "failures", "failed", "bug", "bugs"})
SEVERE: Final = frozenset(
    {"stuck", "cannot", "can't", "unable", "panic", "panics", "panicked", "crash", "crashes"}
    | {"crashed", "broken", "regression", "regressions"}
)
NEGATIONS: Final = frozenset(
    {"no", "not", "never", "without", "zero", "0", "none", "isn't", "nothing"}
    | {"fix", "fixed", "fixes", "fixing", "solved", "resolved", "mended", "repaired", "removed"}
    | {"prevent", "prevents", "prevented", "avoid", "avoids", "handle", "handles", "handled"}
)
"""Before a word they take its sting: `no errors`, `fixed the crash`."""
TOPICS: Final = frozenset(
    {"handling", "handler", "handlers", "message", "messages", "code", "codes", "page", "pages"}
    | {"type", "types", "class", "classes", "report", "reports", "reporter", "path", "paths"}
    | {"case", "cases", "tracker", "boundary", "test", "tests"}
)
"""After a word they tell that it is the work's subject: `error handling`."""
REACH: Final = 3
"""How many words before it can deny one."""
LONGEST: Final = 20_000
BAD_VERDICTS: Final = FAILURES - {AttemptVerdict.CONFLICT}
_SENTENCES: Final = re.compile(r"[.;:!?](?=\s)|\n")
_AROUND: Final = "\"'`()[]{}<>*_,.;:!?"


def attempt_difficulty(tried: AttemptRecord, before: Sequence[AttemptRecord] = ()) -> Difficulty:
    """Rate an attempt. `before` holds the earlier attempts, oldest first.

    A second bad attempt in a row at one task is stuck, whatever it says.
    """
    journal = read_message_tags(tried.message).journal or ""
    said = max(map(difficulty_in_text, (*tried.notes, journal)))
    match tried.judged:
        case AttemptVerdict.ACCEPTED:
            # Notes of work that counts tell of what was overcome: a word weighs one step less.
            return Difficulty(max(said - 1, 0))
        case AttemptVerdict.GAVE_UP:
            return Difficulty.SEVERE
        case AttemptVerdict.REJECTED | AttemptVerdict.STRUCK:
            last = next((one for one in reversed(before) if one.task_id == tried.task_id), None)
            is_stuck = last is not None and last.judged in BAD_VERDICTS
            return Difficulty.SEVERE if is_stuck else max(said, Difficulty.MODERATE)
        case AttemptVerdict.CONFLICT | AttemptVerdict.SPLIT | AttemptVerdict.RELEASED:
            return Difficulty.NONE


def difficulty_in_text(text: str) -> Difficulty:
    """Rate the words of a note. Words that are negated or only name a topic do not count."""
    found = Difficulty.NONE
    for sentence in _SENTENCES.split(text[:LONGEST].lower().replace("\u2019", "'")):
        # Not what is inside of names: `error.py`, `on_crash`.
        words = [word.strip(_AROUND) for word in sentence.split()]
        for at, word in enumerate(words):
            weight = _weight(word)
            if weight > found and not _is_negated(words, at):
                found = weight
    return found


def _weight(word: str) -> Difficulty:
    if word in SEVERE:
        return Difficulty.SEVERE
    return Difficulty.MODERATE if word in MODERATE else Difficulty.NONE


def _is_negated(words: Sequence[str], at: int) -> bool:
    is_topic = at + 1 < len(words) and words[at + 1] in TOPICS
    return is_topic or not NEGATIONS.isdisjoint(words[max(0, at - REACH) : at])


CLEAN_STREAK: Final = 3
"""So many clean attempts in a row earn a cheaper model."""


class Tier(StrEnum):
    """The capability and cost of a model, from cheap to expensive, whatever an agent calls it."""

    HAIKU = "haiku"
    SONNET = "sonnet"
    OPUS = "opus"


TIERS_BY_COST: Final = tuple(Tier)


class ModelChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The chosen model, and the one that the strategy planned."""

    model: str
    """A tier, or a name that is passed on as it is."""
    planned: str
    """What the strategy alone would have chosen."""

    @property
    def was_overridden(self) -> bool:
        """The last session asked for another one, and gets its way."""
        return self.model != self.planned

    @property
    def tier(self) -> str:
        """Empty for a name."""
        return self.model if self.model in TIERS_BY_COST else ""


def choose_model(
    preferences: ModelsSection, history: Sequence[AttemptRecord], *, task: TaskId, run: RunId
) -> ModelChoice:
    """The model for the next session of a task. `history`: attempts that counted, oldest first."""
    planned: str
    match preferences.strategy:
        case "fixed":
            planned = preferences.model
        case "cost-optimized":
            planned = _cost_optimized(history, task)
        case "escalate":
            planned = _escalate(history)
        case "plan-then-execute":
            is_first = not any(one.run_id == run for one in history)
            planned = Tier.OPUS if is_first else Tier.SONNET
    hint = _hint(history[-1]) if history else None
    return ModelChoice(model=hint or planned, planned=planned)


def _hint(tried: AttemptRecord) -> Tier | None:
    word = read_message_tags(tried.message).next_model
    return Tier(word) if word else None


def _cost_optimized(history: Sequence[AttemptRecord], task: TaskId) -> Tier:
    """The middle one; the best after something bad, the cheapest after nothing but good."""
    newest = range(max(0, len(history) - CLEAN_STREAK), len(history))
    own = [at for at, one in enumerate(history) if one.task_id == task]
    if any(attempt_difficulty(history[at], history[:at]) for at in {*newest, *own[-1:]}):
        return Tier.OPUS
    return Tier.HAIKU if len(newest) == CLEAN_STREAK else Tier.SONNET


def _escalate(history: Sequence[AttemptRecord]) -> Tier:
    """Up with difficulty and never down by itself; only a hint can lower it.

    What an attempt ran on is on record, so the level is known though its cause is long past.
    """
    level = 0
    for at, one in enumerate(history):
        if one.strategy == "escalate" and one.tier in TIERS_BY_COST:
            level = max(level, TIERS_BY_COST.index(Tier(one.tier)))
        level = max(level, attempt_difficulty(one, history[:at]))
        if at < len(history) - 1 and (hint := _hint(one)):
            level = TIERS_BY_COST.index(hint)
    return TIERS_BY_COST[level]


def model_name_for_agent(model: str, own: Mapping[str, str], known: Mapping[str, str]) -> str:
    """What to tell an agent: a tier by the person's table, otherwise by the agent's, otherwise
    nothing, so that the agent chooses; any other name as it is."""
    if model not in TIERS_BY_COST:
        return model
    return own.get(model) or known.get(model, "")
