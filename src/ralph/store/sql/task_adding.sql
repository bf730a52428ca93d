-- name: known
-- Those of some ids that exist, with their features.
SELECT id, feature_id FROM tasks WHERE id IN {listed}

-- name: known_features
SELECT id FROM features WHERE id IN {listed}

-- name: known_aliases
-- Those of some aliases that are taken, and where.
SELECT alias, feature_id, id FROM tasks WHERE alias IN {listed}

-- name: last_born
SELECT created_at FROM tasks ORDER BY rowid DESC LIMIT 1

-- name: insert_task
-- A new task in the order of the fields of `Task`. Its counters are counted afterwards.
INSERT INTO tasks (
    id, title, description, status, parent_id, feature_id, task_type, priority, retry_count,
    max_retries, strikes, attempt, verification_status, review, claimed_by, alias, needs_change,
    reason, created_at, updated_at, held
) VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20,
    COALESCE((SELECT {holds} FROM tasks AS p WHERE p.id = ?5), 0)
)

-- name: insert_file
INSERT INTO task_files (task_id, path) VALUES (?, ?)

-- name: parents_later
-- Within this transaction a child may come before its parent.
PRAGMA defer_foreign_keys = ON
