-- name: work_times
SELECT sum(
    duration_s
    + (
        SELECT coalesce(sum(json_extract(value, '$.duration_s')::double precision), 0)
        FROM json_each(gates)
    )
    + (
        SELECT coalesce(sum(json_extract(data, '$.duration_s')::double precision), 0)
        FROM checks WHERE session_id = sessions.id
    )
    + (
        SELECT coalesce(sum(json_extract(data, '$.duration_s')::double precision), 0)
        FROM stints WHERE session_id = sessions.id
    )
)
FROM sessions WHERE task_id IN (
    SELECT task_id FROM sessions WHERE judged = 'accepted' ORDER BY rowid DESC LIMIT :limit
) GROUP BY task_id
