-- Narrow rows for screens: no descriptions, no final messages, never all of a long table.

-- name: cluster
-- What a task is drawn in when there are too many: its parent, else its feature.
coalesce(parent_id, feature_id, '')

-- name: represented
-- The cluster that stands for a task: a parent is the cluster of its children.
CASE WHEN children > 0 THEN id ELSE {cluster} END

-- name: nodes
-- The tasks of a cluster, or all; `%s` is a condition.
SELECT id, coalesce(alias, id), substr(title, 1, 300), status, coalesce(parent_id, ''), attempt
FROM tasks WHERE %s ORDER BY rowid LIMIT :limit

-- name: branch
-- Tasks of a tree, in the order in which they were added; `%s` is a condition.
SELECT id, coalesce(alias, id), substr(title, 1, 300), status, coalesce(parent_id, ''), attempt,
    children
FROM tasks WHERE %s ORDER BY rowid LIMIT :limit

-- name: at_the_top
parent_id IS NULL

-- name: below_parent
parent_id = :parent

-- name: like_this
(title LIKE :like ESCAPE '!' OR alias LIKE :like ESCAPE '!' OR id LIKE :like ESCAPE '!')

-- name: not_done
status <> 'done'

-- name: without
id NOT IN (SELECT value FROM json_each(:without))

-- name: in_cluster
{cluster} = :key OR id = :key

-- name: edges
-- Edges between some tasks. The plus keeps SQLite from trying every pair of them.
SELECT blocker_id, blocked_id FROM dependencies
WHERE blocker_id IN {listed} AND +blocked_id IN {listed}

-- name: clusters
-- The largest clusters, and how many of their tasks have each status; `%s` is the key.
SELECT
    %s AS key,
    count(*) FILTER (WHERE status = 'pending'),
    count(*) FILTER (WHERE status = 'in_progress'),
    count(*) FILTER (WHERE status = 'done'),
    count(*) FILTER (WHERE status = 'blocked'),
    count(*) FILTER (WHERE status = 'failed')
FROM tasks WHERE children = 0 GROUP BY key ORDER BY count(*) DESC, key LIMIT :limit

-- name: by_feature
coalesce(feature_id, '')

-- name: cluster_edges
-- Which clusters wait for which; `%s` is the key.
WITH keyed (task, key) AS (SELECT id, %s FROM tasks)
SELECT DISTINCT blocker.key, blocked.key
FROM dependencies
JOIN keyed AS blocker ON blocker.task = blocker_id
JOIN keyed AS blocked ON blocked.task = blocked_id
WHERE blocker.key <> blocked.key LIMIT :limit

-- name: names
-- What clusters are called.
SELECT id, coalesce(alias || ' ', '') || substr(title, 1, 300) FROM tasks WHERE id IN {listed}
UNION ALL
SELECT id, name FROM features WHERE id IN {listed}

-- name: bars
-- The sessions of a run in the order in which they began, and the checks of their work.
WITH of_run AS (
    SELECT s.id, s.task_id, s.attempt, s.agent, s.started_at, s.ended_at, s.judged,
        coalesce(slot, '') AS slot, coalesce(alias, s.task_id) AS name,
        coalesce(substr(title, 1, 300), '') AS title
    FROM sessions AS s LEFT JOIN workers ON workers.id = s.worker
    LEFT JOIN tasks ON tasks.id = s.task_id
    WHERE s.run_id = :run
)
SELECT slot, task_id, name, title, attempt, 'work' AS role, agent, started_at AS began, ended_at,
    coalesce(judged, '')
FROM of_run
UNION ALL
SELECT slot, task_id, name, title, attempt, role, checks.agent,
    json_extract(data, '$.started_at'), json_extract(data, '$.ended_at'),
    CASE passed WHEN 1 THEN 'accepted' WHEN 0 THEN 'rejected' ELSE '' END
FROM of_run JOIN checks ON session_id = of_run.id
ORDER BY began, role LIMIT :limit OFFSET :offset

-- name: run_tasks
-- The tasks that a run had sessions for, in order of their first session, as they are now; `%s`
-- is a condition.
SELECT {task} FROM tasks
JOIN (
    SELECT task_id, min(rowid) AS first FROM sessions WHERE run_id = :run GROUP BY task_id
) AS worked_on ON id = task_id
WHERE %s ORDER BY first LIMIT :limit

-- name: has_status
status IN (SELECT value FROM json_each(:statuses))

-- name: work_times
-- How long the newest accepted tasks took: their sessions, gates and checks, all attempts together.
SELECT sum(
    duration_s
    + (SELECT total(json_extract(value, '$.duration_s')) FROM json_each(gates))
    + (SELECT total(json_extract(data, '$.duration_s')) FROM checks WHERE session_id = id)
    + (SELECT total(json_extract(data, '$.duration_s')) FROM stints WHERE session_id = id)
)
FROM sessions WHERE task_id IN (
    SELECT task_id FROM sessions WHERE judged = 'accepted' ORDER BY rowid DESC LIMIT :limit
) GROUP BY task_id

-- name: endings
-- How the newest sessions ended, the newest first.
SELECT agent, json_extract(ending, '$.ended'), coalesce(json_extract(ending, '$.detail'), ''),
    coalesce(ended_at, '')
FROM sessions WHERE ending IS NOT NULL ORDER BY rowid DESC LIMIT :limit

-- name: disputes
-- Findings that a session has dismissed and no person has decided on. Those of reviewers matter
-- until the task is done, comments of people until they decide.
SELECT task_id, coalesce(alias, id), substr(title, 1, 300), finding, dismissals.reason, by
FROM dismissals JOIN tasks ON id = task_id
WHERE by <> 'a person' AND (
    status <> 'done' OR (task_id, finding) IN (SELECT task_id, finding FROM line_comments)
)
ORDER BY task_id, finding LIMIT :limit

-- name: stuck
-- Blocked or failed tasks, without the parents that failed because of what is below them.
SELECT {task} FROM tasks
WHERE status = :status AND failed_children = 0
ORDER BY updated_at DESC, id LIMIT :limit

-- name: statuses_below
-- The statuses below a task; a parent that is pending stands for those below it.
WITH RECURSIVE pending_parents (parent) AS (
    SELECT :id
    UNION ALL
    SELECT id FROM tasks JOIN pending_parents ON parent_id = parent
    WHERE status = 'pending' AND children > 0
)
SELECT DISTINCT status FROM tasks JOIN pending_parents ON parent_id = parent
WHERE status <> 'pending' OR children = 0
