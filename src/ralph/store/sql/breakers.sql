-- name: breakers
SELECT slot, data FROM breakers ORDER BY slot

-- name: save
INSERT OR REPLACE INTO breakers (slot, state, data) VALUES (:slot, :state, :data)
