"""What holds for any run holds in the sandbox: some of the same tests, once more."""

import pytest

from tests.e2e.conftest import Project
from tests.e2e.test_own_state import (
    test_a_linked_worktree_is_a_checkout_of_its_own,
    test_a_long_name_for_temporary_files,
    test_an_agent_that_writes_its_own_gitignore_and_adds_everything,
)
from tests.e2e.test_run import (
    test_a_gate_that_is_red_before_does_not_block_everything,
    test_a_session_may_not_settle_another_task,
    test_a_session_reaches_the_loop_by_its_socket,
    test_a_task_that_needs_no_change_may_be_done_without_one,
    test_four_tries_when_a_gate_keeps_failing,
    test_tasks_are_built_in_order_of_their_dependencies,
    test_what_depends_on_a_failed_task_leaves_the_run_blocked,
)

__all__ = [
    "test_a_gate_that_is_red_before_does_not_block_everything",
    "test_a_linked_worktree_is_a_checkout_of_its_own",
    "test_a_long_name_for_temporary_files",
    "test_a_session_may_not_settle_another_task",
    "test_a_session_reaches_the_loop_by_its_socket",
    "test_a_task_that_needs_no_change_may_be_done_without_one",
    "test_an_agent_that_writes_its_own_gitignore_and_adds_everything",
    "test_four_tries_when_a_gate_keeps_failing",
    "test_tasks_are_built_in_order_of_their_dependencies",
    "test_what_depends_on_a_failed_task_leaves_the_run_blocked",
]


@pytest.fixture
def project(sandboxed: Project) -> Project:
    return sandboxed
