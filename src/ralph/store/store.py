"""What Ralph remembers: tasks, claims, sessions, events, … What a method of a part changes is one
transaction. A function that needs one part takes only that part.
"""

from ralph.store.archive import Archive
from ralph.store.checks import Checks
from ralph.store.claims import Claims
from ralph.store.costs import Costs
from ralph.store.database import Database
from ralph.store.documents import DocumentSnapshots
from ralph.store.events import Events
from ralph.store.features import Features
from ralph.store.memories import Memories
from ralph.store.messages import Messages
from ralph.store.reviews import Reviews
from ralph.store.runs import Breakers, Runs, Workers
from ralph.store.screens import ScreenQueries
from ralph.store.sessions import Sessions
from ralph.store.tasks import Tasks


class Store:
    """All parts on one database. A method that calls another part shares its transaction."""

    # `inside.session_calls` reads these: a session's calls name a part and its method.
    tasks: Tasks
    archive: Archive
    features: Features
    claims: Claims
    workers: Workers
    breakers: Breakers
    runs: Runs
    sessions: Sessions
    checks: Checks
    reviews: Reviews
    messages: Messages
    memories: Memories
    costs: Costs
    documents: DocumentSnapshots
    events: Events
    screens: ScreenQueries

    def __init__(self, db: Database) -> None:
        self.db = db
        self.events = Events(db)
        self.tasks = Tasks(db)
        self.archive = Archive(db, self.tasks)
        self.features = Features(db, self.tasks)
        self.memories = Memories(db)
        self.claims = Claims(db, self.tasks, self.memories)
        self.workers = Workers(db)
        self.breakers = Breakers(db)
        self.runs = Runs(db, self.workers)
        self.costs = Costs(db)
        self.sessions = Sessions(db, self.claims)
        self.checks = Checks(db, self.claims, self.sessions)
        self.reviews = Reviews(db, self.tasks, self.claims, self.checks)
        self.messages = Messages(db)
        self.documents = DocumentSnapshots(db)
        self.screens = ScreenQueries(db)

    def check(self) -> list[str]:
        """What is wrong with the data, one line each; counters are recounted and fixed."""
        return self.db.write(lambda: self.db.check() + self.tasks.transitions.counters.repair())

    def close(self) -> None:
        self.db.close()
