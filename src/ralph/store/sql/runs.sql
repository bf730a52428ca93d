-- name: start_run
INSERT INTO runs (id, worker, target, agent, checkout, started_at, sandbox, reason, baseline)
VALUES (:id, :worker, :target, :agent, :checkout, :started_at, :sandbox, :reason, :baseline)

-- name: end_run
UPDATE runs SET ended_at = :now, outcome = :outcome, reason = :reason WHERE id = :id

-- name: save_baseline
UPDATE runs SET baseline = :baseline WHERE id = :id

-- name: run_columns
-- In the order of the fields of `Run`.
runs.id, worker, target, agent, checkout, started_at, sandbox, ended_at, outcome, reason, baseline

-- name: runs
SELECT {run_columns} FROM runs ORDER BY rowid DESC LIMIT :limit

-- name: run
SELECT {run_columns} FROM runs WHERE id = :id

-- name: live_runs
-- Runs that have not ended, with the owners of their workers.
SELECT host, boot_id, pid_namespace, pid, pid_start, {run_columns}
FROM runs JOIN workers ON workers.id = worker
WHERE ended_at IS NULL
ORDER BY runs.rowid

-- name: begin_iteration
-- One more, if the limit allows it, in one statement: no two workers get the same number.
UPDATE runs SET iterations = iterations + 1
WHERE id = :run AND (:limit = 0 OR iterations - uncounted < :limit)
RETURNING iterations

-- name: uncount_iteration
UPDATE runs
SET uncounted = CASE WHEN uncounted < iterations THEN uncounted + 1 ELSE uncounted END
WHERE id = :run
