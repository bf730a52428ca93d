"""The commands of the how-to pages and of the tutorial run as they are printed, in order.

On a page, commands are what is indented, or begins with `$ ` in a `console` block. What a section
needs is made by a few commands of its own here, which run before it.
"""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.conftest import Project, end_in_order, wait_for
from tests.e2e.ralph_process import RALPH, run_ralph
from tests.e2e.terminal import Terminal
from tests.postgres_server import new_schema

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted([*DOCS.glob("how-to/*.md"), DOCS / "tutorial.md"])

AGENT: Final = r"""
prompt=$(cat "$@") here=$0
case "$RALPH_ROLE" in
verify) echo '1 PASS seen'; echo '<verify-pass/>'; exit;;
review)
  if ! test -e "$here.finds"; then echo '<review-pass>good</review-pass>'
  else echo '<finding>work.txt:1: a line too many</finding><review-fail>no</review-fail>'; fi
  exit;;
esac
goal=.ralph/specs/${RALPH_STORY_ID%-*}
case "$prompt" in
*"Write the spec of the feature"*)
  mkdir -p .ralph/features/login; echo '# Spec' > .ralph/features/login/spec.md;;
*"Plan how the feature"*) echo '# Plan' > .ralph/features/login/plan.md;;
*"Break the feature"*)
  ralph task add Model --parent "$(ralph feature show login --json | jq -r '.roots[0]')";;
*"modelled on"*) mkdir -p $goal/referents; echo '## Constraints' > $goal/referents/catalog.md;;
*"Design how"*) mkdir -p $goal/design; echo '# Design' > $goal/design/detailed-design.md;;
*"Break the design"*)
  mkdir -p $goal/implementation/step01; cd $goal/implementation; echo plan > plan.md
  printf '# Task: One\n- Files to Modify: `one.txt`\n' > step01/task-01-one.code-task.md;;
*) case "$RALPH_STORY_ID" in
  *-prd)
    mkdir -p .agents/tasks
    printf '### [ ] US-001: Tea\n\n- [ ] it works\n' > .agents/tasks/prd.md;;
  *-plan) printf '### US-001: Tea\n- [ ] a step\n' > .ralph/IMPLEMENTATION_PLAN.md;;
  *)
    echo "$RALPH_TASK_ID" >> "${RALPH_STORY_ID:-work}.txt"
    echo '<knowledge tags="db" title="Connections">the connection pool holds four</knowledge>'
    if test -e "$here.fails"; then touch bad.txt; fi
    if test -e "$here.waits"; then touch "$here.began"; sleep 600; fi;;
  esac;;
esac
echo "<task-done>$RALPH_TASK_ID</task-done>"
"""
"""Plans, works, checks and reviews. Files beside it say whether its work is bad, has a finding, or
never ends."""

NAMES: Final = {
    "t-1a2b3c": "TASK",
    "t-blocker": "BLOCKER",
    "t-blocked": "BLOCKED",
    "fix-1760000000-a1b2": "LESSON",
    "m-12": "MEMORY",
    "BACKUP": "BACKUP",
    "20261115-084300-1234": "RUN",
    "postgres://ralph@db.example.org/tasks": "ADDRESS",
    "postgres://ralph@db.example.org/copy": "COPY",
}
"""What a page writes for something that it cannot know, and the variable with the real name."""

