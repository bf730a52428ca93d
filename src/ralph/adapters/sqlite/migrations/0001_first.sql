-- The tables that people know (tasks, dependencies, task_logs, features), and what Ralph needs
-- beside them. Times are ISO 8601 in UTC, so that text order is time order.

PRAGMA application_id = 1380012112; -- "RALP", so that `file` and Ralph know their own

CREATE TABLE features (
    id         TEXT PRIMARY KEY NOT NULL,
    name       TEXT NOT NULL UNIQUE,
    spec_path  TEXT,
    plan_path  TEXT,
    status     TEXT NOT NULL DEFAULT 'draft'
               CHECK (status IN ('draft', 'planned', 'ready', 'running', 'done', 'failed')),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);

CREATE TABLE tasks (
    id                  TEXT PRIMARY KEY NOT NULL,
    parent_id           TEXT REFERENCES tasks (id),
    title               TEXT NOT NULL,
    description         TEXT NOT NULL DEFAULT '',
    status              TEXT NOT NULL DEFAULT 'pending'
                        CHECK (status IN ('pending', 'in_progress', 'done', 'blocked', 'failed')),
    priority            INTEGER NOT NULL DEFAULT 0,
    created_at          TEXT NOT NULL,
    updated_at          TEXT NOT NULL,
    claimed_by          TEXT,
    feature_id          TEXT REFERENCES features (id),
    task_type           TEXT NOT NULL DEFAULT 'standalone'
                        CHECK (task_type IN ('feature', 'standalone')),
    retry_count         INTEGER NOT NULL DEFAULT 0,
    max_retries         INTEGER NOT NULL DEFAULT 3,
    verification_status TEXT
                        CHECK (verification_status IN ('pending', 'passed', 'failed')),
    review              TEXT CHECK (review IN ('open', 'passed', 'failed')),
    strikes             INTEGER NOT NULL DEFAULT 0,
    attempt             INTEGER NOT NULL DEFAULT 0, -- numbers claims and only grows
    alias               TEXT,
    needs_change        INTEGER NOT NULL DEFAULT 1,
    reason              TEXT,
    -- Readiness is kept, not computed; `ralph doctor` recounts all of these.
    unmet               INTEGER NOT NULL DEFAULT 0, -- blockers that are not done
    children            INTEGER NOT NULL DEFAULT 0,
    open_children       INTEGER NOT NULL DEFAULT 0, -- children that are not done
    failed_children     INTEGER NOT NULL DEFAULT 0,
    held                INTEGER NOT NULL DEFAULT 0, -- 1: something above it waits, is blocked or failed
    chain               INTEGER NOT NULL DEFAULT 1, -- tasks on the longest chain that starts here
    base                TEXT                        -- the checkout at the first claim, as JSON
);

-- Ready tasks in the order in which they are handed out. The conditions must be repeated to the
-- letter in `sql/shared.sql`, or the indexes are not used.
CREATE INDEX tasks_ready ON tasks (priority, created_at, id)
    WHERE status = 'pending' AND unmet = 0 AND children = 0 AND held = 0;
CREATE INDEX tasks_ready_feature ON tasks (feature_id, priority, created_at, id)
    WHERE status = 'pending' AND unmet = 0 AND children = 0 AND held = 0
        AND feature_id IS NOT NULL;
CREATE INDEX tasks_ready_chain ON tasks (chain DESC, priority, created_at, id)
    WHERE status = 'pending' AND unmet = 0 AND children = 0 AND held = 0;
CREATE INDEX tasks_ready_feature_chain ON tasks (feature_id, chain DESC, priority, created_at, id)
    WHERE status = 'pending' AND unmet = 0 AND children = 0 AND held = 0
        AND feature_id IS NOT NULL;

-- Counts, "is anything open?" and "what is in progress?" without looking at a single row.
CREATE INDEX tasks_status ON tasks (status, feature_id);
CREATE INDEX tasks_parent ON tasks (parent_id) WHERE parent_id IS NOT NULL;
-- The roots of a feature: they tell how far it has come.
CREATE INDEX tasks_top ON tasks (feature_id, status)
    WHERE parent_id IS NULL AND feature_id IS NOT NULL;
-- Parents that may fail with the next task that does.
CREATE INDEX tasks_doubtful ON tasks (id) WHERE status = 'pending' AND failed_children > 0;
-- Tasks that somebody began and that are not settled: a handful at any time.
CREATE INDEX tasks_begun ON tasks (id) WHERE base IS NOT NULL;
CREATE UNIQUE INDEX tasks_alias ON tasks (alias, ifnull(feature_id, '')) WHERE alias IS NOT NULL;

CREATE TABLE dependencies (
    blocker_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    blocked_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    PRIMARY KEY (blocker_id, blocked_id),
    CHECK (blocker_id != blocked_id)
) WITHOUT ROWID;

CREATE INDEX dependencies_blocked ON dependencies (blocked_id, blocker_id);

