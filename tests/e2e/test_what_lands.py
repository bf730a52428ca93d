"""What is committed is what was judged: files that a commit will not have do not make it green."""

import subprocess
from shlex import quote
from typing import Any

import pytest

from tests.e2e.conftest import Project
from tests.e2e.fault_helpers import warnings

CLAIM = 'echo "<task-done>$RALPH_TASK_ID</task-done>"'
GATE = 'check = "sh check.sh"'
ALL = 'for one in tests/*; do [ ! -e "$one" ] || sh "$one" || exit 1; done\n'
"""A gate that runs what is in a folder."""
FRESH = "in a fresh checkout of what would be committed"


def attempt(
    project: Project, work: str, *args: str, gates: str = GATE, **files: str
) -> dict[str, Any]:
    """One task with one try; its session may add tests to those that the gate runs."""
    project.write("check.sh", files.pop("check", ALL))
    project.agent(f"mkdir -p tests; {work}; {CLAIM}", gates=gates)
    task = project.add("x", "--max-retries", "0")
    project.ralph("run", *args, code=None)
    return project.task(task)


def passes_alone(project: Project) -> bool:
    """Does the gate pass in a clone of what is committed?"""
    clone = project.path.parent / "clone"
    subprocess.run(["git", "clone", "-q", project.path, clone], check=True)
    return subprocess.run(["sh", "check.sh"], cwd=clone, check=False).returncode == 0


def needs(what: str) -> str:
    """A session's command that adds a test."""
    return f"echo '{what}' > tests/new"


IGNORED = f"echo 1 > data.json; echo data.json >> .gitignore; {needs('test -e data.json')}"


@pytest.mark.parametrize(
    ("work", "named"),
    [
        (IGNORED, "data.json"),
        (f"mkdir -p src/empty; {needs('test -d src/empty')}", "src/empty/"),
        (f"echo TOKEN=1 > .env; {needs('test -e .env')}", ".env"),
        (
            f"git config core.fileMode false; echo : > run; chmod +x run; {needs('./run')}",
            "run",
        ),
        (
            "echo '*.txt text' > .gitattributes; printf 'x\\r\\n' > a.txt;"
            + needs('grep -q $(printf "\\\\r") a.txt'),
            "a.txt",
        ),
        # The bytes are those of git, but a checkout has others.
        (
            "echo '*.c ident' > .gitattributes; echo '$Id$' > a.c; " + needs("grep -q .Id.$ a.c"),
            "a.c",
        ),
        (
            "echo '*.md text eol=crlf' > .gitattributes;"
            + needs('! grep -q $(printf "\\\\r") README.md'),
            "README.md",
        ),
        (f"git init -q lib; echo 1 > lib/x; {needs('test -e lib/x')}", "lib/x"),
        (f"git worktree add -q -b w w; echo 1 > w/x; {needs('test -e w/x')}", "w/x"),
    ],
)
def test_work_that_needs_what_is_not_committed_is_rejected(
    project: Project, work: str, named: str
) -> None:
    shown = attempt(project, work)
    assert shown["status"] == "failed"
    assert FRESH in shown["reason"]
    assert named in shown["reason"]


def test_a_team_rejects_such_work_as_well(project: Project) -> None:
    shown = attempt(project, IGNORED, "--workers", "2")
    assert FRESH in shown["reason"]
    assert "data.json" in shown["reason"]


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("bit", ["--skip-worktree", "--assume-unchanged"])
def test_what_a_session_hides_from_git_lands_as_it_was_judged(
    project: Project, bit: str, workers: str
) -> None:
    project.write("mine", "committed")
    project.git("add", "mine")
    project.git("update-index", "--assume-unchanged", "mine")
    project.write("mine", "edited")
    wip = "echo false > tests/new; git add tests; git commit -q -m wip; echo : > tests/new"
    shown = attempt(project, f"{wip}; git update-index {bit} tests/new", "--workers", workers)
    assert shown["status"] == "done", shown["reason"]
    assert passes_alone(project)
    hidden = [one for one in project.git("ls-files", "-v").splitlines() if one[0] != "H"]
    assert hidden == ["h mine"], "a person's own stay hidden"
    assert (project.path / "mine").read_text() == "edited"


