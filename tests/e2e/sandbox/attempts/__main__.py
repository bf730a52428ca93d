"""Run in the sandbox: tries to get out in every way it knows, and tells what it found.

    python attempts/__main__.py WORLD.json NAME… > TOLD.json

Each attempt does its worst; whether it got through is for the outside to see, apart from what it
read, which it tells.
"""

import json
import os
import subprocess
import sys
from importlib import import_module

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from common import ATTEMPTS

for name in ("writing", "mounts", "planting", "reaching", "reading"):
    import_module(name)


def main() -> None:
    with open(sys.argv[1]) as file:
        world = json.load(file)
    results = {}
    for name in sys.argv[2:]:
        try:
            results[name] = f"did: {ATTEMPTS[name](world)}"
        except (OSError, subprocess.SubprocessError) as error:
            results[name] = f"failed: {error}"
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
