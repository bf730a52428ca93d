"""A person at a terminal presses Ctrl-C or Ctrl-Z, or closes the window."""

import pytest

from ralph.core.events import Warned
from tests.e2e.conftest import DONE, Project, wait_for
from tests.e2e.dying import check_sound, left_running, store_of
from tests.e2e.stage import Stage
from tests.e2e.terminal import HIDE, INTERRUPT, JOB_CONTROL, SHOW, SUSPEND, Terminal
from tests.ui.vt import Terminal as Glass


def test_ctrl_c_ends_the_run_and_leaves_the_terminal_sane(project: Project) -> None:
    stage = Stage(project)
    project.agent(stage.agent())
    task = project.add("Write it")
    terminal = Terminal(project, "run")
    terminal.until(stage.there.exists, "the session began")
    terminal.until(lambda: HIDE in terminal.seen, "the live view is there")
    terminal.type(INTERRUPT)
    assert terminal.ended() == 130
    assert terminal.is_sane()
    assert b"interrupted" in terminal.seen
    assert b"^C" not in terminal.seen
    assert left_running(project) == []
    shown = project.task(task)
    assert (shown["status"], shown["claimed_by"], shown["retry_count"]) == ("pending", None, 0)
    with store_of(project) as store:
        assert [run.outcome for run in store.runs()] == ["interrupted"]


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
    terminal.type(INTERRUPT)
    assert terminal.ended() == 130
    assert terminal.is_sane()
    wait_for(lambda: left_running(project) == [], "nothing of it is left")
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
    assert terminal.process.wait(timeout=60) == 130
    assert left_running(project) == []
    shown = project.task(task)
    assert (shown["status"], shown["claimed_by"], shown["strikes"]) == ("pending", None, 0)
    with store_of(project) as store:
        (run,) = store.runs()
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
    for left in ("1:56:3", "1:56:2"):
        terminal.until(lambda left=left: f"in {left}" in on_glass(terminal), "it counts down")
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
        told = [one.event for one in store.events(after=0, limit=1000)]
    return any(isinstance(event, Warned) and words in event.message for event in told)


def on_glass(terminal: Terminal) -> str:
    """What a person sees."""
    glass = Glass(80, 24)
    glass.feed(terminal.seen.decode())
    return glass.text()
