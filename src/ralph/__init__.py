"""Ralph turns an idea into verified commits."""

import sys

MODULE = (sys.executable, "-EP" if sys.flags.ignore_environment else "-P", "-m")
"""Starts a module of Ralph's. -P: a folder `ralph` in the project is not this program; -E, if this
process has it: neither is one that PYTHONPATH names."""

__version__ = "0.1.0"
