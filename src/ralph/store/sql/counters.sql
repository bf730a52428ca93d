-- What keeps readiness: unmet, children, open_children, failed_children, held. Nothing else
-- changes these columns.

-- name: child_moved
-- One of a task's children is settled or reopened.
UPDATE tasks SET open_children = open_children + ?, failed_children = failed_children + ?
WHERE id = ?
RETURNING open_children, failed_children

-- name: family_changed
-- A task's children become more or fewer. Apart from the one above: `children` decides on
-- readiness, so touching it touches all indexes on ready tasks.
UPDATE tasks
SET children = children + ?,
    open_children = open_children + ?,
    failed_children = failed_children + ?
WHERE id = ?

-- name: dependents_of
-- A blocker is done, or no longer: those that wait for it count again.
UPDATE tasks SET unmet = unmet + ?
WHERE id IN (SELECT blocked_id FROM dependencies WHERE blocker_id = ?)
RETURNING id, unmet, children, status

-- name: blocked_by_one
-- An edge came or went.
UPDATE tasks SET unmet = unmet + ? WHERE id = ? RETURNING id, unmet, children, status

-- name: rehold
-- Tell what is below some tasks that it is held back, or no longer; deeper only where that
-- changes anything.
UPDATE tasks SET held = 1 - held WHERE id IN (
    WITH RECURSIVE flipped (task, now_held) AS (
        SELECT c.id, {holds}
        FROM tasks AS p JOIN tasks AS c ON c.parent_id = p.id
        WHERE p.id IN {listed} AND c.held <> {holds}
        UNION ALL
        SELECT c.id, now_held
        FROM flipped JOIN tasks AS p ON p.id = task JOIN tasks AS c ON c.parent_id = p.id
        WHERE p.unmet = 0 AND p.status NOT IN ('blocked', 'failed') AND c.held <> now_held
    )
    SELECT task FROM flipped
)

-- name: truth_unmet
-- How many blockers of `t` are not done.
(
    SELECT count(*) FROM dependencies JOIN tasks AS b ON b.id = blocker_id
    WHERE blocked_id = t.id AND b.status <> 'done'
)

-- name: truth_children
-- How many children `t` has.
(SELECT count(*) FROM tasks AS c WHERE c.parent_id = t.id)

-- name: truth_open
-- How many children of `t` are not done.
(SELECT count(*) FROM tasks AS c WHERE c.parent_id = t.id AND c.status <> 'done')

-- name: truth_failed
-- How many children of `t` are failed.
(SELECT count(*) FROM tasks AS c WHERE c.parent_id = t.id AND c.status = 'failed')

-- name: recount
-- Recount everything about some tasks.
UPDATE tasks AS t
SET unmet = {truth_unmet},
    children = {truth_children},
    open_children = {truth_open},
    failed_children = {truth_failed}
WHERE id IN {listed}

-- name: miscounted
-- Tasks whose counters are wrong.
SELECT id FROM tasks AS t
WHERE unmet <> {truth_unmet} OR children <> {truth_children}
    OR open_children <> {truth_open} OR failed_children <> {truth_failed}

-- name: misheld
-- Tasks that are held back and should not be, or the other way round, seen from the top.
WITH RECURSIVE truth (task, is_held) AS (
    SELECT id, 0 FROM tasks WHERE parent_id IS NULL
    UNION ALL
    SELECT c.id, CASE
        WHEN is_held = 1 OR p.unmet > 0 OR p.status IN ('blocked', 'failed') THEN 1 ELSE 0
    END
    FROM truth JOIN tasks AS p ON p.id = task JOIN tasks AS c ON c.parent_id = p.id
)
SELECT id FROM truth JOIN tasks ON id = task WHERE held <> is_held

-- name: flip_held
UPDATE tasks SET held = 1 - held WHERE id IN {listed}
