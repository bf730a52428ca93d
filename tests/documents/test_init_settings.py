"""The `.ralph.toml` that `ralph init` writes."""

import tomllib

from ralph.documents.init_files import GateLine, settings_file
from ralph.documents.project_stack import Preparation


def test_without_anything_found_it_sets_nothing() -> None:
    assert tomllib.loads(settings_file()) == {}


def test_texts_of_all_kinds_are_written_as_toml() -> None:
    gate = GateLine(name="test", command='say "tea"\\n\tü', remark="a\nb\x1b[1m # c")
    text = settings_file([gate], Preparation(setup=("npm ci",), reuse=("node_modules",)))
    assert tomllib.loads(text) == {
        "gates": {"test": 'say "tea"\\n\tü'},
        "workspace": {"setup": ["npm ci"], "reuse": ["node_modules"]},
    }


def test_without_a_sandbox_and_with_an_agent() -> None:
    text = settings_file(agent="claude", is_sandboxed=False)
    assert tomllib.loads(text) == {"agent": {"name": "claude"}, "sandbox": {"mode": "off"}}
