-- name: breaker
-- One seat's.
SELECT data FROM breakers WHERE seat = :seat

-- name: breakers
-- All of them.
SELECT seat, data FROM breakers ORDER BY seat

-- name: save
-- As it is now.
INSERT INTO breakers (seat, state, data) VALUES (:seat, :state, :data)
ON CONFLICT (seat) DO UPDATE SET state = excluded.state, data = excluded.data
