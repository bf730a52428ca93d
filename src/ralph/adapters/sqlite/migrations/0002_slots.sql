-- A worker's place in its team is called a slot; older databases say seat.
ALTER TABLE workers RENAME COLUMN seat TO slot;
ALTER TABLE breakers RENAME COLUMN seat TO slot;

UPDATE events
SET data = json_remove(json_set(data, '$.slot', json_extract(data, '$.seat')), '$.seat')
WHERE event IN (
    'worker_joined', 'worker_left', 'teammate_judged',
    'breaker_opened', 'breaker_tried', 'breaker_closed'
) AND json_extract(data, '$.seat') IS NOT NULL;
