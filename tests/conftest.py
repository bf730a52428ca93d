"""A clean environment for every test: no settings, keys or git habits of the person who runs it."""

import ctypes
import gc
import os
import signal
from collections.abc import Generator, Iterator
from enum import Enum
from pathlib import Path
from types import FunctionType

import pytest
from hypothesis import HealthCheck, settings
from msgspec import Struct

from ralph.adapters.executor.process_table import PR_SET_CHILD_SUBREAPER, become_subreaper
from ralph.core.session_environment import SESSION_GIT
from tests.stores import close_memory_stores

# A busy machine is no failure, so there is no deadline. Always the same examples: whether a change
# passes must not depend on luck. RALPH_TEST_EXAMPLES=5000 searches on, elsewhere each time.
EXAMPLES = os.environ.get("RALPH_TEST_EXAMPLES", "")
settings.register_profile(
    "ralph",
    deadline=None,
    max_examples=int(EXAMPLES or 100),
    derandomize=not EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ralph")

pytest_plugins = ["ralph.testing.fixtures"]

# Under nohup, or in the background of a script, some signals are ignored, and every child inherits
# that: tests about signals would wait for ever.
for _number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(_number) == signal.SIG_IGN:
        usual = signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL
        signal.signal(_number, usual)

SCRUBBED = (
    "RALPH_",
    "AGENT_CMD",
    "NO_COMMIT",
    "ANTHROPIC_",
    "OPENAI_",
    "CLAUDE",
    "CODEX_",
    "FACTORY_",
    "GIT_",
)


EMPTY_HOMES: list[Path] = []


@pytest.fixture(autouse=True)
def clean_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    for name in list(os.environ):
        if name.startswith(SCRUBBED):
            monkeypatch.delenv(name)
    home = EMPTY_HOMES.pop() if EMPTY_HOMES else tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "A Person")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "person@example.com")
    yield
    # Making a folder takes pytest longer than most tests take, and most leave theirs untouched.
    if home.is_dir() and not any(home.iterdir()):
        EMPTY_HOMES.append(home)


@pytest.fixture
def as_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """What git does in the test, a session does."""
    for name, value in SESSION_GIT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(autouse=True)
def no_subreaper() -> Iterator[None]:
    """Ralph that ran in this process would leave it every orphan of all later tests, for ever."""
    yield
    if become_subreaper.cache_info().currsize and become_subreaper():
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        become_subreaper.cache_clear()


@pytest.fixture(autouse=True)
def closed_stores() -> Iterator[None]:
    yield
    close_memory_stores()


def pytest_collection_finish() -> None:
    """Thousands of collected tests are never garbage: to look at them again and again takes an
    eighth of the time of the quick ones."""
    gc.collect()
    gc.freeze()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Label a row by what is in it: `files0` says nothing. Always the same, or workers would not
    agree about the tests."""
    said = None if isinstance(val, str | bytes) else label(val)
    return said if said and len(said) <= 120 else None


def label(val: object) -> str | None:
    match val:
        case str():
            return val or "nothing"
        case Enum():
            return str(val.value)
        case bool() | int() | float() | None:
            return str(val)
        case dict():
            parts = [(label(key), label(one)) for key, one in val.items()]
            return ", ".join(f"{key}: {one}" for key, one in parts) if parts else "nothing"
        case list() | tuple() | set() | frozenset():
            found = [label(one) for one in val]
            known = [one for one in found if one is not None]
            words = known if isinstance(val, list | tuple) else sorted(known)
            return (", ".join(words) or "nothing") if len(known) == len(found) else None
        case FunctionType(__name__=name) | type(__name__=name):
            return None if name == "<lambda>" else name.replace("_", " ").strip()
        case Struct():
            fields = {name: getattr(val, name) for name in val.__struct_fields__}
            given = {name: one for name, one in fields.items() if one}
            return f"{type(val).__name__}({label(given)})"
        case _:
            return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a missing component is a failure: a skipped test has checked nothing."""
    report = yield
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped in CI: {report.longrepr}"
    return report
