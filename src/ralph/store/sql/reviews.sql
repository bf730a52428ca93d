-- Review threads: comments of people on lines of a change, beside what reviewers found.

-- name: comment_on
INSERT INTO line_comments (task_id, finding, about_id, made_at, data)
VALUES (:task_id, :finding, :about, :made_at, :data)

-- name: columns
-- A comment, what became of it, and its dismissal.
SELECT c.data, c.answer, d.finding, d.reason, d.by
FROM line_comments AS c LEFT JOIN dismissals AS d USING (task_id, finding)

-- name: in_order
ORDER BY c.made_at, length(c.finding), c.finding

-- name: comments
-- Those that the sessions of a task answer.
{columns} WHERE c.task_id = :task {in_order}

-- name: comments_about
-- Those, and the ones on its own change that another task answers.
{columns} WHERE c.task_id = :task OR c.about_id = :task {in_order}

-- name: follow_ups
-- The tasks that answer comments on the change of another one, the newest first.
SELECT task_id FROM line_comments WHERE about_id = :task AND task_id <> :task
GROUP BY task_id ORDER BY max(made_at) DESC

-- name: answer
UPDATE line_comments SET answer = :answer WHERE task_id = :task AND finding = :finding
