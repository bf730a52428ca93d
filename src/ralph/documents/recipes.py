"""Reads what task runners run: the recipes of makefiles, justfiles, npm scripts and tox."""

import json
import re
from typing import Final

INCLUDES: Final = re.compile(r"^[ \t]*[-s]?(?:include|import)[ \t]+(.+)$", re.MULTILINE)
VALUES: Final = re.compile(r"^(\w+)[ \t]*[?:]{0,2}=[ \t]*(.*)$", re.MULTILINE)
RULE: Final = re.compile(r"(?!\w+[ \t]*[:?+]*=)@?([^\s#.:][^:]*)::?([^;]*);?(.*)")
"""A rule of a makefile or a justfile: targets, what they need, and a command on the same line."""
TOX_COMMANDS: Final = re.compile(r"^commands\w*[ \t]*=(.*(?:\n[ \t]+.*)*)", re.MULTILINE)

Recipes = dict[str, tuple[list[str], list[str]]]
"""By name, in their order: the recipes that each needs, and the lines that it runs."""


def make_recipes(makefile: str) -> Recipes:
    recipes: Recipes = {}
    lines: list[str] = []
    for line in makefile.replace("\\\n", " ").splitlines():
        if line.startswith(("\t", " ")):
            lines.append(line)
        elif found := RULE.match(line):
            lines = [found[3]]
            for name in found[1].split():
                recipes.setdefault(name, ([], lines))[0].extend(found[2].split())
    return recipes


def package_recipes(package: str) -> Recipes:
    try:
        scripts = json.loads(package)["scripts"].items()
        texts = {name: text for name, text in scripts if isinstance(text, str)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {name: ([f"pre{name}", f"post{name}"], [text]) for name, text in texts.items()}


def tox_recipes(ini: str) -> Recipes:
    return {"commands": ([], TOX_COMMANDS.findall(ini))}
