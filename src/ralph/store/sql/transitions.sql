-- name: move
-- A task after a transition. A settled task forgets the checkout that it began with.
UPDATE tasks
SET status = ?, attempt = ?, retry_count = ?, strikes = ?, claimed_by = ?, reason = ?,
    verification_status = ?, review = ?, base = CASE WHEN ? = 1 THEN NULL ELSE base END, updated_at = ?
WHERE id = ?

-- name: below
-- A task and everything below it, level by level.
WITH RECURSIVE below (task, depth) AS (
    VALUES (:root, 0)
    UNION ALL
    SELECT id, depth + 1 FROM tasks JOIN below ON parent_id = task
)
SELECT id FROM below JOIN tasks ON id = task ORDER BY depth, {by_priority}

-- name: settle_sessions
-- With a task all its sessions are settled: one that was judged late is of an earlier attempt.
UPDATE sessions SET mark = 'settled', verdict = ?, judged = ?
WHERE task_id = ? AND mark <> 'settled'

-- name: graph_changed
UPDATE meta SET value = value + 1 WHERE key = 'graph_version'
