"""Run behind the wall: tries to get out in every way it knows, and tells what it found.

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
    told = {}
    for name in sys.argv[2:]:
        try:
            told[name] = f"did: {ATTEMPTS[name](world)}"
        except (OSError, subprocess.SubprocessError) as error:
            told[name] = f"failed: {error}"
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
