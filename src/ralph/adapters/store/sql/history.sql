-- name: start_run
-- A new run.
INSERT INTO runs (id, worker, target, agent, checkout, started_at, sandbox, reason, baseline)
VALUES (:id, :worker, :target, :agent, :checkout, :started_at, :sandbox, :reason, :baseline)

-- name: end_run
-- How it ended.
UPDATE runs SET ended_at = :now, outcome = :outcome, reason = :reason WHERE id = :id

-- name: save_baseline
-- What the gates said before anybody worked.
UPDATE runs SET baseline = :baseline WHERE id = :id

-- name: run_columns
-- In the order in which `rows.run_of` reads them.
runs.id, worker, target, agent, checkout, started_at, sandbox, ended_at, outcome, reason, baseline

-- name: runs
-- The newest runs.
SELECT {run_columns} FROM runs ORDER BY rowid DESC LIMIT :limit

-- name: run
-- One run.
SELECT {run_columns} FROM runs WHERE id = :id

-- name: live_runs
-- Runs that have not ended, with the owners of their workers.
SELECT host, boot_id, pid_namespace, pid, pid_start, {run_columns}
FROM runs JOIN workers ON workers.id = worker
WHERE ended_at IS NULL
ORDER BY runs.rowid

-- name: save_session
-- A session as it is now.
INSERT INTO sessions (
    id, task_id, attempt, run_id, worker, agent, model, tier, strategy, checkout, log, started_at,
    ended_at, mark, before, after, ending, resets_at, told, gates, commits, duration_s, verdict,
    judged, given
) VALUES (
    :id, :task_id, :attempt, :run_id, :worker, :agent, :model, :tier, :strategy, :checkout, :log,
    :started_at, :ended_at, :mark, :before, :after, :ending, :resets_at, :told, :gates, :commits,
    :duration_s, :verdict, :judged, :given
)
ON CONFLICT (id) DO UPDATE SET
    run_id = excluded.run_id, worker = excluded.worker, agent = excluded.agent,
    model = excluded.model, tier = excluded.tier, strategy = excluded.strategy,
    checkout = excluded.checkout, log = excluded.log, started_at = excluded.started_at,
    ended_at = excluded.ended_at, mark = excluded.mark, before = excluded.before,
    after = excluded.after, ending = excluded.ending, resets_at = excluded.resets_at,
    gates = excluded.gates,
    commits = excluded.commits, duration_s = excluded.duration_s, given = excluded.given,
    told = coalesce(excluded.told, told)

-- name: mark_session
-- How far an attempt has come.
UPDATE sessions SET mark = :mark, gates = coalesce(:gates, gates) WHERE id = :id

-- name: add_commit
-- What Ralph has committed of a session's work.
UPDATE sessions SET commits = json_insert(commits, '$[#]', :commit) WHERE id = :id
RETURNING run_id

-- name: rename_commits
-- What they are called since they were rebased.
UPDATE sessions SET commits = :commits WHERE id = :id

-- name: tell
-- A claim made over the session's socket.
UPDATE sessions SET told = :told WHERE id = :id

-- name: note_tools
-- What its hooks have told of its tools.
UPDATE sessions SET tool_tokens = :tokens, tool_errors = :errors, tool_error = :last_error
WHERE id = :id

-- name: session_columns
-- In the order in which `rows.session_of` reads them.
id, task_id, attempt, run_id, worker, agent, model, tier, strategy, log, started_at, ended_at,
mark, before, after, ending, told, gates, commits, duration_s, verdict, judged, given, checkout,
tool_tokens, tool_errors, tool_error

-- name: session
-- The session of one attempt.
SELECT {session_columns} FROM sessions WHERE id = :id

-- name: limited_until
-- When the allowance of an agent comes back.
SELECT max(until) FROM (
    SELECT max(resets_at) AS until FROM sessions WHERE agent = :agent AND resets_at > :now
    UNION ALL
    SELECT max(resets_at) FROM checks WHERE agent = :agent AND resets_at > :now
)