-- What tasks say they will modify: two that name the same file are not worked on at once.
CREATE TABLE task_files (
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    path    TEXT NOT NULL, -- from the top of the project
    PRIMARY KEY (task_id, path)
) WITHOUT ROWID;

CREATE TABLE task_logs (
    id        INTEGER PRIMARY KEY,
    task_id   TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    message   TEXT NOT NULL,
    timestamp TEXT NOT NULL
);

CREATE INDEX task_logs_task ON task_logs (task_id);

CREATE TABLE runs (
    id         TEXT PRIMARY KEY NOT NULL,
    worker     TEXT NOT NULL,
    target     TEXT NOT NULL,
    agent      TEXT NOT NULL,
    checkout   TEXT NOT NULL,
    started_at TEXT NOT NULL,
    sandbox    TEXT NOT NULL DEFAULT 'off',
    ended_at   TEXT,
    outcome    TEXT,
    reason     TEXT NOT NULL DEFAULT '',
    baseline   TEXT NOT NULL DEFAULT '[]', -- gate results, as JSON
    iterations INTEGER NOT NULL DEFAULT 0, -- begun by its workers
    uncounted  INTEGER NOT NULL DEFAULT 0  -- of these cut short
);

CREATE INDEX runs_live ON runs (started_at) WHERE ended_at IS NULL;

-- A claim is a lease: a dead owner on this host is seen at once, elsewhere at its expiry.
CREATE TABLE workers (
    id            TEXT PRIMARY KEY NOT NULL,
    run_id        TEXT NOT NULL,
    seat          TEXT NOT NULL DEFAULT '', -- teammate-1, …; empty: it started the run
    host          TEXT NOT NULL,
    boot_id       TEXT NOT NULL,
    pid_namespace TEXT NOT NULL,
    pid           INTEGER NOT NULL,
    pid_start     TEXT NOT NULL,
    heartbeat_at  TEXT NOT NULL, -- its last sign of life
    lease_s       REAL NOT NULL  -- how long that is good for
);

CREATE INDEX workers_run ON workers (run_id);

-- No reference to tasks: what was paid for stays on record when its task is deleted.
CREATE TABLE sessions (
    id         TEXT PRIMARY KEY NOT NULL, -- task:attempt
    task_id    TEXT NOT NULL,
    attempt    INTEGER NOT NULL,
    run_id     TEXT NOT NULL,
    worker     TEXT NOT NULL,
    agent      TEXT NOT NULL,
    model      TEXT NOT NULL, -- what was asked for; what it ran on is in `ending`
    tier       TEXT NOT NULL DEFAULT '',
    strategy   TEXT NOT NULL DEFAULT '',
    checkout   TEXT NOT NULL DEFAULT '', -- the project's directory where it worked
    log        TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at   TEXT,
    mark       TEXT NOT NULL
               CHECK (mark IN (
                   'started', 'ended', 'gated', 'accepted', 'committed', 'settled'
               )),
    before     TEXT, -- the checkout when it began, as JSON
    after      TEXT, -- and when it was over
    ending     TEXT, -- how it ended, its final message and its cost, as JSON
    resets_at  REAL, -- when the allowance comes back that it has used up, in seconds since 1970
    told       TEXT,
    gates      TEXT NOT NULL DEFAULT '[]',
    commits    TEXT NOT NULL DEFAULT '[]',
    duration_s REAL NOT NULL DEFAULT 0,
    verdict    TEXT NOT NULL DEFAULT '', -- what was decided about it, for people
    judged     TEXT -- and in a word
               CHECK (judged IN (
                   'accepted', 'rejected', 'struck', 'gave_up', 'conflict', 'split', 'released'
               )),
    given      TEXT NOT NULL DEFAULT '[]', -- what it was told, as JSON
    tool_tokens INTEGER NOT NULL DEFAULT 0, -- of the tools' results that are in its context
    tool_errors INTEGER NOT NULL DEFAULT 0,
    tool_error  TEXT NOT NULL DEFAULT '' -- of the last use, if that failed
);

CREATE INDEX sessions_task ON sessions (task_id);
CREATE INDEX sessions_run ON sessions (run_id);
CREATE INDEX sessions_limited ON sessions (agent, resets_at) WHERE resets_at IS NOT NULL;

-- Sessions that check the work of another one.
CREATE TABLE checks (
    session_id TEXT NOT NULL, -- the session that is judged
    role       TEXT NOT NULL CHECK (role IN ('verify', 'review')),
    number     INTEGER NOT NULL,
    agent      TEXT NOT NULL,
    resets_at  REAL, -- as in `sessions`
    passed     INTEGER,
    data       TEXT NOT NULL, -- all of it, as JSON
    PRIMARY KEY (session_id, role, number)
) WITHOUT ROWID;

CREATE INDEX checks_limited ON checks (agent, resets_at) WHERE resets_at IS NOT NULL;

