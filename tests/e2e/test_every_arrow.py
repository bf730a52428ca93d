"""The states of the story pipeline: every arrow between them, and the test that takes it."""

from importlib import import_module

import pytest

BUILD, PLAN, AUTO = "test_build", "test_plan_and_prd", "test_validate_and_auto"
TALK = "test_prd_at_a_terminal"

PRD_ARROWS = {
    ("check input", "load agent"): (PLAN, "test_the_request_comes_from_anywhere"),
    ("check input", "prompt user"): (
        TALK,
        "test_a_person_is_asked_what_they_want_and_talks_about_it",
    ),
    ("prompt user", "cancelled"): (TALK, "test_whoever_cancels_leaves_nothing_behind"),
    ("prompt user", "load agent"): (
        TALK,
        "test_a_person_is_asked_what_they_want_and_talks_about_it",
    ),
    ("load agent", "write PRD"): (PLAN, "test_a_session_writes_the_prd_alone"),
    ("write PRD", "write PRD"): (PLAN, "test_it_is_told_what_is_wrong_until_it_fits"),
    ("write PRD", "failed"): (PLAN, "test_a_prd_that_never_fits_fails_in_the_end"),
}
PLAN_ARROWS = {
    ("prerequisites", "missing PRD"): (PLAN, "test_a_plan_needs_a_prd"),
    ("prerequisites", "iteration"): (PLAN, "test_a_plan_is_written_and_committed"),
    ("iteration", "next iteration"): (PLAN, "test_each_iteration_goes_on_from_the_last"),
    ("iteration", "maximum reached"): (PLAN, "test_each_iteration_goes_on_from_the_last"),
    ("iteration", "settled"): (PLAN, "test_it_ends_early_when_an_iteration_changes_nothing"),
    ("agent", "error logged"): (PLAN, "test_an_agent_that_fails_leaves_a_line_in_the_errors_log"),
    ("agent", "put back"): (PLAN, "test_everything_else_that_it_changes_is_put_back_and_said"),
    ("agent", "tried again"): (PLAN, "test_a_session_without_a_plan_is_tried_again"),
}
BUILD_ARROWS = {
    ("prerequisites", "missing PRD"): (
        BUILD,
        "test_without_a_prd_or_a_plan_the_command_that_makes_it_is_named",
    ),
    ("prerequisites", "missing plan"): (
        BUILD,
        "test_without_a_prd_or_a_plan_the_command_that_makes_it_is_named",
    ),
    ("parse stories", "no stories"): (
        BUILD,
        "test_without_a_prd_or_a_plan_the_command_that_makes_it_is_named",
    ),
    ("parse stories", "all done"): (BUILD, "test_all_done_is_success_without_a_session"),
    ("parse stories", "story found"): (
        BUILD,
        "test_stories_are_built_in_order_ticked_and_committed",
    ),
    ("story found", "brief"): (BUILD, "test_a_session_reads_its_story_and_its_part_of_the_plan"),
    ("iteration", "maximum reached"): (BUILD, "test_it_stops_after_n_iterations"),
    ("agent", "error logged"): (BUILD, "test_logs_are_added_to_and_never_written_anew"),
    ("agent", "interrupted"): (BUILD, "test_killed_in_mid_session_the_ticks_are_nobodys"),
    ("completion signal", "verify all done"): (
        BUILD,
        "test_the_word_complete_is_believed_only_when_every_story_is_done",
    ),
    ("check uncommitted", "warning"): (
        BUILD,
        "test_what_a_session_leaves_uncommitted_is_said_and_committed",
    ),
    ("check uncommitted", "no commit"): (BUILD, "test_no_commit_leaves_the_work_in_the_tree"),
    ("iteration", "summary"): (BUILD, "test_every_iteration_leaves_a_log_a_summary_and_a_line"),
    ("recheck stories", "next iteration"): (
        BUILD,
        "test_a_prd_edited_by_hand_in_mid_run_counts_from_the_next_iteration_on",
    ),
    ("story", "some criteria"): (BUILD, "test_partial_ticks_stay_and_the_story_stays_open"),
    ("story", "rejected"): (
        BUILD,
        "test_a_rejected_claim_is_cleared_and_the_next_session_hears_why",
    ),
    ("story", "failed, then open"): (
        BUILD,
        "test_a_story_that_failed_is_tried_again_by_the_next_build",
    ),
    ("PRD", "broken, then put back"): (
        BUILD,
        "test_a_prd_that_a_session_broke_is_put_back_said_and_tried_again",
    ),
}
PHASE_ARROWS = {
    ("discovery", "planning"): (AUTO, "test_from_an_idea_to_validated_commits"),
    ("planning", "approval"): (AUTO, "test_it_stops_for_approval_after_planning"),
    ("approval", "building"): (AUTO, "test_it_stops_for_approval_after_planning"),
    ("building", "building"): (AUTO, "test_it_goes_on_with_the_phase_where_it_stopped"),
    ("building", "validation"): (AUTO, "test_from_an_idea_to_validated_commits"),
    ("validation", "building"): (AUTO, "test_what_validation_opens_is_built_again"),
    ("validation", "failed"): (AUTO, "test_what_never_holds_ends_it"),
    ("validation", "done"): (AUTO, "test_from_an_idea_to_validated_commits"),
}
DIAGRAMS = {
    "prd": PRD_ARROWS,
    "plan": PLAN_ARROWS,
    "build": BUILD_ARROWS,
    "phases": PHASE_ARROWS,
}


@pytest.mark.parametrize("diagram", DIAGRAMS)
def test_every_arrow_has_a_test_that_takes_it(diagram: str) -> None:
    for arrow, (module, name) in DIAGRAMS[diagram].items():
        found = import_module(f"tests.e2e.{module}")
        assert callable(getattr(found, name, None)), f"{diagram}: {' -> '.join(arrow)}"
