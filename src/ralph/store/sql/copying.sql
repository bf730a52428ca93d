-- name: columns
-- The columns of a table, in order, without the number that SQLite gives its rows.
SELECT name FROM pragma_table_info(:table) ORDER BY cid

-- name: versions
SELECT value, key FROM meta WHERE key <> 'schema_version'

-- name: set_version
UPDATE meta SET value = ? WHERE key = ?

-- name: indexed
-- The memories that a search finds.
SELECT DISTINCT rowid FROM memory_words

-- name: renumber
-- SQLite goes on after the highest number by itself.
SELECT 1
