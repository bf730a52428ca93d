-- name: book
-- What a session has cost; told twice, it is booked once.
INSERT OR REPLACE INTO costs (
    run_id, session_id, task_id, agent, model, ended_at, cost_usd, estimated, input_tokens,
    cached_tokens, output_tokens
) VALUES (
    :run_id, :session_id, :task_id, :agent, :model, :ended_at, :cost_usd, :estimated,
    :input_tokens, :cached_tokens, :output_tokens
)

-- name: sums
-- In the order of the fields of `Spent`.
count(*),
count(cost_usd) FILTER (WHERE NOT estimated),
count(cost_usd) FILTER (WHERE estimated),
count(*) - count(cost_usd),
coalesce(sum(cost_usd) FILTER (WHERE NOT estimated), 0.0),
coalesce(sum(cost_usd) FILTER (WHERE estimated), 0.0),
count(coalesce(input_tokens, output_tokens)),
coalesce(sum(input_tokens), 0),
coalesce(sum(cached_tokens), 0),
coalesce(sum(output_tokens), 0)

-- name: spent
-- One sum; `%s` is filled with conditions.
SELECT {sums} FROM costs WHERE %s

-- name: costs
-- Sums by a key; `%s` are the key, the conditions and the order.
SELECT %s AS key, {sums} FROM costs WHERE %s GROUP BY key ORDER BY %s, key LIMIT :limit

-- name: of_run
-- A condition on costs.
run_id = :run

-- name: of_task
-- A condition on costs: a task, even one that is gone, and all below it.
task_id IN (
    WITH RECURSIVE below (id) AS (
        SELECT :task
        UNION
        SELECT tasks.id FROM tasks JOIN below ON tasks.parent_id = below.id
    )
    SELECT id FROM below
)

-- name: of_late
-- A condition on costs.
ended_at >= :since

-- name: by_day
-- A key: the day on which it ended, where this machine is.
date(ended_at, 'localtime')

-- name: newest_first
-- An order.
max(ended_at) DESC

-- name: dearest_first
-- An order.
coalesce(sum(cost_usd), 0.0) DESC, count(*) DESC