def test_an_ignored_file_turns_no_red_gate_green(project: Project) -> None:
    work = "echo 1 > data.json; echo data.json >> .gitignore"
    shown = attempt(project, work, check="test -e data.json\n")
    assert shown["status"] == "failed"
    assert FRESH in shown["reason"]


def test_a_persons_uncommitted_file_does_not_make_work_green(project: Project) -> None:
    project.write("check.sh", ALL)
    project.agent(f"mkdir tests; {needs('test -e mine')}; {CLAIM}", gates=GATE)
    task = project.add("x", "--max-retries", "0")
    project.write("mine", "not committed")
    project.ralph("run", code=None)
    shown = project.task(task)
    assert FRESH in shown["reason"]
    assert "mine" in shown["reason"]
    assert (project.path / "mine").read_text() == "not committed"


def test_a_gate_that_mends_files_does_not_make_the_next_one_green(project: Project) -> None:
    gates = """format = "sed -i s/bad/good/ a.txt"\ncheck = "sh check.sh" """
    project.write("a.txt", "good\n")
    shown = attempt(project, "echo bad > a.txt", gates=gates, check="! grep bad a.txt\n")
    assert shown["status"] == "failed"
    assert FRESH in shown["reason"]


def test_what_gates_change_is_undone_and_keeps_no_later_work_from_landing(
    project: Project,
) -> None:
    project.write("a.txt", "bad\n")
    project.agent(f"echo bad >> a.txt; {CLAIM}", gates="""format = "sed -i s/bad/good/ a.txt" """)
    tasks = [project.add("x"), project.add("y")]
    events = project.events()
    assert [project.status(task) for task in tasks] == ["done", "done"]
    assert project.git("show", "HEAD:a.txt") == "bad\nbad\nbad"
    assert project.git("status", "--porcelain") == ""
    assert "gates changed a.txt, which is undone" in warnings(events)
    assert project.git("show", f"refs/ralph/kept/{tasks[0]}/gates:a.txt") == "good\ngood"


def test_what_gates_change_one_after_the_other_is_undone(project: Project) -> None:
    project.write("a.txt", "bad\n")
    gates = """one = "sed -i s/bad/good/ a.txt"\ntwo = "sed -i s/good/better/ a.txt" """
    project.agent(f"echo bad >> a.txt; {CLAIM}", gates=gates)
    tasks = [project.add("x"), project.add("y")]
    project.events()
    assert [project.status(task) for task in tasks] == ["done", "done"]
    assert project.git("show", "HEAD:a.txt") == "bad\nbad\nbad"
    assert project.git("status", "--porcelain") == ""


@pytest.mark.parametrize("stage", ["", "&& git -C {top} add {path}"])
@pytest.mark.parametrize("path", ["notes.txt", "a.txt", "gone.txt"])
def test_what_a_person_does_while_gates_run_stays(project: Project, path: str, stage: str) -> None:
    """To a file of theirs, to one that the session has changed, and to one that they remove."""
    for name in ("notes.txt", "a.txt", "gone.txt", "b.txt"):
        project.write(name, "old\n")
    top, busy = quote(str(project.path)), quote(str(project.path.parent / "busy"))
    deed = f"rm {top}/{path}" if path == "gone.txt" else f"echo mine > {top}/{path}"
    # Once, while the gate runs in the checkout on work that is there.
    person = f"if [ -e work ] && mkdir {busy}; then {deed} {stage.format(top=top, path=path)}; fi"
    gate = f"{person} 2>/dev/null; sed -i s/old/new/ b.txt"
    project.write("check.sh", gate)
    project.agent(
        f"echo 1 >> work; echo built > a.txt; {CLAIM}", gates=GATE, sandbox='mode = "off"'
    )
    task = project.add("x")
    said = warnings(project.events())
    assert project.status(task) == "done"
    assert project.git("show", "HEAD:a.txt") == "built"
    if path == "gone.txt":
        assert not (project.path / path).exists()
    else:
        assert (project.path / path).read_text() == "mine\n"
    assert f"{path} changed while gates ran" in said
    assert project.git("status", "--porcelain").split()[1:] == [path], "b.txt is as it was"
    second = project.add("y")
    project.events()
    assert project.status(second) == "done"
    assert project.git("show", "HEAD:work") == "1\n1"
    assert (project.path / path).exists() == (path != "gone.txt")