ADD: Final = 'export TASK=$(ralph task add "Parse the header")'
DONE: Final = f"{ADD} && ralph run"
FAILED: Final = f"touch ../agent.sh.fails; {ADD}; ralph run; rm ../agent.sh.fails"
RUNNING: Final = "ralph run &"
SANDBOXED: Final = "export RALPH_SANDBOX_MODE=required"
BEFORE: Final = {
    ("README", "Steer a run from another terminal"): RUNNING,
    ("README", "Restore a lost database"): "rm .ralph/ABORT ../agent.sh.*; ralph task reset $TASK"
    " && ralph run && export BACKUP=$(ls .git/ralph/backups | head -n 1)",
    ("README", "Understand why a task did not count"): DONE,
    ("README", "Find work that did not count"): FAILED,
    ("README", "Undo a task"): f"git reset -q --hard; {DONE}",
    ("README", "Change the graph"): "export BLOCKER=$(ralph task add A) BLOCKED=$(ralph task add B)"
    f" && {ADD} && ralph task fail $TASK",
    ("bound-a-run", "ralph breaker reset teammate-2"): """echo '{"teammate_name": "teammate-2"}'"""
    " | ralph hook task-completed",
    ("bound-a-run", "ralph resume"): RUNNING,
    ("brief-and-memory", "Brief and memory"): DONE,
    ("brief-and-memory", "ralph memory remove fix-1760000000-a1b2"): "export LESSON="
    "$(ralph memory add --kind fix 'wait for the port')",
    ("brief-and-memory", "ralph memory remove m-12"): "export MEMORY="
    "m-$(ralph memory list --json | jq '.[0].id')",
    ("build-a-feature", "Without you"): "echo 'sign in by mail' > idea.md",
    ("build-a-feature", "Undo a task"): DONE,
    ("choose-a-model", "Choose a model, and see what it costs"): ADD,
    ("choose-a-model", "Costs"): DONE,
    ("many-machines", "ralph run"): ADD,
    ("read-the-report", "Read the report"): f"{DONE};"
    " export RUN=$(ralph report --json | jq -r .run.id)",
    (
        "review-the-work",
        "Review the work: a reviewer for every change, and your own comments",
    ): f"{ADD}; ralph team plan search --yes",
    ("review-the-work", "Findings, and how a review ends"): "touch ../agent.sh.finds;"
    f" {ADD}; ralph run --review --max-retries 0",
    ("review-the-work", "Comment on lines yourself"): f"rm ../agent.sh.finds; {DONE}",
    ("set-a-policy", "Ask it"): "echo 'git push' > commands.txt",
    ("tutorial", "Tutorial: your first run"): f"{SANDBOXED}; mkdir '../my work'; cd '../my work'",
    ("tutorial", "ralph diff t-1a2b3c"): "export TASK=$(ralph task list --all --json"
    " | jq -r '.[0].id')",
    ("use-the-sandbox", "The sandbox around sessions"): f"{SANDBOXED}; {ADD}",
    ("use-the-sandbox", "Allow more"): f"mkdir ../shared; touch ~/.npmrc; {ADD}",
    ("verify-the-work", "Let a second session check the work"): ADD,
    ("watch-in-the-terminal", "Watch in the terminal"): f"{DONE};"
    " export RUN=$(ralph report --json | jq -r .run.id)",
    ("ways-of-planning", "Ways of planning"): "printf '# A shop\\n\\nIt sells tea.\\n' > shop.md",
    ("work-as-a-team", "Let several workers build at once"): ADD,
    ("work-as-a-team", "ralph stop"): "ralph run --workers 2 &",
    ("work-as-a-team", "ralph workspace list"): "rm .ralph/ABORT",
}
"""What a section, or a command, works on."""

TYPED: Final = {
    "ralph undo t-1a2b3c": b"y",
    'ralph undo t-1a2b3c -r "it broke the export"': b"y",
    "ralph doctor --restore": b"y",
    "ralph doctor --restore BACKUP": b"y",
    "ralph init --new-database": b"y",
    "ralph memory remove fix-1760000000-a1b2": b"y",
    "ralph memory remove m-12": b"y",
    "ralph workspace clean": b"y",
    "ralph team install": b"y",
    "ralph team uninstall": b"y",
    "ralph feature create login": b"sign in by mail\n",
    "ralph feature spec login": b"",
    "ralph feature plan login": b"",
    "ralph feature build login": b"",
    'ralph "add a dark mode"': b"",
    "ralph \"greet('Ann') returns 'hello, Ann'; test it\"": b"",
    "ralph go --file shop.md": b"",
    'ralph go "search in the shop" --workers 3': b"y",
}
"""Commands that are typed at a terminal, and what is answered when they ask."""

VIEWS: Final = (
    "ralph watch",
    "ralph watch t-1a2b3c",
    "ralph watch 20261115-084300-1234",
    "ralph watch --no-mouse",
)
"""Commands that fill the terminal, and are left with q."""

SERVERS: Final = ("ralph serve", "ralph serve --read-only")
"""Commands that are ended with Ctrl-C."""

CODES: Final = {
    "ralph policy check 'git push'": 1,
    "ralph policy check --strict 'eval \"$CMD\"'": 1,
    "ralph policy check --phase planning 'touch x'": 1,
    "ralph policy check --json - < commands.txt": 1,
    'ralph team plan "search in the shop"': 6,
}
"""Commands that do not exit with 0, as their page says."""

LEFT_OUT: Final = {
    "ralph agents probe claude": "needs a login",
    "ralph run --agent claude": "needs a login",
    "uv tool install ralphloop": "needs a network",
    "pip install 'ralphloop[postgres]'": "needs a network",
    "ralph serve --host 192.168.1.5 --token-file ~/.ralph-token": "needs that address",
    "ssh -L 8080:127.0.0.1:8080 build-host": "needs another machine",
}
"""What a test cannot run, and why."""


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """A section's heading and a command of it."""
    heading, fence, command = "", "", ""
    for printed in page.read_text().splitlines():
        line = printed.removeprefix("> ")
        if line.startswith("```"):
            fence = "" if fence else line
        elif line.startswith("#") and not fence:
            heading = line.strip("# ")
        elif command:  # a here-document
            command += f"\n{line}"
        elif not fence and line.startswith("    "):
            command = line.strip()
        elif fence == "```console" and line.startswith("$ "):
            command = line[2:]
        word = re.search(r"<<'(\w+)'", command)
        if command and (not word or line == word[1]):
            yield heading, command
            command = ""


def name(page: Path) -> str:
    return page.stem


def bare(command: str) -> str:
    """Without its comment."""
    return re.split(r"\s+# ", command)[0]


