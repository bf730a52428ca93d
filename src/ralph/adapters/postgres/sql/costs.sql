-- name: by_day
to_char(ended_at::timestamptz, 'YYYY-MM-DD')
