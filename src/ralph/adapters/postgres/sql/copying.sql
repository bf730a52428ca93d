-- name: columns
SELECT column_name FROM information_schema.columns
WHERE table_schema = current_schema() AND table_name = :table AND column_name <> 'rowid'
ORDER BY ordinal_position

-- name: renumber
-- New rows get numbers after those that were copied.
DO $do$
DECLARE
    one RECORD;
    highest BIGINT;
BEGIN
    FOR one IN
        SELECT format('%I.%I', table_schema, table_name) AS place, column_name AS name
        FROM information_schema.columns
        WHERE table_schema = current_schema() AND is_identity = 'YES'
    LOOP
        EXECUTE format('SELECT coalesce(max(%I), 0) FROM %s', one.name, one.place) INTO highest;
        PERFORM setval(pg_get_serial_sequence(one.place, one.name), highest + 1, false);
    END LOOP;
END
$do$
