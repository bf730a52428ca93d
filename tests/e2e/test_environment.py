"""What a session inherits from the person who started the run."""

from pathlib import Path

from tests.e2e.conftest import DONE, Project
from tests.e2e.fault_helpers import fed, path

HARMFUL = {
    "ANTHROPIC_API_KEY": "key",
    "ANTHROPIC_BASE_URL": "url",
    "OPENAI_API_KEY": "key",
    "FOO_TOKEN": "token",
    "MY_SECRET_THING": "secret",
    "DB_PASSWORD": "password",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "GIT_DIR": "/nowhere",
    "GIT_INDEX_FILE": "/nowhere",
    "RALPH_MODEL": "x",
}


def environment(file: Path) -> dict[str, str]:
    pairs = (entry.partition("=") for entry in file.read_text().split("\0") if entry)
    return {name: value for name, _, value in pairs}


def test_a_session_gets_the_environment_less_what_harms(project: Project) -> None:
    seen = project.path.parent / "seen"
    project.agent(f"env -0 > '{seen}'; {DONE}")
    task = project.add("x")
    project.ralph("run", HARMLESS="kept", LANG="C.UTF-8", **HARMFUL)
    env = environment(seen)
    assert env["HARMLESS"] == "kept"
    assert not HARMFUL.keys() & env.keys()
    assert env["RALPH_TASK_ID"] == task
    assert env["RALPH_ATTEMPT"] == "1"
    assert "RALPH_STORY_ID" not in env
    assert env["PWD"] == str(project.path)


def test_what_is_named_is_passed_on(project: Project) -> None:
    seen = project.path.parent / "seen"
    project.write(".ralph.toml", '[agent]\npass_env = ["FOO_TOKEN", "AWS_*"]\n')
    project.add("x")
    project.ralph("run", AGENT_CMD=f"env -0 > '{seen}'; {DONE}", **HARMFUL)
    env = environment(seen)
    assert env["FOO_TOKEN"] == "token"
    assert env["AWS_SECRET_ACCESS_KEY"] == "secret"
    assert "DB_PASSWORD" not in env


def test_what_was_dropped_is_said_once_and_its_value_never(project: Project) -> None:
    project.agent(DONE)
    project.add("x")
    project.add("y")
    done = project.try_ralph("run", FOO_TOKEN="hush-hush", ANTHROPIC_API_KEY="sk-hush")
    said = done.stdout + done.stderr
    assert said.count("FOO_TOKEN") == 1
    assert "ANTHROPIC_API_KEY" in said
    assert "hush" not in said


def test_a_story_finds_its_alias(project: Project) -> None:
    seen = project.path.parent / "seen"
    project.agent(f"env -0 > '{seen}'; {DONE}")
    stories = project.path.parent / "stories.jsonl"
    stories.write_text('{"title": "A story", "alias": "US-007"}\n')
    project.ralph("task", "import", str(stories))
    project.ralph("run")
    env = environment(seen)
    assert env["RALPH_STORY_ID"] == "US-007"
    assert env["RALPH_TASK_ID"].startswith("t-")
    assert project.status("US-007") == "done"


def test_a_session_talks_to_its_loop_and_only_about_its_task(project: Project) -> None:
    said = project.path.parent / "said"
    project.agent(
        "{ ralph task list; ralph task add found --no-change;"
        " ralph task delete $RALPH_TASK_ID --yes; ralph task done $RALPH_TASK_ID;"
        f" }} > '{said}' 2>&1; echo x > work.txt; echo hm"
    )
    task = project.add("x")
    project.ralph("run", "--once", code=4, PATH=path())
    assert project.status(task) == "done"
    text = said.read_text()
    assert "Traceback" not in text
    assert "claim recorded" in text
    assert "nothing else" in text, "deleting is for people"


def test_a_session_can_look_at_everything(project: Project) -> None:
    said = project.path.parent / "said"
    looks = ("status", "costs", "logs", "task list", "task tree", "task show $RALPH_TASK_ID")
    shown = "; ".join(f"ralph {look} || echo refused {look}" for look in looks)
    project.agent(f"{{ {shown}; }} > '{said}' 2>&1; {DONE}")
    task = project.add("x")
    project.ralph("run", PATH=path())
    assert project.status(task) == "done"
    text = said.read_text()
    assert "refused" not in text, text
    assert "is at work on all tasks" in text


def test_a_session_may_not_start_another_run(project: Project) -> None:
    said = project.path.parent / "said"
    project.agent(f"ralph run > '{said}' 2>&1; echo $? >> '{said}'; {DONE}")
    project.add("x")
    project.ralph("run", PATH=path())
    text = said.read_text()
    assert "Traceback" not in text
    assert "bug" not in text
    assert text.splitlines()[-1] not in ("0", "70")


def test_a_run_inside_a_session_of_another_agent_works(project: Project) -> None:
    """`CLAUDECODE` in the environment makes other loops fail for ever."""
    project.agent('[ -z "$CLAUDECODE" ] || exit 1; ' + DONE)
    project.add("x")
    project.ralph("run", CLAUDECODE="1", CLAUDE_CODE_SSE_PORT="1")


def test_the_brief_comes_by_stdin_or_by_file(project: Project) -> None:
    for template in (
        "cat > brief.txt",
        "cp {prompt} brief.txt",
        'printf "%s" "$(cat {prompt})" > brief.txt',
    ):
        project.agent(f"{template}; {DONE}")
        task = fed(project, "what is wanted", "task", "add", "x", "-d", "-")
        project.ralph("run")
        assert "what is wanted" in project.git("show", "HEAD:brief.txt")
        assert project.status(task) == "done"


def test_a_session_commits_by_the_name_that_its_person_has_set(project: Project) -> None:
    project.agent("echo x > a; git add a; git commit -qm 'by the agent'; " + DONE)
    project.git("config", "--unset", "user.name")
    project.add("x")
    names = {"GIT_AUTHOR_NAME": "Somebody", "GIT_COMMITTER_NAME": "Somebody"}
    project.ralph("run", **names)
    log = project.git("log", "--format=%an %s").splitlines()
    assert "Somebody by the agent" in log


def test_iterations_that_were_counted_before_go_on_and_sessions_know_their_number(
    project: Project,
) -> None:
    file = project.path.parent / "told"
    project.agent(f"echo $RALPH_ITERATION of $RALPH_TOTAL >> '{file}'; {DONE}")
    for title in ("one", "two", "three"):
        project.add(title)
    project.ralph("run", code=4, RALPH_ITERATION="4", RALPH_TOTAL="5")
    assert file.read_text() == "4 of 5\n5 of 5\n"
    assert [*(project.path / ".ralph/runs").glob("*-iter-5.log")]
    project.ralph("run", RALPH_ITERATION="nonsense", RALPH_TOTAL="-1")
    assert file.read_text().splitlines()[2] == "1 of 0", "without limit"
