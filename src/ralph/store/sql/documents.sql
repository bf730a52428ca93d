-- name: get
SELECT path, content, held_for FROM papers WHERE path = :path

-- name: save
INSERT OR REPLACE INTO papers (path, content, held_for, kept_at)
VALUES (:path, :content, :in_session_of, :now)
