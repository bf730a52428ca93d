"""Store probe results for the user, outside of any project."""

import os
from collections.abc import Mapping

import msgspec

from ralph.core.json_text import NOT_JSON
from ralph.core.probe_result import ProbeResult
from ralph.files import or_cannot_write, read_regular, replace_file


class ProbeRecords:
    """One JSON file for each agent, in the user's folder for state."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        home = environ.get("HOME") or os.path.expanduser("~")
        state = environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
        self._folder = os.path.join(state, "ralph", "agents")

    def read(self, agent: str) -> ProbeResult | None:
        """The last record; None if there is none that can be read."""
        try:
            return msgspec.json.decode(read_regular(self._path(agent)), type=ProbeResult)
        except (OSError, *NOT_JSON):
            return None

    def write(self, record: ProbeResult) -> None:
        path = self._path(record.agent)
        with or_cannot_write(f"write {path}"):
            os.makedirs(self._folder, exist_ok=True)
            replace_file(path, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")

    def _path(self, agent: str) -> str:
        return os.path.join(self._folder, f"{agent}.json")
