"""Every recorded session of a real agent is read, understood, and ends as it should."""

import pytest

from ralph.core.agent_events import SessionResultEvent, UnknownLine
from ralph.core.session_ending import Consequence, EndingKind
from tests.contracts.recorded_output import FOLDERS, SESSIONS, Recorded, ended, heard, the_agent


@pytest.mark.parametrize("session", SESSIONS, ids=str)
def test_it_ends_as_it_should(session: Recorded) -> None:
    ending = ended(session, session.output)
    expected = session.expected
    assert (ending.ended, ending.denied) == (expected.ended, expected.denied)
    assert expected.detail in ending.detail
    if ending.consequence is Consequence.WAIT:
        assert ending.resets_at == expected.resets_at


@pytest.mark.parametrize("session", SESSIONS, ids=str)
def test_it_is_understood_whatever_the_size_of_the_pieces(session: Recorded) -> None:
    agent = the_agent(session.agent)
    whole, _ = heard(agent, [session.output])
    lines, _ = heard(agent, session.output.splitlines(keepends=True))
    assert whole == lines
    assert not [event for event in whole if isinstance(event, UnknownLine)]


@pytest.mark.parametrize("session", SESSIONS, ids=str)
def test_only_a_finished_session_has_a_message(session: Recorded) -> None:
    ending = ended(session, session.output)
    assert not ending.message or ending.ended is EndingKind.FINISHED


@pytest.mark.parametrize("session", SESSIONS, ids=str)
def test_the_agent_going_on_after_its_result_changes_nothing(session: Recorded) -> None:
    agent = the_agent(session.agent)
    events, _ = heard(agent, [session.output])
    if any(isinstance(event, SessionResultEvent) for event in events):
        assert ended(session, session.output, session.output).ended is session.expected.ended


def test_there_is_something_of_every_kind() -> None:
    assert {session.expected.ended for session in SESSIONS} >= {
        EndingKind.FINISHED,
        EndingKind.AGENT_ERROR,
        EndingKind.USAGE_LIMIT,
        EndingKind.RATE_LIMITED,
        EndingKind.OVERLOADED,
        EndingKind.NO_NETWORK,
        EndingKind.UNKNOWN_MODEL,
        EndingKind.AUTH_EXPIRED,
        EndingKind.BILLING,
        EndingKind.TURN_LIMIT,
        EndingKind.BUDGET_LIMIT,
        EndingKind.PROMPT_TOO_LONG,
        EndingKind.KILLED,
        EndingKind.NO_RESULT,
        EndingKind.CANNOT_RUN_AS_ROOT,
    }
    assert FOLDERS
