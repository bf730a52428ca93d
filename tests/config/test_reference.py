"""Every setting is described, and the page that says so is up to date."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

from ralph.config.reference import describe, page, sections
from ralph.config.settings import SECTIONS, Config
from ralph.documents.project_files import settings_file
from tests.config.conftest import Project

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"
EXPENSIVE = ["ast", "dataclasses", "difflib", "dis", "inspect", "pathlib", "shutil"]


def test_the_page_is_what_the_settings_say() -> None:
    hint = "python -m ralph.config.reference > docs/reference/settings.md"
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


def test_the_first_file_sets_nothing_and_gives_no_warning(project: Project) -> None:
    text = settings_file(describe(), sections())
    loaded = project.load(text)
    assert tomllib.loads(text) == {}
    assert loaded.config == Config()
    assert loaded.warnings == ()
    assert all(f"\n#[{section}]\n" in text for section in Config.__struct_fields__)


def test_each_line_of_the_first_file_may_be_switched_on(project: Project) -> None:
    text = settings_file(describe(), sections())
    active = [
        line[1:] if line.startswith("#") and not line.startswith("# ") else line
        for line in text.splitlines()
    ]
    loaded = project.load("\n".join(active))
    assert loaded.warnings == ()
    assert loaded.config.gates.commands == {"test": "make test", "lint": "make lint"}
    written = tomllib.loads("\n".join(active))
    assert all(each.key in written[each.section] for each in describe() if each.default), (
        "every setting is in the file"
    )


def test_reading_the_settings_stays_cheap(project: Project) -> None:
    """`ralph task add` reads them each time: what it does not need is not imported."""
    project.write(".ralph.toml", "# nothing\n")
    project.write(".ralph/config.sh", "MODEL=opus\n")
    code = (
        "import json, sys, msgspec, typing\n"
        "before = set(sys.modules)\n"
        "from ralph.config.load import load\n"
        "load(sys.argv[1], {}, {})\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(project.path)], capture_output=True, text=True, check=True
    )
    imported = json.loads(done.stdout)
    assert [name for name in imported if name in EXPENSIVE] == []
    assert [name for name in imported if not name.startswith("ralph")] == []
