-- name: join
INSERT INTO workers (
    id, run_id, slot, host, boot_id, pid_namespace, pid, pid_start, heartbeat_at, lease_s
) VALUES (
    :id, :run_id, :slot, :host, :boot_id, :pid_namespace, :pid, :pid_start, :now, :lease_s
)
ON CONFLICT (id) DO UPDATE SET
    run_id = excluded.run_id, slot = excluded.slot, host = excluded.host,
    boot_id = excluded.boot_id, pid_namespace = excluded.pid_namespace, pid = excluded.pid,
    pid_start = excluded.pid_start, heartbeat_at = excluded.heartbeat_at,
    lease_s = excluded.lease_s

-- name: members
-- Who has joined a run, in the order in which they came.
SELECT id, slot, host, boot_id, pid_namespace, pid, pid_start FROM workers
WHERE run_id = :run ORDER BY rowid

-- name: team_events
-- How often each of these happened in a run; a worker that left without an outcome has died.
SELECT event, count(*) FROM events
WHERE run_id = :run AND event IN ('work_merged', 'task_conflicted', 'worker_left')
AND (event <> 'worker_left' OR json_extract(data, '$.outcome') IS NULL)
GROUP BY event

-- name: shares
-- What came of the sessions of each slot.
SELECT
    workers.slot,
    count(*),
    count(*) FILTER (WHERE sessions.judged = 'accepted'),
    count(*) FILTER (WHERE sessions.judged IN ('rejected', 'struck', 'gave_up'))
FROM sessions INNER JOIN workers ON sessions.worker = workers.id
WHERE sessions.run_id = :run AND workers.slot <> ''
GROUP BY workers.slot ORDER BY workers.slot
