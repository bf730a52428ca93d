-- Made by `ralph demo` and some commands at commit fcbd430, before the store was split into parts.
-- Do not edit it: it is a database as users have it.
BEGIN;
CREATE TABLE archive (
    task_id     TEXT PRIMARY KEY NOT NULL,
    root_id     TEXT NOT NULL, -- itself, or the task above it that was taken out
    feature_id  TEXT,
    task        TEXT NOT NULL, -- all of these as JSON
    logs        TEXT NOT NULL,
    blockers    TEXT NOT NULL,
    archived_at TEXT NOT NULL
);
INSERT INTO "archive" VALUES('t-out','t-out','f-91c6bd','{"id":"t-out","title":"A story taken out","description":"","status":"pending","parent_id":null,"feature_id":"f-91c6bd","task_type":"feature","priority":0,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":"US-002","needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:53:29.498326Z","updated_at":"2026-11-16T16:53:29.498326Z"}','[]','[]','2026-11-16T16:53:29.499684Z');
CREATE TABLE breakers (
    seat  TEXT PRIMARY KEY NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('closed', 'open', 'half_open')),
    data  TEXT NOT NULL -- the whole breaker, as JSON
) WITHOUT ROWID;
INSERT INTO "breakers" VALUES('teammate-1','closed','{"state":"closed","cause":null,"failures":0,"stagnation":0,"reason":"","task":null,"trials":0,"at":1794847963.3183086}');
CREATE TABLE checks (
    session_id TEXT NOT NULL, -- the session that is judged
    role       TEXT NOT NULL CHECK (role IN ('verify', 'review')),
    number     INTEGER NOT NULL,
    agent      TEXT NOT NULL,
    resets_at  REAL, -- as in `sessions`
    passed     INTEGER,
    data       TEXT NOT NULL, -- all of it, as JSON
    PRIMARY KEY (session_id, role, number)
) WITHOUT ROWID;
INSERT INTO "checks" VALUES('t-000002:1','verify',1,'scripted',NULL,1,'{"session_id":"t-000002:1","role":"verify","number":1,"task_id":"t-000002","run_id":"20261116-165239-19043","agent":"scripted","model":"sonnet","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-1.verify-1.log","started_at":"2026-11-16T16:52:40.874543Z","ended_at":"2026-11-16T16:52:40.970068Z","ending":{"ended":"finished","message":"It does what the task asks for.\n<verify-pass/>","detail":"","resets_at":null,"model":"sonnet","cost_usd":0.01,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":null,"tool_tokens":null},"passed":true,"reason":"","duration_s":0.056578019000880886,"given":[{"name":"task","tokens":39,"of":39,"source":"`ralph task show t-000002`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"changed","tokens":17,"of":17,"items":["tally/parse.py","tests/test_parse.py"]},{"name":"gates","tokens":14,"of":14,"items":["compile","test"]}],"review":null}');
INSERT INTO "checks" VALUES('t-000003:1','verify',1,'scripted',NULL,1,'{"session_id":"t-000003:1","role":"verify","number":1,"task_id":"t-000003","run_id":"20261116-165239-19043","agent":"scripted","model":"sonnet","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-2.verify-1.log","started_at":"2026-11-16T16:52:41.475380Z","ended_at":"2026-11-16T16:52:41.553183Z","ending":{"ended":"finished","message":"It does what the task asks for.\n<verify-pass/>","detail":"","resets_at":null,"model":"sonnet","cost_usd":0.01,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":null,"tool_tokens":null},"passed":true,"reason":"","duration_s":0.03740141200069047,"given":[{"name":"task","tokens":31,"of":31,"source":"`ralph task show t-000003`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"changed","tokens":17,"of":17,"items":["tally/money.py","tests/test_money.py"]},{"name":"gates","tokens":14,"of":14,"items":["compile","test"]}],"review":null}');
INSERT INTO "checks" VALUES('t-000004:1','verify',1,'scripted',NULL,1,'{"session_id":"t-000004:1","role":"verify","number":1,"task_id":"t-000004","run_id":"20261116-165239-19043","agent":"scripted","model":"sonnet","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-3.verify-1.log","started_at":"2026-11-16T16:52:42.004768Z","ended_at":"2026-11-16T16:52:42.145216Z","ending":{"ended":"finished","message":"It does what the task asks for.\n<verify-pass/>","detail":"","resets_at":null,"model":"sonnet","cost_usd":0.01,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":null,"tool_tokens":null},"passed":true,"reason":"","duration_s":0.04854705599973386,"given":[{"name":"task","tokens":29,"of":29,"source":"`ralph task show t-000004`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"prerequisites","tokens":36,"of":36,"source":"`ralph task deps list t-000004`","items":["t-000002"]},{"name":"changed","tokens":17,"of":17,"items":["tally/totals.py","tests/test_totals.py"]},{"name":"gates","tokens":14,"of":14,"items":["compile","test"]}],"review":null}');
INSERT INTO "checks" VALUES('t-000005:2','verify',1,'scripted',NULL,1,'{"session_id":"t-000005:2","role":"verify","number":1,"task_id":"t-000005","run_id":"20261116-165239-19043","agent":"scripted","model":"opus","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-5.verify-1.log","started_at":"2026-11-16T16:52:43.212308Z","ended_at":"2026-11-16T16:52:43.304680Z","ending":{"ended":"finished","message":"It does what the task asks for.\n<verify-pass/>","detail":"","resets_at":null,"model":"opus","cost_usd":0.01,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":null,"tool_tokens":null},"passed":true,"reason":"","duration_s":0.03898578600092151,"given":[{"name":"task","tokens":39,"of":39,"source":"`ralph task show t-000005`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"prerequisites","tokens":36,"of":36,"source":"`ralph task deps list t-000005`","items":["t-000002"]},{"name":"changed","tokens":17,"of":17,"items":["tally/reader.py","tests/test_reader.py"]},{"name":"gates","tokens":14,"of":14,"items":["compile","test"]}],"review":null}');
INSERT INTO "checks" VALUES('t-000006:2','verify',1,'scripted',NULL,1,'{"session_id":"t-000006:2","role":"verify","number":1,"task_id":"t-000006","run_id":"20261116-165239-19043","agent":"scripted","model":"opus","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-7.verify-1.log","started_at":"2026-11-16T16:52:44.350646Z","ended_at":"2026-11-16T16:52:44.517305Z","ending":{"ended":"finished","message":"It does what the task asks for.\n<verify-pass/>","detail":"","resets_at":null,"model":"opus","cost_usd":0.01,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":null,"tool_tokens":null},"passed":true,"reason":"","duration_s":0.03488511699833907,"given":[{"name":"task","tokens":37,"of":37,"source":"`ralph task show t-000006`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"prerequisites","tokens":67,"of":67,"source":"`ralph task deps list t-000006`","items":["t-000003","t-000004"]},{"name":"changed","tokens":17,"of":17,"items":["tally/report.py","tests/test_report.py"]},{"name":"gates","tokens":14,"of":14,"items":["compile","test"]}],"review":null}');
INSERT INTO "checks" VALUES('t-000007:1','verify',1,'scripted',NULL,1,'{"session_id":"t-000007:1","role":"verify","number":1,"task_id":"t-000007","run_id":"20261116-165239-19043","agent":"scripted","model":"opus","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-8.verify-1.log","started_at":"2026-11-16T16:52:45.292791Z","ended_at":"2026-11-16T16:52:45.356036Z","ending":{"ended":"finished","message":"It does what the task asks for.\n<verify-pass/>","detail":"","resets_at":null,"model":"opus","cost_usd":0.01,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":null,"tool_tokens":null},"passed":true,"reason":"","duration_s":0.03525701000035042,"given":[{"name":"task","tokens":28,"of":28,"source":"`ralph task show t-000007`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"prerequisites","tokens":67,"of":67,"source":"`ralph task deps list t-000007`","items":["t-000005","t-000006"]},{"name":"changed","tokens":16,"of":16,"items":["sample.ledger","tally/__main__.py"]},{"name":"gates","tokens":14,"of":14,"items":["compile","test"]}],"review":null}');
INSERT INTO "checks" VALUES('t-000008:1','verify',1,'scripted',NULL,1,'{"session_id":"t-000008:1","role":"verify","number":1,"task_id":"t-000008","run_id":"20261116-165239-19043","agent":"scripted","model":"opus","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-9.verify-1.log","started_at":"2026-11-16T16:52:45.995786Z","ended_at":"2026-11-16T16:52:46.060076Z","ending":{"ended":"finished","message":"It does what the task asks for.\n<verify-pass/>","detail":"","resets_at":null,"model":"opus","cost_usd":0.01,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":null,"tool_tokens":null},"passed":true,"reason":"","duration_s":0.036389001999850734,"given":[{"name":"task","tokens":32,"of":32,"source":"`ralph task show t-000008`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"prerequisites","tokens":36,"of":36,"source":"`ralph task deps list t-000008`","items":["t-000007"]},{"name":"changed","tokens":9,"of":9,"items":["README.md"]},{"name":"gates","tokens":14,"of":14,"items":["compile","test"]}],"review":null}');
INSERT INTO "checks" VALUES('t-000009:1','verify',1,'scripted',NULL,1,'{"session_id":"t-000009:1","role":"verify","number":1,"task_id":"t-000009","run_id":"20261116-165239-19043","agent":"scripted","model":"haiku","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-10.verify-1.log","started_at":"2026-11-16T16:52:46.324064Z","ended_at":"2026-11-16T16:52:46.388093Z","ending":{"ended":"finished","message":"It does what the task asks for.\n<verify-pass/>","detail":"","resets_at":null,"model":"haiku","cost_usd":0.01,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":null,"tool_tokens":null},"passed":true,"reason":"","duration_s":0.035620414000732126,"given":[{"name":"task","tokens":35,"of":35,"source":"`ralph task show t-000009`"},{"name":"prerequisites","tokens":26,"of":26,"source":"`ralph task deps list t-000009`","items":["t-000001"]},{"name":"changed","tokens":8,"of":8,"items":[""]},{"name":"gates","tokens":14,"of":14,"items":["compile","test"]}],"review":null}');
CREATE TABLE controls (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id   TEXT NOT NULL,
    word     TEXT NOT NULL,
    task_id  TEXT,
    reason   TEXT NOT NULL DEFAULT '',
    sent_at  TEXT NOT NULL,
    taken_at TEXT
);
INSERT INTO "controls" VALUES(1,'20261116-165239-19043','pause',NULL,'','2026-11-16T16:53:29.502489Z',NULL);
CREATE TABLE costs (
    run_id        TEXT NOT NULL,
    session_id    TEXT NOT NULL,
    task_id       TEXT NOT NULL,
    agent         TEXT NOT NULL,
    model         TEXT NOT NULL, -- what it ran on, else what was asked for
    ended_at      TEXT NOT NULL,
    cost_usd      REAL, -- NULL: nobody knows
    estimated     INTEGER NOT NULL, -- 1: worked out from a price table
    input_tokens  INTEGER,
    cached_tokens INTEGER,
    output_tokens INTEGER,
    PRIMARY KEY (run_id, session_id)
) WITHOUT ROWID;
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000002:1','t-000002','scripted','sonnet','2026-11-16T16:52:40.734858Z',0.04,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000002:1+1','t-000002','scripted','','2026-11-16T16:52:41.000000Z',0.25,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000002:1/verify-1','t-000002','scripted','sonnet','2026-11-16T16:52:40.970068Z',0.01,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000003:1','t-000003','scripted','sonnet','2026-11-16T16:52:41.343890Z',0.02,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000003:1/verify-1','t-000003','scripted','sonnet','2026-11-16T16:52:41.553183Z',0.01,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000004:1','t-000004','scripted','sonnet','2026-11-16T16:52:41.887242Z',0.03,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000004:1/verify-1','t-000004','scripted','sonnet','2026-11-16T16:52:42.145216Z',0.01,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000005:1','t-000005','scripted','haiku','2026-11-16T16:52:42.482408Z',NULL,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000005:2','t-000005','scripted','opus','2026-11-16T16:52:43.070783Z',0.05,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000005:2/verify-1','t-000005','scripted','opus','2026-11-16T16:52:43.304680Z',0.01,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000006:1','t-000006','scripted','opus','2026-11-16T16:52:43.646474Z',0.05,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000006:2','t-000006','scripted','opus','2026-11-16T16:52:44.222536Z',0.03,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000006:2/verify-1','t-000006','scripted','opus','2026-11-16T16:52:44.517305Z',0.01,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000007:1','t-000007','scripted','opus','2026-11-16T16:52:45.071382Z',0.04,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000007:1/verify-1','t-000007','scripted','opus','2026-11-16T16:52:45.356036Z',0.01,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000008:1','t-000008','scripted','opus','2026-11-16T16:52:45.878829Z',0.02,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000008:1/verify-1','t-000008','scripted','opus','2026-11-16T16:52:46.060076Z',0.01,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000009:1','t-000009','scripted','haiku','2026-11-16T16:52:46.216214Z',0.01,0,NULL,NULL,NULL);
INSERT INTO "costs" VALUES('20261116-165239-19043','t-000009:1/verify-1','t-000009','scripted','haiku','2026-11-16T16:52:46.388093Z',0.01,0,NULL,NULL,NULL);
CREATE TABLE dependencies (
    blocker_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    blocked_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    PRIMARY KEY (blocker_id, blocked_id),
    CHECK (blocker_id != blocked_id)
) WITHOUT ROWID;
INSERT INTO "dependencies" VALUES('t-000002','t-000004');
INSERT INTO "dependencies" VALUES('t-000002','t-000005');
INSERT INTO "dependencies" VALUES('t-000003','t-000006');
INSERT INTO "dependencies" VALUES('t-000004','t-000006');
INSERT INTO "dependencies" VALUES('t-000005','t-000007');
INSERT INTO "dependencies" VALUES('t-000006','t-000007');
INSERT INTO "dependencies" VALUES('t-000007','t-000008');
INSERT INTO "dependencies" VALUES('t-000001','t-000009');
INSERT INTO "dependencies" VALUES('t-5167a9','t-902166');
CREATE TABLE dismissals (
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    finding TEXT NOT NULL,
    reason  TEXT NOT NULL,
    by      TEXT NOT NULL, -- a session, or a person
    PRIMARY KEY (task_id, finding)
) WITHOUT ROWID;
INSERT INTO "dismissals" VALUES('t-851d57','F-1','as it was meant','a person');
CREATE TABLE events (
    seq     INTEGER PRIMARY KEY, -- no AUTOINCREMENT: it costs a write, and no event is ever deleted
    time    TEXT NOT NULL,
    run_id  TEXT,
    task_id TEXT,
    event   TEXT NOT NULL,
    data    TEXT NOT NULL -- the whole event, as JSON
);
INSERT INTO "events" VALUES(1,'2026-11-16T16:52:39.851043Z',NULL,'t-000001','task_added','{"event":"task_added","task":{"id":"t-000001","title":"Build tally","description":"A small library and command that add up a ledger.","status":"pending","parent_id":null,"feature_id":null,"task_type":"standalone","priority":0,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:52:39.850295Z","updated_at":"2026-11-16T16:52:39.850295Z"}}');
INSERT INTO "events" VALUES(2,'2026-11-16T16:52:39.851043Z',NULL,'t-000002','task_added','{"event":"task_added","task":{"id":"t-000002","title":"Parse a line","description":"parse(line) returns date, category and amount in cents; anything else raises ValueError.","status":"pending","parent_id":"t-000001","feature_id":null,"task_type":"standalone","priority":1,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:52:39.850296Z","updated_at":"2026-11-16T16:52:39.850296Z"}}');
INSERT INTO "events" VALUES(3,'2026-11-16T16:52:39.851043Z',NULL,'t-000003','task_added','{"event":"task_added","task":{"id":"t-000003","title":"Format money","description":"money(1234) is \"12.34\"; negative amounts keep their sign.","status":"pending","parent_id":"t-000001","feature_id":null,"task_type":"standalone","priority":1,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:52:39.850297Z","updated_at":"2026-11-16T16:52:39.850297Z"}}');
INSERT INTO "events" VALUES(4,'2026-11-16T16:52:39.851043Z',NULL,'t-000004','task_added','{"event":"task_added","task":{"id":"t-000004","title":"Add up by category","description":"totals(entries) returns cents by category.","status":"pending","parent_id":"t-000001","feature_id":null,"task_type":"standalone","priority":2,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:52:39.850298Z","updated_at":"2026-11-16T16:52:39.850298Z"}}');
INSERT INTO "events" VALUES(5,'2026-11-16T16:52:39.851043Z',NULL,'t-000005','task_added','{"event":"task_added","task":{"id":"t-000005","title":"Read a file","description":"read(path) yields entries and skips blank lines; a bad line is reported with its number.","status":"pending","parent_id":"t-000001","feature_id":null,"task_type":"standalone","priority":2,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:52:39.850299Z","updated_at":"2026-11-16T16:52:39.850299Z"}}');
INSERT INTO "events" VALUES(6,'2026-11-16T16:52:39.851043Z',NULL,'t-000006','task_added','{"event":"task_added","task":{"id":"t-000006","title":"Write the report","description":"report(totals) is one aligned line per category, largest first, then the sum.","status":"pending","parent_id":"t-000001","feature_id":null,"task_type":"standalone","priority":3,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:52:39.850300Z","updated_at":"2026-11-16T16:52:39.850300Z"}}');
INSERT INTO "events" VALUES(7,'2026-11-16T16:52:39.851043Z',NULL,'t-000007','task_added','{"event":"task_added","task":{"id":"t-000007","title":"Add the command","description":"python -m tally FILE prints the report.","status":"pending","parent_id":"t-000001","feature_id":null,"task_type":"standalone","priority":4,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:52:39.850301Z","updated_at":"2026-11-16T16:52:39.850301Z"}}');
INSERT INTO "events" VALUES(8,'2026-11-16T16:52:39.851043Z',NULL,'t-000008','task_added','{"event":"task_added","task":{"id":"t-000008","title":"Show it in the README","description":"A sample ledger and what the command prints for it.","status":"pending","parent_id":"t-000001","feature_id":null,"task_type":"standalone","priority":5,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:52:39.850302Z","updated_at":"2026-11-16T16:52:39.850302Z"}}');
INSERT INTO "events" VALUES(9,'2026-11-16T16:52:39.851043Z',NULL,'t-000009','task_added','{"event":"task_added","task":{"id":"t-000009","title":"Check that the README is true","description":"Run the example of the README. Nothing needs to change.","status":"pending","parent_id":null,"feature_id":null,"task_type":"standalone","priority":6,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":false,"reason":null,"files":[],"created_at":"2026-11-16T16:52:39.850303Z","updated_at":"2026-11-16T16:52:39.850303Z"}}');
INSERT INTO "events" VALUES(10,'2026-11-16T16:52:39.851043Z',NULL,'t-000004','edge_added','{"event":"edge_added","blocker_id":"t-000002","blocked_id":"t-000004"}');
INSERT INTO "events" VALUES(11,'2026-11-16T16:52:39.851043Z',NULL,'t-000005','edge_added','{"event":"edge_added","blocker_id":"t-000002","blocked_id":"t-000005"}');
INSERT INTO "events" VALUES(12,'2026-11-16T16:52:39.851043Z',NULL,'t-000006','edge_added','{"event":"edge_added","blocker_id":"t-000003","blocked_id":"t-000006"}');
INSERT INTO "events" VALUES(13,'2026-11-16T16:52:39.851043Z',NULL,'t-000006','edge_added','{"event":"edge_added","blocker_id":"t-000004","blocked_id":"t-000006"}');
INSERT INTO "events" VALUES(14,'2026-11-16T16:52:39.851043Z',NULL,'t-000007','edge_added','{"event":"edge_added","blocker_id":"t-000005","blocked_id":"t-000007"}');
INSERT INTO "events" VALUES(15,'2026-11-16T16:52:39.851043Z',NULL,'t-000007','edge_added','{"event":"edge_added","blocker_id":"t-000006","blocked_id":"t-000007"}');
INSERT INTO "events" VALUES(16,'2026-11-16T16:52:39.851043Z',NULL,'t-000008','edge_added','{"event":"edge_added","blocker_id":"t-000007","blocked_id":"t-000008"}');
INSERT INTO "events" VALUES(17,'2026-11-16T16:52:39.851043Z',NULL,'t-000009','edge_added','{"event":"edge_added","blocker_id":"t-000001","blocked_id":"t-000009"}');
INSERT INTO "events" VALUES(18,'2026-11-16T16:52:39.919776Z','20261116-165239-19043',NULL,'run_started','{"event":"run_started","run_id":"20261116-165239-19043","worker":"agent-b15e2616","target":"all tasks","agent":"scripted","checkout":"/home/ada/tally","gates":["compile","test"],"sandbox":"off","account":"nobody: it plays a script"}');
INSERT INTO "events" VALUES(19,'2026-11-16T16:52:39.940750Z','20261116-165239-19043',NULL,'gate_started','{"event":"gate_started","task_id":null,"name":"compile"}');
INSERT INTO "events" VALUES(20,'2026-11-16T16:52:39.986890Z','20261116-165239-19043',NULL,'gate_ended','{"event":"gate_ended","task_id":null,"name":"compile","passed":true,"code":0,"duration_s":0.042}');
INSERT INTO "events" VALUES(21,'2026-11-16T16:52:39.987491Z','20261116-165239-19043',NULL,'gate_started','{"event":"gate_started","task_id":null,"name":"test"}');
INSERT INTO "events" VALUES(22,'2026-11-16T16:52:40.052919Z','20261116-165239-19043',NULL,'gate_ended','{"event":"gate_ended","task_id":null,"name":"test","passed":true,"code":0,"duration_s":0.062}');
INSERT INTO "events" VALUES(23,'2026-11-16T16:52:40.053795Z','20261116-165239-19043',NULL,'baseline_taken','{"event":"baseline_taken","run_id":"20261116-165239-19043","red":[],"green":["compile","test"]}');
INSERT INTO "events" VALUES(24,'2026-11-16T16:52:40.054284Z','20261116-165239-19043','t-000002','task_claimed','{"event":"task_claimed","task_id":"t-000002","alias":null,"title":"Parse a line","status":"in_progress","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":null,"review":null,"worker":"agent-b15e2616"}');
INSERT INTO "events" VALUES(25,'2026-11-16T16:52:40.064343Z','20261116-165239-19043','t-000002','session_started','{"event":"session_started","session_id":"t-000002:1","task_id":"t-000002","title":"Parse a line","attempt":1,"agent":"scripted","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-1.log","model":"sonnet"}');
INSERT INTO "events" VALUES(26,'2026-11-16T16:52:40.740420Z','20261116-165239-19043','t-000002','session_ended','{"event":"session_ended","session_id":"t-000002:1","task_id":"t-000002","ended":"finished","detail":"","duration_s":0.636,"model":"sonnet","cost_usd":0.04,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"commits":["8a454acb9b5a2a383678ac9570530378141675be"],"files":["tally/parse.py","tests/test_parse.py"],"swept":0,"denied":[]}');
INSERT INTO "events" VALUES(27,'2026-11-16T16:52:40.761306Z','20261116-165239-19043','t-000002','gate_started','{"event":"gate_started","task_id":"t-000002","name":"compile"}');
INSERT INTO "events" VALUES(28,'2026-11-16T16:52:40.805098Z','20261116-165239-19043','t-000002','gate_ended','{"event":"gate_ended","task_id":"t-000002","name":"compile","passed":true,"code":0,"duration_s":0.04}');
INSERT INTO "events" VALUES(29,'2026-11-16T16:52:40.805632Z','20261116-165239-19043','t-000002','gate_started','{"event":"gate_started","task_id":"t-000002","name":"test"}');
INSERT INTO "events" VALUES(30,'2026-11-16T16:52:40.868502Z','20261116-165239-19043','t-000002','gate_ended','{"event":"gate_ended","task_id":"t-000002","name":"test","passed":true,"code":0,"duration_s":0.059}');
INSERT INTO "events" VALUES(31,'2026-11-16T16:52:40.874018Z','20261116-165239-19043','t-000002','gates_weighed','{"event":"gates_weighed","task_id":"t-000002","evidence":"green"}');
INSERT INTO "events" VALUES(32,'2026-11-16T16:52:40.901380Z','20261116-165239-19043','t-000002','verification_started','{"event":"verification_started","session_id":"t-000002:1","task_id":"t-000002","number":1,"agent":"scripted","account":"nobody: it plays a script","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-1.verify-1.log","model":"sonnet"}');
INSERT INTO "events" VALUES(33,'2026-11-16T16:52:40.970440Z','20261116-165239-19043','t-000002','verification_ended','{"event":"verification_ended","session_id":"t-000002:1","task_id":"t-000002","number":1,"passed":true,"reason":"","ended":"finished","duration_s":0.057,"cost_usd":0.01,"estimated":false}');
INSERT INTO "events" VALUES(34,'2026-11-16T16:52:40.984165Z',NULL,'t-000002','task_edited','{"event":"task_edited","task_id":"t-000002","edit":{"files":["tally/parse.py","tests/test_parse.py"]}}');
INSERT INTO "events" VALUES(35,'2026-11-16T16:52:40.987106Z','20261116-165239-19043','t-000002','memory_kept','{"event":"memory_kept","memory_id":1,"task_id":"t-000002","kind":"journal","title":"Parse a line"}');
INSERT INTO "events" VALUES(36,'2026-11-16T16:52:40.987106Z','20261116-165239-19043','t-000002','task_done','{"event":"task_done","task_id":"t-000002","alias":null,"title":"Parse a line","status":"done","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":"passed","review":null}');
INSERT INTO "events" VALUES(37,'2026-11-16T16:52:40.994569Z','20261116-165239-19043','t-000003','task_claimed','{"event":"task_claimed","task_id":"t-000003","alias":null,"title":"Format money","status":"in_progress","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":null,"review":null,"worker":"agent-b15e2616"}');
INSERT INTO "events" VALUES(38,'2026-11-16T16:52:41.001709Z','20261116-165239-19043','t-000003','session_started','{"event":"session_started","session_id":"t-000003:1","task_id":"t-000003","title":"Format money","attempt":1,"agent":"scripted","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-2.log","model":"sonnet"}');
INSERT INTO "events" VALUES(39,'2026-11-16T16:52:41.348165Z','20261116-165239-19043','t-000003','session_ended','{"event":"session_ended","session_id":"t-000003:1","task_id":"t-000003","ended":"finished","detail":"","duration_s":0.312,"model":"sonnet","cost_usd":0.02,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"commits":["f92272cfad4373543bd00ba06051924f05c6f106"],"files":["tally/money.py","tests/test_money.py"],"swept":0,"denied":[]}');
INSERT INTO "events" VALUES(40,'2026-11-16T16:52:41.362933Z','20261116-165239-19043','t-000003','gate_started','{"event":"gate_started","task_id":"t-000003","name":"compile"}');
INSERT INTO "events" VALUES(41,'2026-11-16T16:52:41.409324Z','20261116-165239-19043','t-000003','gate_ended','{"event":"gate_ended","task_id":"t-000003","name":"compile","passed":true,"code":0,"duration_s":0.043}');
INSERT INTO "events" VALUES(42,'2026-11-16T16:52:41.409773Z','20261116-165239-19043','t-000003','gate_started','{"event":"gate_started","task_id":"t-000003","name":"test"}');
INSERT INTO "events" VALUES(43,'2026-11-16T16:52:41.469693Z','20261116-165239-19043','t-000003','gate_ended','{"event":"gate_ended","task_id":"t-000003","name":"test","passed":true,"code":0,"duration_s":0.056}');
INSERT INTO "events" VALUES(44,'2026-11-16T16:52:41.474796Z','20261116-165239-19043','t-000003','gates_weighed','{"event":"gates_weighed","task_id":"t-000003","evidence":"green"}');
INSERT INTO "events" VALUES(45,'2026-11-16T16:52:41.506412Z','20261116-165239-19043','t-000003','verification_started','{"event":"verification_started","session_id":"t-000003:1","task_id":"t-000003","number":1,"agent":"scripted","account":"nobody: it plays a script","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-2.verify-1.log","model":"sonnet"}');
INSERT INTO "events" VALUES(46,'2026-11-16T16:52:41.553462Z','20261116-165239-19043','t-000003','verification_ended','{"event":"verification_ended","session_id":"t-000003:1","task_id":"t-000003","number":1,"passed":true,"reason":"","ended":"finished","duration_s":0.037,"cost_usd":0.01,"estimated":false}');
INSERT INTO "events" VALUES(47,'2026-11-16T16:52:41.561282Z',NULL,'t-000003','task_edited','{"event":"task_edited","task_id":"t-000003","edit":{"files":["tally/money.py","tests/test_money.py"]}}');
INSERT INTO "events" VALUES(48,'2026-11-16T16:52:41.562997Z','20261116-165239-19043','t-000003','task_done','{"event":"task_done","task_id":"t-000003","alias":null,"title":"Format money","status":"done","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":"passed","review":null}');
INSERT INTO "events" VALUES(49,'2026-11-16T16:52:41.566071Z','20261116-165239-19043','t-000004','task_claimed','{"event":"task_claimed","task_id":"t-000004","alias":null,"title":"Add up by category","status":"in_progress","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":null,"review":null,"worker":"agent-b15e2616"}');
INSERT INTO "events" VALUES(50,'2026-11-16T16:52:41.571605Z','20261116-165239-19043','t-000004','session_started','{"event":"session_started","session_id":"t-000004:1","task_id":"t-000004","title":"Add up by category","attempt":1,"agent":"scripted","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-3.log","model":"sonnet"}');
INSERT INTO "events" VALUES(51,'2026-11-16T16:52:41.890918Z','20261116-165239-19043','t-000004','session_ended','{"event":"session_ended","session_id":"t-000004:1","task_id":"t-000004","ended":"finished","detail":"","duration_s":0.293,"model":"sonnet","cost_usd":0.03,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"commits":[],"files":["tally/totals.py","tests/test_totals.py"],"swept":0,"denied":[]}');
INSERT INTO "events" VALUES(52,'2026-11-16T16:52:41.892082Z','20261116-165239-19043','t-000004','gate_started','{"event":"gate_started","task_id":"t-000004","name":"compile"}');
INSERT INTO "events" VALUES(53,'2026-11-16T16:52:41.937369Z','20261116-165239-19043','t-000004','gate_ended','{"event":"gate_ended","task_id":"t-000004","name":"compile","passed":true,"code":0,"duration_s":0.041}');
INSERT INTO "events" VALUES(54,'2026-11-16T16:52:41.938046Z','20261116-165239-19043','t-000004','gate_started','{"event":"gate_started","task_id":"t-000004","name":"test"}');
INSERT INTO "events" VALUES(55,'2026-11-16T16:52:41.998188Z','20261116-165239-19043','t-000004','gate_ended','{"event":"gate_ended","task_id":"t-000004","name":"test","passed":true,"code":0,"duration_s":0.056}');
INSERT INTO "events" VALUES(56,'2026-11-16T16:52:42.004052Z','20261116-165239-19043','t-000004','gates_weighed','{"event":"gates_weighed","task_id":"t-000004","evidence":"green"}');
INSERT INTO "events" VALUES(57,'2026-11-16T16:52:42.038245Z','20261116-165239-19043','t-000004','verification_started','{"event":"verification_started","session_id":"t-000004:1","task_id":"t-000004","number":1,"agent":"scripted","account":"nobody: it plays a script","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-3.verify-1.log","model":"sonnet"}');
INSERT INTO "events" VALUES(58,'2026-11-16T16:52:42.145544Z','20261116-165239-19043','t-000004','verification_ended','{"event":"verification_ended","session_id":"t-000004:1","task_id":"t-000004","number":1,"passed":true,"reason":"","ended":"finished","duration_s":0.049,"cost_usd":0.01,"estimated":false}');
INSERT INTO "events" VALUES(59,'2026-11-16T16:52:42.167688Z','20261116-165239-19043','t-000004','work_committed','{"event":"work_committed","task_id":"t-000004","commit":"f8d889ae3716ed0c520bc1fe01e63fa5d6bfcb47","files":2}');
INSERT INTO "events" VALUES(60,'2026-11-16T16:52:42.168326Z',NULL,'t-000004','task_edited','{"event":"task_edited","task_id":"t-000004","edit":{"files":["tally/totals.py","tests/test_totals.py"]}}');
INSERT INTO "events" VALUES(61,'2026-11-16T16:52:42.169993Z','20261116-165239-19043','t-000004','task_done','{"event":"task_done","task_id":"t-000004","alias":null,"title":"Add up by category","status":"done","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":"passed","review":null}');
INSERT INTO "events" VALUES(62,'2026-11-16T16:52:42.172290Z','20261116-165239-19043','t-000005','task_claimed','{"event":"task_claimed","task_id":"t-000005","alias":null,"title":"Read a file","status":"in_progress","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":null,"review":null,"worker":"agent-b15e2616"}');
INSERT INTO "events" VALUES(63,'2026-11-16T16:52:42.178137Z','20261116-165239-19043','t-000005','session_started','{"event":"session_started","session_id":"t-000005:1","task_id":"t-000005","title":"Read a file","attempt":1,"agent":"scripted","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-4.log","model":"haiku"}');
INSERT INTO "events" VALUES(64,'2026-11-16T16:52:42.485545Z','20261116-165239-19043','t-000005','session_ended','{"event":"session_ended","session_id":"t-000005:1","task_id":"t-000005","ended":"killed","detail":"killed by signal 9","duration_s":0.278,"model":"haiku","cost_usd":null,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"commits":[],"files":["tally/reader.py"],"swept":0,"denied":[]}');
INSERT INTO "events" VALUES(65,'2026-11-16T16:52:42.487900Z','20261116-165239-19043','t-000005','task_struck','{"event":"task_struck","task_id":"t-000005","alias":null,"title":"Read a file","status":"pending","attempt":1,"retry_count":0,"strikes":1,"reason":"killed by signal 9","verification_status":null,"review":null}');
INSERT INTO "events" VALUES(66,'2026-11-16T16:52:42.741768Z','20261116-165239-19043','t-000005','task_claimed','{"event":"task_claimed","task_id":"t-000005","alias":null,"title":"Read a file","status":"in_progress","attempt":2,"retry_count":0,"strikes":1,"reason":"killed by signal 9","verification_status":null,"review":null,"worker":"agent-b15e2616"}');
INSERT INTO "events" VALUES(67,'2026-11-16T16:52:42.747017Z','20261116-165239-19043','t-000005','session_started','{"event":"session_started","session_id":"t-000005:2","task_id":"t-000005","title":"Read a file","attempt":2,"agent":"scripted","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-5.log","model":"opus"}');
INSERT INTO "events" VALUES(68,'2026-11-16T16:52:43.074296Z','20261116-165239-19043','t-000005','session_ended','{"event":"session_ended","session_id":"t-000005:2","task_id":"t-000005","ended":"finished","detail":"","duration_s":0.298,"model":"opus","cost_usd":0.05,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"commits":["3c9dde9f12597d4eb52c6954ca00ce8a66b6e4df"],"files":["tally/reader.py","tests/test_reader.py"],"swept":0,"denied":[]}');
INSERT INTO "events" VALUES(69,'2026-11-16T16:52:43.098682Z','20261116-165239-19043','t-000005','gate_started','{"event":"gate_started","task_id":"t-000005","name":"compile"}');
INSERT INTO "events" VALUES(70,'2026-11-16T16:52:43.149385Z','20261116-165239-19043','t-000005','gate_ended','{"event":"gate_ended","task_id":"t-000005","name":"compile","passed":true,"code":0,"duration_s":0.047}');
INSERT INTO "events" VALUES(71,'2026-11-16T16:52:43.149954Z','20261116-165239-19043','t-000005','gate_started','{"event":"gate_started","task_id":"t-000005","name":"test"}');
INSERT INTO "events" VALUES(72,'2026-11-16T16:52:43.207240Z','20261116-165239-19043','t-000005','gate_ended','{"event":"gate_ended","task_id":"t-000005","name":"test","passed":true,"code":0,"duration_s":0.054}');
INSERT INTO "events" VALUES(73,'2026-11-16T16:52:43.211641Z','20261116-165239-19043','t-000005','gates_weighed','{"event":"gates_weighed","task_id":"t-000005","evidence":"green"}');
INSERT INTO "events" VALUES(74,'2026-11-16T16:52:43.237276Z','20261116-165239-19043','t-000005','verification_started','{"event":"verification_started","session_id":"t-000005:2","task_id":"t-000005","number":1,"agent":"scripted","account":"nobody: it plays a script","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-5.verify-1.log","model":"opus"}');
INSERT INTO "events" VALUES(75,'2026-11-16T16:52:43.304991Z','20261116-165239-19043','t-000005','verification_ended','{"event":"verification_ended","session_id":"t-000005:2","task_id":"t-000005","number":1,"passed":true,"reason":"","ended":"finished","duration_s":0.039,"cost_usd":0.01,"estimated":false}');
INSERT INTO "events" VALUES(76,'2026-11-16T16:52:43.313476Z',NULL,'t-000005','task_edited','{"event":"task_edited","task_id":"t-000005","edit":{"files":["tally/reader.py","tests/test_reader.py"]}}');
INSERT INTO "events" VALUES(77,'2026-11-16T16:52:43.315688Z','20261116-165239-19043','t-000005','task_done','{"event":"task_done","task_id":"t-000005","alias":null,"title":"Read a file","status":"done","attempt":2,"retry_count":0,"strikes":0,"reason":null,"verification_status":"passed","review":null}');
INSERT INTO "events" VALUES(78,'2026-11-16T16:52:43.318863Z','20261116-165239-19043','t-000006','task_claimed','{"event":"task_claimed","task_id":"t-000006","alias":null,"title":"Write the report","status":"in_progress","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":null,"review":null,"worker":"agent-b15e2616"}');
INSERT INTO "events" VALUES(79,'2026-11-16T16:52:43.325694Z','20261116-165239-19043','t-000006','session_started','{"event":"session_started","session_id":"t-000006:1","task_id":"t-000006","title":"Write the report","attempt":1,"agent":"scripted","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-6.log","model":"opus"}');
INSERT INTO "events" VALUES(80,'2026-11-16T16:52:43.650546Z','20261116-165239-19043','t-000006','session_ended','{"event":"session_ended","session_id":"t-000006:1","task_id":"t-000006","ended":"finished","detail":"","duration_s":0.296,"model":"opus","cost_usd":0.05,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"commits":["ad952d7cbd13a114167a5bc728c98ca9d0ec8791"],"files":["tally/report.py","tests/test_report.py"],"swept":0,"denied":[]}');
INSERT INTO "events" VALUES(81,'2026-11-16T16:52:43.665070Z','20261116-165239-19043','t-000006','gate_started','{"event":"gate_started","task_id":"t-000006","name":"compile"}');
INSERT INTO "events" VALUES(82,'2026-11-16T16:52:43.708848Z','20261116-165239-19043','t-000006','gate_ended','{"event":"gate_ended","task_id":"t-000006","name":"compile","passed":true,"code":0,"duration_s":0.039}');
INSERT INTO "events" VALUES(83,'2026-11-16T16:52:43.709333Z','20261116-165239-19043','t-000006','gate_started','{"event":"gate_started","task_id":"t-000006","name":"test"}');
INSERT INTO "events" VALUES(84,'2026-11-16T16:52:43.773144Z','20261116-165239-19043','t-000006','gate_ended','{"event":"gate_ended","task_id":"t-000006","name":"test","passed":false,"code":1,"duration_s":0.06}');
INSERT INTO "events" VALUES(85,'2026-11-16T16:52:43.776078Z','20261116-165239-19043','t-000006','gates_weighed','{"event":"gates_weighed","task_id":"t-000006","evidence":"broken"}');
INSERT INTO "events" VALUES(86,'2026-11-16T16:52:43.780018Z','20261116-165239-19043','t-000006','memory_kept','{"event":"memory_kept","memory_id":2,"task_id":"t-000006","kind":"verdict","title":"Write the report"}');
INSERT INTO "events" VALUES(87,'2026-11-16T16:52:43.780018Z','20261116-165239-19043','t-000006','task_rejected','{"event":"task_rejected","task_id":"t-000006","alias":null,"title":"Write the report","status":"pending","attempt":1,"retry_count":1,"strikes":0,"reason":"gate test fails (exit 1)\n======================================================================\nFAIL: test_the_largest_comes_first_and_the_sum_last (tests.test_report.ReportTest.test_the_largest_comes_first_and_the_sum_last)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/home/ada/tally/tests/test_report.py\", line 9, in test_the_largest_comes_first_and_the_sum_last\n    self.assertEqual([line.split()[0] for line in lines], [\"rent\", \"food\", \"total\"])\nAssertionError: Lists differ: [''food'', ''rent'', ''total''] != [''rent'', ''food'', ''total'']\n\nFirst differing element 0:\n''food''\n''rent''\n\n- [''food'', ''rent'', ''total'']\n+ [''rent'', ''food'', ''total'']\n\n----------------------------------------------------------------------\nRan 8 tests in 0.002s\n\nFAILED (failures=1)","verification_status":null,"review":null}');
INSERT INTO "events" VALUES(88,'2026-11-16T16:52:43.782706Z','20261116-165239-19043','t-000006','task_claimed','{"event":"task_claimed","task_id":"t-000006","alias":null,"title":"Write the report","status":"in_progress","attempt":2,"retry_count":1,"strikes":0,"reason":"gate test fails (exit 1)\n======================================================================\nFAIL: test_the_largest_comes_first_and_the_sum_last (tests.test_report.ReportTest.test_the_largest_comes_first_and_the_sum_last)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/home/ada/tally/tests/test_report.py\", line 9, in test_the_largest_comes_first_and_the_sum_last\n    self.assertEqual([line.split()[0] for line in lines], [\"rent\", \"food\", \"total\"])\nAssertionError: Lists differ: [''food'', ''rent'', ''total''] != [''rent'', ''food'', ''total'']\n\nFirst differing element 0:\n''food''\n''rent''\n\n- [''food'', ''rent'', ''total'']\n+ [''rent'', ''food'', ''total'']\n\n----------------------------------------------------------------------\nRan 8 tests in 0.002s\n\nFAILED (failures=1)","verification_status":null,"review":null,"worker":"agent-b15e2616"}');
INSERT INTO "events" VALUES(89,'2026-11-16T16:52:43.785782Z','20261116-165239-19043','t-000006','session_started','{"event":"session_started","session_id":"t-000006:2","task_id":"t-000006","title":"Write the report","attempt":2,"agent":"scripted","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-7.log","model":"opus"}');
INSERT INTO "events" VALUES(90,'2026-11-16T16:52:44.226065Z','20261116-165239-19043','t-000006','session_ended','{"event":"session_ended","session_id":"t-000006:2","task_id":"t-000006","ended":"finished","detail":"","duration_s":0.415,"model":"opus","cost_usd":0.03,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"commits":["4e01f22ca65f0926ed57701f3aacad56f9b626d3"],"files":["tally/report.py"],"swept":0,"denied":[]}');
INSERT INTO "events" VALUES(91,'2026-11-16T16:52:44.245143Z','20261116-165239-19043','t-000006','gate_started','{"event":"gate_started","task_id":"t-000006","name":"compile"}');
INSERT INTO "events" VALUES(92,'2026-11-16T16:52:44.287125Z','20261116-165239-19043','t-000006','gate_ended','{"event":"gate_ended","task_id":"t-000006","name":"compile","passed":true,"code":0,"duration_s":0.038}');
INSERT INTO "events" VALUES(93,'2026-11-16T16:52:44.287683Z','20261116-165239-19043','t-000006','gate_started','{"event":"gate_started","task_id":"t-000006","name":"test"}');
INSERT INTO "events" VALUES(94,'2026-11-16T16:52:44.346848Z','20261116-165239-19043','t-000006','gate_ended','{"event":"gate_ended","task_id":"t-000006","name":"test","passed":true,"code":0,"duration_s":0.056}');
INSERT INTO "events" VALUES(95,'2026-11-16T16:52:44.350197Z','20261116-165239-19043','t-000006','gates_weighed','{"event":"gates_weighed","task_id":"t-000006","evidence":"green"}');
INSERT INTO "events" VALUES(96,'2026-11-16T16:52:44.380694Z','20261116-165239-19043','t-000006','verification_started','{"event":"verification_started","session_id":"t-000006:2","task_id":"t-000006","number":1,"agent":"scripted","account":"nobody: it plays a script","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-7.verify-1.log","model":"opus"}');
INSERT INTO "events" VALUES(97,'2026-11-16T16:52:44.517592Z','20261116-165239-19043','t-000006','verification_ended','{"event":"verification_ended","session_id":"t-000006:2","task_id":"t-000006","number":1,"passed":true,"reason":"","ended":"finished","duration_s":0.035,"cost_usd":0.01,"estimated":false}');
INSERT INTO "events" VALUES(98,'2026-11-16T16:52:44.524680Z',NULL,'t-000006','task_edited','{"event":"task_edited","task_id":"t-000006","edit":{"files":["tally/report.py","tests/test_report.py"]}}');
INSERT INTO "events" VALUES(99,'2026-11-16T16:52:44.526194Z','20261116-165239-19043','t-000006','task_done','{"event":"task_done","task_id":"t-000006","alias":null,"title":"Write the report","status":"done","attempt":2,"retry_count":1,"strikes":0,"reason":null,"verification_status":"passed","review":null}');
INSERT INTO "events" VALUES(100,'2026-11-16T16:52:44.528250Z','20261116-165239-19043','t-000007','task_claimed','{"event":"task_claimed","task_id":"t-000007","alias":null,"title":"Add the command","status":"in_progress","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":null,"review":null,"worker":"agent-b15e2616"}');
INSERT INTO "events" VALUES(101,'2026-11-16T16:52:44.532695Z','20261116-165239-19043','t-000007','session_started','{"event":"session_started","session_id":"t-000007:1","task_id":"t-000007","title":"Add the command","attempt":1,"agent":"scripted","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-8.log","model":"opus"}');
INSERT INTO "events" VALUES(102,'2026-11-16T16:52:45.075122Z','20261116-165239-19043','t-000007','session_ended','{"event":"session_ended","session_id":"t-000007:1","task_id":"t-000007","ended":"finished","detail":"","duration_s":0.511,"model":"opus","cost_usd":0.04,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"commits":["0e99b2f6cb7612746b715f8235c0808285c05aa0"],"files":["sample.ledger","tally/__main__.py"],"swept":0,"denied":[]}');
INSERT INTO "events" VALUES(103,'2026-11-16T16:52:45.088466Z','20261116-165239-19043','t-000007','gate_started','{"event":"gate_started","task_id":"t-000007","name":"compile"}');
INSERT INTO "events" VALUES(104,'2026-11-16T16:52:45.224424Z','20261116-165239-19043','t-000007','gate_ended','{"event":"gate_ended","task_id":"t-000007","name":"compile","passed":true,"code":0,"duration_s":0.04}');
INSERT INTO "events" VALUES(105,'2026-11-16T16:52:45.226369Z','20261116-165239-19043','t-000007','gate_started','{"event":"gate_started","task_id":"t-000007","name":"test"}');
INSERT INTO "events" VALUES(106,'2026-11-16T16:52:45.288944Z','20261116-165239-19043','t-000007','gate_ended','{"event":"gate_ended","task_id":"t-000007","name":"test","passed":true,"code":0,"duration_s":0.059}');
INSERT INTO "events" VALUES(107,'2026-11-16T16:52:45.292312Z','20261116-165239-19043','t-000007','gates_weighed','{"event":"gates_weighed","task_id":"t-000007","evidence":"green"}');
INSERT INTO "events" VALUES(108,'2026-11-16T16:52:45.313480Z','20261116-165239-19043','t-000007','verification_started','{"event":"verification_started","session_id":"t-000007:1","task_id":"t-000007","number":1,"agent":"scripted","account":"nobody: it plays a script","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-8.verify-1.log","model":"opus"}');
INSERT INTO "events" VALUES(109,'2026-11-16T16:52:45.356307Z','20261116-165239-19043','t-000007','verification_ended','{"event":"verification_ended","session_id":"t-000007:1","task_id":"t-000007","number":1,"passed":true,"reason":"","ended":"finished","duration_s":0.035,"cost_usd":0.01,"estimated":false}');
INSERT INTO "events" VALUES(110,'2026-11-16T16:52:45.363070Z',NULL,'t-000007','task_edited','{"event":"task_edited","task_id":"t-000007","edit":{"files":["sample.ledger","tally/__main__.py"]}}');
INSERT INTO "events" VALUES(111,'2026-11-16T16:52:45.364801Z','20261116-165239-19043','t-000007','task_done','{"event":"task_done","task_id":"t-000007","alias":null,"title":"Add the command","status":"done","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":"passed","review":null}');
INSERT INTO "events" VALUES(112,'2026-11-16T16:52:45.367638Z','20261116-165239-19043','t-000008','task_claimed','{"event":"task_claimed","task_id":"t-000008","alias":null,"title":"Show it in the README","status":"in_progress","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":null,"review":null,"worker":"agent-b15e2616"}');
INSERT INTO "events" VALUES(113,'2026-11-16T16:52:45.373368Z','20261116-165239-19043','t-000008','session_started','{"event":"session_started","session_id":"t-000008:1","task_id":"t-000008","title":"Show it in the README","attempt":1,"agent":"scripted","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-9.log","model":"opus"}');
INSERT INTO "events" VALUES(114,'2026-11-16T16:52:45.881286Z','20261116-165239-19043','t-000008','session_ended','{"event":"session_ended","session_id":"t-000008:1","task_id":"t-000008","ended":"finished","detail":"","duration_s":0.482,"model":"opus","cost_usd":0.02,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"commits":["f94dff5d212a34df710b44c2e18603bc690b30cd"],"files":["README.md"],"swept":0,"denied":[]}');
INSERT INTO "events" VALUES(115,'2026-11-16T16:52:45.894498Z','20261116-165239-19043','t-000008','gate_started','{"event":"gate_started","task_id":"t-000008","name":"compile"}');
INSERT INTO "events" VALUES(116,'2026-11-16T16:52:45.932984Z','20261116-165239-19043','t-000008','gate_ended','{"event":"gate_ended","task_id":"t-000008","name":"compile","passed":true,"code":0,"duration_s":0.035}');
INSERT INTO "events" VALUES(117,'2026-11-16T16:52:45.933449Z','20261116-165239-19043','t-000008','gate_started','{"event":"gate_started","task_id":"t-000008","name":"test"}');
INSERT INTO "events" VALUES(118,'2026-11-16T16:52:45.992309Z','20261116-165239-19043','t-000008','gate_ended','{"event":"gate_ended","task_id":"t-000008","name":"test","passed":true,"code":0,"duration_s":0.056}');
INSERT INTO "events" VALUES(119,'2026-11-16T16:52:45.995356Z','20261116-165239-19043','t-000008','gates_weighed','{"event":"gates_weighed","task_id":"t-000008","evidence":"green"}');
INSERT INTO "events" VALUES(120,'2026-11-16T16:52:46.016036Z','20261116-165239-19043','t-000008','verification_started','{"event":"verification_started","session_id":"t-000008:1","task_id":"t-000008","number":1,"agent":"scripted","account":"nobody: it plays a script","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-9.verify-1.log","model":"opus"}');
INSERT INTO "events" VALUES(121,'2026-11-16T16:52:46.060360Z','20261116-165239-19043','t-000008','verification_ended','{"event":"verification_ended","session_id":"t-000008:1","task_id":"t-000008","number":1,"passed":true,"reason":"","ended":"finished","duration_s":0.036,"cost_usd":0.01,"estimated":false}');
INSERT INTO "events" VALUES(122,'2026-11-16T16:52:46.067206Z',NULL,'t-000008','task_edited','{"event":"task_edited","task_id":"t-000008","edit":{"files":["README.md"]}}');
INSERT INTO "events" VALUES(123,'2026-11-16T16:52:46.068784Z','20261116-165239-19043','t-000008','task_done','{"event":"task_done","task_id":"t-000008","alias":null,"title":"Show it in the README","status":"done","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":"passed","review":null}');
INSERT INTO "events" VALUES(124,'2026-11-16T16:52:46.068784Z','20261116-165239-19043','t-000001','task_done','{"event":"task_done","task_id":"t-000001","alias":null,"title":"Build tally","status":"done","attempt":0,"retry_count":0,"strikes":0,"reason":null,"verification_status":null,"review":null}');
INSERT INTO "events" VALUES(125,'2026-11-16T16:52:46.071203Z','20261116-165239-19043','t-000009','task_claimed','{"event":"task_claimed","task_id":"t-000009","alias":null,"title":"Check that the README is true","status":"in_progress","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":null,"review":null,"worker":"agent-b15e2616"}');
INSERT INTO "events" VALUES(126,'2026-11-16T16:52:46.075516Z','20261116-165239-19043','t-000009','session_started','{"event":"session_started","session_id":"t-000009:1","task_id":"t-000009","title":"Check that the README is true","attempt":1,"agent":"scripted","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-10.log","model":"haiku"}');
INSERT INTO "events" VALUES(127,'2026-11-16T16:52:46.217311Z','20261116-165239-19043','t-000009','session_ended','{"event":"session_ended","session_id":"t-000009:1","task_id":"t-000009","ended":"finished","detail":"","duration_s":0.134,"model":"haiku","cost_usd":0.01,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"commits":[],"files":[],"swept":0,"denied":[]}');
INSERT INTO "events" VALUES(128,'2026-11-16T16:52:46.218020Z','20261116-165239-19043','t-000009','gate_started','{"event":"gate_started","task_id":"t-000009","name":"compile"}');
INSERT INTO "events" VALUES(129,'2026-11-16T16:52:46.260812Z','20261116-165239-19043','t-000009','gate_ended','{"event":"gate_ended","task_id":"t-000009","name":"compile","passed":true,"code":0,"duration_s":0.038}');
INSERT INTO "events" VALUES(130,'2026-11-16T16:52:46.263073Z','20261116-165239-19043','t-000009','gate_started','{"event":"gate_started","task_id":"t-000009","name":"test"}');
INSERT INTO "events" VALUES(131,'2026-11-16T16:52:46.321430Z','20261116-165239-19043','t-000009','gate_ended','{"event":"gate_ended","task_id":"t-000009","name":"test","passed":true,"code":0,"duration_s":0.055}');
INSERT INTO "events" VALUES(132,'2026-11-16T16:52:46.323642Z','20261116-165239-19043','t-000009','gates_weighed','{"event":"gates_weighed","task_id":"t-000009","evidence":"green"}');
INSERT INTO "events" VALUES(133,'2026-11-16T16:52:46.345328Z','20261116-165239-19043','t-000009','verification_started','{"event":"verification_started","session_id":"t-000009:1","task_id":"t-000009","number":1,"agent":"scripted","account":"nobody: it plays a script","log":"/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-10.verify-1.log","model":"haiku"}');
INSERT INTO "events" VALUES(134,'2026-11-16T16:52:46.388362Z','20261116-165239-19043','t-000009','verification_ended','{"event":"verification_ended","session_id":"t-000009:1","task_id":"t-000009","number":1,"passed":true,"reason":"","ended":"finished","duration_s":0.036,"cost_usd":0.01,"estimated":false}');
INSERT INTO "events" VALUES(135,'2026-11-16T16:52:46.390018Z','20261116-165239-19043','t-000009','task_done','{"event":"task_done","task_id":"t-000009","alias":null,"title":"Check that the README is true","status":"done","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":"passed","review":null}');
INSERT INTO "events" VALUES(136,'2026-11-16T16:52:46.392036Z','20261116-165239-19043',NULL,'run_ended','{"event":"run_ended","run_id":"20261116-165239-19043","outcome":"complete","exit_code":0,"reason":"every task is done","done":9,"failed":0,"blocked":0,"attempts":10,"commits":8,"duration_s":6.473,"cost_usd":null,"spent":{"sessions":18,"reported":17,"estimated":0,"unknown":1,"reported_usd":0.37000000000000005,"estimated_usd":0.0,"counted":0,"input_tokens":0,"cached_tokens":0,"output_tokens":0}}');
INSERT INTO "events" VALUES(137,'2026-11-16T16:53:02.601258Z',NULL,'t-d76b4c','task_added','{"event":"task_added","task":{"id":"t-d76b4c","title":"Report by month","description":"a parent","status":"pending","parent_id":null,"feature_id":null,"task_type":"standalone","priority":0,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:53:02.600811Z","updated_at":"2026-11-16T16:53:02.600811Z"}}');
INSERT INTO "events" VALUES(138,'2026-11-16T16:53:02.675897Z',NULL,'t-5167a9','task_added','{"event":"task_added","task":{"id":"t-5167a9","title":"Months in the parser","description":"","status":"pending","parent_id":"t-d76b4c","feature_id":null,"task_type":"standalone","priority":0,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:53:02.675228Z","updated_at":"2026-11-16T16:53:02.675228Z"}}');
INSERT INTO "events" VALUES(139,'2026-11-16T16:53:02.796509Z',NULL,'t-902166','task_added','{"event":"task_added","task":{"id":"t-902166","title":"Print the months","description":"","status":"pending","parent_id":"t-d76b4c","feature_id":null,"task_type":"standalone","priority":0,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:53:02.795815Z","updated_at":"2026-11-16T16:53:02.795815Z"}}');
INSERT INTO "events" VALUES(140,'2026-11-16T16:53:02.943670Z',NULL,'t-80562d','task_added','{"event":"task_added","task":{"id":"t-80562d","title":"Needs a key","description":"","status":"pending","parent_id":null,"feature_id":null,"task_type":"standalone","priority":0,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:53:02.943107Z","updated_at":"2026-11-16T16:53:02.943107Z"}}');
INSERT INTO "events" VALUES(141,'2026-11-16T16:53:03.078726Z',NULL,'t-80562d','task_blocked','{"event":"task_blocked","task_id":"t-80562d","alias":null,"title":"Needs a key","status":"blocked","attempt":0,"retry_count":0,"strikes":0,"reason":"blocked by a person","verification_status":null,"review":null}');
INSERT INTO "events" VALUES(142,'2026-11-16T16:53:03.146515Z',NULL,'t-851d57','task_added','{"event":"task_added","task":{"id":"t-851d57","title":"Given up","description":"","status":"pending","parent_id":null,"feature_id":null,"task_type":"standalone","priority":0,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:53:03.145795Z","updated_at":"2026-11-16T16:53:03.145795Z"}}');
INSERT INTO "events" VALUES(143,'2026-11-16T16:53:03.219260Z',NULL,'t-851d57','task_claimed','{"event":"task_claimed","task_id":"t-851d57","alias":null,"title":"Given up","status":"in_progress","attempt":1,"retry_count":0,"strikes":0,"reason":null,"verification_status":null,"review":null,"worker":"by-hand"}');
INSERT INTO "events" VALUES(144,'2026-11-16T16:53:03.219260Z',NULL,'t-851d57','task_failed','{"event":"task_failed","task_id":"t-851d57","alias":null,"title":"Given up","status":"failed","attempt":1,"retry_count":0,"strikes":0,"reason":"failed by a person","verification_status":null,"review":null}');
INSERT INTO "events" VALUES(145,'2026-11-16T16:53:03.285098Z',NULL,NULL,'guidance_given','{"event":"guidance_given","text":"keep it short","task_id":null}');
INSERT INTO "events" VALUES(146,'2026-11-16T16:53:29.495366Z',NULL,'t-902166','edge_added','{"event":"edge_added","blocker_id":"t-5167a9","blocked_id":"t-902166"}');
INSERT INTO "events" VALUES(147,'2026-11-16T16:53:29.496771Z',NULL,'t-5167a9','task_logged','{"event":"task_logged","task_id":"t-5167a9","message":"months begin with 1"}');
INSERT INTO "events" VALUES(148,'2026-11-16T16:53:29.497248Z',NULL,NULL,'feature_added','{"event":"feature_added","feature":{"id":"f-91c6bd","name":"months","spec_path":null,"plan_path":null,"status":"draft","created_at":"2026-11-16T16:53:29.497248Z","updated_at":"2026-11-16T16:53:29.497248Z"}}');
INSERT INTO "events" VALUES(149,'2026-11-16T16:53:29.497765Z',NULL,NULL,'feature_changed','{"event":"feature_changed","feature":{"id":"f-91c6bd","name":"months","spec_path":"specs/months.md","plan_path":null,"status":"draft","created_at":"2026-11-16T16:53:29.497248Z","updated_at":"2026-11-16T16:53:29.497765Z"}}');
INSERT INTO "events" VALUES(150,'2026-11-16T16:53:29.498761Z',NULL,'t-story','task_added','{"event":"task_added","task":{"id":"t-story","title":"A story","description":"","status":"pending","parent_id":null,"feature_id":"f-91c6bd","task_type":"feature","priority":0,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":"US-001","needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:53:29.498324Z","updated_at":"2026-11-16T16:53:29.498324Z"}}');
INSERT INTO "events" VALUES(151,'2026-11-16T16:53:29.498761Z',NULL,'t-ff9df8','task_added','{"event":"task_added","task":{"id":"t-ff9df8","title":"Its first step","description":"","status":"pending","parent_id":"t-story","feature_id":"f-91c6bd","task_type":"feature","priority":0,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":null,"needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:53:29.498325Z","updated_at":"2026-11-16T16:53:29.498325Z"}}');
INSERT INTO "events" VALUES(152,'2026-11-16T16:53:29.498761Z',NULL,'t-out','task_added','{"event":"task_added","task":{"id":"t-out","title":"A story taken out","description":"","status":"pending","parent_id":null,"feature_id":"f-91c6bd","task_type":"feature","priority":0,"retry_count":0,"max_retries":3,"strikes":0,"attempt":0,"verification_status":null,"review":null,"claimed_by":null,"alias":"US-002","needs_change":true,"reason":null,"files":[],"created_at":"2026-11-16T16:53:29.498326Z","updated_at":"2026-11-16T16:53:29.498326Z"}}');
INSERT INTO "events" VALUES(153,'2026-11-16T16:53:29.498761Z',NULL,NULL,'feature_changed','{"event":"feature_changed","feature":{"id":"f-91c6bd","name":"months","spec_path":"specs/months.md","plan_path":null,"status":"ready","created_at":"2026-11-16T16:53:29.497248Z","updated_at":"2026-11-16T16:53:29.498761Z"}}');
INSERT INTO "events" VALUES(154,'2026-11-16T16:53:29.499684Z',NULL,'t-out','task_deleted','{"event":"task_deleted","task_id":"t-out","title":"A story taken out"}');
INSERT INTO "events" VALUES(155,'2026-11-16T16:53:29.501791Z','20261116-165239-19043','t-000002','session_handed_over','{"event":"session_handed_over","session_id":"t-000002:1","task_id":"t-000002","number":1,"reason":"full","ended":"finished","used":2,"capacity":3,"agent":"","duration_s":0.0,"model":"","cost_usd":null,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"commits":[],"files":[],"log":""}');
INSERT INTO "events" VALUES(156,'2026-11-16T16:53:29.502249Z',NULL,'t-851d57','finding_dismissed','{"event":"finding_dismissed","task_id":"t-851d57","finding":"F-1","reason":"as it was meant","by":"a person"}');
INSERT INTO "events" VALUES(157,'2026-11-16T16:53:29.502489Z','20261116-165239-19043',NULL,'control_sent','{"event":"control_sent","word":"pause","task_id":null,"reason":""}');
CREATE TABLE features (
    id         TEXT PRIMARY KEY NOT NULL,
    name       TEXT NOT NULL UNIQUE,
    spec_path  TEXT,
    plan_path  TEXT,
    status     TEXT NOT NULL DEFAULT 'draft'
               CHECK (status IN ('draft', 'planned', 'ready', 'running', 'done', 'failed')),
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
INSERT INTO "features" VALUES('f-91c6bd','months','specs/months.md',NULL,'ready','2026-11-16T16:53:29.497248Z','2026-11-16T16:53:29.498761Z');
CREATE TABLE guidance (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id      TEXT, -- NULL: waits for whichever task comes next
    text         TEXT NOT NULL,
    given_at     TEXT NOT NULL,
    delivered_at TEXT
);
INSERT INTO "guidance" VALUES(1,NULL,'keep it short','2026-11-16T16:53:03.285098Z',NULL);
CREATE TABLE memories (
    id         INTEGER PRIMARY KEY AUTOINCREMENT, -- sessions remember which ones they were told
    kind       TEXT NOT NULL CHECK (kind IN ('knowledge', 'journal', 'verdict')),
    task_id    TEXT NOT NULL,
    attempt    INTEGER NOT NULL,
    title      TEXT NOT NULL,
    tags       TEXT NOT NULL, -- with commas between them
    text       TEXT NOT NULL,
    digest     TEXT NOT NULL, -- of what it says: nothing is learned twice
    created_at TEXT NOT NULL
);
INSERT INTO "memories" VALUES(1,'journal','t-000002',1,'Parse a line','','parse() returns Entry(date, category, cents)','4a5b760fee00f6479b52da86dea898b2','2026-11-16T16:52:40.987106Z');
INSERT INTO "memories" VALUES(2,'verdict','t-000006',1,'Write the report','','gate test fails (exit 1)
======================================================================
FAIL: test_the_largest_comes_first_and_the_sum_last (tests.test_report.ReportTest.test_the_largest_comes_first_and_the_sum_last)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/ada/tally/tests/test_report.py", line 9, in test_the_largest_comes_first_and_the_sum_last
    self.assertEqual([line.split()[0] for line in lines], ["rent", "food", "total"])
AssertionError: Lists differ: [''food'', ''rent'', ''total''] != [''rent'', ''food'', ''total'']

First differing element 0:
''food''
''rent''

- [''food'', ''rent'', ''total'']
+ [''rent'', ''food'', ''total'']

----------------------------------------------------------------------
Ran 8 tests in 0.002s

FAILED (failures=1)','3294e1cfbda016d3da7a1aad9323fd5b','2026-11-16T16:52:43.780018Z');
CREATE TABLE meta (
    key   TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO "meta" VALUES('graph_version',12);
INSERT INTO "meta" VALUES('ranked_version',0);
CREATE TABLE papers (
    path     TEXT PRIMARY KEY NOT NULL,
    content  BLOB NOT NULL,
    held_for TEXT, -- the task of the session that works on it
    kept_at  TEXT NOT NULL
);
INSERT INTO "papers" VALUES('prd.md',X'23204D6F6E7468730A0A2D205B205D2055532D3030313A20412073746F72790A',NULL,'2026-11-16T16:53:29.500746Z');
CREATE TABLE runs (
    id         TEXT PRIMARY KEY NOT NULL,
    worker     TEXT NOT NULL,
    target     TEXT NOT NULL,
    agent      TEXT NOT NULL,
    checkout   TEXT NOT NULL,
    started_at TEXT NOT NULL,
    sandbox    TEXT NOT NULL DEFAULT 'off',
    ended_at   TEXT,
    outcome    TEXT,
    reason     TEXT NOT NULL DEFAULT '',
    baseline   TEXT NOT NULL DEFAULT '[]', -- gate results, as JSON
    iterations INTEGER NOT NULL DEFAULT 0, -- begun by its workers
    uncounted  INTEGER NOT NULL DEFAULT 0  -- of these cut short
);
INSERT INTO "runs" VALUES('20261116-165239-19043','agent-b15e2616','all tasks','scripted','/home/ada/tally','2026-11-16T16:52:39.919418Z','off','2026-11-16T16:52:46.392036Z','complete','every task is done','[{"name":"compile","passed":true,"code":0,"duration_s":0.038,"output":"","changed":[],"proves":true},{"name":"test","passed":true,"code":0,"duration_s":0.055,"output":"----------------------------------------------------------------------\nRan 8 tests in 0.001s\n\nOK","changed":[],"proves":true}]',0,0);
CREATE TABLE sessions (
    id         TEXT PRIMARY KEY NOT NULL, -- task:attempt
    task_id    TEXT NOT NULL,
    attempt    INTEGER NOT NULL,
    run_id     TEXT NOT NULL,
    worker     TEXT NOT NULL,
    agent      TEXT NOT NULL,
    model      TEXT NOT NULL, -- what was asked for; what it ran on is in `ending`
    tier       TEXT NOT NULL DEFAULT '',
    strategy   TEXT NOT NULL DEFAULT '',
    checkout   TEXT NOT NULL DEFAULT '', -- the project's directory where it worked
    log        TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at   TEXT,
    mark       TEXT NOT NULL
               CHECK (mark IN (
                   'started', 'ended', 'gated', 'accepted', 'committed', 'settled'
               )),
    before     TEXT, -- the checkout when it began, as JSON
    after      TEXT, -- and when it was over
    ending     TEXT, -- how it ended, its final message and its cost, as JSON
    resets_at  REAL, -- when the allowance comes back that it has used up, in seconds since 1970
    told       TEXT,
    gates      TEXT NOT NULL DEFAULT '[]',
    commits    TEXT NOT NULL DEFAULT '[]',
    duration_s REAL NOT NULL DEFAULT 0,
    verdict    TEXT NOT NULL DEFAULT '', -- what was decided about it, for people
    judged     TEXT -- and in a word
               CHECK (judged IN (
                   'accepted', 'rejected', 'struck', 'gave_up', 'conflict', 'split', 'released'
               )),
    given      TEXT NOT NULL DEFAULT '[]', -- what it was told, as JSON
    tool_tokens INTEGER NOT NULL DEFAULT 0, -- of the tools' results that are in its context
    tool_errors INTEGER NOT NULL DEFAULT 0,
    tool_error  TEXT NOT NULL DEFAULT '' -- of the last use, if that failed
);
INSERT INTO "sessions" VALUES('t-000002:1','t-000002',1,'20261116-165239-19043','agent-b15e2616','scripted','sonnet','sonnet','cost-optimized','/home/ada/tally','/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-1.log','2026-11-16T16:52:40.056622Z','2026-11-16T16:52:40.734858Z','settled','{"head":"0984c5f22c289c5d4736485d6f551da5707e1307","branch":"main","tree":"","index":"","dirty":[]}','{"head":"8a454acb9b5a2a383678ac9570530378141675be","branch":"main","tree":"","index":"","dirty":[]}','{"ended":"finished","message":"Lines become entries.\n<journal>parse() returns Entry(date, category, cents)</journal>\n<task-done>t-000002</task-done>","detail":"","resets_at":null,"model":"sonnet","cost_usd":0.04,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":5595,"tool_tokens":24}',NULL,NULL,'[{"name":"compile","passed":true,"code":0,"duration_s":0.04,"output":"","changed":[],"proves":true},{"name":"test","passed":true,"code":0,"duration_s":0.059,"output":"----------------------------------------------------------------------\nRan 3 tests in 0.000s\n\nOK","changed":[],"proves":true}]','["8a454acb9b5a2a383678ac9570530378141675be"]',6.36346883000442176125e-01,'parse() returns Entry(date, category, cents)','accepted','[{"name":"task","tokens":33,"of":33,"source":"`ralph task show t-000002`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"gates","tokens":34,"of":34,"items":["python33 -m compileall -q tally","python33 -m unittest -q"]}]',0,0,'');
INSERT INTO "sessions" VALUES('t-000003:1','t-000003',1,'20261116-165239-19043','agent-b15e2616','scripted','sonnet','sonnet','cost-optimized','/home/ada/tally','/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-2.log','2026-11-16T16:52:40.997073Z','2026-11-16T16:52:41.343890Z','settled','{"head":"8a454acb9b5a2a383678ac9570530378141675be","branch":"main","tree":"","index":"","dirty":[]}','{"head":"f92272cfad4373543bd00ba06051924f05c6f106","branch":"main","tree":"","index":"","dirty":[]}','{"ended":"finished","message":"<task-done>t-000003</task-done>","detail":"","resets_at":null,"model":"sonnet","cost_usd":0.02,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":5552,"tool_tokens":0}',NULL,NULL,'[{"name":"compile","passed":true,"code":0,"duration_s":0.043,"output":"","changed":[],"proves":true},{"name":"test","passed":true,"code":0,"duration_s":0.056,"output":"----------------------------------------------------------------------\nRan 4 tests in 0.000s\n\nOK","changed":[],"proves":true}]','["f92272cfad4373543bd00ba06051924f05c6f106"]',0.311707351998848,'attempt 1: accepted; all gates pass; verified','accepted','[{"name":"task","tokens":26,"of":26,"source":"`ralph task show t-000003`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"gates","tokens":34,"of":34,"items":["python33 -m compileall -q tally","python33 -m unittest -q"]}]',0,0,'');
INSERT INTO "sessions" VALUES('t-000004:1','t-000004',1,'20261116-165239-19043','agent-b15e2616','scripted','sonnet','sonnet','cost-optimized','/home/ada/tally','/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-3.log','2026-11-16T16:52:41.567931Z','2026-11-16T16:52:41.887242Z','settled','{"head":"f92272cfad4373543bd00ba06051924f05c6f106","branch":"main","tree":"","index":"","dirty":[]}','{"head":"f92272cfad4373543bd00ba06051924f05c6f106","branch":"main","tree":"97ae12c356f94c62de59fb2e263e94beea73686d","index":"","dirty":["tally/totals.py","tests/test_totals.py"]}','{"ended":"finished","message":"<task-done>t-000004</task-done>","detail":"","resets_at":null,"model":"sonnet","cost_usd":0.03,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":5606,"tool_tokens":0}',NULL,NULL,'[{"name":"compile","passed":true,"code":0,"duration_s":0.041,"output":"","changed":[],"proves":true},{"name":"test","passed":true,"code":0,"duration_s":0.056,"output":"----------------------------------------------------------------------\nRan 5 tests in 0.000s\n\nOK","changed":[],"proves":true}]','["f8d889ae3716ed0c520bc1fe01e63fa5d6bfcb47"]',2.93166379000467713922e-01,'attempt 1: accepted; all gates pass; verified','accepted','[{"name":"task","tokens":23,"of":23,"source":"`ralph task show t-000004`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"prerequisites","tokens":36,"of":36,"source":"`ralph task deps list t-000004`","items":["t-000002"]},{"name":"gates","tokens":34,"of":34,"items":["python33 -m compileall -q tally","python33 -m unittest -q"]}]',0,0,'');
INSERT INTO "sessions" VALUES('t-000005:1','t-000005',1,'20261116-165239-19043','agent-b15e2616','scripted','haiku','haiku','cost-optimized','/home/ada/tally','/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-4.log','2026-11-16T16:52:42.173831Z','2026-11-16T16:52:42.482408Z','settled','{"head":"f8d889ae3716ed0c520bc1fe01e63fa5d6bfcb47","branch":"main","tree":"","index":"","dirty":[]}','{"head":"f8d889ae3716ed0c520bc1fe01e63fa5d6bfcb47","branch":"main","tree":"554584622d95d739490a992539dc9407533588a4","index":"","dirty":["tally/reader.py"]}','{"ended":"killed","message":"","detail":"killed by signal 9","resets_at":null,"model":"haiku","cost_usd":null,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":5597,"tool_tokens":0}',NULL,NULL,'[]','[]',2.77918690000660717487e-01,'attempt 1: killed by signal 9','struck','[{"name":"task","tokens":33,"of":33,"source":"`ralph task show t-000005`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"prerequisites","tokens":36,"of":36,"source":"`ralph task deps list t-000005`","items":["t-000002"]},{"name":"gates","tokens":34,"of":34,"items":["python33 -m compileall -q tally","python33 -m unittest -q"]}]',0,0,'');
INSERT INTO "sessions" VALUES('t-000005:2','t-000005',2,'20261116-165239-19043','agent-b15e2616','scripted','opus','opus','cost-optimized','/home/ada/tally','/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-5.log','2026-11-16T16:52:42.745676Z','2026-11-16T16:52:43.070783Z','settled','{"head":"f8d889ae3716ed0c520bc1fe01e63fa5d6bfcb47","branch":"main","tree":"554584622d95d739490a992539dc9407533588a4","index":"","dirty":["tally/reader.py"]}','{"head":"3c9dde9f12597d4eb52c6954ca00ce8a66b6e4df","branch":"main","tree":"","index":"","dirty":[]}','{"ended":"finished","message":"<task-done>t-000005</task-done>","detail":"","resets_at":null,"model":"opus","cost_usd":0.05,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":5803,"tool_tokens":0}',NULL,NULL,'[{"name":"compile","passed":true,"code":0,"duration_s":0.047,"output":"","changed":[],"proves":true},{"name":"test","passed":true,"code":0,"duration_s":0.054,"output":"----------------------------------------------------------------------\nRan 7 tests in 0.001s\n\nOK","changed":[],"proves":true}]','["3c9dde9f12597d4eb52c6954ca00ce8a66b6e4df"]',2.97553648999382858164e-01,'attempt 2: accepted; all gates pass; verified','accepted','[{"name":"task","tokens":33,"of":33,"source":"`ralph task show t-000005`"},{"name":"retry","tokens":32,"of":32,"source":"`ralph logs t-000005`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"prerequisites","tokens":36,"of":36,"source":"`ralph task deps list t-000005`","items":["t-000002"]},{"name":"gates","tokens":34,"of":34,"items":["python33 -m compileall -q tally","python33 -m unittest -q"]},{"name":"handoff","tokens":164,"of":164,"source":"`MEMORY.md`"}]',0,0,'');
INSERT INTO "sessions" VALUES('t-000006:1','t-000006',1,'20261116-165239-19043','agent-b15e2616','scripted','opus','opus','cost-optimized','/home/ada/tally','/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-6.log','2026-11-16T16:52:43.321388Z','2026-11-16T16:52:43.646474Z','settled','{"head":"3c9dde9f12597d4eb52c6954ca00ce8a66b6e4df","branch":"main","tree":"","index":"","dirty":[]}','{"head":"ad952d7cbd13a114167a5bc728c98ca9d0ec8791","branch":"main","tree":"","index":"","dirty":[]}','{"ended":"finished","message":"All good, I am sure.\n<task-done>t-000006</task-done>","detail":"","resets_at":null,"model":"opus","cost_usd":0.05,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":5679,"tool_tokens":0}',NULL,NULL,'[{"name":"compile","passed":true,"code":0,"duration_s":0.039,"output":"","changed":[],"proves":true},{"name":"test","passed":false,"code":1,"duration_s":0.06,"output":"======================================================================\nFAIL: test_the_largest_comes_first_and_the_sum_last (tests.test_report.ReportTest.test_the_largest_comes_first_and_the_sum_last)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/home/ada/tally/tests/test_report.py\", line 9, in test_the_largest_comes_first_and_the_sum_last\n    self.assertEqual([line.split()[0] for line in lines], [\"rent\", \"food\", \"total\"])\nAssertionError: Lists differ: [''food'', ''rent'', ''total''] != [''rent'', ''food'', ''total'']\n\nFirst differing element 0:\n''food''\n''rent''\n\n- [''food'', ''rent'', ''total'']\n+ [''rent'', ''food'', ''total'']\n\n----------------------------------------------------------------------\nRan 8 tests in 0.002s\n\nFAILED (failures=1)","changed":[],"proves":true}]','["ad952d7cbd13a114167a5bc728c98ca9d0ec8791"]',2.95993028999873786233e-01,'attempt 1: gate test fails (exit 1)','rejected','[{"name":"task","tokens":32,"of":32,"source":"`ralph task show t-000006`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"prerequisites","tokens":67,"of":67,"source":"`ralph task deps list t-000006`","items":["t-000003","t-000004"]},{"name":"memories","tokens":49,"of":49,"items":["m-1"]},{"name":"gates","tokens":34,"of":34,"items":["python33 -m compileall -q tally","python33 -m unittest -q"]}]',0,0,'');
INSERT INTO "sessions" VALUES('t-000006:2','t-000006',2,'20261116-165239-19043','agent-b15e2616','scripted','opus','opus','cost-optimized','/home/ada/tally','/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-7.log','2026-11-16T16:52:43.784826Z','2026-11-16T16:52:44.222536Z','settled','{"head":"ad952d7cbd13a114167a5bc728c98ca9d0ec8791","branch":"main","tree":"","index":"","dirty":[]}','{"head":"4e01f22ca65f0926ed57701f3aacad56f9b626d3","branch":"main","tree":"","index":"","dirty":[]}','{"ended":"finished","message":"<task-done>t-000006</task-done>","detail":"","resets_at":null,"model":"opus","cost_usd":0.03,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":5955,"tool_tokens":24}',NULL,NULL,'[{"name":"compile","passed":true,"code":0,"duration_s":0.038,"output":"","changed":[],"proves":true},{"name":"test","passed":true,"code":0,"duration_s":0.056,"output":"----------------------------------------------------------------------\nRan 8 tests in 0.002s\n\nOK","changed":[],"proves":true}]','["4e01f22ca65f0926ed57701f3aacad56f9b626d3"]',4.1455534800115856342e-01,'attempt 2: accepted; all gates pass; verified','accepted','[{"name":"task","tokens":32,"of":32,"source":"`ralph task show t-000006`"},{"name":"retry","tokens":247,"of":247,"source":"`ralph logs t-000006`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"prerequisites","tokens":67,"of":67,"source":"`ralph task deps list t-000006`","items":["t-000003","t-000004"]},{"name":"memories","tokens":49,"of":49,"items":["m-1"]},{"name":"gates","tokens":34,"of":34,"items":["python33 -m compileall -q tally","python33 -m unittest -q"]}]',0,0,'');
INSERT INTO "sessions" VALUES('t-000007:1','t-000007',1,'20261116-165239-19043','agent-b15e2616','scripted','opus','opus','cost-optimized','/home/ada/tally','/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-8.log','2026-11-16T16:52:44.529824Z','2026-11-16T16:52:45.071382Z','settled','{"head":"4e01f22ca65f0926ed57701f3aacad56f9b626d3","branch":"main","tree":"","index":"","dirty":[]}','{"head":"0e99b2f6cb7612746b715f8235c0808285c05aa0","branch":"main","tree":"","index":"","dirty":[]}','{"ended":"finished","message":"<task-done>t-000007</task-done>","detail":"","resets_at":null,"model":"opus","cost_usd":0.04,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":5639,"tool_tokens":17}',NULL,NULL,'[{"name":"compile","passed":true,"code":0,"duration_s":0.04,"output":"","changed":[],"proves":true},{"name":"test","passed":true,"code":0,"duration_s":0.059,"output":"----------------------------------------------------------------------\nRan 8 tests in 0.002s\n\nOK","changed":[],"proves":true}]','["0e99b2f6cb7612746b715f8235c0808285c05aa0"]',5.11115629000414628535e-01,'attempt 1: accepted; all gates pass; verified','accepted','[{"name":"task","tokens":22,"of":22,"source":"`ralph task show t-000007`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"prerequisites","tokens":67,"of":67,"source":"`ralph task deps list t-000007`","items":["t-000005","t-000006"]},{"name":"gates","tokens":34,"of":34,"items":["python33 -m compileall -q tally","python33 -m unittest -q"]}]',0,0,'');
INSERT INTO "sessions" VALUES('t-000008:1','t-000008',1,'20261116-165239-19043','agent-b15e2616','scripted','opus','opus','cost-optimized','/home/ada/tally','/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-9.log','2026-11-16T16:52:45.369381Z','2026-11-16T16:52:45.878829Z','settled','{"head":"0e99b2f6cb7612746b715f8235c0808285c05aa0","branch":"main","tree":"","index":"","dirty":[]}','{"head":"f94dff5d212a34df710b44c2e18603bc690b30cd","branch":"main","tree":"","index":"","dirty":[]}','{"ended":"finished","message":"<task-done>t-000008</task-done>","detail":"","resets_at":null,"model":"opus","cost_usd":0.02,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":5594,"tool_tokens":0}',NULL,NULL,'[{"name":"compile","passed":true,"code":0,"duration_s":0.035,"output":"","changed":[],"proves":true},{"name":"test","passed":true,"code":0,"duration_s":0.056,"output":"----------------------------------------------------------------------\nRan 8 tests in 0.002s\n\nOK","changed":[],"proves":true}]','["f94dff5d212a34df710b44c2e18603bc690b30cd"]',4.8186674299904552754e-01,'attempt 1: accepted; all gates pass; verified','accepted','[{"name":"task","tokens":26,"of":26,"source":"`ralph task show t-000008`"},{"name":"parent","tokens":22,"of":22,"source":"`ralph task show t-000001`"},{"name":"prerequisites","tokens":36,"of":36,"source":"`ralph task deps list t-000008`","items":["t-000007"]},{"name":"gates","tokens":34,"of":34,"items":["python33 -m compileall -q tally","python33 -m unittest -q"]}]',0,0,'');
INSERT INTO "sessions" VALUES('t-000009:1','t-000009',1,'20261116-165239-19043','agent-b15e2616','scripted','haiku','haiku','cost-optimized','/home/ada/tally','/home/ada/tally/.ralph/runs/run-20261116-165239-19043-iter-10.log','2026-11-16T16:52:46.072615Z','2026-11-16T16:52:46.216214Z','settled','{"head":"f94dff5d212a34df710b44c2e18603bc690b30cd","branch":"main","tree":"","index":"","dirty":[]}','{"head":"f94dff5d212a34df710b44c2e18603bc690b30cd","branch":"main","tree":"","index":"","dirty":[]}','{"ended":"finished","message":"The README tells the truth.\n<task-done>t-000009</task-done>","detail":"","resets_at":null,"model":"haiku","cost_usd":0.01,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":5556,"tool_tokens":0}',NULL,NULL,'[{"name":"compile","passed":true,"code":0,"duration_s":0.038,"output":"","changed":[],"proves":true},{"name":"test","passed":true,"code":0,"duration_s":0.055,"output":"----------------------------------------------------------------------\nRan 8 tests in 0.001s\n\nOK","changed":[],"proves":true}]','[]',1.3413380400015739724e-01,'attempt 1: accepted; all gates pass; verified','accepted','[{"name":"task","tokens":29,"of":29,"source":"`ralph task show t-000009`"},{"name":"prerequisites","tokens":26,"of":26,"source":"`ralph task deps list t-000009`","items":["t-000001"]},{"name":"gates","tokens":34,"of":34,"items":["python33 -m compileall -q tally","python33 -m unittest -q"]}]',0,0,'');
CREATE TABLE stints (
    session_id TEXT NOT NULL, -- the session of the attempt
    number     INTEGER NOT NULL,
    data       TEXT NOT NULL, -- all of it, as JSON
    PRIMARY KEY (session_id, number)
) WITHOUT ROWID;
INSERT INTO "stints" VALUES('t-000002:1',1,'{"session_id":"t-000002:1","number":1,"task_id":"t-000002","run_id":"20261116-165239-19043","agent":"scripted","model":"","log":"","started_at":"","ended_at":"2026-11-16T16:52:41.000000Z","ending":{"ended":"finished","message":"","detail":"","resets_at":null,"model":"","cost_usd":0.25,"estimated":false,"input_tokens":null,"cached_tokens":null,"output_tokens":null,"turns":null,"denied":[],"context_tokens":null,"tool_tokens":null},"reason":"full","memory":"what is left","duration_s":0.0}');
CREATE TABLE task_files (
    task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    path    TEXT NOT NULL, -- from the top of the project
    PRIMARY KEY (task_id, path)
) WITHOUT ROWID;
INSERT INTO "task_files" VALUES('t-000002','tally/parse.py');
INSERT INTO "task_files" VALUES('t-000002','tests/test_parse.py');
INSERT INTO "task_files" VALUES('t-000003','tally/money.py');
INSERT INTO "task_files" VALUES('t-000003','tests/test_money.py');
INSERT INTO "task_files" VALUES('t-000004','tally/totals.py');
INSERT INTO "task_files" VALUES('t-000004','tests/test_totals.py');
INSERT INTO "task_files" VALUES('t-000005','tally/reader.py');
INSERT INTO "task_files" VALUES('t-000005','tests/test_reader.py');
INSERT INTO "task_files" VALUES('t-000006','tally/report.py');
INSERT INTO "task_files" VALUES('t-000006','tests/test_report.py');
INSERT INTO "task_files" VALUES('t-000007','sample.ledger');
INSERT INTO "task_files" VALUES('t-000007','tally/__main__.py');
INSERT INTO "task_files" VALUES('t-000008','README.md');
CREATE TABLE task_logs (
    id        INTEGER PRIMARY KEY,
    task_id   TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    message   TEXT NOT NULL,
    timestamp TEXT NOT NULL
);
INSERT INTO "task_logs" VALUES(1,'t-000002','parse() returns Entry(date, category, cents)','2026-11-16T16:52:40.987106Z');
INSERT INTO "task_logs" VALUES(2,'t-000003','attempt 1: accepted; all gates pass; verified','2026-11-16T16:52:41.562997Z');
INSERT INTO "task_logs" VALUES(3,'t-000004','attempt 1: accepted; all gates pass; verified','2026-11-16T16:52:42.169993Z');
INSERT INTO "task_logs" VALUES(4,'t-000005','attempt 1: killed by signal 9','2026-11-16T16:52:42.487900Z');
INSERT INTO "task_logs" VALUES(5,'t-000005','attempt 2: accepted; all gates pass; verified','2026-11-16T16:52:43.315688Z');
INSERT INTO "task_logs" VALUES(6,'t-000006','attempt 1: gate test fails (exit 1)','2026-11-16T16:52:43.780018Z');
INSERT INTO "task_logs" VALUES(7,'t-000006','attempt 2: accepted; all gates pass; verified','2026-11-16T16:52:44.526194Z');
INSERT INTO "task_logs" VALUES(8,'t-000007','attempt 1: accepted; all gates pass; verified','2026-11-16T16:52:45.364801Z');
INSERT INTO "task_logs" VALUES(9,'t-000008','attempt 1: accepted; all gates pass; verified','2026-11-16T16:52:46.068784Z');
INSERT INTO "task_logs" VALUES(10,'t-000009','attempt 1: accepted; all gates pass; verified','2026-11-16T16:52:46.390018Z');
INSERT INTO "task_logs" VALUES(11,'t-5167a9','months begin with 1','2026-11-16T16:53:29.496771Z');
CREATE TABLE tasks (
    id                  TEXT PRIMARY KEY NOT NULL,
    parent_id           TEXT REFERENCES tasks (id),
    title               TEXT NOT NULL,
    description         TEXT NOT NULL DEFAULT '',
    status              TEXT NOT NULL DEFAULT 'pending'
                        CHECK (status IN ('pending', 'in_progress', 'done', 'blocked', 'failed')),
    priority            INTEGER NOT NULL DEFAULT 0,
    created_at          TEXT NOT NULL,
    updated_at          TEXT NOT NULL,
    claimed_by          TEXT,
    feature_id          TEXT REFERENCES features (id),
    task_type           TEXT NOT NULL DEFAULT 'standalone'
                        CHECK (task_type IN ('feature', 'standalone')),
    retry_count         INTEGER NOT NULL DEFAULT 0,
    max_retries         INTEGER NOT NULL DEFAULT 3,
    verification_status TEXT
                        CHECK (verification_status IN ('pending', 'passed', 'failed')),
    review              TEXT CHECK (review IN ('open', 'passed', 'failed')),
    strikes             INTEGER NOT NULL DEFAULT 0,
    attempt             INTEGER NOT NULL DEFAULT 0, -- numbers claims and only grows
    alias               TEXT,
    needs_change        INTEGER NOT NULL DEFAULT 1,
    reason              TEXT,
    -- Readiness is kept, not computed; `ralph doctor` recounts all of these.
    unmet               INTEGER NOT NULL DEFAULT 0, -- blockers that are not done
    children            INTEGER NOT NULL DEFAULT 0,
    open_children       INTEGER NOT NULL DEFAULT 0, -- children that are not done
    failed_children     INTEGER NOT NULL DEFAULT 0,
    held                INTEGER NOT NULL DEFAULT 0, -- 1: something above it waits, is blocked or failed
    chain               INTEGER NOT NULL DEFAULT 1, -- tasks on the longest chain that starts here
    base                TEXT                        -- the checkout at the first claim, as JSON
);
INSERT INTO "tasks" VALUES('t-000001',NULL,'Build tally','A small library and command that add up a ledger.','done',0,'2026-11-16T16:52:39.850295Z','2026-11-16T16:52:46.068784Z',NULL,NULL,'standalone',0,3,NULL,NULL,0,0,NULL,1,NULL,0,7,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-000002','t-000001','Parse a line','parse(line) returns date, category and amount in cents; anything else raises ValueError.','done',1,'2026-11-16T16:52:39.850296Z','2026-11-16T16:52:40.987106Z',NULL,NULL,'standalone',0,3,'passed',NULL,0,1,NULL,1,NULL,0,0,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-000003','t-000001','Format money','money(1234) is "12.34"; negative amounts keep their sign.','done',1,'2026-11-16T16:52:39.850297Z','2026-11-16T16:52:41.562997Z',NULL,NULL,'standalone',0,3,'passed',NULL,0,1,NULL,1,NULL,0,0,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-000004','t-000001','Add up by category','totals(entries) returns cents by category.','done',2,'2026-11-16T16:52:39.850298Z','2026-11-16T16:52:42.169993Z',NULL,NULL,'standalone',0,3,'passed',NULL,0,1,NULL,1,NULL,0,0,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-000005','t-000001','Read a file','read(path) yields entries and skips blank lines; a bad line is reported with its number.','done',2,'2026-11-16T16:52:39.850299Z','2026-11-16T16:52:43.315688Z',NULL,NULL,'standalone',0,3,'passed',NULL,0,2,NULL,1,NULL,0,0,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-000006','t-000001','Write the report','report(totals) is one aligned line per category, largest first, then the sum.','done',3,'2026-11-16T16:52:39.850300Z','2026-11-16T16:52:44.526194Z',NULL,NULL,'standalone',1,3,'passed',NULL,0,2,NULL,1,NULL,0,0,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-000007','t-000001','Add the command','python -m tally FILE prints the report.','done',4,'2026-11-16T16:52:39.850301Z','2026-11-16T16:52:45.364801Z',NULL,NULL,'standalone',0,3,'passed',NULL,0,1,NULL,1,NULL,0,0,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-000008','t-000001','Show it in the README','A sample ledger and what the command prints for it.','done',5,'2026-11-16T16:52:39.850302Z','2026-11-16T16:52:46.068784Z',NULL,NULL,'standalone',0,3,'passed',NULL,0,1,NULL,1,NULL,0,0,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-000009',NULL,'Check that the README is true','Run the example of the README. Nothing needs to change.','done',6,'2026-11-16T16:52:39.850303Z','2026-11-16T16:52:46.390018Z',NULL,NULL,'standalone',0,3,'passed',NULL,0,1,NULL,0,NULL,0,0,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-d76b4c',NULL,'Report by month','a parent','pending',0,'2026-11-16T16:53:02.600811Z','2026-11-16T16:53:02.600811Z',NULL,NULL,'standalone',0,3,NULL,NULL,0,0,NULL,1,NULL,0,2,2,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-5167a9','t-d76b4c','Months in the parser','','pending',0,'2026-11-16T16:53:02.675228Z','2026-11-16T16:53:02.675228Z',NULL,NULL,'standalone',0,3,NULL,NULL,0,0,NULL,1,NULL,0,0,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-902166','t-d76b4c','Print the months','','pending',0,'2026-11-16T16:53:02.795815Z','2026-11-16T16:53:02.795815Z',NULL,NULL,'standalone',0,3,NULL,NULL,0,0,NULL,1,NULL,1,0,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-80562d',NULL,'Needs a key','','blocked',0,'2026-11-16T16:53:02.943107Z','2026-11-16T16:53:03.078726Z',NULL,NULL,'standalone',0,3,NULL,NULL,0,0,NULL,1,'blocked by a person',0,0,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-851d57',NULL,'Given up','','failed',0,'2026-11-16T16:53:03.145795Z','2026-11-16T16:53:03.219260Z',NULL,NULL,'standalone',0,3,NULL,NULL,0,1,NULL,1,'failed by a person',0,0,0,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-story',NULL,'A story','','pending',0,'2026-11-16T16:53:29.498324Z','2026-11-16T16:53:29.498324Z',NULL,'f-91c6bd','feature',0,3,NULL,NULL,0,0,'US-001',1,NULL,0,1,1,0,0,1,NULL);
INSERT INTO "tasks" VALUES('t-ff9df8','t-story','Its first step','','pending',0,'2026-11-16T16:53:29.498325Z','2026-11-16T16:53:29.498325Z',NULL,'f-91c6bd','feature',0,3,NULL,NULL,0,0,NULL,1,NULL,0,0,0,0,0,1,NULL);
CREATE TABLE workers (
    id            TEXT PRIMARY KEY NOT NULL,
    run_id        TEXT NOT NULL,
    seat          TEXT NOT NULL DEFAULT '', -- teammate-1, …; empty: it started the run
    host          TEXT NOT NULL,
    boot_id       TEXT NOT NULL,
    pid_namespace TEXT NOT NULL,
    pid           INTEGER NOT NULL,
    pid_start     TEXT NOT NULL,
    heartbeat_at  TEXT NOT NULL, -- its last sign of life
    lease_s       REAL NOT NULL  -- how long that is good for
);
INSERT INTO "workers" VALUES('agent-b15e2616','20261116-165239-19043','','ada-laptop/0123456789abcdef','01234567-89ab-cdef-0123-456789abcdef','pid:[4026531836]',19043,'1179112','2026-11-16T16:52:46.071203Z',60.0);
CREATE INDEX tasks_ready ON tasks (priority, created_at, id)
    WHERE status = 'pending' AND unmet = 0 AND children = 0 AND held = 0;
CREATE INDEX tasks_ready_feature ON tasks (feature_id, priority, created_at, id)
    WHERE status = 'pending' AND unmet = 0 AND children = 0 AND held = 0
        AND feature_id IS NOT NULL;
CREATE INDEX tasks_ready_chain ON tasks (chain DESC, priority, created_at, id)
    WHERE status = 'pending' AND unmet = 0 AND children = 0 AND held = 0;
CREATE INDEX tasks_ready_feature_chain ON tasks (feature_id, chain DESC, priority, created_at, id)
    WHERE status = 'pending' AND unmet = 0 AND children = 0 AND held = 0
        AND feature_id IS NOT NULL;
CREATE INDEX tasks_status ON tasks (status, feature_id);
CREATE INDEX tasks_parent ON tasks (parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX tasks_top ON tasks (feature_id, status)
    WHERE parent_id IS NULL AND feature_id IS NOT NULL;
CREATE INDEX tasks_doubtful ON tasks (id) WHERE status = 'pending' AND failed_children > 0;
CREATE INDEX tasks_begun ON tasks (id) WHERE base IS NOT NULL;
CREATE UNIQUE INDEX tasks_alias ON tasks (alias, ifnull(feature_id, '')) WHERE alias IS NOT NULL;
CREATE INDEX dependencies_blocked ON dependencies (blocked_id, blocker_id);
CREATE INDEX task_logs_task ON task_logs (task_id);
CREATE INDEX runs_live ON runs (started_at) WHERE ended_at IS NULL;
CREATE INDEX workers_run ON workers (run_id);
CREATE INDEX sessions_task ON sessions (task_id);
CREATE INDEX sessions_run ON sessions (run_id);
CREATE INDEX sessions_limited ON sessions (agent, resets_at) WHERE resets_at IS NOT NULL;
CREATE INDEX checks_limited ON checks (agent, resets_at) WHERE resets_at IS NOT NULL;
CREATE INDEX costs_task ON costs (task_id);
CREATE INDEX costs_late ON costs (ended_at);
CREATE INDEX memories_task ON memories (task_id);
CREATE UNIQUE INDEX memories_once ON memories (digest);
CREATE INDEX memories_sort ON memories (kind = 'knowledge', id);
CREATE INDEX archive_root ON archive (root_id);
CREATE INDEX archive_feature ON archive (feature_id);
CREATE INDEX events_team ON events (run_id, event)
WHERE event IN ('work_merged', 'task_conflicted', 'worker_left');
CREATE INDEX guidance_task ON guidance (task_id);
CREATE INDEX controls_waiting ON controls (run_id) WHERE taken_at IS NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('memories',2);
INSERT INTO "sqlite_sequence" VALUES('guidance',1);
INSERT INTO "sqlite_sequence" VALUES('controls',1);
CREATE VIRTUAL TABLE memory_words USING fts5 (title, tags, text, tokenize = 'porter unicode61');
INSERT INTO memory_words (rowid, title, tags, text) VALUES (1, 'Parse a line', '', 'parse() returns Entry(date, category, cents)');
INSERT INTO memory_words (rowid, title, tags, text) VALUES (2, 'Write the report', '', 'gate test fails (exit 1)
======================================================================
FAIL: test_the_largest_comes_first_and_the_sum_last (tests.test_report.ReportTest.test_the_largest_comes_first_and_the_sum_last)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/ada/tally/tests/test_report.py", line 9, in test_the_largest_comes_first_and_the_sum_last
    self.assertEqual([line.split()[0] for line in lines], ["rent", "food", "total"])
AssertionError: Lists differ: [''food'', ''rent'', ''total''] != [''rent'', ''food'', ''total'']

First differing element 0:
''food''
''rent''

- [''food'', ''rent'', ''total'']
+ [''rent'', ''food'', ''total'']

----------------------------------------------------------------------
Ran 8 tests in 0.002s

FAILED (failures=1)');
COMMIT;
PRAGMA user_version = 1;
