"""The report of a run, as a command."""

import json

from tests.cli.conftest import Cli, assert_one_line
from tests.cli.running import a_run


def test_before_the_first_run_there_is_nothing_to_report(ralph: Cli) -> None:
    assert_one_line(ralph("report", code=66), hint=True)


def test_the_newest_run_is_reported_and_one_that_is_unknown_is_refused(ralph: Cli) -> None:
    task = ralph.add("work")
    with a_run(ralph) as running:
        claim = running.claim()
        running.start(claim)
        shown = ralph("report").out
        found = ralph.json("report", running.run)
    assert shown.startswith(f"# Run {running.run}: at work\n")
    assert "## Not finished" in shown
    assert f"**{task}** work (in progress" in shown
    assert [one["id"] for one in found["unsettled"]] == [task]
    assert_one_line(ralph("report", "no-such-run", code=66), hint=True)


def test_one_page_is_written_and_its_name_printed(ralph: Cli) -> None:
    ralph.add("work")
    with a_run(ralph) as running:
        running.start(running.claim())
        assert ralph("report", "--html", "out.html").out == "out.html\n"
    assert (ralph.path / "out.html").read_text().startswith("<!doctype html>")
    assert_one_line(ralph("report", "--html", "no/such/folder.html", code=73))
    json.loads(ralph("report", "--json").out)
