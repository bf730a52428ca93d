-- name: index_words
WITH found (stem, weight) AS (
    SELECT stem, 3 * times FROM stems_of(:title)
    UNION ALL SELECT stem, 2 * times FROM stems_of(:tags)
    UNION ALL SELECT stem, times FROM stems_of(:text)
)
INSERT INTO memory_words (rowid, stem, weight)
SELECT :id::bigint, stem, sum(weight) FROM found GROUP BY stem
UNION ALL SELECT :id::bigint, '', coalesce(sum(weight), 0) FROM found

-- name: recall
-- The formula is BM25, as in SQLite: a rare word counts more, and so does one in a short memory.
WITH asked AS (
    SELECT DISTINCT stem FROM stems_of(:words)
), size AS (
    SELECT count(*) AS memories, greatest(avg(weight), 1) AS usual
    FROM memory_words WHERE stem = ''
), hits AS (
    SELECT rowid, stem, weight, count(*) OVER (PARTITION BY stem) AS spread
    FROM memory_words WHERE stem IN (SELECT stem FROM asked)
), best AS (
    SELECT hits.rowid AS found, sum(
        ln(1 + (memories - spread + 0.5) / (spread + 0.5))
        * hits.weight * 2.2 / (hits.weight + 0.3 + 0.9 * length.weight / usual)
    ) AS score
    FROM size, hits JOIN memory_words AS length ON length.rowid = hits.rowid AND length.stem = ''
    GROUP BY hits.rowid ORDER BY score DESC, found DESC LIMIT :limit
)
SELECT {memory} FROM best JOIN memories AS m ON m.id = found ORDER BY score DESC, found DESC
