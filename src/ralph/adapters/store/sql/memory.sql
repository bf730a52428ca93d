-- name: memory
-- In the order in which `rows.memory_of` reads them.
m.id, kind, task_id, attempt, m.title, m.tags, m.text, created_at

-- name: remember
-- One more, unless it is known.
INSERT INTO memories (kind, task_id, attempt, title, tags, text, digest, created_at)
VALUES (:kind, :task_id, :attempt, :title, :tags, :text, :digest, :now)
ON CONFLICT (digest) DO NOTHING
RETURNING id

-- name: index_words
-- So that it is found.
INSERT INTO memory_words (rowid, title, tags, text) VALUES (:id, :title, :tags, :text)

-- name: retire
-- What is searched no longer, since there are enough newer ones of its sort: notes about attempts
-- must not drive out what was learned from them. More than one, for those that were forgotten.
DELETE FROM memory_words WHERE rowid IN (
    SELECT id FROM memories WHERE (kind = 'knowledge') = (:kind = 'knowledge')
    ORDER BY id DESC LIMIT 5 OFFSET :most
)

-- name: recall
-- Those that have any of the words, the best first: a word in a title counts most.
SELECT {memory}
FROM (
    SELECT rowid AS found, bm25(memory_words, 3.0, 2.0, 1.0) AS score
    FROM memory_words WHERE memory_words MATCH :words
    ORDER BY score, found DESC LIMIT :limit
) JOIN memories AS m ON m.id = found
ORDER BY score, found DESC

-- name: memories
-- The newest first; `%s` is filled with a condition.
SELECT {memory} FROM memories AS m WHERE %s ORDER BY m.id DESC LIMIT :limit

-- name: of_task
-- A condition on memories.
task_id = :task

-- name: of_number
-- A condition on memories.
m.id = :id

-- name: forget
-- As if it never had been said.
DELETE FROM memories WHERE id = :id

-- name: forget_words
-- So that it is not found.
DELETE FROM memory_words WHERE rowid = :id
