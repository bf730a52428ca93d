"""Programs that Ralph starts by name: never one that a session has put on the PATH."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import refused, warnings
from tests.e2e.logins import log_in
from tests.e2e.terminal import Terminal

PLANTED = (
    "bwrap",
    "git",
    "sh",
    "python3",
    "claude",
    "systemd-inhibit",
    "notify-send",
    "espeak",
    "tell",
)
NOTIFY = 'desktop = true\nsound = true\ncommand = "tell"\non = ["complete"]'
CLAUDE = """\
#!/bin/sh
if [ "$1" = --version ]; then echo "2.1.0 (Claude Code)"; exit 0; fi
echo {who} >> work.txt
echo '{{"type":"result","subtype":"success","is_error":false,"num_turns":1,'\\
'"result":"<task-done>'$RALPH_TASK_ID'</task-done>"}}'
"""


def _install(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


@pytest.fixture
def tools(plain: Project) -> Path:
    """A folder in the checkout that is on this person's PATH."""
    folder = plain.path / "tools"
    folder.mkdir()
    plain.write(".gitignore", "tools/\n")
    return folder


def _path(tools: Path, *more: Path) -> str:
    return os.pathsep.join(map(str, (tools, *more, os.environ["PATH"])))


def test_sessions_write_in_no_folder_in_which_python_looks_for_ralphs_modules(
    plain: Project,
) -> None:
    (plain.path / "src").mkdir()
    plant = "mkdir -p src later; touch src/sitecustomize.py; touch later/sitecustomize.py"
    command = [sys.executable, "-m", "ralph", "sandbox", "run", "--", "sh", "-c", plant]
    done = subprocess.run(command, cwd=plain.path, capture_output=True, text=True, check=False)
    refused(done, 69, f"Python looks for modules of Ralph in {plain.path}, where they write")
    command.insert(1, "-P")
    env = {**os.environ, "PYTHONPATH": "src:later"}
    done = subprocess.run(
        command, cwd=plain.path, capture_output=True, text=True, check=False, env=env
    )
    assert f"Ralph runs from {plain.path}/src, in the checkout" in done.stderr
    assert not [*(plain.path / "src").iterdir()]
    assert not (plain.path / "later").exists()


def test_sessions_do_not_change_what_a_persons_commands_start_outside(
    plain: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", "tools/edit --wait")
    talk = plain.write("tools/talk.sh", "#!/bin/sh\n")
    settings = '[agent]\ncommand = "true"\ninteractive = "tools/talk.sh"\n'
    plain.write(".ralph.toml", f'{settings}[notify]\ncommand = "sh tools/tell.sh"\n')
    script = "cd tools; for name in talk.sh tell.sh edit; do echo evil > $name; done"
    said = plain.try_ralph("sandbox", "run", "--", "sh", "-c", script).stderr
    assert "cannot create talk.sh" in said
    assert "tools/tell.sh appeared, where nothing may be put" in said
    assert "tools/edit appeared, where nothing may be put" in said
    assert [*talk.parent.iterdir()] == [talk]
    assert talk.read_text() == "#!/bin/sh\n"


def test_what_a_session_puts_on_the_path_is_not_started_outside(
    plain: Project, tools: Path, outside: Path
) -> None:
    plant = (
        f"for name in {' '.join(PLANTED)}; do"
        f" printf '#!/bin/sh\\ntouch {outside}/caught-'$name'\\n' > tools/$name;"
        " chmod +x tools/$name; done; "
    )
    plain.agent(plant + DONE, notify=NOTIFY)
    for title in ("first", "second"):
        plain.add(title)
    assert plain.events(PATH=_path(tools))[-1]["outcome"] == "complete"
    assert sorted(os.listdir(tools)) == sorted({*PLANTED} - {"git", "sh"})
    for words in (
        ("doctor",),
        ("agents", "list"),
        ("sandbox", "show"),
        ("sandbox", "run", "--", "true"),
        ("run", "--dry-run"),
        ("run",),
    ):
        plain.try_ralph(*words, PATH=_path(tools))
    assert not list(outside.glob("caught-*"))


def test_what_a_persons_own_command_names_in_the_checkout_stays_as_it_is(
    plain: Project, outside: Path
) -> None:
    plain.write("scripts/tell.sh", "sh scripts/inner.sh\n")
    plain.write("scripts/inner.sh", "# mine\n")
    script = "".join(f"echo touch {outside}/caught >> scripts/{x}.sh; " for x in ("tell", "inner"))
    script += f"mv scripts away; {DONE}"
    plain.agent(script, notify='command = "sh scripts/tell.sh --loud"\non = ["complete"]')
    plain.add("a task")
    assert plain.events()[-1]["outcome"] == "complete"
    assert (plain.path / "scripts/inner.sh").read_text() == "# mine\n"
    assert not (outside / "caught").exists()


def test_a_relative_path_leads_nowhere(plain: Project, tools: Path, outside: Path) -> None:
    _install(tools, "bwrap", f"#!/bin/sh\ntouch {outside}/caught\n")
    for path in ("tools", ".", ""):
        plain.try_ralph("sandbox", "run", "--", "true", PATH=f"{path}:{os.environ['PATH']}")
    assert not (outside / "caught").exists()


def test_another_agent_on_the_path_is_not_taken_for_the_persons_own(
    plain: Project, tools: Path, outside: Path
) -> None:
    _install(outside / "bin", "claude", CLAUDE.format(who="mine"))
    _install(tools, "claude", CLAUDE.format(who="another"))
    log_in()
    plain.write(".ralph.toml", '[agent]\nname = "claude"\n')
    plain.git("add", "-A")
    plain.git("commit", "-q", "-m", "set up")
    plain.add("a task")
    events = plain.events(PATH=_path(tools, outside / "bin"))
    assert events[-1]["outcome"] == "complete"
    assert (plain.path / "work.txt").read_text() == "mine\n"


def test_at_a_terminal_it_is_the_persons_own_agent_too(
    plain: Project, tools: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There no sandbox stands around it: a person is asked instead."""
    _install(outside / "bin", "claude", "#!/bin/sh\necho it is mine\n")
    _install(tools, "claude", f"#!/bin/sh\ntouch {outside}/caught\n")
    monkeypatch.setenv("PATH", _path(tools, outside / "bin"))
    log_in()
    plain.write(".ralph.toml", '[agent]\nname = "claude"\n')
    terminal = Terminal(plain, "feature", "spec", "login")
    terminal.ended()
    assert b"it is mine" in terminal.seen
    assert not (outside / "caught").exists()


def test_an_agent_that_is_nowhere_but_in_the_checkout_is_said(plain: Project, tools: Path) -> None:
    path = os.pathsep.join((str(tools), *("/usr/bin", "/bin")))
    _install(tools, "claude", CLAUDE.format(who="only"))
    log_in()
    plain.write(".ralph.toml", '[agent]\nname = "claude"\n')
    plain.git("add", "-A")
    plain.git("commit", "-q", "-m", "set up")
    plain.add("a task")
    events = plain.events(PATH=path)
    assert events[-1]["outcome"] == "complete"
    assert f"claude is where sessions can change it ({tools}/claude)" in warnings(events)
