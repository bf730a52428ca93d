-- name: sums
-- In the order of the fields of `Spent`.
count(*),
count(cost_usd) FILTER (WHERE estimated = 0),
count(cost_usd) FILTER (WHERE estimated = 1),
count(*) - count(cost_usd),
coalesce(sum(cost_usd) FILTER (WHERE estimated = 0), 0.0),
coalesce(sum(cost_usd) FILTER (WHERE estimated = 1), 0.0),
count(coalesce(input_tokens, output_tokens)),
coalesce(sum(input_tokens), 0),
coalesce(sum(cached_tokens), 0),
coalesce(sum(output_tokens), 0)

-- name: spent
SELECT {sums} FROM costs WHERE %s

-- name: of_done_tasks
-- How many tasks are done that change something (planning does not), and their sums.
SELECT count(DISTINCT task_id), {sums} FROM costs
WHERE task_id IN (SELECT id FROM tasks WHERE status = 'done' AND needs_change = 1)

-- name: costs
-- Sums by a key; `%s` are the key, the conditions and the order.
SELECT %s AS key, {sums} FROM costs WHERE %s GROUP BY key ORDER BY %s, key LIMIT :limit

-- name: of_run
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
ended_at >= :since

-- name: by_day
-- A key: the day on which it ended, where this machine is.
date(ended_at, 'localtime')

-- name: newest_first
max(ended_at) DESC

-- name: dearest_first
coalesce(sum(cost_usd), 0.0) DESC, count(*) DESC
