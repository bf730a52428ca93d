-- The refs under which work was kept are found by task, without a look at all the rest.
CREATE INDEX events_kept ON events (task_id) WHERE event = 'work_saved';
