"""Every setting is described, and the page that says so is up to date."""

import json
import subprocess
import sys
from pathlib import Path

from ralph.config.reference import describe
from ralph.core.settings import SECTIONS, Config
from tests.config.conftest import ProjectFolder
from tests.config.settings_page import page, sections

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
EXPENSIVE = ["ast", "dataclasses", "difflib", "dis", "inspect", "pathlib", "shutil"]


def test_the_page_is_what_the_settings_say() -> None:
    hint = "python -m tests.config.settings_page > docs/reference/settings.md"
    assert PAGE.read_text(encoding="utf-8") == page(), hint


def test_every_setting_has_a_sentence_and_every_section_too() -> None:
    described = describe()
    assert len(described) == 1 + sum(len(kind.__struct_fields__) for kind in SECTIONS.values())
    assert all(each.doc.endswith(".") and each.type for each in described)
    assert list(sections()) == list(Config.__struct_fields__)
    assert all(sections().values())


def test_a_setting_is_described_with_type_and_default() -> None:
    (found,) = [each for each in describe() if (each.section, each.key) == ("git", "commit")]
    assert found.type == "auto, ralph or none"
    assert found.default == '"auto"'
    assert found.doc.startswith("`auto`: the agent may commit")


def test_reading_the_settings_stays_cheap(project: ProjectFolder) -> None:
    """`ralph task add` reads them each time: what it does not need is not imported."""
    project.write(".ralph.toml", "# nothing\n")
    project.write(".ralph/config.sh", "MODEL=opus\n")
    code = (
        "import json, sys, msgspec, typing\n"
        "before = set(sys.modules)\n"
        "from ralph.config.load import load_config as load\n"
        "load(sys.argv[1], {}, {})\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(project.path)], capture_output=True, text=True, check=True
    )
    imported = json.loads(done.stdout)
    assert [name for name in imported if name in EXPENSIVE] == []
    assert [name for name in imported if not name.startswith("ralph")] == []
