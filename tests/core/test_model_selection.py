"""Which model comes next, from what is on record."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ralph.core.ids import RunId, TaskId
from ralph.core.model_selection import (
    TIERS_BY_COST,
    ModelChoice,
    Tier,
    choose_model,
    model_name_for_agent,
)
from ralph.core.settings import ModelsSection
from ralph.core.verdict import AttemptRecord, AttemptVerdict

RUN = RunId("run-1")
OTHER_RUN = RunId("run-0")
FIXED = ModelsSection(strategy="fixed", model="gpt-5.5")
COST = ModelsSection(strategy="cost-optimized")
ESCALATE = ModelsSection(strategy="escalate")
PLAN = ModelsSection(strategy="plan-then-execute")


def a_try(
    judged: AttemptVerdict = AttemptVerdict.ACCEPTED,
    *,
    task: str = "t-1",
    attempt: int = 1,
    run: RunId = RUN,
    hint: str = "",
    note: str = "",
    tier: str = "",
    strategy: str = "",
) -> AttemptRecord:
    return AttemptRecord(
        task_id=TaskId(task),
        attempt=attempt,
        run_id=run,
        judged=judged,
        message=f"<next-model>{hint}</next-model>" if hint else "",
        notes=(note,) if note else (),
        tier=tier,
        strategy=strategy,
    )


def clean(count: int) -> list[AttemptRecord]:
    return [a_try(task=f"t-clean{number}") for number in range(count)]


def chosen(
    preferences: ModelsSection, *history: AttemptRecord, task: str = "t-next"
) -> ModelChoice:
    return choose_model(preferences, history, task=TaskId(task), run=RUN)


# fixed


def test_fixed_is_always_the_same() -> None:
    bad = a_try(AttemptVerdict.GAVE_UP, note="stuck")
    for history in ([], [bad], clean(5)):
        assert chosen(FIXED, *history) == ModelChoice(model="gpt-5.5", planned="gpt-5.5")


# cost-optimized


def test_cost_optimized_begins_in_the_middle() -> None:
    assert chosen(COST).model == "sonnet"
    assert chosen(COST, *clean(2)).model == "sonnet"


def test_three_clean_attempts_earn_a_cheaper_model() -> None:
    assert chosen(COST, *clean(3)).model == "haiku"
    assert chosen(COST, *clean(30)).model == "haiku"


@pytest.mark.parametrize(
    "judged", [AttemptVerdict.REJECTED, AttemptVerdict.STRUCK, AttemptVerdict.GAVE_UP]
)
def test_an_attempt_that_did_not_count_calls_for_the_best(judged: AttemptVerdict) -> None:
    assert chosen(COST, *clean(5), a_try(judged)).model == "opus"
    assert chosen(COST, a_try(judged), *clean(2)).model == "opus"


def test_trouble_is_forgotten_after_three_clean_attempts() -> None:
    assert chosen(COST, a_try(AttemptVerdict.REJECTED), *clean(3)).model == "haiku"


def test_a_tasks_own_trouble_is_remembered_however_long_ago() -> None:
    history = (a_try(AttemptVerdict.REJECTED, task="t-hard"), *clean(10))
    assert chosen(COST, *history, task="t-hard").model == "opus"
    assert chosen(COST, *history, task="t-other").model == "haiku"


def test_a_task_that_was_done_after_its_trouble_is_no_trouble() -> None:
    history = (a_try(AttemptVerdict.REJECTED, task="t-1"), a_try(task="t-1", attempt=2), *clean(3))
    assert chosen(COST, *history, task="t-1").model == "haiku"


def test_words_in_the_notes_of_accepted_work_count_if_they_are_grave() -> None:
    assert chosen(COST, a_try(note="the parser is still broken")).model == "opus"
    assert chosen(COST, *clean(2), a_try(note="saw an error on the way")).model == "haiku"
    assert chosen(COST, *clean(2), a_try(note="no errors, nothing broken")).model == "haiku"


def test_a_task_that_was_split_up_is_no_trouble() -> None:
    assert chosen(COST, *clean(2), a_try(AttemptVerdict.SPLIT, note="stuck")).model == "haiku"
    assert chosen(PLAN, a_try(AttemptVerdict.SPLIT)).model == "sonnet"


# escalate


def test_escalate_begins_with_the_cheapest() -> None:
    assert chosen(ESCALATE).model == "haiku"
    assert chosen(ESCALATE, *clean(9)).model == "haiku"


@pytest.mark.parametrize("judged", [AttemptVerdict.REJECTED, AttemptVerdict.STRUCK])
def test_one_bad_attempt_is_moderate_and_the_second_at_the_same_task_severe(
    judged: AttemptVerdict,
) -> None:
    first, second = a_try(judged), a_try(judged, attempt=2)
    assert chosen(ESCALATE, first).model == "sonnet"
    assert chosen(ESCALATE, first, second).model == "opus"
    assert chosen(ESCALATE, first, a_try(judged, task="t-2")).model == "sonnet"


def test_giving_up_is_severe() -> None:
    assert chosen(ESCALATE, a_try(AttemptVerdict.GAVE_UP)).model == "opus"


def test_words_make_a_bad_attempt_worse() -> None:
    assert chosen(ESCALATE, a_try(AttemptVerdict.STRUCK, note="I am stuck here")).model == "opus"


def test_escalate_never_goes_down_by_itself() -> None:
    assert chosen(ESCALATE, a_try(AttemptVerdict.REJECTED), *clean(50)).model == "sonnet"


def test_only_a_hint_lowers_the_level_and_trouble_raises_it_again() -> None:
    up = a_try(AttemptVerdict.GAVE_UP)
    down = a_try(hint="haiku", task="t-2")
    assert chosen(ESCALATE, up, down) == ModelChoice(model="haiku", planned="opus")
    assert chosen(ESCALATE, up, down, *clean(3)) == ModelChoice(model="haiku", planned="haiku")
    assert chosen(ESCALATE, up, down, a_try(AttemptVerdict.STRUCK, task="t-3")).model == "sonnet"


def test_what_escalate_had_reached_is_known_when_its_cause_is_out_of_sight() -> None:
    seen = [replace(one, tier="opus", strategy="escalate") for one in clean(20)]
    assert chosen(ESCALATE, *seen).model == "opus"


def test_what_another_strategy_chose_is_no_level() -> None:
    assert chosen(ESCALATE, a_try(tier="opus", strategy="fixed")).model == "haiku"


# plan-then-execute


def test_the_best_plans_and_the_middle_one_executes() -> None:
    assert chosen(PLAN).model == "opus"
    assert chosen(PLAN, a_try(run=OTHER_RUN)).model == "opus"
    assert chosen(PLAN, a_try(AttemptVerdict.REJECTED)).model == "sonnet"
    assert chosen(PLAN, *clean(5)).model == "sonnet"


# hints


@pytest.mark.parametrize("preferences", [FIXED, COST, ESCALATE, PLAN], ids=lambda p: p.strategy)
@pytest.mark.parametrize("hint", TIERS_BY_COST)
def test_a_hint_overrides_every_strategy_for_the_next_session_only(
    preferences: ModelsSection, hint: Tier
) -> None:
    asked = a_try(hint=hint)
    choice = chosen(preferences, *clean(3), asked)
    assert choice.model == hint
    assert choice.was_overridden == (choice.planned != hint)
    after = chosen(preferences, *clean(3), asked, a_try(task="t-last"))
    assert not after.was_overridden


def test_a_hint_that_agrees_overrides_nothing() -> None:
    assert not chosen(COST, a_try(hint="sonnet")).was_overridden


# names


def test_a_tier_is_called_what_the_person_says_then_what_the_agent_says() -> None:
    known = {"sonnet": "agent-sonnet", "opus": "agent-opus"}
    assert model_name_for_agent("opus", {"opus": "mine"}, known) == "mine"
    assert model_name_for_agent("sonnet", {"opus": "mine"}, known) == "agent-sonnet"
    assert model_name_for_agent("haiku", {"opus": "mine"}, known) == ""


def test_any_other_name_is_passed_on_as_it_is() -> None:
    assert model_name_for_agent("custom:my-model", {"opus": "mine"}, {}) == "custom:my-model"
    assert model_name_for_agent("", {}, {}) == ""


# promises

tries = st.builds(
    a_try,
    st.sampled_from([one for one in AttemptVerdict if one is not AttemptVerdict.RELEASED]),
    task=st.sampled_from(["t-1", "t-2", "t-3"]),
    attempt=st.integers(1, 9),
    run=st.sampled_from([RUN, OTHER_RUN]),
    hint=st.sampled_from(["", "", "", "haiku", "sonnet", "opus"]),
    note=st.sampled_from(["", "", "all well", "an error", "stuck", "no errors"]),
)
histories = st.lists(tries, max_size=40)
everyone = st.sampled_from([COST, ESCALATE, PLAN])


@given(everyone, histories)
def test_every_strategy_but_fixed_chooses_a_tier(
    preferences: ModelsSection, history: list[AttemptRecord]
) -> None:
    choice = chosen(preferences, *history)
    assert choice.model in TIERS_BY_COST
    assert choice.planned in TIERS_BY_COST
    assert choice.tier == choice.model


@given(histories, tries)
def test_without_a_hint_escalate_only_climbs(
    history: list[AttemptRecord], more: AttemptRecord
) -> None:
    now = chosen(ESCALATE, *history).model
    later = chosen(ESCALATE, *history, replace(more, message="")).model
    assert TIERS_BY_COST.index(Tier(later)) >= TIERS_BY_COST.index(Tier(now))


@given(histories)
def test_a_short_memory_comes_to_the_same_level_as_a_long_one(history: list[AttemptRecord]) -> None:
    """A run remembers only its newest attempts: the level travels with what they ran on."""
    lived: list[AttemptRecord] = []
    for one in history:
        tier = chosen(ESCALATE, *lived).model
        lived.append(replace(one, tier=tier, strategy="escalate"))
    assert chosen(ESCALATE, *lived[-20:]) == chosen(ESCALATE, *lived)


@given(everyone, histories, st.sampled_from(TIERS_BY_COST))
def test_a_hint_is_always_followed(
    preferences: ModelsSection, history: list[AttemptRecord], hint: Tier
) -> None:
    assert chosen(preferences, *history, a_try(hint=hint)).model == hint