class Reader:
    """Types what a page says."""

    def __init__(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        self.project, self.patch = project, monkeypatch
        self.after = project.path.parent / "after"

    def prepare(self, what: str) -> None:
        for process in self.project.started:
            process.wait()
        if not what.endswith("&"):
            self.in_a_shell(what)
            return
        (self.project.path.parent / "agent.sh.waits").touch()
        self.in_a_shell(ADD)
        self.project.start(*what.split()[1:-1])
        wait_for((self.project.path.parent / "agent.sh.began").exists, "a session is at work")

    def type(self, printed: str) -> None:
        command = printed
        for placeholder, variable in NAMES.items():
            if placeholder in command:
                command = command.replace(placeholder, os.environ[variable])
        if printed in TYPED:
            code, said = self.at_a_terminal(command, TYPED[printed])
        elif printed in VIEWS:
            code, said = self.until_it_shows(command)
        elif printed in SERVERS:
            code, said = self.until_it_serves(command)
        elif command.startswith("ralph ") and not re.search(r"[$<>|&;~]", command):
            done = run_ralph(*shlex.split(command)[1:], cwd=self.project.path)
            code, said = done.returncode, done.stdout + done.stderr
        else:
            code, said = self.in_a_shell(command)
        assert code == CODES.get(printed, 0), f"{command}\n{said}"

    def at_a_terminal(self, command: str, answer: bytes) -> tuple[int, str]:
        terminal = Terminal(self.project, "-c", command, program="/bin/bash")
        asked = 0
        while terminal.process.poll() is None:
            terminal.until(
                lambda: terminal.process.poll() is not None or terminal.words.count("?") > asked,  # noqa: B023
                "it asks or ends",
            )
            asked = terminal.words.count("?")
            terminal.type(answer + b"\n")
        return terminal.ended(), terminal.words

    def until_it_shows(self, command: str) -> tuple[int, str]:
        terminal = Terminal(self.project, "-c", command, program="/bin/bash")
        terminal.until(lambda: "? help" in terminal.words, "the view is there")
        terminal.type(b"q")
        return terminal.ended(), terminal.words

    def until_it_serves(self, command: str) -> tuple[int, str]:
        terminal = Terminal(self.project, "-c", command, program="/bin/bash")
        terminal.until(lambda: "Ctrl-C closes" in terminal.words, "it serves")
        terminal.type(b"\x03")
        return terminal.ended(), terminal.words

    def in_a_shell(self, command: str) -> tuple[int, str]:
        script = f"{command}\ncode=$?\nexport HERE=$PWD\nenv -0 > '{self.after}'\nexit $code"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.project.path,
            capture_output=True,
            text=True,
            check=False,
        )
        for pair in self.after.read_text().split("\0"):
            variable, _, value = pair.partition("=")
            if variable == "HERE":
                self.project.path = Path(value)
            elif variable.isupper() and os.environ.get(variable) != value:
                self.patch.setenv(variable, value)
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    project = Project(tmp_path / "a project", initialised=True)
    (tmp_path / "agent.sh").write_text(AGENT)
    project.write("Makefile", "test:\n\t@test ! -e bad.txt\n")
    interactive = json.dumps(f"sh '{tmp_path}/agent.sh' {{prompt}}")
    settings = f'[gates]\ntest = "make test"\n[agent]\ninteractive = {interactive}\n'
    project.write(".ralph.toml", settings)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "a gate")
    monkeypatch.setenv("AGENT_CMD", f"sh '{tmp_path}/agent.sh'")
    monkeypatch.setenv("PATH", f"{Path(RALPH).parent}:{os.environ['PATH']}")
    for variable in ("RALPH_EXECUTION_VERIFY", "RALPH_REVIEW_ENABLED"):
        monkeypatch.delenv(variable)
    yield Reader(project, monkeypatch)
    for process in project.started:
        end_in_order(process)


@pytest.fixture
def addresses(page: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Of databases, for the page that names some."""
    if page.stem != "many-machines":
        yield
        return
    with new_schema() as one, new_schema() as other:
        monkeypatch.setenv("ADDRESS", one)
        monkeypatch.setenv("COPY", other)
        yield


@pytest.mark.usefixtures("addresses")
@pytest.mark.parametrize("page", [page for page in PAGES if [*blocks(page)]], ids=name)
def test_every_command_of_a_page_runs_as_it_is_printed(page: Path, reader: Reader) -> None:
    section = ""
    for heading, printed in blocks(page):
        command = bare(printed)
        for key in (command,) if heading == section else (heading, command):
            if (page.stem, key) in BEFORE:
                reader.prepare(BEFORE[page.stem, key])
        section = heading
        if command not in LEFT_OUT:
            reader.type(command)


def test_what_is_listed_here_is_on_a_page() -> None:
    found = [(page.stem, heading, bare(said)) for page in PAGES for heading, said in blocks(page)]
    commands = {command for _, _, command in found}
    on_pages = {(page, one) for page, *both in found for one in both}
    assert BEFORE.keys() <= on_pages
    assert {*TYPED, *VIEWS, *SERVERS, *CODES, *LEFT_OUT} <= commands
    text = "\n".join(commands)
    assert [one for one in NAMES if one not in text] == []
