-- name: reviews
-- Those of a task that came to a verdict.
SELECT checks.data FROM sessions JOIN checks ON session_id = sessions.id
WHERE sessions.task_id = :task AND role = 'review' AND passed IS NOT NULL
ORDER BY attempt, number

-- name: reviewed
-- Tasks about which a reviewer came to a verdict.
SELECT {task} FROM tasks WHERE id IN (
    SELECT sessions.task_id FROM checks JOIN sessions ON sessions.id = session_id
    WHERE role = 'review' AND passed IS NOT NULL
) ORDER BY tasks.rowid

-- name: dismiss
-- The first word about a finding holds.
INSERT OR IGNORE INTO dismissals (task_id, finding, reason, by)
VALUES (:task, :finding, :reason, :by)
RETURNING finding

-- name: dismissals
-- Of one task.
SELECT finding, reason, by FROM dismissals WHERE task_id = :task ORDER BY finding
