"""Both built-in agents keep the agent's promises, and a few of their own."""

import subprocess
from pathlib import Path

import msgspec
import pytest

from ralph.adapters.agents.command_agent import CommandAgent
from ralph.adapters.agents.scripted_agent import ScriptedAgent
from ralph.core.agent_events import SessionResultEvent, Text, UnknownLine
from ralph.core.errors import BadConfig, UnusableData
from ralph.core.process_exit import ProcessExit
from ralph.core.session_ending import EndingKind
from ralph.core.session_output import StreamSummary
from ralph.ports.agent import Agent, AgentSetup
from ralph.testing.agent_contract import AgentContract, a_brief


class TestCommandAgent(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return CommandAgent(AgentSetup(command="my-agent --go"))


class TestCommandAgentWithPromptAsArgument(AgentContract):
    @pytest.fixture
    def agent(self) -> Agent:
        return CommandAgent(AgentSetup(command='my-agent -p "$(cat {prompt})"'))


class TestScriptedAgent(AgentContract):
    @pytest.fixture
    def agent(self, tmp_path: Path) -> Agent:
        (tmp_path / "script.toml").write_text(
            '[[session]]\ntask = "*"\nsteps = [{ done = true }]\n'
        )
        return ScriptedAgent(AgentSetup(command="script.toml", directory=str(tmp_path)))


def launch(command: str, text: str = "do it") -> tuple[tuple[str, ...], bytes]:
    launched = CommandAgent(AgentSetup(command=command)).command(a_brief(text))
    return launched.argv, launched.stdin


def test_without_a_place_the_prompt_goes_to_stdin() -> None:
    assert launch("agent 'two words'") == (("agent", "two words"), b"do it")


def test_with_a_place_the_prompt_is_a_file() -> None:
    assert launch("agent -f {prompt}") == (("agent", "-f", "/tmp/a brief.md"), b"")


def test_a_command_line_that_is_more_than_words_goes_through_a_shell() -> None:
    assert launch("cat {prompt} | agent") == (
        ("/bin/sh", "-c", "cat '/tmp/a brief.md' | agent"),
        b"",
    )


def test_variables_before_the_command_need_a_shell() -> None:
    assert launch("MODE=fast agent")[0] == ("/bin/sh", "-c", "MODE=fast agent")


@pytest.mark.parametrize("command", ["exit 3", ": nothing", ". ./agent.sh", "exec agent"])
def test_words_that_only_a_shell_knows_need_one(command: str) -> None:
    assert launch(command)[0] == ("/bin/sh", "-c", command)


def test_a_prompt_too_long_for_an_argument_goes_to_stdin_instead() -> None:
    argv, stdin = launch('agent -p "$(cat {prompt})"', "x" * 200_000)
    assert (argv, len(stdin)) == (("agent", "-p"), 200_000)


def test_a_command_must_be_set() -> None:
    with pytest.raises(BadConfig, match="the agent is `command`, but no command is set"):
        CommandAgent(AgentSetup(command=" "))


def test_a_command_must_be_readable() -> None:
    with pytest.raises(BadConfig, match="quotation"):
        CommandAgent(AgentSetup(command="agent 'with one quote"))


def test_an_error_says_what_the_agent_complained_about_last() -> None:
    agent = CommandAgent(AgentSetup(command="agent"))
    ending = agent.ending(StreamSummary(), ProcessExit(code=2, stderr="first\nno such model\n"))
    assert ending.detail == "the agent exited with 2: no such model"


@pytest.mark.parametrize(
    ("code", "said", "ended"),
    [
        (0, "done", EndingKind.FINISHED),
        (1, "done", EndingKind.AGENT_ERROR),
        (127, "", EndingKind.NOT_INSTALLED),
        (127, "I tried", EndingKind.AGENT_ERROR),
        (143, "x", EndingKind.KILLED),
    ],
)
def test_a_commands_ending_follows_from_code_and_words(
    code: int, said: str, ended: EndingKind
) -> None:
    agent = CommandAgent(AgentSetup(command="agent"))
    digest = StreamSummary()
    for event in agent.read(said.encode()):
        digest.add(event)
    assert agent.ending(digest, ProcessExit(code=code)).ended is ended


def test_the_final_message_is_the_end_of_the_output() -> None:
    agent = CommandAgent(AgentSetup(command="agent"))
    digest = StreamSummary()
    for _ in range(100):
        for event in agent.read(b"x" * 4096 + b"\n"):
            digest.add(event)
    for event in agent.read(b"the end"):
        digest.add(event)
    assert len(digest.tail) == 64 * 1024
    assert agent.ending(digest, ProcessExit(code=0)).message.endswith("the end")


def a_script(tmp_path: Path, text: str) -> ScriptedAgent:
    (tmp_path / "script.toml").write_text(text)
    return ScriptedAgent(AgentSetup(command="script.toml", directory=str(tmp_path)))


def steps_of(agent: ScriptedAgent, attempt: int) -> object:
    return msgspec.json.decode(agent.command(a_brief(attempt=attempt)).stdin)["steps"]


def test_the_nth_session_of_a_script_is_the_nth_attempt(tmp_path: Path) -> None:
    agent = a_script(
        tmp_path,
        '[[session]]\ntask = "A task"\nsteps = [{ exit = 1 }]\n'
        '[[session]]\ntask = "t-abc123"\nsteps = [{ done = true }]\n',
    )
    assert [steps_of(agent, 1), steps_of(agent, 2)] == [[{"exit": 1}], [{"done": True}]]


def test_a_script_that_is_asked_for_more_fails(tmp_path: Path) -> None:
    agent = a_script(tmp_path, '[[session]]\ntask = "*"\nsteps = [{ done = true }]\n')
    assert "no session for attempt 2" in str(steps_of(agent, 2))


def test_a_script_may_repeat(tmp_path: Path) -> None:
    agent = a_script(
        tmp_path, '[[session]]\ntask = "*"\nrepeat = true\nsteps = [{ done = true }]\n'
    )
    assert steps_of(agent, 9) == [{"done": True}]


@pytest.mark.parametrize("text", ["not toml [", '[[session]]\ntask = "x"\n'])
def test_a_broken_script_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(UnusableData, match=r"script\.toml"):
        a_script(tmp_path, text)


def test_a_folder_of_ralphs_name_in_the_project_is_not_the_player(tmp_path: Path) -> None:
    (tmp_path / "ralph").mkdir()
    (tmp_path / "ralph" / "__init__.py").write_text("raise SystemExit('not this one')\n")
    agent = a_script(tmp_path, '[[session]]\ntask = "*"\nsteps = [{ done = true }]\n')
    launch = agent.command(a_brief())
    done = subprocess.run(
        launch.argv, input=launch.stdin, cwd=tmp_path, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"<task-done>t-abc123" in done.stdout


def test_the_players_lines_are_events_and_everything_else_is_kept(tmp_path: Path) -> None:
    agent = a_script(tmp_path, "")
    block = b'{"event":"text","text":"hi"}\nnoise\n{"event":"result","text":"end"}\n'
    assert list(agent.read(block)) == [
        Text(text="hi"),
        UnknownLine(line="noise"),
        SessionResultEvent(text="end"),
    ]
