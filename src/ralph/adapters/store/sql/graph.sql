-- name: known
-- Those of some ids that exist, with what a newcomer needs to know about them.
SELECT id, status, feature_id, {holds} FROM tasks AS p WHERE id IN {listed}

-- name: known_features
-- Those of some features that exist.
SELECT id FROM features WHERE id IN {listed}

-- name: known_aliases
-- Those of some aliases that are taken, and where.
SELECT alias, feature_id, id FROM tasks WHERE alias IN {listed}

-- name: last_born
-- When the newest task was added.
SELECT created_at FROM tasks ORDER BY rowid DESC LIMIT 1

-- name: insert_task
-- A new task, its counters included, as `Batch.rows` has it.
INSERT INTO tasks (
    id, parent_id, title, description, status, priority, created_at, updated_at, feature_id,
    task_type, max_retries, alias, needs_change, reason, unmet, children, open_children,
    failed_children, held
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_edge
-- A new edge.
INSERT INTO dependencies (blocker_id, blocked_id) VALUES (?, ?)

-- name: insert_file
-- A file that a task will modify.
INSERT INTO task_files (task_id, path) VALUES (?, ?)

-- name: delete_files
-- It names others now.
DELETE FROM task_files WHERE task_id = ?

-- name: parents_later
-- Within this transaction a child may come before its parent.
PRAGMA defer_foreign_keys = ON

-- name: edit
-- What a person changed.
UPDATE tasks
SET title = :title, description = :description, priority = :priority, max_retries = :max_retries,
    feature_id = :feature_id, task_type = :task_type, needs_change = :needs_change,
    updated_at = :now
WHERE id = :id

-- name: orphan
-- Take a task away from its parent.
UPDATE tasks SET parent_id = NULL, held = 0 WHERE id = :id

-- name: adopt
-- Give a task a parent.
UPDATE tasks SET parent_id = :parent,
    held = (SELECT {holds} FROM tasks AS p WHERE p.id = :parent)
WHERE id = :id

-- name: edge
-- Is there such an edge?
SELECT 1 FROM dependencies WHERE blocker_id = :blocker AND blocked_id = :blocked

-- name: remove_edge
-- No longer.
DELETE FROM dependencies WHERE blocker_id = :blocker AND blocked_id = :blocked

-- name: waiting_outside
-- What waits for some tasks and is none of them.
SELECT DISTINCT blocked_id FROM dependencies
WHERE blocker_id IN {listed} AND blocked_id NOT IN {listed}
ORDER BY blocked_id

-- name: titles
-- What some tasks are called.
SELECT id, title FROM tasks WHERE id IN {listed}

-- name: delete_guidance
-- What people said to tasks that are gone.
DELETE FROM guidance WHERE task_id IN {listed}

-- name: delete_tasks
-- Some tasks, and by cascade their edges, files and logs.
DELETE FROM tasks WHERE id IN {listed}

-- name: any_stuck
-- Is anything failed or blocked? If not, no edge can change anybody's status.
SELECT EXISTS (SELECT 1 FROM tasks WHERE status IN ('failed', 'blocked'))

-- name: features_of
-- The features that some tasks belong to.
SELECT DISTINCT feature_id FROM tasks WHERE id IN {listed} AND feature_id IS NOT NULL

-- name: top_of_feature
-- A task of a feature; what is below it goes with it, whichever it is.
SELECT id FROM tasks WHERE feature_id = :feature
    AND status IN ('pending', 'in_progress', 'done', 'blocked', 'failed')
ORDER BY parent_id IS NOT NULL LIMIT 1

-- name: delete_feature
-- The feature itself; its tasks go before it.
DELETE FROM features WHERE id = :id
