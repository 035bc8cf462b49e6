-- Likewise by MLflow 2.22.2.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE experiments (
	experiment_id INTEGER NOT NULL, 
	name VARCHAR(256) NOT NULL, 
	artifact_location VARCHAR(256), 
	lifecycle_stage VARCHAR(32), creation_time BIGINT, last_update_time BIGINT, 
	CONSTRAINT experiment_pk PRIMARY KEY (experiment_id), 
	CONSTRAINT experiments_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	UNIQUE (name)
);
INSERT INTO experiments VALUES(0,'Default','/home/me/mlruns/0','active',1795929703978,1795929703978);
INSERT INTO experiments VALUES(1,'textgen','/home/me/mlruns/1','active',1795929704016,1795929704016);
INSERT INTO experiments VALUES(2,'other','/home/me/mlruns/2','active',1795929704572,1795929704572);
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
	CONSTRAINT source_type CHECK (source_type IN ('NOTEBOOK', 'JOB', 'LOCAL', 'UNKNOWN', 'PROJECT')), 
	CONSTRAINT runs_lifecycle_stage CHECK (lifecycle_stage IN ('active', 'deleted')), 
	FOREIGN KEY(experiment_id) REFERENCES experiments (experiment_id), 
	CHECK (status IN ('SCHEDULED', 'FAILED', 'FINISHED', 'RUNNING', 'KILLED'))
);
INSERT INTO runs VALUES('cde39fbd9f204d9fba6d70013d07e718','base','UNKNOWN','','','unknown','FINISHED',1700000000000,1700000010000,'','active','/home/me/mlruns/1/cde39fbd9f204d9fba6d70013d07e718/artifacts',1,NULL);
INSERT INTO runs VALUES('101b347c0d7c4b5eb0c469fe361dcd12','slow','UNKNOWN','','','unknown','FAILED',1700000000000,1700000010000,'','active','/home/me/mlruns/1/101b347c0d7c4b5eb0c469fe361dcd12/artifacts',1,NULL);
INSERT INTO runs VALUES('7b3665878abc4752be872f811efbc4d4','gone','UNKNOWN','','','unknown','RUNNING',1795929704495,NULL,'','deleted','/home/me/mlruns/1/7b3665878abc4752be872f811efbc4d4/artifacts',1,1795929704541);
INSERT INTO runs VALUES('56a15ccae6374b4aaa924b32e280a247','base','UNKNOWN','','','unknown','RUNNING',1700000000005,NULL,'','active','/home/me/mlruns/2/56a15ccae6374b4aaa924b32e280a247/artifacts',2,NULL);
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
INSERT INTO metrics VALUES('loss',1.875,1700000001000,'cde39fbd9f204d9fba6d70013d07e718',1,0);
INSERT INTO metrics VALUES('loss',1.75,1700000002000,'cde39fbd9f204d9fba6d70013d07e718',2,0);
INSERT INTO metrics VALUES('loss',1.625,1700000003000,'cde39fbd9f204d9fba6d70013d07e718',3,0);
INSERT INTO metrics VALUES('loss',1.5,1700000004000,'cde39fbd9f204d9fba6d70013d07e718',4,0);
INSERT INTO metrics VALUES('val/loss',2.0,1700000002000,'cde39fbd9f204d9fba6d70013d07e718',2,0);
INSERT INTO metrics VALUES('val/loss',1.5,1700000004000,'cde39fbd9f204d9fba6d70013d07e718',4,0);
INSERT INTO metrics VALUES('score',0.0,1700086400000,'cde39fbd9f204d9fba6d70013d07e718',4,1);
INSERT INTO metrics VALUES('peak',1.7976931348623156223e+308,1700000001000,'cde39fbd9f204d9fba6d70013d07e718',1,0);
INSERT INTO metrics VALUES('system/cpu',0.0,1700000000000,'cde39fbd9f204d9fba6d70013d07e718',0,0);
INSERT INTO metrics VALUES('system/cpu',1.0,1700000000001,'cde39fbd9f204d9fba6d70013d07e718',1,0);
INSERT INTO metrics VALUES('system/cpu',2.0,1700000000002,'cde39fbd9f204d9fba6d70013d07e718',2,0);
INSERT INTO metrics VALUES('system/cpu',3.0,1700000000003,'cde39fbd9f204d9fba6d70013d07e718',3,0);
INSERT INTO metrics VALUES('system/cpu',4.0,1700000000004,'cde39fbd9f204d9fba6d70013d07e718',4,0);
INSERT INTO metrics VALUES('system/cpu',5.0,1700000000005,'cde39fbd9f204d9fba6d70013d07e718',5,0);
INSERT INTO metrics VALUES('loss',1.875,1700000001100,'101b347c0d7c4b5eb0c469fe361dcd12',1,0);
INSERT INTO metrics VALUES('loss',1.75,1700000002200,'101b347c0d7c4b5eb0c469fe361dcd12',2,0);
INSERT INTO metrics VALUES('loss',1.625,1700000003300,'101b347c0d7c4b5eb0c469fe361dcd12',3,0);
INSERT INTO metrics VALUES('loss',1.5,1700000004400,'101b347c0d7c4b5eb0c469fe361dcd12',4,0);
INSERT INTO metrics VALUES('val/loss',2.0,1700000002200,'101b347c0d7c4b5eb0c469fe361dcd12',2,0);
INSERT INTO metrics VALUES('val/loss',1.5,1700000004400,'101b347c0d7c4b5eb0c469fe361dcd12',4,0);
INSERT INTO metrics VALUES('score',0.0,1700086400000,'101b347c0d7c4b5eb0c469fe361dcd12',4,1);
INSERT INTO metrics VALUES('peak',1.7976931348623156223e+308,1700000001000,'101b347c0d7c4b5eb0c469fe361dcd12',1,0);
INSERT INTO metrics VALUES('system/cpu',0.0,1700000000000,'101b347c0d7c4b5eb0c469fe361dcd12',0,0);
INSERT INTO metrics VALUES('system/cpu',1.0,1700000000001,'101b347c0d7c4b5eb0c469fe361dcd12',1,0);
INSERT INTO metrics VALUES('system/cpu',2.0,1700000000002,'101b347c0d7c4b5eb0c469fe361dcd12',2,0);
INSERT INTO metrics VALUES('system/cpu',3.0,1700000000003,'101b347c0d7c4b5eb0c469fe361dcd12',3,0);
INSERT INTO metrics VALUES('system/cpu',4.0,1700000000004,'101b347c0d7c4b5eb0c469fe361dcd12',4,0);
INSERT INTO metrics VALUES('system/cpu',5.0,1700000000005,'101b347c0d7c4b5eb0c469fe361dcd12',5,0);
INSERT INTO metrics VALUES('loss',1.0,1700000000000,'56a15ccae6374b4aaa924b32e280a247',0,0);
CREATE TABLE IF NOT EXISTS "params" (
	"key" VARCHAR(250) NOT NULL, 
	value VARCHAR(8000) NOT NULL, 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT param_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid)
);
INSERT INTO params VALUES('lr','0.1','cde39fbd9f204d9fba6d70013d07e718');
INSERT INTO params VALUES('seed','14','cde39fbd9f204d9fba6d70013d07e718');
INSERT INTO params VALUES('out_dir','/home/me/out','cde39fbd9f204d9fba6d70013d07e718');
INSERT INTO params VALUES('lr','0.1','101b347c0d7c4b5eb0c469fe361dcd12');
INSERT INTO params VALUES('seed','15','101b347c0d7c4b5eb0c469fe361dcd12');
INSERT INTO params VALUES('out_dir','/home/me/out','101b347c0d7c4b5eb0c469fe361dcd12');
CREATE TABLE IF NOT EXISTS "tags" (
	"key" VARCHAR(250) NOT NULL, 
	value VARCHAR(8000), 
	run_uuid VARCHAR(32) NOT NULL, 
	CONSTRAINT tag_pk PRIMARY KEY ("key", run_uuid), 
	FOREIGN KEY(run_uuid) REFERENCES runs (run_uuid)
);
INSERT INTO tags VALUES('mlflow.runName','base','cde39fbd9f204d9fba6d70013d07e718');
INSERT INTO tags VALUES('mlflow.source.git.commit','0123456789abcdef0123456789abcdef01234567','cde39fbd9f204d9fba6d70013d07e718');
INSERT INTO tags VALUES('mlflow.runName','slow','101b347c0d7c4b5eb0c469fe361dcd12');
INSERT INTO tags VALUES('mlflow.source.git.commit','0123456789abcdef0123456789abcdef01234567','101b347c0d7c4b5eb0c469fe361dcd12');
INSERT INTO tags VALUES('mlflow.runName','gone','7b3665878abc4752be872f811efbc4d4');
INSERT INTO tags VALUES('mlflow.runName','base','56a15ccae6374b4aaa924b32e280a247');
COMMIT;
