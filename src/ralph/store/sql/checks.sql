-- name: save_check
INSERT OR REPLACE INTO checks (session_id, role, number, agent, resets_at, passed, data)
VALUES (:session_id, :role, :number, :agent, :resets_at, :passed, :data)

-- name: checks
-- Those of one session: it is verified first.
SELECT data FROM checks WHERE session_id = :session ORDER BY role DESC, number

-- name: in_review
-- A review of its work has begun.
UPDATE tasks SET review = 'open' WHERE id = :task AND status = 'in_progress'

-- name: reviews
-- Those of a task that came to a verdict.
SELECT checks.data FROM sessions JOIN checks ON session_id = sessions.id
WHERE sessions.task_id = :task AND role = 'review' AND passed IS NOT NULL
ORDER BY attempt, number

-- name: reviewed
-- Tasks about which a reviewer came to a verdict, or that have comments of a person to answer.
SELECT {task} FROM tasks WHERE id IN (
    SELECT sessions.task_id FROM checks JOIN sessions ON sessions.id = session_id
    WHERE role = 'review' AND passed IS NOT NULL
    UNION SELECT task_id FROM line_comments
) ORDER BY tasks.rowid

-- name: dismiss
-- The first word about a finding holds, but a person's holds more than a session's.
INSERT INTO dismissals (task_id, finding, reason, by) VALUES (:task, :finding, :reason, :by)
ON CONFLICT (task_id, finding) DO UPDATE SET reason = excluded.reason, by = excluded.by
WHERE excluded.by = 'a person' AND dismissals.by <> 'a person'
RETURNING finding

-- name: dismissals
-- Of one task.
SELECT finding, reason, by FROM dismissals WHERE task_id = :task ORDER BY finding
