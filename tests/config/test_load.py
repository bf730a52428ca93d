"""Layers: who wins, and where each value came from."""

import os
import re
from pathlib import Path

import pytest

import ralph
from ralph.config.load import load_config
from ralph.config.toml_file import find_roots
from ralph.config.variables import read_environment
from ralph.core.errors import BadConfig, Missing, UsageError
from ralph.core.settings import Config
from tests.config.conftest import ProjectFolder


def test_without_anything_set_all_is_default(project: ProjectFolder) -> None:
    loaded = project.load()
    assert loaded.config == Config()
    assert loaded.sources == {}
    assert loaded.warnings == ()
    assert str(loaded.source("git.commit")) == "default"


def test_the_project_is_found_from_below(project: ProjectFolder) -> None:
    project.write("a/b/file", "")
    assert find_roots(str(project.path / "a" / "b")) == [str(project.path)]
    assert load_config(str(project.path / "a" / "b"), {}, {}).root == str(project.path)


def test_the_nearest_project_counts(project: ProjectFolder) -> None:
    project.write("part/.ralph.toml", "[workers]\ncount = 2\n")
    assert load_config(str(project.path / "part"), {}, {}).config.workers.count == 2


def test_without_a_project_there_is_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(Missing) as caught:
        load_config(str(tmp_path), {}, {})
    assert str(caught.value) == "no .ralph.toml here or in any folder above"
    assert caught.value.hint == "ralph init"


def test_each_layer_wins_over_the_one_below(project: ProjectFolder) -> None:
    project.write(".agents/ralph/config.sh", "MAX_TEAMMATES=2\n")
    assert project.load().config.workers.count == 2
    project.write(".ralph/config.sh", "MAX_TEAMMATES=3\n")
    assert project.load().config.workers.count == 3
    assert project.load("[workers]\ncount = 4\n").config.workers.count == 4
    assert project.load(environ={"RALPH_WORKERS": "5"}).config.workers.count == 5
    loaded = project.load(environ={"RALPH_WORKERS": "5"}, flags={"workers.count": 6})
    assert loaded.config.workers.count == 6
    assert loaded.source("workers.count").kind == "flag"


def test_every_value_remembers_its_place(project: ProjectFolder) -> None:
    project.write(".ralph/config.sh", "\nMODEL=opus\n")
    loaded = project.load(
        '# first\n[execution]\n\nlimit = 3\n[models.claude]\nopus = "x"\n',
        {"RALPH_UI_COLOR": "never"},
        {"git.commit": "none"},
    )
    shown = {key: str(loaded.source(key)) for key in loaded.sources}
    root = str(project.path)
    assert shown == {
        "models.model": f"{root}/.ralph/config.sh:2",
        "models.strategy": f"{root}/.ralph/config.sh:2",
        "execution.limit": f"{root}/.ralph.toml:4",
        "models.tiers": f"{root}/.ralph.toml:5",
        "models.claude": f"{root}/.ralph.toml:5",
        "models.claude.opus": f"{root}/.ralph.toml:6",
        "ui.color": "$RALPH_UI_COLOR",
        "git.commit": "command line",
    }


def test_flags_that_were_not_given_set_nothing(project: ProjectFolder) -> None:
    loaded = project.load("[execution]\nlimit = 3\n", flags={"execution.limit": None})
    assert loaded.config.execution.limit == 3


def test_flags_may_be_text_as_typed(project: ProjectFolder) -> None:
    flags = {"execution.limit": "3", "execution.verify": "no", "sandbox.allow": ("aws", "ssh")}
    config = project.load(flags=flags).config
    assert config.execution.limit == 3
    assert config.execution.verify is False
    assert config.sandbox.allow == ("aws", "ssh")


def test_a_wrong_flag_is_a_usage_error(project: ProjectFolder) -> None:
    with pytest.raises(UsageError) as caught:
        project.load(flags={"execution.limit": -1})
    assert str(caught.value).startswith("execution.limit is -1, but must be a whole number from 0")
    with pytest.raises(UsageError, match=r"execution\.nothing is no setting"):
        project.load(flags={"execution.nothing": 1})


def test_gates_run_in_the_order_of_the_file(project: ProjectFolder) -> None:
    project.write(".ralph/config.sh", 'GATE_LINT="old lint"\nGATE_TEST=t\nGATE_E2E=e\n')
    loaded = project.load(
        '[gates]\nzeta = "z"\nlint = "new lint"\nalpha = "a"\nmin_coverage = 80\n'
    )
    assert list(loaded.config.gates.commands.items()) == [
        ("zeta", "z"),
        ("lint", "new lint"),
        ("alpha", "a"),
        ("test", "t"),
        ("e2e", "e"),
    ]
    assert loaded.config.gates.min_coverage == 80
    assert str(loaded.source("gates.lint")).endswith(".ralph.toml:3")
    assert str(loaded.source("gates.e2e")).endswith("config.sh:3")


