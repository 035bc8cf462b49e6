-- Two experiments as MLflow 3.17.2 writes them; the tables that are read.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE IF NOT EXISTS "runs" (
	run_uuid VARCHAR(32) NOT NULL, 
	name VARCHAR(250), 
	source_type VARCHAR(20), 
	source_name VARCHAR(500), 
	entry_point_name VARCHAR(50), 
	user_id VARCHAR(256), 
	status VARCHAR(9), 
	start_time BIGINT, 
	end_time BIGINT, 
	source_version VARCHAR(50), 
	lifecycle_stage VARCHAR(20), 
	artifact_uri VARCHAR(200), 
	experiment_id INTEGER, deleted_time BIGINT, 
	CONSTRAINT run_pk PRIMARY KEY (run_uuid), 
	CONSTRAINT runs_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	CONSTRAINT source_type CHECK (source_type IN ('NOTEBOOK', 'JOB', 'LOCAL', 'UNKNOWN', 'PROJECT')), 
	FOREIGN KEY(experiment_id) REFERENCES experiments (experiment_id), 
	CHECK (status IN ('SCHEDULED', 'FAILED', 'FINISHED', 'RUNNING', 'KILLED'))
);
INSERT INTO runs VALUES('fc49f300acb843869f60cb27c8726da7','base','UNKNOWN','','','unknown','FINISHED',1700000000000,1700000010000,'','active','/home/me/mlruns/1/fc49f300acb843869f60cb27c8726da7/artifacts',1,NULL);
INSERT INTO runs VALUES('8ff4823e6d8748e5b1ce144e8aa39cd7','slow','UNKNOWN','','','unknown','FAILED',1700000000000,1700000010000,'','active','/home/me/mlruns/1/8ff4823e6d8748e5b1ce144e8aa39cd7/artifacts',1,NULL);
INSERT INTO runs VALUES('70888627bb3841a98d97061e99461a91','gone','UNKNOWN','','','unknown','RUNNING',1795929690795,NULL,'','deleted','/home/me/mlruns/1/70888627bb3841a98d97061e99461a91/artifacts',1,1795929690837);
INSERT INTO runs VALUES('3a954199f8e3443ca982bc6af178a551','base','UNKNOWN','','','unknown','RUNNING',1700000000005,NULL,'','active','/home/me/mlruns/2/3a954199f8e3443ca982bc6af178a551/artifacts',2,NULL);
CREATE TABLE IF NOT EXISTS "metrics" (
	"key" VARCHAR(250) NOT NULL, 
	value FLOAT NOT NULL, 
	timestamp BIGINT NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	step BIGINT DEFAULT '0' NOT NULL, 
	is_nan BOOLEAN DEFAULT '0' NOT NULL, 
	CONSTRAINT metric_pk PRIMARY KEY ("key", timestamp, step, run_uuid, value, is_nan), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid), 
	CHECK (is_nan IN (0, 1))
);
INSERT INTO metrics VALUES('loss',1.875,1700000001000,'fc49f300acb843869f60cb27c8726da7',1,0);
INSERT INTO metrics VALUES('loss',1.75,1700000002000,'fc49f300acb843869f60cb27c8726da7',2,0);
INSERT INTO metrics VALUES('loss',1.625,1700000003000,'fc49f300acb843869f60cb27c8726da7',3,0);
INSERT INTO metrics VALUES('loss',1.5,1700000004000,'fc49f300acb843869f60cb27c8726da7',4,0);
INSERT INTO metrics VALUES('val/loss',2.0,1700000002000,'fc49f300acb843869f60cb27c8726da7',2,0);
INSERT INTO metrics VALUES('val/loss',1.5,1700000004000,'fc49f300acb843869f60cb27c8726da7',4,0);
INSERT INTO metrics VALUES('score',0.0,1700086400000,'fc49f300acb843869f60cb27c8726da7',4,1);
INSERT INTO metrics VALUES('peak',1.7976931348623156223e+308,1700000001000,'fc49f300acb843869f60cb27c8726da7',1,0);
INSERT INTO metrics VALUES('system/cpu',0.0,1700000000000,'fc49f300acb843869f60cb27c8726da7',0,0);
INSERT INTO metrics VALUES('system/cpu',1.0,1700000000001,'fc49f300acb843869f60cb27c8726da7',1,0);
INSERT INTO metrics VALUES('system/cpu',2.0,1700000000002,'fc49f300acb843869f60cb27c8726da7',2,0);
INSERT INTO metrics VALUES('system/cpu',3.0,1700000000003,'fc49f300acb843869f60cb27c8726da7',3,0);
INSERT INTO metrics VALUES('system/cpu',4.0,1700000000004,'fc49f300acb843869f60cb27c8726da7',4,0);
INSERT INTO metrics VALUES('system/cpu',5.0,1700000000005,'fc49f300acb843869f60cb27c8726da7',5,0);
INSERT INTO metrics VALUES('loss',1.875,1700000001100,'8ff4823e6d8748e5b1ce144e8aa39cd7',1,0);
INSERT INTO metrics VALUES('loss',1.75,1700000002200,'8ff4823e6d8748e5b1ce144e8aa39cd7',2,0);
INSERT INTO metrics VALUES('loss',1.625,1700000003300,'8ff4823e6d8748e5b1ce144e8aa39cd7',3,0);
INSERT INTO metrics VALUES('loss',1.5,1700000004400,'8ff4823e6d8748e5b1ce144e8aa39cd7',4,0);
INSERT INTO metrics VALUES('val/loss',2.0,1700000002200,'8ff4823e6d8748e5b1ce144e8aa39cd7',2,0);
INSERT INTO metrics VALUES('val/loss',1.5,1700000004400,'8ff4823e6d8748e5b1ce144e8aa39cd7',4,0);
INSERT INTO metrics VALUES('score',0.0,1700086400000,'8ff4823e6d8748e5b1ce144e8aa39cd7',4,1);
INSERT INTO metrics VALUES('peak',1.7976931348623156223e+308,1700000001000,'8ff4823e6d8748e5b1ce144e8aa39cd7',1,0);
INSERT INTO metrics VALUES('system/cpu',0.0,1700000000000,'8ff4823e6d8748e5b1ce144e8aa39cd7',0,0);
INSERT INTO metrics VALUES('system/cpu',1.0,1700000000001,'8ff4823e6d8748e5b1ce144e8aa39cd7',1,0);
INSERT INTO metrics VALUES('system/cpu',2.0,1700000000002,'8ff4823e6d8748e5b1ce144e8aa39cd7',2,0);
INSERT INTO metrics VALUES('system/cpu',3.0,1700000000003,'8ff4823e6d8748e5b1ce144e8aa39cd7',3,0);
INSERT INTO metrics VALUES('system/cpu',4.0,1700000000004,'8ff4823e6d8748e5b1ce144e8aa39cd7',4,0);
INSERT INTO metrics VALUES('system/cpu',5.0,1700000000005,'8ff4823e6d8748e5b1ce144e8aa39cd7',5,0);
INSERT INTO metrics VALUES('loss',1.0,1700000000000,'3a954199f8e3443ca982bc6af178a551',0,0);
CREATE TABLE IF NOT EXISTS "params" (
	"key" VARCHAR(250) NOT NULL, 
	value VARCHAR(8000) NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT param_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid)
);
INSERT INTO params VALUES('lr','0.1','fc49f300acb843869f60cb27c8726da7');
INSERT INTO params VALUES('seed','14','fc49f300acb843869f60cb27c8726da7');
INSERT INTO params VALUES('out_dir','/home/me/out','fc49f300acb843869f60cb27c8726da7');
INSERT INTO params VALUES('lr','0.1','8ff4823e6d8748e5b1ce144e8aa39cd7');
INSERT INTO params VALUES('seed','15','8ff4823e6d8748e5b1ce144e8aa39cd7');
INSERT INTO params VALUES('out_dir','/home/me/out','8ff4823e6d8748e5b1ce144e8aa39cd7');
CREATE TABLE IF NOT EXISTS "tags" (
	"key" VARCHAR(250) NOT NULL, 
	value VARCHAR(8000), 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT tag_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid)
);
INSERT INTO tags VALUES('mlflow.runName','base','fc49f300acb843869f60cb27c8726da7');
INSERT INTO tags VALUES('mlflow.source.git.commit','0123456789abcdef0123456789abcdef01234567','fc49f300acb843869f60cb27c8726da7');
INSERT INTO tags VALUES('mlflow.runName','slow','8ff4823e6d8748e5b1ce144e8aa39cd7');
INSERT INTO tags VALUES('mlflow.source.git.commit','0123456789abcdef0123456789abcdef01234567','8ff4823e6d8748e5b1ce144e8aa39cd7');
INSERT INTO tags VALUES('mlflow.runName','gone','70888627bb3841a98d97061e99461a91');
INSERT INTO tags VALUES('mlflow.runName','base','3a954199f8e3443ca982bc6af178a551');
CREATE TABLE IF NOT EXISTS "experiments" (
	experiment_id INTEGER NOT NULL, 
	name VARCHAR(256) NOT NULL, 
	artifact_location VARCHAR(256), 
	lifecycle_stage VARCHAR(32), 
	creation_time BIGINT, 
	last_update_time BIGINT, 
	workspace VARCHAR(63) DEFAULT 'default' NOT NULL, 
	CONSTRAINT experiment_pk PRIMARY KEY (experiment_id), 
	CONSTRAINT experiments_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	CONSTRAINT uq_experiments_workspace_name UNIQUE (workspace, name)
);
INSERT INTO experiments VALUES(0,'Default','/home/me/mlruns/0','active',1795929690370,1795929690370,'default');
INSERT INTO experiments VALUES(1,'textgen','/home/me/mlruns/1','active',1795929690404,1795929690404,'default');
INSERT INTO experiments VALUES(2,'other','/home/me/mlruns/2','active',1795929690868,1795929690868,'default');
COMMIT;
