-- name: save_session
INSERT INTO sessions (
    id, task_id, attempt, run_id, worker, agent, model, tier, strategy, checkout, log, started_at,
    ended_at, mark, before, after, ending, resets_at, told, gates, commits, duration_s, verdict,
    judged, given
) VALUES (
    :id, :task_id, :attempt, :run_id, :worker, :agent, :model, :tier, :strategy, :checkout, :log,
    :started_at, :ended_at, :checkpoint, :before, :after, :ending, :resets_at, :socket_claim,
    :gates, :commits, :duration_s, :verdict, :judged, :given
)
ON CONFLICT (id) DO UPDATE SET
    run_id = excluded.run_id, worker = excluded.worker, agent = excluded.agent,
    model = excluded.model, tier = excluded.tier, strategy = excluded.strategy,
    checkout = excluded.checkout, log = excluded.log, started_at = excluded.started_at,
    ended_at = excluded.ended_at,
    -- A user who resets a task wants no verdict on the session that is at work.
    mark = CASE sessions.mark WHEN 'settled' THEN 'settled' ELSE excluded.mark END,
    before = excluded.before,
    after = excluded.after, ending = excluded.ending, resets_at = excluded.resets_at,
    gates = excluded.gates,
    commits = excluded.commits, duration_s = excluded.duration_s, given = excluded.given,
    told = coalesce(excluded.told, sessions.told)

-- name: save_checkpoint
UPDATE sessions SET mark = :checkpoint, gates = coalesce(:gates, gates) WHERE id = :id

-- name: is_over
-- Whether the end of a session is on record.
SELECT 1 FROM sessions WHERE id = :id AND ended_at IS NOT NULL

-- name: add_commit
-- What Ralph has committed of a session's work.
UPDATE sessions SET commits = json_insert(commits, '$[#]', :commit) WHERE id = :id
RETURNING run_id

-- name: replace_commits
UPDATE sessions SET commits = :commits WHERE id = :id

-- name: save_socket_claim
UPDATE sessions SET told = :socket_claim WHERE id = :id

-- name: save_tool_usage
UPDATE sessions SET tool_tokens = :tokens, tool_errors = :errors, tool_error = :last_error
WHERE id = :id

-- name: session_columns
-- In the order of the fields of `Session`.
id, task_id, attempt, run_id, worker, agent, model, tier, strategy, checkout, log, started_at,
ended_at, mark, before, after, ending, told, gates, commits, duration_s, verdict, judged, given,
json_object('tokens', tool_tokens, 'errors', tool_errors, 'last_error', tool_error)

-- name: session
SELECT {session_columns} FROM sessions WHERE id = :id

-- name: limited_until
-- When the allowance of an agent comes back.
SELECT max(until) FROM (
    SELECT max(resets_at) AS until FROM sessions WHERE agent = :agent AND resets_at > :now
    UNION ALL
    SELECT max(resets_at) FROM checks WHERE agent = :agent AND resets_at > :now
) AS limits

-- name: lift_limits
UPDATE sessions SET resets_at = NULL WHERE resets_at IS NOT NULL

-- name: lift_limits_of_checks
UPDATE checks SET resets_at = NULL WHERE resets_at IS NOT NULL

-- name: save_segment
-- A session that has handed over.
INSERT OR REPLACE INTO stints (session_id, number, data) VALUES (:session_id, :number, :data)

-- name: segments
SELECT data FROM stints WHERE session_id = :session ORDER BY number

-- name: left_in
-- The newest session in a checkout whose task was begun and is not claimed.
SELECT {session_columns} FROM sessions WHERE rowid = (
    SELECT max(s.rowid)
    FROM tasks AS t JOIN sessions AS s ON s.task_id = t.id
    WHERE t.base IS NOT NULL AND t.status <> 'in_progress' AND s.checkout = :checkout
)

-- name: sessions
-- The newest sessions; `%s` is filled with conditions.
SELECT {session_columns} FROM sessions WHERE %s ORDER BY rowid DESC LIMIT :limit

-- name: of_task
task_id = :task

-- name: of_run
run_id = :run

-- name: attempt_records
-- The newest attempts that counted, and what was logged until the next one began; `%s` is filled
-- with a condition. The log of an attempt that talks a lot is cut.
SELECT task_id, attempt, run_id, judged, coalesce(ended_at, ''), strategy, tier, ending, verdict, (
    SELECT group_concat(line, char(10)) FROM (
        SELECT substr(message, 1, 2000) AS line FROM task_logs AS l
        WHERE l.task_id = s.task_id AND l.timestamp >= s.started_at AND l.timestamp < coalesce((
            SELECT min(n.started_at) FROM sessions AS n
            WHERE n.task_id = s.task_id AND n.attempt > s.attempt
        ), '9999')
        ORDER BY l.id DESC LIMIT 20
    ) AS newest
)
FROM sessions AS s
WHERE %s AND judged <> 'released'
ORDER BY s.rowid DESC LIMIT :limit

-- name: count
SELECT count(*) FROM sessions

-- name: book_cost
-- What a session has cost; reported twice, it is booked once.
INSERT OR REPLACE INTO costs (
    run_id, session_id, task_id, agent, model, ended_at, cost_usd, estimated, input_tokens,
    cached_tokens, output_tokens
) VALUES (
    :run_id, :session_id, :task_id, :agent, :model, :ended_at, :cost_usd, :estimated,
    :input_tokens, :cached_tokens, :output_tokens
)
