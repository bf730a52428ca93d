-- What PostgreSQL needs to be told in other words: by file and name, like `store/sql`.

-- name: task
id, title, description, status, parent_id, feature_id, task_type, priority, retry_count,
max_retries, strikes, attempt, verification_status, claimed_by, alias, needs_change, reason,
created_at, updated_at, (
    SELECT coalesce(json_agg(path ORDER BY path)::text, '[]')
    FROM task_files WHERE task_id = tasks.id
), review

-- name: holds
(CASE WHEN p.held = 1 OR p.unmet > 0 OR p.status IN ('blocked', 'failed') THEN 1 ELSE 0 END)
