"""A person at a terminal presses Ctrl-C or Ctrl-Z, or closes the window."""

import re

import pytest

from ralph.core.events import Warned
from tests.e2e.conftest import DONE, Project
from tests.e2e.crash_points import check_sound, left_running, store_of
from tests.e2e.fault_helpers import Stage
from tests.e2e.terminal import HIDE, INTERRUPT, JOB_CONTROL, SHOW, SUSPEND, Terminal
from tests.ui.vt import Terminal as Glass

QUESTION = b"What should its next session know?"


def test_ctrl_c_stops_the_session_and_a_second_one_ends_the_run(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    task = project.add("Write it")
    terminal = Terminal(project, "run")
    terminal.until(stage.there.exists, "the session began")
    terminal.until(lambda: HIDE in terminal.seen, "the live view is there")
    terminal.type(INTERRUPT)
    terminal.until(lambda: QUESTION in terminal.seen, "it asks")
    assert left_running(project) == []
    shown = project.task(task)
    assert (shown["status"], shown["claimed_by"], shown["retry_count"]) == ("pending", None, 0)
    terminal.type(INTERRUPT)
    assert terminal.ended() == 130
    assert terminal.is_sane()
    assert b"interrupted" in terminal.seen
    with store_of(project) as store:
        assert [run.outcome for run in store.runs.newest()] == ["interrupted"]


def again(project: Project, stage: Stage) -> str:
    """An agent that waits for its cue at first, and keeps what its second session is told."""
    file = project.path.parent / "told.md"
    return f"if [ $RALPH_ATTEMPT = 1 ]; then {stage.agent()}; else cat > '{file}'; {DONE}; fi"


@pytest.mark.parametrize(
    ("typed", "heard"), [(b"use the \xc3\xa9clair fixture\n", True), (b"\n", False)]
)
def test_guidance_after_ctrl_c_reaches_the_next_session(
    project: Project, typed: bytes, *, heard: bool
) -> None:
    stage = Stage(project)
    project.agent(again(project, stage))
    task = project.add("Write it")
    terminal = Terminal(project, "run")
    terminal.until(stage.there.exists, "the session began")
    # Typed before the question: an answer to nothing.
    terminal.type(b"\n\n")
    terminal.type(INTERRUPT)
    terminal.until(lambda: QUESTION in terminal.seen, "it asks")
    assert HIDE not in terminal.seen[terminal.seen.rfind(SHOW) :]
    terminal.type(typed)
    assert terminal.ended() == 0
    assert terminal.is_sane()
    shown = project.task(task)
    assert (shown["status"], shown["attempt"], shown["strikes"]) == ("done", 2, 0)
    text = (project.path.parent / "told.md").read_text()
    assert ("use the éclair fixture" in text) is heard


def test_ctrl_d_is_no_answer_and_ends_the_run(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    project.add("Write it")
    terminal = Terminal(project, "run")
    terminal.until(stage.there.exists, "the session began")
    terminal.type(INTERRUPT)
    terminal.until(lambda: QUESTION in terminal.seen, "it asks")
    terminal.type(b"\x04")
    assert terminal.ended() == 130
    assert terminal.is_sane()


@pytest.mark.parametrize(("word", "code"), [("resume", 0), ("stop", 6)])
def test_the_question_can_be_answered_from_elsewhere(
    project: Project, word: str, code: int
) -> None:
    stage = Stage(project)
    project.agent(again(project, stage))
    project.add("Write it")
    terminal = Terminal(project, "run")
    terminal.until(stage.there.exists, "the session began")
    terminal.type(INTERRUPT)
    terminal.until(lambda: QUESTION in terminal.seen, "it asks")
    project.ralph(word)
    assert terminal.ended() == code
    assert terminal.is_sane()


def test_what_a_person_edits_while_they_are_asked_is_theirs(project: Project) -> None:
    stage = Stage(project)
    project.agent(again(project, stage))
    project.add("Write it")
    terminal = Terminal(project, "run")
    terminal.until(stage.there.exists, "the session began")
    terminal.type(INTERRUPT)
    terminal.until(lambda: QUESTION in terminal.seen, "it asks")
    project.write("README.md", "a person's words\n")
    terminal.type(b"\n")
    assert terminal.ended() == 0
    assert project.git("status", "--porcelain") == "M README.md"


def test_ctrl_c_while_a_gate_runs_ends_the_run(project: Project) -> None:
    """No session is stopped, so there is nobody to be guided."""
    stage = Stage(project)
    project.agent(
        DONE, gates=f'test = "[ ! -e work.txt ] || {{ {stage.agent("test -e README.md")}; }}"'
    )
    project.add("Write it")
    terminal = Terminal(project, "run")
    terminal.until(stage.there.exists, "the gate runs")
    terminal.type(INTERRUPT)
    assert terminal.ended() == 130
    assert QUESTION not in terminal.seen


@pytest.mark.parametrize("state", ["session", "gate"])
def test_a_second_ctrl_c_ends_it_at_once_and_leaves_the_terminal_sane(
    project: Project, state: str
) -> None:
    outside = project.path.parent
    script = outside / "deaf.sh"
    script.write_text(
        f"""
        trap 'touch "{outside}/asked"' INT
        trap '' TERM HUP
        touch '{outside}/there'
        while :; do sleep 0.05; done
        """
    )
    deaf = f"exec sh '{script}'"
    if state == "session":
        project.agent(deaf)
    else:
        project.agent(DONE, gates=f'test = "{deaf}"')
    task = project.add("Write it")
    terminal = Terminal(project, "run")
    terminal.until((outside / "there").exists, "it began")
    terminal.type(INTERRUPT)
    terminal.until((outside / "asked").exists, "it was asked to end")
    terminal.until(lambda: b"Ctrl-C again ends the run at once" in terminal.seen, "it is said")
    terminal.type(INTERRUPT)
    assert terminal.ended() == 130
    assert terminal.is_sane()
    assert QUESTION not in terminal.seen
    assert left_running(project) == []
    assert project.task(task)["claimed_by"] is None
    check_sound(project)
    project.agent(DONE)
    project.ralph("run")
    assert project.status(task) == "done"


def test_a_closed_window_is_an_interrupted_run(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    task = project.add("Write it")
    terminal = Terminal(project, "run")
    terminal.until(stage.there.exists, "the session began")
    terminal.hang_up()
    assert terminal.process.wait(timeout=240) == 130
    assert left_running(project) == []
    shown = project.task(task)
    assert (shown["status"], shown["claimed_by"], shown["strikes"]) == ("pending", None, 0)
    with store_of(project) as store:
        (run,) = store.runs.newest()
        assert (run.outcome, run.reason) == ("interrupted", "by SIGHUP")
    project.agent(DONE)
    project.ralph("run")
    assert project.status(task) == "done"


def test_a_run_that_ends_by_itself_leaves_the_terminal_sane(project: Project) -> None:
    project.agent(DONE)
    project.add("Write it")
    terminal = Terminal(project, "run")
    assert terminal.ended() == 0
    assert terminal.is_sane()


def test_the_view_of_a_run_on_one_task_lists_no_others(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    task = project.add("Write it")
    project.add("Of another day")
    terminal = Terminal(project, "run", task)
    terminal.until(stage.there.exists, "the session began")
    terminal.until(lambda: f"{task} Write it" in terminal.words, "it is shown")
    assert "Of another day" not in terminal.words
    stage.go()
    assert terminal.ended() == 0


def test_keys_that_are_typed_during_a_run_do_not_reach_the_shell(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    project.add("Write it")
    terminal = Terminal(project, "run")
    terminal.until(stage.there.exists, "the session began")
    terminal.type(b"rm -rf everything\n")
    terminal.until(lambda: terminal.waiting_keys() > 0, "the keys arrived")
    stage.go()
    assert terminal.ended() == 0
    assert terminal.waiting_keys() == 0


def test_a_usage_limit_is_waited_for_in_sight_and_the_wait_can_be_left(project: Project) -> None:
    script = """
[[session]]
task = "*"
steps = [{ say = "I begin" }, { limit = 7000 }]
[[session]]
task = "*"
steps = [{ write = "a.txt", text = "a" }, { done = true }]
"""
    project.write("script.toml", script)
    project.write(".ralph.toml", '[agent]\nname = "scripted"\ncommand = "script.toml"\n')
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "configure")
    task = project.add("Write it")
    terminal = Terminal(project, "run")
    terminal.until(lambda: seconds_left(terminal) is not None, "it waits")
    first = seconds_left(terminal)
    assert first is not None
    assert 6000 < first < 8000
    terminal.until(lambda: (seconds_left(terminal) or first) < first, "it counts down")
    shown = on_glass(terminal)
    assert "◷ waiting: goes on at" in shown
    assert "scripted: out of quota" in shown
    assert "Ctrl-C and `ralph stop` lose nothing" in shown
    terminal.type(INTERRUPT)
    assert terminal.ended() == 130
    assert terminal.is_sane()

    terminal = Terminal(project, "run")
    terminal.until(lambda: "◷ waiting: goes on at" in on_glass(terminal), "it waits on")
    project.ralph("resume")
    assert terminal.ended() == 0
    assert project.status(task) == "done"
    assert "◷" not in on_glass(terminal)


@pytest.mark.parametrize("way", ["fg", "bg"])
def test_ctrl_z_gives_the_terminal_away_and_comes_back_to_it(project: Project, way: str) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    project.add("Write it")
    terminal = Terminal(project, "run", under=JOB_CONTROL)
    terminal.until(stage.there.exists, "the session began")
    terminal.until(lambda: b"Write it" in terminal.seen, "the live view is there")
    terminal.type(SUSPEND)
    terminal.until(lambda: b"[stopped]" in terminal.seen, "it stopped")
    terminal.until(lambda: b"[stopped] True" in terminal.seen, "the modes are as they were")
    shown = on_glass(terminal)
    assert "Write it" not in shown
    assert shown.rstrip().endswith("[stopped] True")
    assert terminal.seen.rfind(SHOW) > terminal.seen.rfind(HIDE)

    before = len(terminal.seen)
    terminal.type(way.encode() + b"\n")
    if way == "bg":
        project.ralph("pause")
        terminal.until(lambda: has_heard(project, "will pause"), "it is at work")
        project.ralph("resume")
        assert b"Write it" not in terminal.seen[before:]
        terminal.type(b"fg\n")
    terminal.until(lambda: b"Write it" in terminal.seen[before:], "the view is back")
    shown = on_glass(terminal)
    assert shown.index("[stopped] True") < shown.index("Write it")
    assert shown.count("of 1 done") == 1
    stage.go()
    assert terminal.ended() == 0
    assert terminal.is_sane()
    assert on_glass(terminal).count("[stopped] True") == 1


def has_heard(project: Project, words: str) -> bool:
    with store_of(project) as store:
        recorded = [one.event for one in store.events.select(after=0, limit=1000)]
    return any(isinstance(event, Warned) and words in event.message for event in recorded)


def seconds_left(terminal: Terminal) -> int | None:
    """As the countdown has it: `in 1:56:39`."""
    found = re.search(r"in (\d+):(\d\d):(\d\d)", on_glass(terminal))
    if found is None:
        return None
    hours, minutes, seconds = map(int, found.groups())
    return (hours * 60 + minutes) * 60 + seconds


def on_glass(terminal: Terminal) -> str:
    """What a person sees."""
    glass = Glass(80, 24)
    # A bell is heard, not seen.
    glass.feed(terminal.seen.decode().replace("\a", ""))
    return glass.text()
