-- name: feature
-- A feature by its name, else by its id.
SELECT id, name, spec_path, plan_path, status, created_at, updated_at FROM features
WHERE name = :name OR id = :name ORDER BY name = :name DESC LIMIT 1

-- name: features
SELECT id, name, spec_path, plan_path, status, created_at, updated_at FROM features
ORDER BY rowid

-- name: add_feature
INSERT INTO features (id, name, status, created_at, updated_at)
VALUES (:id, :name, :status, :created_at, :updated_at)

-- name: change
UPDATE features
SET spec_path = :spec_path, plan_path = :plan_path, status = :status, updated_at = :updated_at
WHERE id = :id

-- name: statuses
-- Each status, whether a task of the feature has it, and whether one of its roots has: a look at the
-- beginning of a few ranges of indexes, however many tasks there are.
SELECT
    value,
    EXISTS (SELECT 1 FROM tasks WHERE status = value AND feature_id = ?1),
    EXISTS (SELECT 1 FROM tasks WHERE status = value AND feature_id = ?1 AND parent_id IS NULL)
FROM json_each('["pending", "in_progress", "done", "blocked", "failed"]')

-- name: forget_feature
-- It is deleted, so nothing of it will come back.
DELETE FROM archive WHERE feature_id = :feature

-- name: top_of_feature
-- A task of a feature; what is below it goes with it, whichever it is.
SELECT id FROM tasks WHERE feature_id = :feature
    AND status IN ('pending', 'in_progress', 'done', 'blocked', 'failed')
ORDER BY parent_id IS NOT NULL LIMIT 1

-- name: delete_feature
-- The feature itself; its tasks go before it.
DELETE FROM features WHERE id = :id
