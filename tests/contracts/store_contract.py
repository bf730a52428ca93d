"""Every promise of `ralph.store` as a test; `class TestMine(StoreContract)` proves a store."""

from tests.contracts.attempts_contract import AttemptsContract
from tests.contracts.breakers_contract import BreakersContract
from tests.contracts.claims_contract import ClaimsContract
from tests.contracts.costs_contract import CostsContract
from tests.contracts.document_snapshots_contract import DocumentSnapshotsContract
from tests.contracts.export_contract import ExportContract
from tests.contracts.feature_contract import FeatureContract
from tests.contracts.graph_contract import GraphContract
from tests.contracts.handoffs_contract import HandoffsContract
from tests.contracts.leases_contract import LeasesContract, LostClaimsContract
from tests.contracts.memories_contract import MemoriesContract
from tests.contracts.reviews_contract import ReviewsContract
from tests.contracts.run_history_contract import HistoryContract
from tests.contracts.run_workers_contract import WorkersContract
from tests.contracts.status_contract import StatusContract
from tests.contracts.task_base_contract import TaskBaseContract
from tests.contracts.task_files_contract import TaskFilesContract
from tests.contracts.task_view_contract import TaskViewContract
from tests.contracts.tree_contract import TreeContract
from tests.contracts.view_contract import ViewContract


class StoreContract(
    GraphContract,
    DocumentSnapshotsContract,
    StatusContract,
    WorkersContract,
    ClaimsContract,
    LeasesContract,
    LostClaimsContract,
    TaskFilesContract,
    TaskBaseContract,
    HistoryContract,
    AttemptsContract,
    HandoffsContract,
    MemoriesContract,
    CostsContract,
    FeatureContract,
    BreakersContract,
    ExportContract,
    ReviewsContract,
    ViewContract,
    TaskViewContract,
    TreeContract,
):
    """Override the `store` fixture."""
