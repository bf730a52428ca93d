-- name: join
-- Make a worker known.
INSERT INTO workers (
    id, run_id, seat, host, boot_id, pid_namespace, pid, pid_start, heartbeat_at, lease_s
) VALUES (
    :id, :run_id, :seat, :host, :boot_id, :pid_namespace, :pid, :pid_start, :now, :lease_s
)
ON CONFLICT (id) DO UPDATE SET
    run_id = excluded.run_id, seat = excluded.seat, host = excluded.host,
    boot_id = excluded.boot_id, pid_namespace = excluded.pid_namespace, pid = excluded.pid,
    pid_start = excluded.pid_start, heartbeat_at = excluded.heartbeat_at,
    lease_s = excluded.lease_s

-- name: crew
-- Who has joined a run, in the order in which they came.
SELECT id, run_id, seat, host, boot_id, pid_namespace, pid, pid_start FROM workers
WHERE run_id = :run ORDER BY rowid

-- name: begin_iteration
-- One more, if the limit allows it, in one statement: no two workers get the same number.
UPDATE runs SET iterations = iterations + 1
WHERE id = :run AND (:limit = 0 OR iterations - uncounted < :limit)
RETURNING iterations

-- name: has_run
-- Is there such a run?
SELECT EXISTS (SELECT 1 FROM runs WHERE id = :run)

-- name: uncount_iteration
-- One of them was cut short.
UPDATE runs SET uncounted = min(uncounted + 1, iterations) WHERE id = :run

-- name: team_events
-- How often each of these happened in a run; a worker that left without an outcome has died.
SELECT event, count(*) FROM events
WHERE run_id = :run AND event IN ('work_merged', 'task_conflicted', 'worker_left')
AND (event <> 'worker_left' OR json_extract(data, '$.outcome') IS NULL)
GROUP BY event

-- name: shares
-- What came of the sessions of each seat.
SELECT
    workers.seat,
    count(*),
    count(*) FILTER (WHERE sessions.judged = 'accepted'),
    count(*) FILTER (WHERE sessions.judged IN ('rejected', 'struck', 'gave_up'))
FROM sessions INNER JOIN workers ON sessions.worker = workers.id
WHERE sessions.run_id = :run AND workers.seat <> ''
GROUP BY workers.seat ORDER BY workers.seat
