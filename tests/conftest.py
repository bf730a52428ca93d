"""A clean environment for every test: no settings, keys or git habits of the person who runs it."""

import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

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


@pytest.fixture(autouse=True)
def clean_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in list(os.environ):
        if name.startswith(SCRUBBED):
            monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "A Person")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "person@example.com")


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
