"""The wheel is installed in every way that the README names, each in an environment of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from email.parser import HeaderParser
from pathlib import Path
from zipfile import ZipFile

import pytest

from ralph import __version__

ROOT = Path(__file__).parents[2]
WHEELS = ROOT / ".venv/wheels"
NO_INDEX = ("--no-index", "--find-links", str(WHEELS))
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    [built] = folder.iterdir()
    return built


def _run(*argv: str | Path, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        argv, cwd=cwd, env=os.environ | env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _works(program: Path, folder: Path) -> None:
    """As the first steps of the README: from anywhere, without the environment's own PATH."""
    assert _run(program, "--version", cwd=folder) == f"ralph {__version__}\n"
    assert "pytest" not in _run(program, "help", "--all", cwd=folder)
    project = folder / "a project"
    project.mkdir()
    _run("git", "init", "-q", cwd=project)
    _run(program, "init", cwd=project)
    assert _run(program, "status", "--json", cwd=project)


def test_pip_installs_the_wheel(wheel: Path, tmp_path: Path) -> None:
    env = tmp_path / "env"
    _run(sys.executable, "-m", "venv", "--without-pip", env, cwd=tmp_path)
    _run(BIN / "pip", "--python", env / "bin/python", "install", *NO_INDEX, wheel, cwd=tmp_path)
    _works(env / "bin/ralph", tmp_path)
    asked = _run(env / "bin/python", "-m", "ralph", "--version", cwd=tmp_path)
    assert asked == f"ralph {__version__}\n"


def test_pipx_installs_the_wheel(wheel: Path, tmp_path: Path) -> None:
    places = {"PIPX_HOME": f"{tmp_path}/pipx", "PIPX_BIN_DIR": f"{tmp_path}/bin"}
    arguments = f"--pip-args={' '.join(NO_INDEX)}"
    _run(BIN / "pipx", "install", arguments, wheel, cwd=tmp_path, **places)
    _works(tmp_path / "bin/ralph", tmp_path)


def _of_uv(folder: Path) -> dict[str, str]:
    return {
        "UV_CACHE_DIR": f"{folder}/cache",
        "UV_TOOL_DIR": f"{folder}/tools",
        "UV_TOOL_BIN_DIR": f"{folder}/bin",
        "UV_PYTHON": sys.executable,
        "UV_PYTHON_DOWNLOADS": "never",
    }


def test_uv_tool_install_installs_the_wheel(wheel: Path, tmp_path: Path) -> None:
    _run(BIN / "uv", "tool", "install", *NO_INDEX, wheel, cwd=tmp_path, **_of_uv(tmp_path))
    _works(tmp_path / "bin/ralph", tmp_path)


def test_uvx_runs_the_wheel_without_installing_it(wheel: Path, tmp_path: Path) -> None:
    said = _run(
        *(BIN / "uvx", *NO_INDEX, "--from", wheel, "ralph", "--version"),
        cwd=tmp_path,
        **_of_uv(tmp_path),
    )
    assert said == f"ralph {__version__}\n"


def test_the_wheel_says_who_it_is(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
        said = HeaderParser().parsestr(archive.read(metadata).decode())
    assert said["Name"] == "ralphloop"
    assert "ralph/py.typed" in names
    assert {"mcp", "notify", "claude-sdk"} <= set(said.get_all("Provides-Extra", []))
    assert {name.split("/")[0] for name in names if "dist-info" not in name} == {
        "ralph",
        f"ralphloop-{__version__}.data",
    }


def _texts() -> Iterator[tuple[str, str]]:
    listed = _run("git", "ls-files", "-z", "*.py", "*.md", "*.toml", "bin", "tools", cwd=ROOT)
    for name in listed.split("\0")[:-1]:
        path = ROOT / name
        if path.is_file():
            yield name, path.read_text("utf-8")


def test_no_message_leads_to_a_page_that_is_not_installed() -> None:
    pages = re.compile(r"""[^>] docs/(?:how-to|reference)/|["']docs/(?:how-to|reference)/""")
    assert [one for one in _texts() if one[0].startswith("src/") and pages.search(one[1])] == []


def test_no_hint_installs_the_package_of_a_stranger() -> None:
    """On PyPI, `ralph` is another project."""
    # Written so that it does not find itself.
    strange = re.compile(r"install (?:ralph)(?!loop)|['`\"](?:ralph)\[[a-z]")
    found = [
        (name, line)
        for name, text in _texts()
        for line in text.splitlines()
        if strange.search(line)
    ]
    assert found == []