-- Sessions that have handed their attempt to a fresh one.
CREATE TABLE stints (
    session_id TEXT NOT NULL, -- the session of the attempt
    number     INTEGER NOT NULL,
    data       TEXT NOT NULL, -- all of it, as JSON
    PRIMARY KEY (session_id, number)
) WITHOUT ROWID;

-- What reviewers found and somebody has answered: not raised again.
CREATE TABLE dismissals (
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    finding TEXT NOT NULL,
    reason  TEXT NOT NULL,
    by      TEXT NOT NULL, -- a session, or a person
    PRIMARY KEY (task_id, finding)
) WITHOUT ROWID;

-- One narrow row for each session that has ended: sums over many of them must not read what a
-- session said. In the order of runs, since the sum of one run is asked for most often.
CREATE TABLE costs (
    run_id        TEXT NOT NULL,
    session_id    TEXT NOT NULL,
    task_id       TEXT NOT NULL,
    agent         TEXT NOT NULL,
    model         TEXT NOT NULL, -- what it ran on, else what was asked for
    ended_at      TEXT NOT NULL,
    cost_usd      REAL, -- NULL: nobody knows
    estimated     INTEGER NOT NULL, -- 1: worked out from a price table
    input_tokens  INTEGER,
    cached_tokens INTEGER,
    output_tokens INTEGER,
    PRIMARY KEY (run_id, session_id)
) WITHOUT ROWID;

CREATE INDEX costs_task ON costs (task_id);
CREATE INDEX costs_late ON costs (ended_at);

-- What later sessions may be told. No reference to tasks: a lesson outlives what it came from.
CREATE TABLE memories (
    id         INTEGER PRIMARY KEY AUTOINCREMENT, -- sessions remember which ones they were told
    kind       TEXT NOT NULL CHECK (kind IN ('knowledge', 'journal', 'verdict')),
    task_id    TEXT NOT NULL,
    attempt    INTEGER NOT NULL,
    title      TEXT NOT NULL,
    tags       TEXT NOT NULL, -- with commas between them
    text       TEXT NOT NULL,
    digest     TEXT NOT NULL, -- of what it says: nothing is learned twice
    created_at TEXT NOT NULL
);

CREATE INDEX memories_task ON memories (task_id);
CREATE UNIQUE INDEX memories_once ON memories (digest);
CREATE INDEX memories_sort ON memories (kind = 'knowledge', id);

-- The words of the newest: only these are searched.
CREATE VIRTUAL TABLE memory_words USING fts5 (title, tags, text, tokenize = 'porter unicode61');

-- Documents as Ralph was last done with them: what differs since is somebody else's doing.
CREATE TABLE papers (
    path     TEXT PRIMARY KEY NOT NULL,
    content  BLOB NOT NULL,
    held_for TEXT, -- the task of the session that works on it
    kept_at  TEXT NOT NULL
);

-- Tasks whose stories were taken out of their documents, to be brought back with them.
CREATE TABLE archive (
    task_id     TEXT PRIMARY KEY NOT NULL,
    root_id     TEXT NOT NULL, -- itself, or the task above it that was taken out
    feature_id  TEXT,
    task        TEXT NOT NULL, -- all of these as JSON
    logs        TEXT NOT NULL,
    blockers    TEXT NOT NULL,
    archived_at TEXT NOT NULL
);

CREATE INDEX archive_root ON archive (root_id);
CREATE INDEX archive_feature ON archive (feature_id);

-- Whether a worker may start sessions, by its seat: `teammate-1` is also a run of its own.
CREATE TABLE breakers (
    seat  TEXT PRIMARY KEY NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('closed', 'open', 'half_open')),
    data  TEXT NOT NULL -- the whole breaker, as JSON
) WITHOUT ROWID;

CREATE TABLE events (
    seq     INTEGER PRIMARY KEY, -- no AUTOINCREMENT: it costs a write, and no event is ever deleted
    time    TEXT NOT NULL,
    run_id  TEXT,
    task_id TEXT,
    event   TEXT NOT NULL,
    data    TEXT NOT NULL -- the whole event, as JSON
);

-- What a team came to is counted, without a look at all the rest.
CREATE INDEX events_team ON events (run_id, event)
WHERE event IN ('work_merged', 'task_conflicted', 'worker_left');

CREATE TABLE guidance (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id      TEXT, -- NULL: waits for whichever task comes next
    text         TEXT NOT NULL,
    given_at     TEXT NOT NULL,
    delivered_at TEXT
);

CREATE INDEX guidance_task ON guidance (task_id);

CREATE TABLE controls (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id   TEXT NOT NULL,
    word     TEXT NOT NULL,
    task_id  TEXT,
    reason   TEXT NOT NULL DEFAULT '',
    sent_at  TEXT NOT NULL,
    taken_at TEXT
);

CREATE INDEX controls_waiting ON controls (run_id) WHERE taken_at IS NULL;

CREATE TABLE meta (
    key   TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO meta (key, value) VALUES ('graph_version', 0), ('ranked_version', 0);
