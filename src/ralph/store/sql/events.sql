-- name: events_after
-- Events after a number; `%s` is filled with a condition.
SELECT seq, time, run_id, data FROM events WHERE seq > :after AND %s ORDER BY seq LIMIT :limit

-- name: of_kinds
-- A condition on events.
event IN (SELECT value FROM json_each(:kinds))

-- name: task_events
-- The newest events about a task, or those before a number.
SELECT seq, time, run_id, data FROM events
WHERE task_id = :task AND (:before = 0 OR seq < :before) ORDER BY seq DESC LIMIT :limit

-- name: last_seq
SELECT coalesce(max(seq), 0) FROM events

-- name: kept_work
-- The refs under which work of a task was kept, oldest first.
SELECT json_extract(data, '$.ref') AS ref FROM events
WHERE task_id = :task AND event = 'work_saved' GROUP BY ref ORDER BY max(seq)
