"""Logins of agents, as their programs leave them in the home."""

import os
from pathlib import Path

CLAUDE = '{"claudeAiOauth": {"accessToken": "x", "subscriptionType": "max"}}'


def log_in(file: str = ".claude/.credentials.json", login: str = CLAUDE) -> None:
    path = Path(os.environ["HOME"], file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(login)
