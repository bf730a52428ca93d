-- name: tree
-- The way from the top to a task, as text, sorts parents before children, each family together.
WITH RECURSIVE below (task, way) AS (
    SELECT id, ARRAY[to_char(priority + 5000000000, 'FM00000000000') || created_at || id]
    FROM tasks WHERE %s
    UNION ALL
    SELECT id, way || (to_char(priority + 5000000000, 'FM00000000000') || created_at || id)
    FROM tasks JOIN below ON parent_id = task
)
SELECT {task} FROM below JOIN tasks ON id = task ORDER BY way LIMIT :limit
