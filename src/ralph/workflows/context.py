"""What a session with a person is told about the project, gathered from where it is."""

from ralph.config.load import Loaded
from ralph.core.project_context import Context, FeatureRow, describe
from ralph.core.target import OneFeature
from ralph.ports.library import Library
from ralph.ports.store import Store

GUIDES = ("CLAUDE.md", "AGENTS.md")
"""The first that is there: agents read their own one anyway, and it is mostly the same."""
FEATURES = 30


def context_of(loaded: Loaded, store: Store, library: Library) -> str:
    """As Markdown."""
    name, guide = _guide(library)
    return describe(
        Context(guide_name=name, guide=guide, settings=_settings(loaded), features=_features(store))
    )


def _guide(library: Library) -> tuple[str, str]:
    for name in GUIDES:
        text = library.read(name).text
        if text:
            return name, text
    return "", ""


def _settings(loaded: Loaded) -> list[tuple[str, str]]:
    config = loaded.config
    gates = "; ".join(f"{name}: `{line}`" for name, line in config.gates.commands.items() if line)
    return [
        ("gates, which every task must pass", gates or "none are set"),
        ("commits", config.git.commit),
        ("reference documents", ", ".join(f"`{path}/`" for path in config.specs.dirs) or "none"),
    ]


def _features(store: Store) -> list[FeatureRow]:
    rows = []
    for feature in store.features()[-FEATURES:]:
        counts = store.counts(OneFeature(feature.id, feature.name))
        rows.append(FeatureRow(feature=feature, done=counts.done, total=counts.total))
    return rows
