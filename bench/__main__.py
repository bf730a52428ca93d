"""Run the benchmarks, print a table, keep the results, and fail when a bar is missed."""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

MODULES = (
    *("startup", "store", "costs", "memory", "stream", "reading"),
    *("loop", "stories", "hooks", "sandbox", "team", "web", "watch"),
)
MARKS = {True: "ok", False: "MISSED", None: ""}
RESULTS = os.path.join(os.path.dirname(__file__), "results")


class Row(NamedTuple):
    """One figure."""

    module: str
    name: str
    value: float
    unit: str
    bar: float | None
    ok: bool | None
    """None where there is no bar."""


def main(argv: list[str] | None = None) -> int:
    """Measure, tell, remember."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", choices=MODULES, action="append", help="may be repeated")
    args = parser.parse_args(argv)
    rows: list[Row] = []
    missing: list[str] = []
    for name in args.only or MODULES:
        run = _runner(name)
        if run is None:
            missing.append(name)
            print(f"{name}: there is no bench/{name}.py, so nothing was measured")
            continue
        before = len(rows)
        run(_reporter(name, rows))
        for row in rows[before:]:
            print(_line(row), flush=True)
    date = time.strftime("%Y-%m-%d")
    whole = not args.only
    if whole:
        # A part of the figures must not pass for all of them.
        _save(f"{date}.json", _as_json(rows, missing, date))
        _save("latest.md", _as_markdown(rows, missing, date))
    missed = [row for row in rows if row.ok is False]
    if missed:
        print(f"missed: {', '.join(row.name for row in missed)}", file=sys.stderr)
    return 1 if missed else 0


def _runner(name: str) -> Callable[[Callable[..., None]], None] | None:
    try:
        module = import_module(f"bench.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"bench.{name}":
            raise
        return None
    run: Callable[[Callable[..., None]], None] = module.run
    return run


def _reporter(module: str, rows: list[Row]) -> Callable[..., None]:
    def report(name: str, value: float, unit: str, bar: float | None, ok: bool | None) -> None:  # noqa: FBT001
        rows.append(Row(module, name, value, unit, bar, ok))

    return report


def _line(row: Row) -> str:
    bar = f"bar {row.bar:g}" if row.bar is not None else ""
    return f"{MARKS[row.ok]:<6}  {row.name:<50} {row.value:>12,.3f} {row.unit:<12} {bar}"


def _machine() -> str:
    return (
        f"{platform.system()} {platform.release()}, {platform.machine()}, {os.cpu_count()} cores,"
        f" Python {platform.python_version()}"
    )


def _as_json(rows: list[Row], missing: list[str], date: str) -> str:
    body = {
        "date": date,
        "machine": _machine(),
        "missing": missing,
        "rows": [row._asdict() for row in rows],
    }
    return json.dumps(body, indent=2) + "\n"


def _as_markdown(rows: list[Row], missing: list[str], date: str) -> str:
    lines = [
        f"# Benchmarks, {date}",
        "",
        f"{_machine()}. Written by `make bench`; figures are medians.",
        "",
        "| what | value | unit | bar | |",
        "| --- | ---: | --- | --- | --- |",
    ]
    for row in rows:
        bar = "" if row.bar is None else f"{row.bar:g}"
        mark = MARKS[row.ok]
        lines.append(f"| {row.name} | {row.value:,.3f} | {row.unit} | {bar} | {mark} |")
    lines += [f"\nNot measured: there is no bench/{name}.py." for name in missing]
    return "\n".join(lines) + "\n"


def _save(name: str, text: str) -> None:
    """Whole or not at all."""
    os.makedirs(RESULTS, exist_ok=True)
    path = os.path.join(RESULTS, name)
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.new", path)


if __name__ == "__main__":
    sys.exit(main())
