-- name: archive
-- A task that leaves the graph, with its log and what it waited for.
INSERT OR REPLACE INTO archive (task_id, root_id, feature_id, task, logs, blockers, archived_at)
VALUES (:task_id, :root_id, :feature_id, :task, :logs, :blockers, :now)

-- name: logs_of
-- The whole log of a task.
SELECT message, timestamp FROM task_logs WHERE task_id = :id ORDER BY id

-- name: archived
-- What was taken out of a feature.
SELECT task FROM archive WHERE feature_id = :feature AND root_id = task_id ORDER BY rowid

-- name: archived_below
-- A task that was taken out, and what was below it.
SELECT task, logs, blockers FROM archive WHERE root_id = :root ORDER BY rowid

-- name: unarchive
DELETE FROM archive WHERE root_id = :root
