"""Wrong files and values are one line that says where, what, and what would be right."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ralph.core.errors import BadConfig, RalphError, UsageError
from tests.config.conftest import ProjectFolder
from tests.privileges import ordinary


def complaint(project: ProjectFolder, toml: str | bytes, **environ: str) -> str:
    """The error's text, with the project's folder left out."""
    with pytest.raises(BadConfig) as caught:
        project.load(toml, environ)
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{project.path}/", "")


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (
            "[execution]\nlimit = 'many'",
            'execution.limit is "many", but must be a whole number from 0',
        ),
        ("[execution]\nlimit = -1", "execution.limit is -1, but must be a whole number from 0"),
        ("[execution]\nlimit = 1.5", "execution.limit is 1.5, but must be a whole number from 0"),
        ("[execution]\nlimit = true", "execution.limit is true, but must be a whole number from 0"),
        (
            "[execution]\nlimit = 99999999999999999999",
            "execution.limit is 99999999999999999999, but",
        ),
        ("[execution]\nlimit = 2020-01-01", "execution.limit is 2020-01-01, but must be a whole"),
        ("[execution]\nverify = 1", "execution.verify is 1, but must be true or false"),
        ("[execution]\nverify = 'no'", 'execution.verify is "no", but must be true or false'),
        (
            "[execution]\nschedule = 'fast'",
            'execution.schedule is "fast", but must be auto, priority or critical-path',
        ),
        ("[git]\ncommit = 'never'", 'git.commit is "never", but must be auto, ralph or none'),
        ("[git]\ncommit = false", "git.commit is false, but must be auto, ralph or none"),
        ("[sandbox]\nmode = 'on'", 'sandbox.mode is "on", but must be required or off'),
        ("[ui]\ncolor = 'yes'", 'ui.color is "yes", but must be auto, always or never'),
        (
            "[timeouts]\nidle = '10 minutes'",
            'timeouts.idle is "10 minutes", but must be a duration such as 30s, 10m or 8h',
        ),
        (
            "[timeouts]\nidle = 10",
            "timeouts.idle is 10, but must be a duration such as 30s, 10m or",
        ),
        ("[timeouts]\nidle = '-5m'", 'timeouts.idle is "-5m", but must be a duration such as'),
        ("[budget]\nwarn_at = 80", "budget.warn_at is 80, but must be a number from 0 to 1"),
        (
            "[budget]\nrun_usd = nan",
            "budget.run_usd is nan, but must be a number from 0 to 1000000000",
        ),
        ("[workers]\ncount = 0", "workers.count is 0, but must be a whole number from 1 to 1000"),
        ("[agent]\nname = 3", "agent.name is 3, but must be a text in quotes"),
        (
            "[agent]\nfallback = 'codex'",
            'agent.fallback is "codex", but must be a list of texts such as ["a", "b"]',
        ),
        ("[agent]\nfallback = [1]", "agent.fallback is [1], but must be a list of texts such as"),
        ("[gates]\ntest = 3", "gates.test is 3, but must be a text in quotes"),
        (
            "[gates]\nmin_coverage = 101",
            "gates.min_coverage is 101, but must be a number from 0 to 100",
        ),
        ("[models]\nclaude.opus = 3", "models.claude.opus is 3, but must be a text in quotes"),
        ("[prices]\ngpt = 3", "prices.gpt is 3, but must be a table"),
        (
            "[prices]\ngpt = {input = 'x'}",
            'prices.gpt.input is "x", but must be a number from 0 to',
        ),
        ("[sandbox]\nrules = 3", "sandbox.rules is 3, but must be a table"),
        (
            "[sandbox.rules]\naws = {read = 'x'}",
            'sandbox.rules.aws.read is "x", but must be a list',
        ),
        ('[agent]\ncommand = "a\\u0000b"', "agent.command holds a zero byte, which no program can"),
        (
            '[gates]\ntest = "a\\u0000b"',
            "gates.test holds a zero byte, which no program can be given",
        ),
    ],
)
def test_a_wrong_value_names_file_line_and_key(
    project: ProjectFolder, toml: str, message: str
) -> None:
    assert complaint(project, toml).startswith(f".ralph.toml:2: {message}")


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("agent = 'claude'", ".ralph.toml:1: agent is a section, not a setting"),
        ("[[gates]]\ntest = 'x'", ".ralph.toml:1: gates is a section, not a setting"),
        ("[execution\n", ".ralph.toml:1: not valid TOML: expected"),
        ("[agent]\nname = claude\n", ".ralph.toml:2: not valid TOML: invalid value"),
        ("[agent]\nname = 'a'\nname = 'b'\n", ".ralph.toml:3: not valid TOML: cannot overwrite"),
        ("[agent]\nname = ", ".ralph.toml: not valid TOML: invalid value at the end"),
        (b"[agent]\nname = '\xff'\n", ".ralph.toml is not UTF-8 text"),
        ("[agent]\nx = " + "[" * 5000, ".ralph.toml is nested too deeply"),
        ("[agent]\nx = " + "9" * 5000, ".ralph.toml: not valid TOML: "),
    ],
)
def test_a_wrong_file_names_its_line(
    project: ProjectFolder, toml: str | bytes, message: str
) -> None:
    assert complaint(project, toml).startswith(message)


def test_the_hint_is_the_default(project: ProjectFolder) -> None:
    with pytest.raises(BadConfig) as caught:
        project.load("[timeouts]\nidle = 5\n")
    assert caught.value.hint == 'the default is "10m"'


def test_a_folder_in_place_of_the_file_is_said(project: ProjectFolder) -> None:
    (project.path / ".ralph.toml").unlink()
    (project.path / ".ralph.toml").mkdir()
    with pytest.raises(BadConfig, match="cannot be read: is a directory"):
        project.load()


def test_a_link_to_nowhere_is_said(project: ProjectFolder) -> None:
    (project.path / ".ralph.toml").unlink()
    (project.path / ".ralph.toml").symlink_to("nowhere")
    with pytest.raises(BadConfig, match="cannot be read: no such file or directory"):
        project.load()


def test_a_file_that_may_not_be_read_is_said(project: ProjectFolder) -> None:
    (project.path / ".ralph.toml").chmod(0)
    with ordinary(), pytest.raises(BadConfig, match="cannot be read: permission denied"):
        project.load()


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"RALPH_LIMIT": "many"}, '$RALPH_LIMIT is "many", but must be a whole number from 0 to'),
        ({"RALPH_LIMIT": "-1"}, '$RALPH_LIMIT is "-1", but must be a whole number from 0 to'),
        ({"RALPH_GIT_COMMIT": "x"}, '$RALPH_GIT_COMMIT is "x", but must be auto, ralph or none'),
        ({"RALPH_EXECUTION_VERIFY": "x"}, '$RALPH_EXECUTION_VERIFY is "x", but must be true or'),
        ({"NO_COMMIT": "maybe"}, '$NO_COMMIT is "maybe", but must be true or false'),
        ({"RALPH_TIMEOUTS_IDLE": "x"}, '$RALPH_TIMEOUTS_IDLE is "x", but must be a duration'),
    ],
)
def test_a_wrong_variable_is_named(
    project: ProjectFolder, environ: dict[str, str], message: str
) -> None:
    assert complaint(project, "", **environ).startswith(message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("MAX_TEAMMATES=many", 'MAX_TEAMMATES is "many", but must be a whole number from 1'),
        ("MEMORIES_ENABLED=maybe", 'MEMORIES_ENABLED is "maybe", but must be true or false'),
        ("NO_COMMIT=maybe", 'NO_COMMIT is "maybe", but must be true or false'),
        ("MIN_TEST_COVERAGE=200", 'MIN_TEST_COVERAGE is "200", but must be a number from 0 to 100'),
        ("AGENT_CMD=$HOME/agent", "AGENT_CMD holds"),
        ("set -e", "`set -e` is not NAME=value"),
    ],
)
def test_a_wrong_line_of_config_sh_is_named(
    project: ProjectFolder, line: str, message: str
) -> None:
    project.write(".ralph/config.sh", f"# team\n{line}\n")
    assert complaint(project, "").startswith(f".ralph/config.sh:2: {message}")


def test_a_config_sh_that_is_no_text_is_said(project: ProjectFolder) -> None:
    project.write(".agents/ralph/config.sh", b"A=\xff")
    assert complaint(project, "") == ".agents/ralph/config.sh is not UTF-8 text"


@pytest.mark.parametrize(
    ("toml", "warning"),
    [
        (
            "[execution]\nmax_retrys = 3",
            ".ralph.toml:2: execution.max_retrys is no setting; did you mean max_retries?",
        ),
        ("[zzz]\nlimit = 3", ".ralph.toml:1: [zzz] is no section"),
        (
            "\nlimit = 3",
            ".ralph.toml:2: limit is outside of its section; it belongs below [execution]",
        ),
        (
            "\nmodel = 'x'",
            ".ralph.toml:2: model is outside of its section;"
            " it belongs below [models] or [verify] or [review]",
        ),
        ("zzz = 3", ".ralph.toml:1: zzz is no setting"),
        (
            "[models]\nstratgy = 'x'",
            ".ralph.toml:2: models.stratgy is no setting; did you mean strategy?",
        ),
        (
            "[prices]\nm = { outptu = 3 }",
            ".ralph.toml:2: prices.m.outptu is no setting; did you mean output?",
        ),
        (
            "[sandbox.rules.x]\nwriet = ['a']",
            ".ralph.toml:2: sandbox.rules.x.wriet is no setting; did you mean write?",
        ),
    ],
)
def test_an_unknown_key_is_a_warning_that_names_the_nearest(
    project: ProjectFolder, toml: str, warning: str
) -> None:
    (said,) = project.load(toml).warnings
    assert said.replace(f"{project.path}/", "") == warning


def test_what_else_the_file_says_still_counts(project: ProjectFolder) -> None:
    loaded = project.load("[execution]\nlimit = 3\nlimmit = 4\n[zzz]\n")
    assert loaded.config.execution.limit == 3
    assert len(loaded.warnings) == 2


def test_an_unknown_variable_is_a_warning_but_ralphs_own_are_not(project: ProjectFolder) -> None:
    internal = ("TASK_ID", "STORY_ID", "RUN_ID", "SESSION", "SOCKET", "TOKEN", "ATTEMPT", "DB")
    environ = {f"RALPH_{name}": "x" for name in (*internal, "ROLE", "ITERATION", "TOTAL")}
    environ |= {"RALPHX": "x", "PRD_INLINE": "x"}
    assert project.load("", environ).warnings == ()
    odd = {"RALPH_LIMITS": "3", "RALPH_SANDBOX_RULES": "x", "RALPH_ZZZ": "1", "RALPH_GATES_": "x"}
    said = project.load("", odd).warnings
    assert said[0] == "$RALPH_LIMITS is no setting; did you mean RALPH_LIMIT?"
    assert len(said) == 4


def test_an_unknown_variable_of_config_sh_is_a_warning(project: ProjectFolder) -> None:
    project.write(".ralph/config.sh", "GATE_TESTS=x\nPRD_PATH=a\nAGENT_CODEX_CMD=b\n")
    (said,) = project.load().warnings
    assert said.endswith("config.sh:1: GATE_TESTS is no setting; did you mean GATE_TEST?")


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.text(max_size=80)
    | st.builds(
        "[{}]\n{} = {}".format,
        st.sampled_from(
            ["agent", "gates", "models", "prices", "sandbox.rules.x", "timeouts", "ui"]
        ),
        st.sampled_from(["name", "idle", "x", '"a\\nb"', '"\\u001b"', "fallback", "commands"]),
        st.sampled_from(["1", "'x'", "[]", "{}", "{a=1}", "nan", "1979-05-27", "true", "[[1]]"]),
    ),
    st.dictionaries(
        st.sampled_from(["RALPH_LIMIT", "RALPH_GATES_X", "RALPH_X", "NO_COMMIT", "AGENT_CMD"]),
        st.text(max_size=5),
    ),
)
def test_any_file_is_read_or_refused_in_one_line(
    tmp_path_factory: pytest.TempPathFactory, toml: str, environ: dict[str, str]
) -> None:
    project = ProjectFolder(_folder(tmp_path_factory))
    error: RalphError | None = None
    try:
        loaded = project.load(toml.encode(errors="replace"), environ)
        assert all(warning.isprintable() for warning in loaded.warnings)
    except RalphError as refused:
        error = refused
    assert error is None or (isinstance(error, BadConfig) and str(error).isprintable())


def _folder(factory: pytest.TempPathFactory) -> Path:
    return factory.getbasetemp() / "any-file"


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        ({"models.strategy": "esclate"}, "did you mean escalate?"),
        ({"models.strategy": "cheapest"}, 'the default is "cost-optimized"'),
        ({"models.strategy": "fixed"}, "name a model with --model or models.model"),
    ],
)
def test_a_wrong_strategy_on_the_command_line_is_a_usage_error(
    project: ProjectFolder, flags: dict[str, object], hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        project.load("", flags=flags)
    assert caught.value.hint == hint
    assert caught.value.exit_code == 64


@pytest.mark.parametrize(
    ("toml", "environ"),
    [
        ("[models]\nstrategy = 'fixed'\n", {}),
        ("", {"RALPH_MODEL_STRATEGY": "fixed"}),
        ("[models]\nstrategy = 'esclate'\n", {}),
        ("", {"RALPH_MODEL_STRATEGY": "esclate"}),
    ],
)
def test_a_wrong_strategy_elsewhere_is_a_wrong_configuration(
    project: ProjectFolder, toml: str, environ: dict[str, str]
) -> None:
    with pytest.raises(BadConfig) as caught:
        project.load(toml, environ)
    assert caught.value.exit_code == 78
    assert caught.value.hint


def test_a_tier_that_does_not_exist_is_a_warning(project: ProjectFolder) -> None:
    loaded = project.load("[models.claude]\nopus = 'x'\nsonet = 'y'\n")
    assert [warning.partition(": ")[2] for warning in loaded.warnings] == [
        "models.claude.sonet is no setting; did you mean sonnet?"
    ]


def test_a_model_that_no_strategy_uses_is_a_warning(project: ProjectFolder) -> None:
    both = {"models.model": "opus", "models.strategy": "escalate"}
    (warning,) = project.load("", flags=both).warnings
    assert warning == "command line: models.model is not used, since the strategy is escalate"
    file = "[models]\nmodel = 'opus'\n"
    assert not project.load(file, flags={"models.strategy": "escalate"}).warnings
    assert not project.load(file).warnings


def test_a_mistyped_section_is_an_error_since_it_may_leave_a_run_without_gates(
    project: ProjectFolder,
) -> None:
    assert complaint(project, "[gate]\ntest = 'true'") == (
        ".ralph.toml:1: [gate] is no section; did you mean gates?"
    )
