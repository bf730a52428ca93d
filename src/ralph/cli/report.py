"""Report what a run has come to: what is done and what proves it, what failed, what needs you.

Without a name: of the newest run that does not plan or validate, also while it works. It reports
what Ralph judged, never what an agent said of its own work.

examples:
  ralph report
  ralph report > report.md
  ralph report 20261115-084300-1234 --html report.html
  ralph report --json | jq .needs
"""

import sys
import time
from argparse import Namespace

from ralph.cli.command import command, exclusive, option
from ralph.cli.options import json_option
from ralph.cli.output import print_json
from ralph.cli.project_access import open_view, project_with_store
from ralph.core.safe_text import one_line


@command(
    option("run", "RUN", "which run", nargs="?"),
    exclusive(
        json_option(),
        option("--html", "FILE", "write one HTML page with graph, chart, evidence and diffs"),
    ),
)
def report(args: Namespace) -> None:
    from ralph.ui.report import read_report, report_markdown
    from ralph.wiring.git_access import open_changes

    now = time.time()
    with project_with_store() as (project, store), open_changes(project) as changes:
        found = read_report(open_view(project, store), args.run, changes, now)
        if args.html:
            from ralph.files import or_cannot_write, write_regular
            from ralph.ui.report_html import report_html

            page = report_html(found, changes, now)
            with or_cannot_write(f"write {one_line(args.html, 200)}"):
                write_regular(args.html, page.encode("utf-8", "replace"))
            print(one_line(args.html, 500))
            return
    if args.json:
        print_json(found)
    else:
        sys.stdout.write("".join(f"{line}\n" for line in report_markdown(found, now)))
