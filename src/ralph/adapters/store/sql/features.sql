-- name: feature
-- A feature by its name, else by its id.
SELECT id, name, spec_path, plan_path, status, created_at, updated_at FROM features
WHERE name = :name OR id = :name ORDER BY name = :name DESC LIMIT 1

-- name: features
-- All of them, in the order in which they were added.
SELECT id, name, spec_path, plan_path, status, created_at, updated_at FROM features
ORDER BY rowid

-- name: add_feature
-- One more.
INSERT INTO features (id, name, status, created_at, updated_at)
VALUES (:id, :name, 'draft', :now, :now)

-- name: change
-- Its documents, and how far it has come.
UPDATE features
SET spec_path = :spec_path, plan_path = :plan_path, status = :status, updated_at = :now
WHERE id = :id

-- name: work
-- Which kinds of tasks it has, in the order of `Work`: a look at the beginning of a few ranges of
-- indexes, however many tasks there are.
SELECT
    EXISTS (SELECT 1 FROM tasks WHERE status = 'pending' AND feature_id = ?1),
    EXISTS (SELECT 1 FROM tasks WHERE status = 'in_progress' AND feature_id = ?1),
    EXISTS (SELECT 1 FROM tasks WHERE status = 'done' AND feature_id = ?1),
    EXISTS (SELECT 1 FROM tasks WHERE status = 'blocked' AND feature_id = ?1),
    EXISTS (SELECT 1 FROM tasks WHERE status = 'failed' AND feature_id = ?1),
    EXISTS (
        SELECT 1 FROM tasks WHERE feature_id = ?1 AND parent_id IS NULL
            AND status IN ('pending', 'in_progress')
    ),
    EXISTS (
        SELECT 1 FROM tasks WHERE feature_id = ?1 AND parent_id IS NULL AND status = 'blocked'
    ),
    EXISTS (
        SELECT 1 FROM tasks WHERE feature_id = ?1 AND parent_id IS NULL AND status = 'failed'
    )
