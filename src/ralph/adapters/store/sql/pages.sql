-- name: tasks_after
-- Tasks in the order in which they were made.
SELECT tasks.rowid, {task} FROM tasks WHERE tasks.rowid > :number ORDER BY tasks.rowid LIMIT :limit

-- name: names_of
-- What to call tasks: by the alias, unless another task has the same.
SELECT id, iif(
    alias IS NULL OR EXISTS (
        SELECT 1 FROM tasks AS other WHERE other.alias = tasks.alias AND other.id <> tasks.id
    ), id, alias
) FROM tasks WHERE id IN (SELECT value FROM json_each(:ids))

-- name: learned_after
-- What sessions have learned.
SELECT m.id, kind, task_id, attempt, m.title, m.tags, m.text, created_at
FROM memories AS m WHERE kind = 'knowledge' AND m.id > :number ORDER BY m.id LIMIT :limit

-- name: told_after
-- Events of some kinds; `%s` is filled with a place for each.
SELECT seq, time, run_id, data FROM events WHERE seq > ? AND event IN (%s) ORDER BY seq LIMIT ?

-- name: attempts
-- How many have been begun.
SELECT count(*) FROM sessions
