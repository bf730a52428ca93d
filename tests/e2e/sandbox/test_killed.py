"""Ralph is killed while a session works: what that has planted is disarmed, without a new run."""

import os
import random
import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import wait_for
from tests.e2e.ralph_process import RALPH, RalphProcess, run_ralph
from tests.e2e.sandbox.layouts import ALONE, BEGIN, LED, TOGETHER, Garden, at_random

SCRIPTS = (*LED.values(), *(script for name, script in ALONE.items() if name == "a rebase"))
STEPS = len(SCRIPTS)


@pytest.fixture
def garden(outside: Path, monkeypatch: pytest.MonkeyPatch) -> Garden:
    monkeypatch.delenv("RALPH_SANDBOX_MODE")
    monkeypatch.setenv("HOME", str(outside / "home"))
    return Garden(outside)


class Killed:
    """A run whose session plants one thing after another for ever, until Ralph is killed."""

    def __init__(self, garden: Garden, scripts: list[str], *, agent: str = "sh evil.sh") -> None:
        self.garden = garden
        self.top = garden.checkout("x")
        self.state = self.top / ".ralph/.tmp"
        steps = (
            f"trap_for {at}\n{script}\ncd {self.top}; echo > step-{at}\n"
            for at, script in enumerate(scripts)
        )
        endless = "while :; do echo x >> .git/x; done"
        script = f"cd {self.top}\nCAUGHT={garden.caught}\n{BEGIN}{''.join(steps)}{endless}\n"
        (self.top / "evil.sh").write_text(script)
        (self.top / ".ralph.toml").write_text(f'[agent]\ncommand = "{agent}"\n')
        garden.says(self.top, "add", "-A")
        garden.says(self.top, "commit", "-q", "-m", "configure")
        self.ralph("init")
        self.ralph("task", "add", "plant")
        self.process = RalphProcess(
            [RALPH, "run"],
            cwd=self.top,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PLANTED_IN": str(self.top)},
            start_new_session=True,
        )

    def ralph(self, *args: str) -> str:
        done = run_ralph(*args, cwd=self.top)
        return done.stdout + done.stderr

    def wait_for(self, step: int) -> None:
        wait_for((self.top / f"step-{step}").exists, f"step {step} of the session")

    def kill(self, *, group: bool = False) -> None:
        """And wait until nothing of it is at work."""
        (os.killpg if group else os.kill)(self.process.pid, signal.SIGKILL)
        self.process.wait()
        wait_for(lambda: not self.left(), "everything was cleared up")

    def left(self) -> list[str]:
        """What is not cleared up yet, and processes."""
        return [*(str(path) for path in self.state.glob("watched-*")), *self.running()]

    def running(self) -> list[str]:
        """All that Ralph has started, with what clears up after it."""
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                variables = (folder / "environ").read_bytes().split(b"\0")
                name = (folder / "cmdline").read_text("utf-8", "replace")
                is_dead = "State:\tZ" in (folder / "status").read_text()
            except OSError:
                continue  # it ended, or is not ours
            if not is_dead and os.fsencode(f"PLANTED_IN={self.top}") in variables:
                found.append(f"{folder.name} {name}")
        return found

    def is_harmless(self) -> None:
        """Nobody has started Ralph again, and git runs nothing."""
        assert self.garden.visit(self.top) == []
        assert not self.garden.caught.exists()
        assert (self.garden.home / ".bashrc").read_text() == "# mine\n"


def test_what_a_session_planted_is_disarmed_at_once(garden: Garden) -> None:
    killed = Killed(garden, [*SCRIPTS])
    killed.wait_for(STEPS - 1)
    killed.kill(group=True)
    killed.is_harmless()
    assert "rebase-merge" in killed.ralph("sandbox", "run", "--", "true"), "what was found is told"
    assert "rebase-merge" not in killed.ralph("sandbox", "run", "--", "true"), "once"


def test_also_where_landlock_lets_the_session_live_on(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RALPH_SANDBOX_USE", "landlock")
    killed = Killed(
        garden, ["", *TOGETHER["pipes"].values(), ALONE["a rebase"]], agent="setsid sh evil.sh"
    )
    killed.wait_for(1)
    killed.kill(group=True)
    killed.is_harmless()


def test_nothing_is_left_after_a_run_that_ends_by_itself(garden: Garden) -> None:
    killed = Killed(garden, [""])
    killed.wait_for(0)
    assert [one for one in killed.running() if "ralph.wiring.killed_run_cleanup" in one]
    killed.process.send_signal(signal.SIGTERM)
    assert killed.process.wait() == 130
    wait_for(lambda: not killed.left(), "everything has ended")


def test_at_any_moment(garden: Garden) -> None:
    _kill_by_chance(garden, 1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 160))
def test_at_many_moments(garden: Garden, seed: int) -> None:
    _kill_by_chance(garden, seed)


def _kill_by_chance(garden: Garden, seed: int) -> None:
    luck = random.Random(seed)
    steps = (step for n in range(3) for step in at_random(seed * 7 + n))
    scripts = [*SCRIPTS, *(step.removeprefix(BEGIN) for step in steps)]
    luck.shuffle(scripts)
    killed = Killed(garden, scripts)
    killed.wait_for(luck.randrange(len(scripts)))
    killed.kill(group=luck.random() < 0.5)
    killed.is_harmless()
