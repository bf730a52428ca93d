-- name: add_commit
UPDATE sessions SET commits = (commits::jsonb || to_jsonb(:commit::text))::text WHERE id = :id
RETURNING run_id