-- name: lift_limits
-- It is back already.
UPDATE sessions SET resets_at = NULL WHERE resets_at IS NOT NULL

-- name: lift_limits_of_checks
-- The same.
UPDATE checks SET resets_at = NULL WHERE resets_at IS NOT NULL

-- name: save_check
-- A check as it is now.
INSERT OR REPLACE INTO checks (session_id, role, number, agent, resets_at, passed, data)
VALUES (:session_id, :role, :number, :agent, :resets_at, :passed, :data)

-- name: checks
-- Those of one session: it is verified first.
SELECT data FROM checks WHERE session_id = :session ORDER BY role DESC, number

-- name: in_review
-- Somebody reads what was done.
UPDATE tasks SET review = 'open' WHERE id = :task AND status = 'in_progress'

-- name: save_stint
-- A session that has handed over.
INSERT OR REPLACE INTO stints (session_id, number, data) VALUES (:session_id, :number, :data)

-- name: stints
-- Those of one attempt.
SELECT data FROM stints WHERE session_id = :session ORDER BY number

-- name: left_in
-- The newest session in a checkout whose task was begun and is nobody's now.
SELECT {session_columns} FROM sessions WHERE rowid = (
    SELECT max(s.rowid)
    FROM tasks AS t JOIN sessions AS s ON s.task_id = t.id
    WHERE t.base IS NOT NULL AND t.status <> 'in_progress' AND s.checkout = :checkout
)

-- name: sessions
-- The newest sessions; `%s` is filled with conditions.
SELECT {session_columns} FROM sessions WHERE %s ORDER BY rowid DESC LIMIT :limit

-- name: of_task
-- A condition on sessions.
task_id = :task

-- name: of_run
-- A condition on sessions.
run_id = :run

-- name: tried
-- The newest attempts that counted, and what was logged until the next one began; `%s` is filled
-- with a condition. The log of an attempt that talks a lot is cut.
SELECT task_id, attempt, run_id, judged, ended_at, strategy, tier, ending, verdict, (
    SELECT group_concat(line, char(10)) FROM (
        SELECT substr(message, 1, 2000) AS line FROM task_logs AS l
        WHERE l.task_id = s.task_id AND l.timestamp >= s.started_at AND l.timestamp < coalesce((
            SELECT min(n.started_at) FROM sessions AS n
            WHERE n.task_id = s.task_id AND n.attempt > s.attempt
        ), '~')
        ORDER BY l.id DESC LIMIT 20
    )
)
FROM sessions AS s
WHERE %s AND judged <> 'released'
ORDER BY s.rowid DESC LIMIT :limit

-- name: inject
-- What a person says to the next session.
INSERT INTO guidance (task_id, text, given_at) VALUES (:task, :text, :now)

-- name: guidance
-- What was said to a task, or waits for whichever comes next; and is it new?
SELECT text, delivered_at IS NULL FROM guidance
WHERE task_id = :task OR task_id IS NULL
ORDER BY id

-- name: hear
-- It is the task's now, whoever it was meant for.
UPDATE guidance SET task_id = :task, delivered_at = :now
WHERE delivered_at IS NULL AND (task_id = :task OR task_id IS NULL)
RETURNING id

-- name: send
-- What a person asks of a running loop.
INSERT INTO controls (run_id, word, task_id, reason, sent_at)
VALUES (:run, :word, :task, :reason, :now)

-- name: any_controls
-- Has anything been asked? Looked at often, so it takes no lock.
SELECT EXISTS (SELECT 1 FROM controls WHERE run_id = :run AND taken_at IS NULL)

-- name: is_to_stop
-- Was the run ever asked to stop?
SELECT EXISTS (SELECT 1 FROM controls WHERE run_id = :run AND word IN ('stop', 'stop-now'))

-- name: take_controls
-- What was asked since the last look.
UPDATE controls SET taken_at = :now WHERE run_id = :run AND taken_at IS NULL
RETURNING id, word, task_id, reason
