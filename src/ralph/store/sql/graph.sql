-- The graph as the rules see it.

-- name: node
SELECT {nodes} FROM tasks WHERE id = ?

-- name: children
-- What is directly below it, the youngest first: those are the last to be worked on, so "can any of
-- them still run?" is nearly always answered by the first one.
SELECT {nodes} FROM tasks WHERE parent_id = ? ORDER BY rowid DESC

-- name: blockers
SELECT {nodes} FROM tasks WHERE id IN (SELECT blocker_id FROM dependencies WHERE blocked_id = ?)

-- name: dependents
SELECT {nodes} FROM tasks WHERE id IN (SELECT blocked_id FROM dependencies WHERE blocker_id = ?)

-- name: family
SELECT open_children, failed_children FROM tasks WHERE id = ?

-- name: doubtful_parents
-- Pending parents of which a child has failed.
SELECT id FROM tasks INDEXED BY tasks_doubtful
WHERE status = 'pending' AND failed_children > 0 ORDER BY id

-- Only its lines, for the search of cycles, which may visit all of it.

-- name: parent_id
SELECT parent_id FROM tasks WHERE id = ?

-- name: child_ids
SELECT id FROM tasks WHERE parent_id = ?

-- name: blocker_ids
SELECT blocker_id FROM dependencies WHERE blocked_id = ?

-- name: dependent_ids
SELECT blocked_id FROM dependencies WHERE blocker_id = ?
