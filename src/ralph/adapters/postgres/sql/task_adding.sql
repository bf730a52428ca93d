-- name: parents_later
SET CONSTRAINTS ALL DEFERRED
