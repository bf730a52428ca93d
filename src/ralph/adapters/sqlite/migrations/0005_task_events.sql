-- What happened to a task is found by the task, without a look at all the rest; kept work, too.
CREATE INDEX events_task ON events (task_id) WHERE task_id IS NOT NULL;
DROP INDEX events_kept;
