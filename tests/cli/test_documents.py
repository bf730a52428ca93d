"""What the documents of the repository say exists: commands, settings, files."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ralph.cli.commands import COMMANDS, GROUPS, load
from ralph.cli.dispatch import find
from ralph.cli.parser import build, help_text
from ralph.config.load import load_config as load_settings

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def lines_of_code(page: Path) -> Iterator[str]:
    for line in page.read_text().splitlines():
        command = re.match(r"(?:    |\$ )?((?:[A-Z_]+='[^']*' )?ralph (?!:).*)", line)
        if command and "`" not in line:
            yield re.split(r" [#|&<>]", re.sub(r"^[A-Z_]+='[^']*' ", "", command[1]))[0]


def mentions(page: Path) -> Iterator[str]:
    """In the text: words in capitals stand for something, and what is left out is left out."""
    for said in re.findall(r"`ralph ([a-z][^`]*)`", page.read_text()):
        yield re.split(r"[…|\[<]| [A-Z\"]", said)[0].strip()


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_line_of_code_is_a_command_that_exists(page: Path) -> None:
    for line in lines_of_code(page):
        if "…" not in line and "|" not in line:
            before, name, rest = find(shlex.split(line.replace("[", "").replace("]", ""))[1:])
            build(name, load(name)).read(before + rest)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_command_that_is_spoken_of_exists(page: Path) -> None:
    for said in mentions(page):
        words = [word for word in said.split() if not word.startswith("-")]
        starts = [" ".join(words[:count]) for count in (3, 2, 1)]
        name = next((one for one in starts if one in COMMANDS), None)
        assert name or " ".join(words) in GROUPS, said
        for option in re.findall(r"--[a-z-]+", said) if name else ():
            assert option in help_text(name, load(name)), said  # type: ignore[arg-type]


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_setting_that_is_shown_exists(page: Path, tmp_path: Path) -> None:
    for text in re.findall(r"```toml\n(.*?)```", page.read_text(), re.S):
        tomllib.loads(text)
        (tmp_path / ".ralph.toml").write_text(text.replace("…", "x"))
        assert load_settings(str(tmp_path), {}, {}).warnings == ()


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_test_that_a_page_names_exists() -> None:
    page = ROOT / "docs/explanation/what-ralph-survives.md"
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page.read_text())
    assert len(named) > 50
    for path, name in named:
        assert name == "" or f"def {name}(" in (ROOT / path).read_text(), f"{path}::{name}"


PRIVATE = (
    r"(?i)\b(the walls?|fences?|purse|leash|desk|errands?|stint|knock|whoever|somebody|mends?)\b"
)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_no_page_needs_a_vocabulary_of_its_own(page: Path) -> None:
    assert re.findall(PRIVATE, page.read_text()) == []


TOUR = ROOT / "docs" / "tour.md"


def test_every_function_that_the_tour_names_exists() -> None:
    found = re.findall(r"\[([^]]*`[^]]*)\]\(\.\./(src/[a-z_/]+\.py)\)", TOUR.read_text())
    assert len(found) > 30
    for text, path in found:
        source = (ROOT / path).read_text()
        for name in re.findall(r"`([A-Za-z_]+)`", text):
            assert re.search(rf"^(?:class|def) {name}\b|^{name}\b", source, re.M), (name, path)


def test_every_file_that_the_tour_names_exists() -> None:
    table = TOUR.read_text().partition("## Where is")[2]
    paths = re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py|\.sql|/))`", table)
    assert len(paths) > 8
    for path in paths:
        assert (ROOT / "src" / "ralph" / path).exists(), path
