-- name: paper
-- A document as Ralph was last done with it.
SELECT path, content, held_for FROM papers WHERE path = :path

-- name: keep_paper
-- The same, in the place of the one before.
INSERT INTO papers (path, content, held_for, kept_at)
VALUES (:path, :content, :held_for, :now)
ON CONFLICT (path) DO UPDATE SET
    content = excluded.content, held_for = excluded.held_for, kept_at = excluded.kept_at

-- name: archive
-- A task that leaves the graph, with its log and what it waited for.
INSERT INTO archive (task_id, root_id, feature_id, task, logs, blockers, archived_at)
VALUES (:task_id, :root_id, :feature_id, :task, :logs, :blockers, :now)
ON CONFLICT (task_id) DO UPDATE SET
    root_id = excluded.root_id, feature_id = excluded.feature_id, task = excluded.task,
    logs = excluded.logs, blockers = excluded.blockers, archived_at = excluded.archived_at

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
-- It is in the graph again.
DELETE FROM archive WHERE root_id = :root

-- name: forget_feature
-- It is deleted, so nothing of it will come back.
DELETE FROM archive WHERE feature_id = :feature

-- name: history
-- What a task has behind it: attempts go on counting, since they name sessions.
UPDATE tasks SET attempt = ?, retry_count = ?, strikes = ? WHERE id = ?

-- name: log_again
-- A line of its log, with the time that it had.
INSERT INTO task_logs (task_id, message, timestamp) VALUES (?, ?, ?)
