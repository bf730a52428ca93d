-- name: inject
INSERT INTO guidance (task_id, text, given_at) VALUES (:task, :text, :now)

-- name: guidance
-- What was said to a task, or waits for whichever comes next.
SELECT text FROM guidance
WHERE task_id = :task OR task_id IS NULL
ORDER BY id

-- name: deliver
-- It belongs to the task now.
UPDATE guidance SET task_id = :task, delivered_at = :now
WHERE delivered_at IS NULL AND (task_id = :task OR task_id IS NULL)
RETURNING id

-- name: send
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
