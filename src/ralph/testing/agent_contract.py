"""The promises that every agent keeps, as tests."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ralph.core.ids import RunId, TaskId
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import CONSEQUENCES, Consequence, EndingKind
from ralph.core.session_output import StreamSummary
from ralph.ports.agent import Agent, Brief


def a_brief(text: str = "do it", attempt: int = 1) -> Brief:
    return Brief(
        task_id=TaskId("t-abc123"),
        title="A task",
        attempt=attempt,
        run_id=RunId("20260101-000000-1"),
        text=text,
        path="/tmp/a brief.md",
        checkout="/tmp",
    )


class AgentContract:
    """Subclass it and give the agent as a fixture."""

    @pytest.fixture
    def agent(self) -> Agent:
        raise NotImplementedError

    def test_it_has_a_name_and_says_how_to_get_it(self, agent: Agent) -> None:
        """Users whose agent is missing read it."""
        assert agent.traits.name
        assert agent.traits.install_hint

    def test_the_prompt_is_never_one_giant_argument(self, agent: Agent) -> None:
        """The system refuses arguments of 128 KiB."""
        launch = agent.command(a_brief("x" * 1_000_000))
        assert max(len(word) for word in launch.argv) < 128 * 1024

    def test_a_person_can_talk_to_it(self, agent: Agent) -> None:
        """`ralph feature spec` and other commands need it."""
        assert agent.interactive_command(a_brief()).argv

    def test_it_says_who_pays(self, agent: Agent) -> None:
        """Also without any variable or login."""
        assert agent.account({}, {}).name

    def test_reading_never_raises(self, agent: Agent) -> None:
        """No output of an agent stops Ralph."""

        @settings(deadline=None)
        @given(block=st.binary(max_size=400))
        def survives(block: bytes) -> None:
            digest = StreamSummary()
            for event in agent.read(block):
                digest.add(event)

        survives()

    @pytest.mark.parametrize(
        "stop",
        [
            EndingKind.TIMED_OUT,
            EndingKind.IDLE,
            EndingKind.BUDGET_LIMIT,
            EndingKind.HANDED_OVER,
            EndingKind.INTERRUPTED,
        ],
    )
    def test_what_we_stopped_is_not_finished(self, agent: Agent, stop: EndingKind) -> None:
        """Also if it exits with 0 and claims success."""
        digest = StreamSummary(tail="<task-done>t-abc123</task-done>")
        assert agent.ending(digest, ProcessExit(code=0, stop=stop)).ended is stop

    def test_an_agent_that_cannot_start_ends_the_run(self, agent: Agent) -> None:
        """The next session could not start either."""
        ending = agent.ending(StreamSummary(), ProcessExit(code=None, error="no such file"))
        assert CONSEQUENCES[ending.ended] is Consequence.END_RUN
        assert "no such file" in ending.detail

    def test_silence_is_no_result(self, agent: Agent) -> None:
        """Exit code 0 alone proves nothing."""
        assert agent.ending(StreamSummary(), ProcessExit(code=0)).ended is EndingKind.NO_RESULT

    def test_a_signal_is_not_a_result(self, agent: Agent) -> None:
        """The process was killed by another one."""
        assert agent.ending(StreamSummary(), ProcessExit(code=-9)).ended is EndingKind.KILLED