def test_what_a_person_writes_during_the_baseline_stays(project: Project) -> None:
    project.write("notes.txt", "old\n")
    notes = quote(str(project.path / "notes.txt"))
    project.write("check.sh", f"echo mine > {notes}\n")
    project.agent(f"echo 1 > work; {CLAIM}", gates=GATE, sandbox='mode = "off"')
    task = project.add("x")
    said = warnings(project.events())
    assert project.status(task) == "done"
    assert (project.path / "notes.txt").read_text() == "mine\n"
    assert "notes.txt changed while gates ran" in said


@pytest.mark.parametrize(
    ("work", "check"),
    [
        # The gate makes it itself, as the session did.
        (
            "mkdir -p dist; echo 1 > dist/app",
            "mkdir -p dist; echo 1 > dist/app; test -e dist/app\n",
        ),
        # It is there before, for every checkout of the person's.
        ("echo 1 > made; echo made >> .gitignore", "test -e lib/installed\n"),
        # Nobody needs it.
        ("echo TOKEN=1 > .env; echo 1 > work", "exit 0\n"),
    ],
)
def test_good_work_is_accepted_whatever_lies_around(
    project: Project, work: str, check: str
) -> None:
    project.write(".gitignore", "dist/\nlib/\n")
    project.write("lib/installed", "by the person")
    shown = attempt(project, f"echo x > work; {work}", check=check)
    assert shown["status"] == "done"


@pytest.mark.parametrize("tag", ["CACHEDIR.TAG", "other"])
def test_what_gates_build_they_build_again_in_a_fresh_checkout(project: Project, tag: str) -> None:
    project.write(".gitignore", "target/\n")
    project.write("check.sh", "mkdir -p target; echo 1 > target/app\n")
    project.agent(f"echo x > work; {CLAIM}", gates=GATE)
    project.write(f"target/{tag}", "built before")
    project.write("mine", "not committed, so the gates run there")
    task = project.add("x")
    events = project.events(RALPH_SANDBOX_MODE="required")
    assert project.status(task) == "done"
    assert "fresh checkout" not in warnings(events)


def test_a_gate_that_fails_in_every_fresh_checkout_blames_nobody(project: Project) -> None:
    """The session has built again what the gate needs and no commit has."""
    project.write(".gitignore", "dist/\n")
    project.write("dist/app", "built by the person")
    project.write("check.sh", "test -e dist/app\n")
    project.agent(f"echo x > work; echo again > dist/app; {CLAIM}", gates=GATE)
    task = project.add("x", "--max-retries", "0")
    events = project.events()
    assert project.status(task) == "done"
    assert "fails in a fresh checkout" in warnings(events)


@pytest.mark.parametrize("sandbox", ["off", "required"])
@pytest.mark.parametrize("args", [(), ("--workers", "2")])
def test_caches_do_not_make_gates_run_twice(
    project: Project, args: tuple[str, ...], sandbox: str
) -> None:
    """Nor do folders of the sandbox, which are made with the session in a private checkout."""
    ignored = project.path / ".gitignore"
    ignored.write_text(ignored.read_text() + "__pycache__/\n.cache/\n")
    project.write("check.sh", ALL)
    project.agent(
        "mkdir __pycache__ .cache; echo 1 > __pycache__/a.pyc; echo 1 > .cache/CACHEDIR.TAG;"
        f" echo 1 > .cache/entry; echo x > work; {CLAIM}",
        gates=GATE,
    )
    project.add("x")
    ran = [
        event
        for event in project.events(*args, RALPH_SANDBOX_MODE=sandbox)
        if event["event"] == "gate_ended"
    ]
    assert len(ran) == 2, "at the baseline, and for the work"
