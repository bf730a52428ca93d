"""Runs of the story pipeline to look at: each is played once, however many tests ask for it."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from tests.e2e.conftest import Project, end_in_order, wait_for
from tests.e2e.fault_helpers import Stage, ended
from tests.e2e.terminal import INTERRUPT, Terminal

PRD, PLAN = ".agents/tasks/prd.md", ".ralph/IMPLEMENTATION_PLAN.md"
ONE = "### [ ] US-001: One\n- [ ] a\n- [ ] b\n"
TEXT = f"# P\n\n{ONE}\n### [ ] US-002: Two\n- [ ] c\n"
WORK = "echo $RALPH_STORY_ID >> work.txt"
TICK = f'sed -i "s/\\[ \\] $RALPH_STORY_ID/[x] $RALPH_STORY_ID/" {PRD}'
CLAIM = 'echo "<task-done>$RALPH_TASK_ID</task-done>"'
PROMISE = 'echo "<promise>COMPLETE</promise>"'
FRESH: Final = ("progress.md", "guardrails.md", "errors.log", "activity.log")


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    told: str
    """What its sessions were told, one after the other."""
    path: Path

    def file(self, name: str) -> str:
        """The text of a file of the project; empty where there is none."""
        path = self.path / name
        return path.read_text() if path.is_file() else ""

    def ralph(self, name: str) -> str:
        """The same, of Ralph's own folder."""
        return self.file(f".ralph/{name}")

    @property
    def status(self) -> str:
        """What git finds uncommitted."""
        return self._git("status", "--porcelain")

    @property
    def commits(self) -> str:
        """The subjects, newest first."""
        return self._git("log", "--format=%s")

    @property
    def shown(self) -> str:
        """The files of the newest commit."""
        return self._git("show", "--name-only", "--format=")

    def _git(self, *args: str) -> str:
        argv = ["git", *args]
        return subprocess.run(
            argv, cwd=self.path, capture_output=True, text=True, check=True
        ).stdout

    @property
    def logs(self) -> list[str]:
        """What sessions printed."""
        found = sorted((self.path / ".ralph/runs").glob("run-*-iter-*.log"))
        return [path.read_text() for path in found]

    @property
    def sessions(self) -> int:
        return self.told.count("\0")

    @property
    def summaries(self) -> list[str]:
        """What was written down about each iteration."""
        found = sorted((self.path / ".ralph/runs").glob("run-*-iter-*.md"))
        # What a session was told lies beside it.
        return [path.read_text() for path in found if path.suffixes == [".md"]]


