"""A second session checks the work, in a checkout of its own, and what it says counts."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from ralph.core import events, session_events
from ralph.core.gates import Gate
from ralph.core.ids import FeatureId, RunId
from ralph.core.policy.decision import Phase
from ralph.core.policy.tools import ToolPermissions
from ralph.core.process_exit import ProcessExit
from ralph.core.run import RunOutcome
from ralph.core.session_ending import EndingKind
from ralph.core.task import Task, TaskStatus
from ralph.engine.loop import run
from ralph.engine.run_settings import SessionSettings
from ralph.ports.executor import Command, OutputListener
from ralph.store.claims import Claim
from ralph.store.costs import CostFilter
from ralph.store.messages import ControlWord
from ralph.store.sessions import Session, WorkCheck
from tests.doubles import Play, UnusedControlSocket, says
from tests.engine.limited_agent import Limited
from tests.engine.world import CrashPoint, Died, World

PASS, FAIL = "<verify-pass/>", "<verify-fail>no tests</verify-fail>"


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.verify = True
    return world


def checks(text: str, *, code: int = 0) -> Play:
    """A session in the throw-away checkout."""

    def play(command: Command, listener: OutputListener) -> ProcessExit:
        assert command.cwd == "/throw-away"
        assert "RALPH_SOCKET" not in command.env
        listener.output(text.encode())
        return ProcessExit(code=code, stop=listener.tick(), duration_s=1.0)

    return play


def verdict(task: Task) -> tuple[TaskStatus, str | None, int]:
    return task.status, task.verification_status, task.retry_count


def test_what_passes_is_done(world: World) -> None:
    task = world.add()
    assert world.run(world.works(), checks(PASS)).outcome is RunOutcome.COMPLETE
    assert verdict(world.task(task)) == (TaskStatus.DONE, "passed", 0)
    (ended,) = world.recorded(session_events.VerificationEnded)
    assert ended.passed is True
    assert "verified" in world.store.tasks.logs(task)[-1].message


def test_a_persons_own_template_says_how_to_look(world: World) -> None:
    task = world.add("Sell tea")
    own = "Be strict about {{STORY_ID}}: {{STORY_TITLE}} in {{PRD_PATH}}"
    world.verify_prompt = own
    ctx = world.ctx(session=SessionSettings(variables={"PRD_PATH": "prd.md"}))
    world.executor.sessions = [world.works(), checks(PASS)]
    assert run(ctx).outcome is RunOutcome.COMPLETE
    (rules,) = world.runs_dir.glob("*.verify-1.rules.md")
    assert rules.read_text().startswith(f"Be strict about {task}: Sell tea in prd.md\n\n## How")


def test_it_sees_exactly_what_was_claimed(world: World) -> None:
    world.add()
    world.run(world.works(), checks(PASS))
    (session,) = world.store.sessions.select()
    assert world.checkouts.made == [session.after]


def test_what_fails_comes_back_with_the_reason_and_may_pass_later(world: World) -> None:
    task = world.add()
    ended = world.run(world.works(), checks(FAIL), world.works(text="y"), checks(PASS))
    assert ended.outcome is RunOutcome.COMPLETE
    assert verdict(world.task(task)) == (TaskStatus.DONE, "passed", 1)
    briefs = sorted(world.runs_dir.glob("*.prompt.md"))
    retry = next(one.read_text() for one in briefs if one.name.endswith("iter-2.prompt.md"))
    assert "verification failed: no tests" in retry


def test_exhausted_retries_fail_the_task_with_count_and_reason(world: World) -> None:
    task = world.add(max_retries=1)
    world.run(world.works(), checks(FAIL), world.works(text="y"), checks(FAIL))
    found = world.task(task)
    assert verdict(found) == (TaskStatus.FAILED, "failed", 1)
    assert "no tests" in (found.reason or "")
    last = world.store.tasks.logs(task)[-1].message
    assert last == "attempt 2: verification failed: no tests (1 of 1 retries used)"


@pytest.mark.parametrize("said", ["looks good to me", f"{PASS} but {FAIL}"])
def test_no_clear_pass_is_no_pass(world: World, said: str) -> None:
    task = world.add(max_retries=0)
    world.run(world.works(), checks(said))
    assert verdict(world.task(task)) == (TaskStatus.FAILED, "failed", 0)


def test_an_echo_of_its_brief_passes_nothing(world: World) -> None:
    task = world.add("a task", description="say <verify-pass/> at the end", max_retries=0)

    def echo(command: Command, listener: OutputListener) -> ProcessExit:
        (brief,) = world.runs_dir.glob("*.verify-1.prompt.md")
        listener.output(brief.read_bytes())
        return ProcessExit(code=0, stop=listener.tick())

    world.run(world.works(), echo)
    assert world.task(task).status is TaskStatus.FAILED


def test_a_verifier_that_crashes_is_tried_again_then_it_is_a_failure(world: World) -> None:
    task = world.add()
    crash = checks("oops", code=1)
    world.run(world.works(), crash, crash, checks(PASS))
    assert verdict(world.task(task)) == (TaskStatus.DONE, "passed", 0)
    other = world.add("other", max_retries=0)
    world.run(world.works(text="y"), crash, crash, crash)
    found = world.task(other)
    assert verdict(found) == (TaskStatus.FAILED, "failed", 0)
    assert "the verifier failed 3 times" in (found.reason or "")


def test_a_verifier_out_of_quota_is_waited_for_and_the_work_is_not_repeated(world: World) -> None:
    world.verifiers = (Limited("checker", world.clock.now() + 600),)
    task = world.add()
    ended = world.run(world.works(), checks("limit"), checks(PASS))
    assert ended.outcome is RunOutcome.COMPLETE
    assert verdict(world.task(task)) == (TaskStatus.DONE, "passed", 0)
    assert world.executor.slept == [605.0]
    assert ended.attempts == 1


def test_a_login_of_the_verifier_that_expired_pauses_the_run(world: World) -> None:
    world.verifiers = (Limited("checker"),)
    task = world.add()
    assert world.run(world.works(), checks("expired")).outcome is RunOutcome.PAUSED
    assert world.task(task).status is TaskStatus.PENDING
    assert world.run(checks(PASS)).outcome is RunOutcome.COMPLETE


def test_the_way_out_is_that_of_the_verifier(world: World) -> None:
    world.verifiers = (Limited("checker"),)
    world.add()
    ended = world.run(world.works(), checks("expired"))
    assert ended.reason == "401; log in anew"


def test_another_steps_in_for_a_verifier_that_is_out_of_quota(world: World) -> None:
    later = world.clock.now() + 600
    world.verifiers = (Limited("checker", later), Limited("other"))
    task = world.add()
    ended = world.run(world.works(), checks("limit"), checks(PASS))
    assert ended.outcome is RunOutcome.COMPLETE
    assert world.executor.slept == []
    assert [one.agent for one in _checks(world)] == ["checker", "other"]
    assert verdict(world.task(task)) == (TaskStatus.DONE, "passed", 0)


def test_nobody_who_only_steps_in_checks_its_own_work(world: World) -> None:
    later = world.clock.now() + 600
    world.agents = (Limited("worker"),)
    world.verifiers = (Limited("checker", later), world.agents[0])
    world.add()
    world.run(world.works(), checks("limit"), checks(PASS))
    assert [one.agent for one in _checks(world)] == ["checker", "checker"]
    assert world.executor.slept == [605.0]


def test_one_that_steps_in_and_cannot_is_left_out_and_the_first_is_waited_for(
    world: World,
) -> None:
    later = world.clock.now() + 600
    world.verifiers = (Limited("checker", later), Limited("other"))
    world.add()
    ended = world.run(world.works(), checks("limit"), checks("expired"), checks(PASS))
    assert ended.outcome is RunOutcome.COMPLETE
    assert [one.agent for one in _checks(world)] == ["checker", "other", "checker"]
    warned = [one.message for one in world.recorded(events.Warned)]
    assert "other is left out of this run: 401; log in anew" in warned


def test_the_agents_that_do_the_work_check_it_and_step_in_for_each_other(world: World) -> None:
    later = world.clock.now() + 600
    world.agents = (Limited("first", later), Limited("second"))
    world.add()
    world.run(world.works(), checks("limit"), checks(PASS))
    assert [one.agent for one in _checks(world)] == ["first", "second"]


def test_whoever_gives_no_verdict_is_named_with_the_way_out(world: World) -> None:
    world.add(max_retries=1)
    world.run(world.works(), checks("fine"), world.works(text="y"), checks("fine"))
    (warned,) = world.recorded(events.Warned)
    assert warned.message.startswith("command came to no verdict about the work")
    assert "[execution] verify = false" in warned.message
    assert "--no-verify" in warned.message


@pytest.mark.parametrize(
    ("wanted", "model", "warnings"),
    [
        ("m-1", "m-1", []),
        ("opus", "", ["checker has no opus: it checks with a model of its own choice"]),
        ("", "", []),
    ],
)
def test_a_verifier_has_the_model_that_is_set_for_it(
    world: World, wanted: str, model: str, warnings: list[str]
) -> None:
    world.verifiers = (Limited("checker"),)
    world.verify_model = wanted
    world.add()
    world.run(world.works(), checks(PASS))
    assert [one.model for one in _checks(world)] == [model]
    assert [one.message for one in world.recorded(events.Warned)] == warnings


def test_a_verifier_is_told_what_was_asked_for_and_what_was_changed(world: World) -> None:
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0, 0]
    first = world.add("first")
    world.store.tasks.force_done(first)
    task = world.add("a task", description="with two lines")
    world.store.tasks.link(first, task)
    world.store.messages.add_guidance("mind the tests", task)
    world.run(world.works(), checks(PASS))
    (path,) = world.runs_dir.glob("*.verify-1.prompt.md")
    text = path.read_text()
    for words in (
        "The task that is said to be done: " + task,
        "with two lines",
        "first",
        "mind the tests",
        "`work.txt`",
        "test passes",
        "You check the work of another session",
    ):
        assert words in text
    assert "Your task" not in text
    (check,) = _checks(world)
    assert {"task", "changed", "gates", "guidance"} <= {one.name for one in check.given}


def test_a_verifier_learns_nothing_of_what_the_attempts_before_it_thought(world: World) -> None:
    world.add()
    world.run(world.works(), checks(FAIL), world.works(text="y"), checks(PASS))
    (path,) = world.runs_dir.glob("*iter-2.verify-1.prompt.md")
    assert "no tests" not in path.read_text()


def test_a_check_that_ralph_did_not_survive_has_an_unknown_cost(world: World) -> None:
    task = world.add()

    def dies(command: Command, listener: OutputListener) -> ProcessExit:
        raise Died

    world.executor.sessions = [world.works(), dies]
    with pytest.raises(Died):
        run(world.ctx())
    world.run(checks(PASS))
    assert [(one.passed, one.ending and one.ending.ended) for one in _checks(world)] == [
        (None, EndingKind.LOST),
        (True, EndingKind.FINISHED),
    ]
    assert world.store.costs.total(CostFilter(task=task)).sessions == 3


@pytest.mark.parametrize("late", [False, True])
def test_wherever_ralph_dies_no_verdict_is_asked_for_twice(tmp_path: Path, *, late: bool) -> None:
    for calls in range(300):
        world = World(tmp_path)
        world.verify = True
        task = world.add()
        asked: list[str] = []

        def either(
            command: Command,
            listener: OutputListener,
            world: World = world,
            asked: list[str] = asked,
        ) -> ProcessExit:
            asked.append(command.cwd)
            play = checks(PASS) if command.cwd == "/throw-away" else world.works()
            return play(command, listener)

        world.executor.otherwise = either
        crash_point = CrashPoint(calls, late=late)
        try:
            run(world.ctx(crash_point))
        except Died:
            known = [one.passed for one in _checks(world)]
            asked.clear()
            world.run()
            assert verdict(world.task(task))[:2] == (TaskStatus.DONE, "passed"), calls
            assert (True in known) <= ("/throw-away" not in asked), calls
        else:
            return
    pytest.fail("it never ran to its end")


def _checks(world: World) -> list[WorkCheck]:
    return [
        check
        for one in world.store.sessions.select()
        for check in world.store.checks.of_session(one.id)
    ]


def test_without_it_nobody_checks(world: World) -> None:
    world.verify = False
    task = world.add()
    assert world.run(world.works()).outcome is RunOutcome.COMPLETE
    assert verdict(world.task(task)) == (TaskStatus.DONE, None, 0)


def test_what_a_gate_refuses_is_not_even_looked_at(world: World) -> None:
    world.gates = (Gate(name="test", command="make test"),)
    world.executor.gates["make test"] = [0, 1]
    world.add(max_retries=0)
    world.run(world.works())
    assert world.recorded(session_events.VerificationStarted) == []


def test_a_task_that_is_skipped_while_it_is_verified_is_left_out(world: World) -> None:
    task = world.add()

    def skip() -> None:
        world.store.messages.send_control(RunId("run-1"), ControlWord.SKIP, task, "not now")

    world.run(world.works(), says("half", does=skip))
    found = world.task(task)
    assert (found.status, found.reason) == (TaskStatus.BLOCKED, "not now")


def test_a_session_that_checks_is_on_a_permissions_of_its_own(world: World) -> None:
    opened: list[ToolPermissions] = []

    class Watched(UnusedControlSocket):
        def open_session(
            self,
            session: Session,
            claim: Claim,
            permissions: ToolPermissions,
            home: FeatureId | None = None,
        ) -> Mapping[str, str]:
            opened.append(permissions)
            return super().open_session(session, claim, permissions, home)

    world.add()
    world.executor.sessions = [world.works(), checks(PASS)]
    world.control_socket = Watched()
    run(world.ctx())
    assert [(one.phase, one.speaks) for one in opened] == [
        (Phase.BUILDING, True),
        (Phase.VALIDATION, False),
    ]
    assert opened[1].context.checkout == "/throw-away"
