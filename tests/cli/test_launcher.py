"""The script that is installed as `ralph` finds its Python wherever it lies."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bin" / "ralph"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The script in an environment whose path would break a `#!` line."""
    folder = tmp_path / ("a folder with spaces " + "x" * 150) / "bin"
    folder.mkdir(parents=True)
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\necho "beside"\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    shutil.copy(SCRIPT, folder / "ralph")
    return folder / "ralph"


def answer(argv: list[str], cwd: Path, **env: str) -> list[str]:
    done = subprocess.run(
        argv, cwd=cwd, capture_output=True, text=True, check=True, env={**os.environ, **env}
    )
    return done.stdout.splitlines()


def test_spaces_and_long_paths_do_not_matter(installed: Path, tmp_path: Path) -> None:
    first, second = answer([str(installed), "--version"], tmp_path)
    assert first == "beside"
    assert second.startswith("ralph ")


def test_it_is_found_through_links_and_the_path(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "far").symlink_to(installed)
    (tmp_path / "links" / "near").symlink_to("far")
    assert answer([str(tmp_path / "links" / "near"), "--version"], tmp_path)[0] == "beside"
    assert answer(["./near", "--version"], tmp_path / "links")[0] == "beside"
    path = f"{installed.parent}:{os.environ['PATH']}"
    assert answer(["sh", "-c", "ralph --version"], tmp_path, PATH=path)[0] == "beside"
    assert answer(["sh", "ralph", "--version"], installed.parent)[0] == "beside"


def test_without_a_python_beside_it_the_first_on_the_path_is_taken(
    installed: Path, tmp_path: Path
) -> None:
    path = f"{installed.parent}:{os.environ['PATH']}"
    shutil.copy(installed, tmp_path / "ralph")
    assert answer([str(tmp_path / "ralph"), "--version"], tmp_path, PATH=path)[0] == "beside"


@pytest.mark.parametrize("name", ["sitecustomize", "json", "msgspec"])
def test_modules_that_the_environment_names_are_not_loaded(
    name: str, installed: Path, tmp_path: Path
) -> None:
    """They may be in a folder of the project, in which sessions write."""
    (tmp_path / f"{name}.py").write_text("raise SystemExit('it was loaded')")
    done = subprocess.run(
        [str(installed), "status"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": "."},
    )
    assert done.returncode == 66, "there is no project, and it takes all modules to see that"
    assert "it was loaded" not in done.stderr


def test_arguments_and_the_exit_code_pass_through(installed: Path) -> None:
    done = subprocess.run(
        [str(installed), "no-such", "command"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 64
    assert "'no-such'" in done.stderr


def test_a_python_without_ralph_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(SCRIPT)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("ralph: it is not installed for ")
    assert "hint: " in done.stderr


SWALLOWING = """
import os, signal
try:
    os.kill(os.getpid(), signal.SIGINT)
except KeyboardInterrupt:
    pass
raise ImportError("it went on")
"""
"""What an import may do with an exception that comes from nowhere: Python's own callbacks do."""


@pytest.mark.parametrize("imported", ["decimal", "gettext"])
def test_an_interrupt_in_the_middle_of_its_imports_ends_it(imported: str, tmp_path: Path) -> None:
    (tmp_path / f"{imported}.py").write_text(SWALLOWING)
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    argv = [sys.executable, "-m", "ralph", "status"]
    done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