class Scene:
    """A project, and what its agent is told."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder / "project", initialised=True)
        self.told = folder / "told.txt"

    def agent(self, line: str, **sections: str) -> None:
        hear = f"{{ cat; printf '\\0'; }} >> '{self.told}'"
        self.project.agent(f"{hear}; {line}", **sections)

    def stories(self, line: str, text: str = TEXT, **sections: str) -> None:
        self.project.write(PRD, text)
        self.project.write(PLAN, "### US-001: One\n- [ ] the first step\n")
        self.agent(line, **sections)

    def ran(self, *args: str, **env: str) -> Ran:
        done = self.project.try_ralph(*args, **env)
        return self.left(done.returncode, done.stdout + done.stderr)

    def left(self, code: int, out: str) -> Ran:
        text = self.told.read_text() if self.told.exists() else ""
        return Ran(code, out, text, self.project.path)


def _command(*args: str, agent: str, text: str = TEXT, **sections: str) -> Callable[[Scene], Ran]:
    def play(scene: Scene) -> Ran:
        scene.stories(agent, text, **sections)
        return scene.ran(*args)

    return play


def _without(*gone: str, command: str) -> Callable[[Scene], Ran]:
    def play(scene: Scene) -> Ran:
        scene.stories(WORK)
        for name in gone:
            (scene.project.path / name).unlink()
        return scene.ran(command)

    return play


def _interrupted(command: str) -> Callable[[Scene], Ran]:
    def play(scene: Scene) -> Ran:
        stage = Stage(scene.project)
        scene.stories(stage.agent(WORK))
        run = scene.project.start(command)
        try:
            stage.enter()
            run.send_signal(signal.SIGINT)
            # The session is left a moment to end by itself, and this one does not.
            wait_for(lambda: run.poll() is not None, "the run ended")
            return scene.left(run.returncode, ended(run, run.returncode))
        finally:
            end_in_order(run)

    return play


def _asked(*args: str) -> Callable[[Scene], Ran]:
    def play(scene: Scene) -> Ran:
        scene.project.write("wish.txt", "a shop that sells tea\n")
        text = ONE.replace("\n", "\\n")
        scene.agent(f"mkdir -p .agents/tasks; printf '{text}' > {PRD}; {CLAIM}")
        return scene.ran("prd", "--yes", *args)

    return play


def _typed(keys: bytes, then: bytes) -> Callable[[Scene], Ran]:
    def play(scene: Scene) -> Ran:
        scene.agent(": {prompt}")
        settings = (scene.project.path / ".ralph.toml").read_text()
        text = ONE.replace("\n", "\\n")
        write = f"cat $1 >> '{scene.told}'; mkdir -p .agents/tasks; printf '{text}' > {PRD}; : $1"
        script = scene.project.path.parent / "talk.sh"
        script.write_text(write)
        scene.project.write(".ralph.toml", f'{settings}interactive = "sh {script} {{prompt}}"\n')
        terminal = Terminal(scene.project, "story", "write")
        terminal.until(lambda: b"What do you want to build?" in terminal.seen, "the question")
        terminal.type(keys)
        if then:
            terminal.until(lambda: then in terminal.seen, then.decode())
        return scene.left(terminal.ended(), terminal.seen.decode(errors="replace"))

    return play


def _with_rules(scene: Scene) -> Ran:
    scene.project.write("AGENTS.md", "Use tabs.\n")
    # Ralph leaves it to the agent's own program, which finds it where it works.
    scene.stories(f"cat AGENTS.md >> '{scene.told}'; {WORK}; {TICK}")
    return scene.ran("build", "1")


def _state_file(gone: str) -> Callable[[Scene], Ran]:
    """All of them are there but one."""

    def play(scene: Scene) -> Ran:
        for name in FRESH:
            if name != gone:
                scene.project.write(f".ralph/{name}", "mine\n")
        scene.stories(f"{WORK}; {TICK}")
        return scene.ran("build", "1")

    return play


def _chosen(*args: str, script: str = "", **env: str) -> Callable[[Scene], Ran]:
    """Nobody is installed but what the environment names: who is missed was chosen."""

    def play(scene: Scene) -> Ran:
        scene.stories(WORK)
        scene.project.write(".ralph.toml", "")
        if script:
            scene.project.write(".agents/ralph/agents.sh", script)
        found = [one for one in os.environ["PATH"].split(":") if not _has_agent(one)]
        return scene.ran("build", "1", *args, PATH=":".join(found), **env)

    return play


def _has_agent(folder: str) -> bool:
    return any(os.path.exists(f"{folder}/{name}") for name in ("codex", "claude", "droid"))


def _heard(line: str) -> Callable[[Scene], Ran]:
    """An agent that gets its prompt in one way or the other."""

    def play(scene: Scene) -> Ran:
        scene.stories(WORK)
        scene.project.agent(f"{line.format(told=scene.told)}; {WORK}; {TICK}")
        return scene.ran("build", "1")

    return play


PLANS = f"echo step >> {PLAN}; {CLAIM}"
SCENES: Final[dict[str, Callable[[Scene], Ran]]] = {
    "prd, asked in a sentence": _asked("a shop that sells tea"),
    "prd, asked in a file": _asked("--file", "wish.txt"),
    "prd, asked at a terminal": _typed(b"a shop that sells tea\n\n", b"next: ralph story plan"),
    "prd, cancelled": _typed(INTERRUPT, b""),
    "plan without a PRD": _without(PRD, command="plan"),
    "plan once": _command("plan", agent=PLANS),
    "plan twice": _command("plan", "2", agent=PLANS),
    "plan with an error": _command(
        "plan", "2", agent=f"[ -e ../once ] || {{ touch ../once; exit 3; }}; {PLANS}"
    ),
    "plan interrupted": _interrupted("plan"),
    "build without a PRD": _without(PRD, command="build"),
    "build without a plan": _without(PLAN, command="build"),
    "build without stories": _command("build", agent=WORK, text="# P\n"),
    "build with all done": _command("build", agent=WORK, text=TEXT.replace("[ ]", "[x]")),
    "build": _command("build", agent=f"{WORK}; {TICK}; {PROMISE}"),
    "build once": _command("build", "1", agent=f"{WORK}; {TICK}; {PROMISE}"),
    "build with an error": _command(
        "build",
        agent=f"{WORK}; [ -e ../once ] || {{ touch ../once; exit 3; }}; {TICK}",
    ),
    "build interrupted": _interrupted("build"),
    "build without commits": _command("build", "--no-commit", agent=f"{WORK}; {TICK}"),
    "build by an agent that commits": _command(
        "build", "1", agent=f"{WORK}; git add work.txt; git commit -qm mine; {TICK}"
    ),
    "build with rules": _with_rules,
    "build with some criteria": _command(
        "build", "1", agent=f'{WORK}; sed -i "s/\\[ \\] a/[x] a/" {PRD}'
    ),
    "build with all criteria": _command(
        "build", "1", agent=f'{WORK}; sed -i "s/\\[ \\] \\([ab]\\)$/[x] \\1/" {PRD}'
    ),
    "build that fails and is fixed": _command(
        "build",
        "2",
        agent=f"{WORK}; {TICK}; [ -e ../once ] && rm -f bad || touch ../once bad",
        gates='test = "test ! -e bad"',
    ),
    **{f"build without {name}": _state_file(name) for name in FRESH},
    "build with all state files": _state_file(""),
    "agent by flag": _chosen("--agent", "claude"),
    "agent by default": _chosen(),
    "agent by agents.sh": _chosen(script="DEFAULT_AGENT=droid\n"),
    "agent by environment": _chosen(AGENT_CMD=f"echo env; {WORK}; {TICK}"),
    "agent that reads": _heard("cat > '{told}'"),
    "agent that opens a file": _heard("cp {{prompt}} '{told}'"),
}
