"""Every promise of `ports/store.py` as a test; `class TestMine(StoreContract)` proves a store."""

from ralph.testing.base_contract import BaseContract
from ralph.testing.breakers_contract import BreakersContract
from ralph.testing.claims_contract import ClaimsContract
from ralph.testing.crew_contract import CrewContract
from ralph.testing.feature_contract import FeatureContract
from ralph.testing.files_contract import FilesContract
from ralph.testing.graph_contract import GraphContract
from ralph.testing.history_contract import HistoryContract
from ralph.testing.ledger_contract import LedgerContract
from ralph.testing.memories_contract import MemoriesContract
from ralph.testing.pages_contract import PagesContract
from ralph.testing.papers_contract import PapersContract
from ralph.testing.reviews_contract import ReviewsContract
from ralph.testing.status_contract import StatusContract
from ralph.testing.stints_contract import StintsContract
from ralph.testing.tried_contract import TriedContract


class StoreContract(
    GraphContract,
    PapersContract,
    StatusContract,
    CrewContract,
    ClaimsContract,
    FilesContract,
    BaseContract,
    HistoryContract,
    TriedContract,
    StintsContract,
    MemoriesContract,
    LedgerContract,
    FeatureContract,
    BreakersContract,
    PagesContract,
    ReviewsContract,
):
    """Override the `store` fixture."""
