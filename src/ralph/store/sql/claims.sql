-- The next task, by scope and schedule. INDEXED BY: left to itself the planner takes another index
-- and sorts all pending tasks.

-- name: next_of_all_by_priority
SELECT id FROM tasks INDEXED BY tasks_ready WHERE {ready} AND {free}
ORDER BY {by_priority} LIMIT 1

-- name: next_of_all_by_chain
SELECT id FROM tasks INDEXED BY tasks_ready_chain WHERE {ready} AND {free}
ORDER BY {by_chain} LIMIT 1

-- name: next_of_feature_by_priority
SELECT id FROM tasks INDEXED BY tasks_ready_feature WHERE {ready} AND {free}
    AND feature_id = ?
ORDER BY {by_priority} LIMIT 1

-- name: next_of_feature_by_chain
SELECT id FROM tasks INDEXED BY tasks_ready_feature_chain WHERE {ready} AND {free}
    AND feature_id = ?
ORDER BY {by_chain} LIMIT 1

-- name: next_below_by_priority
SELECT id FROM {below} AND {ready} AND {free} ORDER BY {by_priority} LIMIT 1

-- name: next_below_by_chain
SELECT id FROM {below} AND {ready} AND {free} ORDER BY {by_chain} LIMIT 1

-- name: this_one
-- One task, if it is ready.
SELECT id FROM tasks WHERE id = ? AND {ready}

-- name: peek
SELECT {task} FROM tasks WHERE id = (%s)

-- name: claim
-- Find and take a task in one statement, so that no two workers get the same one.
UPDATE tasks
SET status = 'in_progress', attempt = attempt + 1, claimed_by = ?, updated_at = ?
WHERE id = (%s)
RETURNING {task}

-- name: held
-- What a worker holds without a session of this attempt.
SELECT {task} FROM tasks WHERE status = 'in_progress' AND claimed_by = ? AND NOT EXISTS (
    SELECT 1 FROM sessions WHERE task_id = tasks.id AND sessions.attempt = tasks.attempt
) ORDER BY {by_priority} LIMIT 1

-- name: take_over
-- Continue an attempt in other hands, if its worker has not moved since it was looked at.
UPDATE tasks SET claimed_by = :worker, updated_at = :now
WHERE id = :id AND status = 'in_progress' AND attempt = :attempt
    AND coalesce(claimed_by, '') = :holder
    AND coalesce((SELECT heartbeat_at FROM workers WHERE workers.id = :holder), '') = :beat
RETURNING {task}

-- name: accept
-- What `core.transitions.advance` does to a task that is accepted, if it is still in these hands and
-- nothing below it is open.
UPDATE tasks
SET status = 'done', claimed_by = NULL, strikes = 0, reason = NULL, base = NULL,
    verification_status = ?, review = ?, updated_at = ?
WHERE id = ? AND status = 'in_progress' AND claimed_by = ? AND attempt = ? AND open_children = 0
RETURNING {task}

-- name: claimed
SELECT {task} FROM tasks
WHERE id = ? AND status = 'in_progress' AND claimed_by = ? AND attempt = ?

-- name: holder
SELECT claimed_by FROM tasks WHERE id = ? AND status = 'in_progress'

-- name: taken_over
-- Whether another worker than that of a claim holds its attempt.
SELECT 1 FROM tasks WHERE id = ? AND status = 'in_progress' AND claimed_by <> ? AND attempt = ?

-- name: heartbeat
-- A worker says that it lives, and for how long that is good.
UPDATE workers SET heartbeat_at = :now, lease_s = :lease_s WHERE id = :id

-- name: seen
-- A claim is a sign of life too.
UPDATE workers SET heartbeat_at = ? WHERE id = ?

-- name: stale
-- What is in the hands of workers that may be dead. Not all of it: every worker looks again and
-- again, and there may be thousands.
SELECT host, boot_id, pid_namespace, pid, pid_start, heartbeat_at, lease_s, {task}
FROM tasks LEFT JOIN (
    SELECT id AS worker, host, boot_id, pid_namespace, pid, pid_start, heartbeat_at, lease_s
    FROM workers
) AS owner ON worker = claimed_by
WHERE status = 'in_progress' AND coalesce(claimed_by, '') <> :me
    AND (host = :host OR coalesce(heartbeat_at, '') < :late)
ORDER BY coalesce(heartbeat_at, ''), {by_priority} LIMIT 100

-- name: base
-- The checkout as it was when the task was first claimed.
SELECT base FROM tasks WHERE id = :id

-- name: remember_base
-- The same, to be kept until the task is done or its work is taken out of the checkout.
UPDATE tasks SET base = :base WHERE id = :id AND base IS NULL

-- name: move_base
-- Others have changed the checkout meanwhile.
UPDATE tasks SET base = :base WHERE id = :id AND base IS NOT NULL

-- name: forget_base
UPDATE tasks SET base = NULL WHERE id = :id

-- name: counts
-- Tasks by status.
SELECT status, count(*) FROM %s GROUP BY status

-- name: has_tasks
SELECT EXISTS (SELECT 1 FROM %s)

-- name: has_open
SELECT EXISTS (SELECT 1 FROM %s AND status IN ('pending', 'in_progress', 'blocked'))

-- Could anything run, if its files were free? INDEXED BY, as above.

-- name: has_ready_of_all
SELECT EXISTS (SELECT 1 FROM tasks INDEXED BY tasks_ready WHERE {ready})

-- name: has_ready_of_feature
SELECT EXISTS (
    SELECT 1 FROM tasks INDEXED BY tasks_ready_feature WHERE {ready} AND feature_id = ?
)

-- name: has_ready_below
SELECT EXISTS (SELECT 1 FROM {below} AND {ready})

-- name: in_progress
SELECT count(*) FROM %s AND status = 'in_progress'

-- name: ranked
-- Is the critical-path order up to date, and if not, for which graph is it worked out now?
SELECT
    (SELECT value FROM meta WHERE key = 'ranked_version'),
    (SELECT value FROM meta WHERE key = 'graph_version')

-- name: tasks_left
-- What is not done, what it is part of, its place so far, and whether it can still come to pass.
SELECT id, parent_id, chain, status <> 'failed' FROM tasks
WHERE status IN ('pending', 'in_progress', 'blocked', 'failed')

-- name: edges_left
-- Who waits for what is still open.
SELECT blocker_id, blocked_id FROM tasks CROSS JOIN dependencies ON blocker_id = id
WHERE status IN ('pending', 'in_progress', 'blocked')

-- name: rank
UPDATE tasks SET chain = ? WHERE id = ?

-- name: set_ranked
UPDATE meta SET value = :version WHERE key = 'ranked_version'
