"""`config.sh`: the older way to configure, still understood."""

import os
from typing import Any

from ralph.config.sources import Layer, Source
from ralph.core.errors import BadConfig, UnusableData

FILES = (os.path.join(".agents", "ralph", "config.sh"), os.path.join(".ralph", "config.sh"))

WORDS = {
    "AGENT_CMD": "agent.command",
    "MODEL": "models.model",
}
NUMBERS = {
    "MAX_TEAMMATES": "workers.count",
    "MAX_CONSECUTIVE_FAILURES": "breaker.failures",
    "MIN_TEST_COVERAGE": "gates.min_coverage",
}
GATES = ("TEST", "TYPECHECK", "LINT", "BUILD", "INTEGRATION", "E2E", "COVERAGE")


def read_shell_files(root: str) -> Layer:
    """The settings of both files; variables that set nothing here are left to others."""
    values: dict[str, tuple[Any, Source]] = {}
    for name in FILES:
        path = os.path.join(root, name)
        if os.path.isfile(path):
            _read(path, values)
    return Layer(values, [])


def _read(path: str, values: dict[str, tuple[Any, Source]]) -> None:
    from ralph.documents.shell_variables import read_variables

    try:
        with open(path, encoding="utf-8") as file:
            variables = read_variables(file.read(), path)
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfig(f"{path} cannot be read: {error}") from error
    except UnusableData as error:
        raise BadConfig(str(error), hint=error.hint) from error
    gates: dict[str, str] = {}
    for variable, (value, line) in variables.items():
        source = Source("config.sh", path, line)
        if variable in WORDS and value:
            values[WORDS[variable]] = (value, source)
        elif variable in NUMBERS and value:
            values[NUMBERS[variable]] = (_number(value, variable, source), source)
        elif variable == "NO_COMMIT" and value == "true":
            values["git.commit"] = ("none", source)
        elif variable == "MEMORIES_ENABLED":
            values["memory.enabled"] = (value != "false", source)
    for gate in GATES:
        if (found := variables.get(f"GATE_{gate}")) is not None and found.value:
            gates[gate.lower()] = found.value
            values["gates.commands"] = (gates, Source("config.sh", path, found.line))


def _number(value: str, variable: str, source: Source) -> float | int:
    try:
        number = float(value)
    except ValueError:
        raise BadConfig(f"{source}: {variable} is {value!r}, not a number") from None
    return int(number) if number.is_integer() else number