def test_an_empty_gate_switches_one_off(project: ProjectFolder) -> None:
    project.write(".ralph/config.sh", "GATE_TEST=t\nGATE_LINT=l\n")
    assert project.load('[gates]\ntest = ""\n').config.gates.commands == {"lint": "l"}


def test_a_gate_from_the_environment_keeps_its_place(project: ProjectFolder) -> None:
    toml = '[gates]\ntest = "t"\nlint = "l"\n'
    environ = {"RALPH_GATES_TEST": "t2", "RALPH_GATES_MORE": "m", "RALPH_GATES_MIN_COVERAGE": "7"}
    gates = project.load(toml, environ).config.gates
    assert list(gates.commands.items()) == [("test", "t2"), ("lint", "l"), ("more", "m")]
    assert gates.min_coverage == 7


def test_a_model_alone_means_that_model(project: ProjectFolder) -> None:
    assert project.load('[models]\nmodel = "m"\n').config.models.strategy == "fixed"
    loaded = project.load('[models]\nstrategy = "escalate"\n', {"RALPH_MODEL": "m"})
    assert loaded.config.models.strategy == "fixed"
    assert str(loaded.source("models.strategy")) == "$RALPH_MODEL"
    both = project.load('[models]\nstrategy = "escalate"\nmodel = "m"\n')
    assert both.config.models.strategy == "escalate"
    above = project.load('[models]\nmodel = "m"\n', flags={"models.strategy": "escalate"})
    assert above.config.models.strategy == "escalate"


def test_a_fixed_strategy_needs_a_model(project: ProjectFolder) -> None:
    with pytest.raises(BadConfig, match=r"\.ralph\.toml:2: models\.strategy is fixed, but"):
        project.load('[models]\nstrategy = "fixed"\n')
    with pytest.raises(UsageError, match=r"models\.strategy is fixed, but models\.model is empty"):
        project.load("", flags={"models.strategy": "fixed"})


def test_a_command_alone_means_that_agent(project: ProjectFolder) -> None:
    assert project.load('[agent]\nname = "claude"\n', {"AGENT_CMD": "x"}).config.agent.name == (
        "command"
    )
    named = project.load('[agent]\nname = "scripted"\ncommand = "x"\n')
    assert named.config.agent.name == "scripted"
    assert project.load(None, {"RALPH_AGENT": "codex"}).config.agent.name == "codex"


def test_tables_of_free_names(project: ProjectFolder) -> None:
    config = project.load(
        '[models.claude]\nopus = "o"\n[models.codex]\nopus = "c"\n'
        '[prices]\n"gpt-5.1" = { input = 1, cached = 0.1, output = 8.5 }\n'
        "[prices.other]\ninput = 2\n"
        '[sandbox.rules.gcp]\nwrite = ["~/.config/gcloud"]\n'
    ).config
    assert config.models.tiers == {"claude": {"opus": "o"}, "codex": {"opus": "c"}}
    assert config.prices["gpt-5.1"].output == 8.5
    assert config.prices["other"].input == 2
    assert config.sandbox.rules["gcp"].write == ("~/.config/gcloud",)


def test_every_setting_can_be_written_in_the_file(project: ProjectFolder) -> None:
    """Each default, written out, is read back as itself."""
    from ralph.config.reference import describe

    lines: list[str] = []
    section = ""
    for each in (one for one in describe() if one.default):
        if each.section != section:
            section = each.section
            lines.append(f"[{section}]")
        lines.append(f"{each.key} = {each.default}")
    loaded = project.load("\n".join(lines))
    assert loaded.config == Config()
    assert loaded.warnings == ()
    for number, line in enumerate(lines, start=1):
        if line.startswith("["):
            section = line[1:-1]
        else:
            key = f"{section}.{line.partition(' =')[0]}"
            assert loaded.source(key).line == number


def test_the_configuration_cannot_be_changed(project: ProjectFolder) -> None:
    config = project.load().config
    with pytest.raises(AttributeError):
        config.execution.limit = 3  # type: ignore[misc]


def test_the_real_environment_gives_no_warnings(project: ProjectFolder) -> None:
    clean = {name: text for name, text in os.environ.items() if not name.startswith("RALPH_")}
    assert project.load(None, clean).warnings == ()


def test_no_variable_of_ralphs_own_is_taken_for_a_mistake() -> None:
    """Gates and sessions get some, and may call `ralph`."""
    sources = Path(ralph.__file__).parent.rglob("*.py")
    found = {name for one in sources for name in re.findall(r'"(RALPH_[A-Z_]+)"', one.read_text())}
    assert {"RALPH_TASK_ID", "RALPH_SLOT"} <= found
    assert read_environment(dict.fromkeys(found, "1")).warnings == []
