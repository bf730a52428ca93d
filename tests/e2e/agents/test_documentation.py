"""The example in the documentation runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "test-an-agent.md"


def test_the_example_of_a_test_without_a_model_works(agent_bin: str, tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    (tmp_path / "test_example.py").write_text(found.group(1))
    # A folder of its own: else this pytest would take away, at its end, what older runs left.
    options = ("-q", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "inner"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "test_example.py"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{agent_bin}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert "1 passed" in done.stdout, done.stdout
