-- Comments of people on lines of a task's change. They are findings: `dismissals` has theirs, too.
CREATE TABLE line_comments (
    task_id  TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE, -- whose sessions answer it
    finding  TEXT NOT NULL,
    about_id TEXT NOT NULL, -- whose change it is about: the same task, or an earlier one
    made_at  TEXT NOT NULL,
    data     TEXT NOT NULL, -- all of it, as JSON
    answer   TEXT, -- what became of it, as JSON
    PRIMARY KEY (task_id, finding)
) WITHOUT ROWID;

CREATE INDEX line_comments_about ON line_comments (about_id);
