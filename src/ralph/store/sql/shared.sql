-- Fragments that several files use. `%s` in a statement is filled with one of the scopes.
--
-- Statements that every claim and completion runs take their values by place (`?`): naming them
-- costs more than half a microsecond each.

-- name: task
-- The columns of a task, in the order in which `rows.task` reads them.
id, title, description, status, parent_id, feature_id, task_type, priority, retry_count,
max_retries, strikes, attempt, verification_status, claimed_by, alias, needs_change, reason,
created_at, updated_at,
(SELECT json_group_array(path) FROM task_files WHERE task_id = tasks.id), review

-- name: nodes
-- The same without the description, which may be long, and the files: no rule looks at them.
id, title, '' AS description, status, parent_id, feature_id, task_type, priority, retry_count,
max_retries, strikes, attempt, verification_status, claimed_by, alias, needs_change, reason,
created_at, updated_at, '[]' AS files, review

-- name: ready
-- What a ready task is: literals, to the letter those of the partial indexes.
status = 'pending' AND unmet = 0 AND children = 0 AND held = 0

-- name: free
-- Nothing in progress names a file of the task. What is in progress is looked at once for each
-- statement, and only if some task names files at all: hence the `+`.
NOT EXISTS (
    SELECT 1 FROM task_files WHERE task_id = tasks.id AND +path IN (
        SELECT path FROM tasks AS busy CROSS JOIN task_files ON task_id = busy.id
        WHERE busy.status = 'in_progress'
    )
)

-- name: by_priority
priority, created_at, id

-- name: by_chain
chain DESC, priority, created_at, id

-- name: listed
-- The ids that a statement is about, given as a JSON array: no limit on their number.
(SELECT value FROM json_each(:ids))

-- name: of_all
-- The scope of a run on everything.
tasks WHERE true

-- name: of_feature
-- The scope of a run on one feature. All statuses are named, so that the index is used.
tasks WHERE feature_id = ?
    AND status IN ('pending', 'in_progress', 'done', 'blocked', 'failed')

-- name: below
-- The scope of a run on a subtree; CROSS JOIN keeps the planner from scanning all tasks instead.
(
    WITH RECURSIVE below (task) AS (
        VALUES (?)
        UNION ALL
        SELECT id FROM tasks JOIN below ON parent_id = task
    )
    SELECT task FROM below
) AS target CROSS JOIN tasks ON id = task WHERE true

-- name: holds
-- Does a task `p` hold back what is below it? What blocks a parent blocks its children.
(p.held OR p.unmet > 0 OR p.status IN ('blocked', 'failed'))

-- name: one_task
SELECT {task} FROM tasks WHERE id = ?

-- name: insert_edge
INSERT INTO dependencies (blocker_id, blocked_id) VALUES (?, ?)

-- name: add_log
INSERT INTO task_logs (task_id, message, timestamp) VALUES (?, ?, ?)

-- name: append_event
INSERT INTO events (time, run_id, task_id, event, data) VALUES (?, ?, ?, ?, ?)
