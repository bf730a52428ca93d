"""The script that installs the agents for the tests."""

import os
import shutil
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "tools" / "agent-clis"


def run(root: Path, path: str, *args: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": path, "RALPH_AGENT_CLIS": str(root), "HOME": str(root)}
    return subprocess.run(
        [SCRIPT, *args], env=env, capture_output=True, text=True, check=False, timeout=60
    )


def test_without_node_it_says_so_and_fails(tmp_path: Path) -> None:
    few = tmp_path / "bin"
    few.mkdir()
    for name in ("sh", "dirname", "sed", "paste"):
        found = shutil.which(name)
        assert found
        (few / name).symlink_to(found)
    done = run(tmp_path / "clis", str(few))
    assert done.returncode == 69
    assert "node is missing" in done.stderr
    assert not (tmp_path / "clis").exists()


def test_asking_for_the_place_installs_nothing(tmp_path: Path) -> None:
    done = run(tmp_path / "clis", os.environ["PATH"], "--where")
    assert done.returncode == 69
    assert "tools/agent-clis" in done.stderr
    assert not (tmp_path / "clis").exists()


def test_an_installation_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """What stands in its place is whole."""
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\nmkdir node_modules\necho no network\nexit 1\n")
    npm.chmod(0o755)
    done = run(tmp_path / "clis", f"{npm.parent}:{os.environ['PATH']}")
    assert done.returncode == 69
    assert "no network" in done.stderr
    assert list((tmp_path / "clis").iterdir()) == []


def test_each_set_of_versions_has_its_folder(tmp_path: Path) -> None:
    sets = (
        "claude-code-2.1.197_codex-0.166.0_droid-0.215.0",
        "copilot-1.0.102_pi-coding-agent-0.87.1_node-22.23.3",
    )
    bins = [tmp_path / name / "node_modules" / ".bin" for name in sets]
    for path in bins:
        path.parents[1].mkdir()
    done = run(tmp_path, os.environ["PATH"])
    assert done.stdout.strip() == ":".join(map(str, bins))
    assert run(tmp_path, os.environ["PATH"], "--where", "more").stdout.strip() == str(bins[1])
