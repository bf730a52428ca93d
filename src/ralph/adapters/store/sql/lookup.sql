-- name: by_alias
-- Tasks that go by this name in their documents; two are enough to know that it is not unique.
SELECT {task} FROM tasks WHERE alias = :alias ORDER BY {by_priority} LIMIT 5

-- name: some_names
-- Names to compare a mistyped one with.
SELECT * FROM (SELECT id FROM tasks LIMIT 300)
UNION ALL
SELECT * FROM (SELECT alias FROM tasks WHERE alias IS NOT NULL LIMIT 300)

-- name: ids_like
-- Ids that begin alike.
SELECT id FROM tasks WHERE id >= :prefix AND id < :beyond ORDER BY id LIMIT 50

-- name: aliases_like
-- Aliases that begin alike.
SELECT alias FROM tasks WHERE alias >= :prefix AND alias < :beyond ORDER BY alias LIMIT 50

-- name: listed_tasks
-- Tasks by priority, then age; `%s` is filled with conditions.
SELECT {task} FROM tasks WHERE %s ORDER BY {by_priority} LIMIT :limit OFFSET :offset

-- name: with_status
-- A condition on a list.
status IN (SELECT value FROM json_each(:statuses))

-- name: with_feature
-- A condition on a list.
feature_id = :feature

-- name: with_parent
-- A condition on a list.
parent_id = :parent

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
-- Where a tree begins.
id = :root

-- name: from_the_top
-- Where a forest begins.
parent_id IS NULL

-- name: children
-- What is directly below it.
SELECT {task} FROM tasks WHERE parent_id = :id ORDER BY {by_priority}

-- name: blockers
-- What it waits for.
SELECT {task} FROM tasks
WHERE id IN (SELECT blocker_id FROM dependencies WHERE blocked_id = :id)
ORDER BY {by_priority}

-- name: dependents
-- What waits for it.
SELECT {task} FROM tasks
WHERE id IN (SELECT blocked_id FROM dependencies WHERE blocker_id = :id)
ORDER BY {by_priority}

-- name: blocker_ids
-- The blockers of many tasks at once.
SELECT blocked_id, blocker_id FROM dependencies JOIN tasks ON id = blocker_id
WHERE blocked_id IN {listed}
ORDER BY {by_priority}

-- name: add_log
-- One more line of a task's log.
INSERT INTO task_logs (task_id, message, timestamp) VALUES (?, ?, ?)

-- name: logs
-- The newest lines of a task's log.
SELECT task_id, message, timestamp FROM task_logs WHERE task_id = ? ORDER BY id DESC LIMIT ?
