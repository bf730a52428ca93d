-- name: by_alias
-- Tasks that go by this name in their documents; two are enough to know that it is not unique.
SELECT {task} FROM tasks WHERE alias = :alias ORDER BY {by_priority} LIMIT 5

-- name: names_from
-- Names to compare a mistyped one with: as much work with a million tasks as with a thousand.
SELECT * FROM (SELECT id FROM tasks LIMIT 300) AS ids
UNION
SELECT * FROM (SELECT id FROM tasks WHERE id >= :id ORDER BY id LIMIT 300) AS near_ids
UNION
SELECT * FROM (SELECT alias FROM tasks WHERE alias IS NOT NULL LIMIT 300) AS aliases
UNION
SELECT * FROM (
    SELECT alias FROM tasks WHERE alias >= :alias ORDER BY alias LIMIT 300
) AS near_aliases

-- name: listed_tasks
-- Tasks by priority, then age; `%s` is filled with conditions.
SELECT {task} FROM tasks WHERE %s ORDER BY {by_priority} LIMIT :limit OFFSET :offset

-- name: with_status
status IN (SELECT value FROM json_each(:statuses))

-- name: with_feature
feature_id = :feature

-- name: with_parent
parent_id = :parent

-- name: without
id NOT IN (SELECT value FROM json_each(:without))

-- name: tree
-- Some tasks and everything below them, parents before children, each family together.
WITH RECURSIVE below (task, depth, urgency, born) AS (
    SELECT id, 0, priority, created_at FROM tasks WHERE %s
    UNION ALL
    SELECT id, depth + 1, priority, created_at FROM tasks JOIN below ON parent_id = task
    ORDER BY 2 DESC, 3, 4, 1
    LIMIT :limit
)
SELECT {task} FROM below CROSS JOIN tasks ON id = task

-- name: from_root
id = :root

-- name: from_the_top
parent_id IS NULL

-- name: children
SELECT {task} FROM tasks WHERE parent_id = :id ORDER BY {by_priority} LIMIT :limit

-- name: blockers
SELECT {task} FROM tasks
WHERE id IN (SELECT blocker_id FROM dependencies WHERE blocked_id = :id)
ORDER BY {by_priority} LIMIT :limit

-- name: dependents
SELECT {task} FROM tasks
WHERE id IN (SELECT blocked_id FROM dependencies WHERE blocker_id = :id)
ORDER BY {by_priority} LIMIT :limit

-- name: blocker_ids
SELECT blocked_id, blocker_id FROM dependencies JOIN tasks ON id = blocker_id
WHERE blocked_id IN {listed}
ORDER BY {by_priority}

-- name: logs
SELECT task_id, message, timestamp FROM task_logs WHERE task_id = ? ORDER BY id DESC LIMIT ?

-- name: tasks_after
-- Tasks in the order in which they were made.
SELECT tasks.rowid, {task} FROM tasks WHERE tasks.rowid > :number ORDER BY tasks.rowid LIMIT :limit

-- name: names_of
-- What to call tasks: by the alias, unless another task has the same.
SELECT id, CASE
    WHEN alias IS NULL OR EXISTS (
        SELECT 1 FROM tasks AS other WHERE other.alias = tasks.alias AND other.id <> tasks.id
    ) THEN id ELSE alias
END FROM tasks WHERE id IN (SELECT value FROM json_each(:ids))

-- name: delete_files
DELETE FROM task_files WHERE task_id = ?

-- name: edit
-- What a person changed.
UPDATE tasks
SET title = :title, description = :description, priority = :priority, max_retries = :max_retries,
    feature_id = :feature_id, task_type = :task_type, needs_change = :needs_change,
    updated_at = :now
WHERE id = :id

-- name: orphan
UPDATE tasks SET parent_id = NULL, held = 0 WHERE id = :id

-- name: adopt
UPDATE tasks SET parent_id = :parent,
    held = (SELECT {holds} FROM tasks AS p WHERE p.id = :parent)
WHERE id = :id

-- name: edge
SELECT 1 FROM dependencies WHERE blocker_id = :blocker AND blocked_id = :blocked

-- name: remove_edge
DELETE FROM dependencies WHERE blocker_id = :blocker AND blocked_id = :blocked

-- name: waiting_outside
-- What waits for some tasks and is none of them.
SELECT DISTINCT blocked_id FROM dependencies
WHERE blocker_id IN {listed} AND blocked_id NOT IN {listed}
ORDER BY blocked_id

-- name: titles
SELECT id, title FROM tasks WHERE id IN {listed}

-- name: delete_guidance
-- What people said to tasks that are gone.
DELETE FROM guidance WHERE task_id IN {listed}

-- name: delete_tasks
-- Some tasks, and by cascade their edges, files and logs.
DELETE FROM tasks WHERE id IN {listed}

-- name: any_stuck
-- Is anything failed or blocked? If not, no edge can change a status.
SELECT EXISTS (SELECT 1 FROM tasks WHERE status IN ('failed', 'blocked'))

-- name: features_of
SELECT DISTINCT feature_id FROM tasks WHERE id IN {listed} AND feature_id IS NOT NULL

-- name: family
-- Whether a task is a parent, and whether it remembers a checkout.
SELECT children > 0, base IS NOT NULL FROM tasks WHERE id = :id
