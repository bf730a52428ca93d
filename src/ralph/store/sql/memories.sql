-- name: memory
-- In the order of the fields of `Memory`.
kind, m.text, task_id, attempt, m.title, m.tags, m.id, created_at

-- name: remember
-- One more, unless it is known.
INSERT INTO memories (kind, task_id, attempt, title, tags, text, digest, created_at)
VALUES (:kind, :task_id, :attempt, :title, :tags, :text, :digest, :now)
ON CONFLICT (digest) DO NOTHING
RETURNING id

-- name: index_words
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
task_id = :task

-- name: of_number
m.id = :id

-- name: forget
DELETE FROM memories WHERE id = :id

-- name: forget_words
DELETE FROM memory_words WHERE rowid = :id

-- name: memories_after
SELECT {memory}
FROM memories AS m WHERE kind = 'knowledge' AND m.id > :number ORDER BY m.id LIMIT :limit
