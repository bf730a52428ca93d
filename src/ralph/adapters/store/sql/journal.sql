-- name: append
-- One more event.
INSERT INTO events (time, run_id, task_id, event, data) VALUES (?, ?, ?, ?, ?)

-- name: events_after
-- Events from a place in the journal on.
SELECT seq, time, run_id, data FROM events WHERE seq > ? ORDER BY seq LIMIT ?

-- name: last_seq
-- The number of the newest event.
SELECT coalesce(max(seq), 0) FROM events
