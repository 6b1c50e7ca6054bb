-- Two plays by the development version of 2026-11-22, revision 9c68ac5, shortened.
BEGIN TRANSACTION;
CREATE TABLE tokumei_documents (
	hash VARCHAR(64) NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (hash)
);
INSERT INTO "tokumei_documents" VALUES('608dc9486adea2835f5308573f497db3d19b2fe5394fabc35654a1c7faaf84f7','{}');
INSERT INTO "tokumei_documents" VALUES('5c124568f25bdf996b660bb05550f121a669ae29c5637b1fa8d6ccef1ae08c20','{}');
INSERT INTO "tokumei_documents" VALUES('cc43b77f6ab23cde4692b5fa7721acb2b138b5391351aa2eb7f2fc147fafe71a','{}');
INSERT INTO "tokumei_documents" VALUES('331c37aed0b365dd63fef0793c5db1e938acc2c33531e8931be54e139ea8d13c','{}');
INSERT INTO "tokumei_documents" VALUES('bb783e58cb8557f02d27f54a99f00cc60b9b9cafb5080a1ed9540345b3db0295','{}');
INSERT INTO "tokumei_documents" VALUES('eec1f4c31a4791e7323c5a34e2717a87280214d685526e31e5477ed2116be875','{}');
INSERT INTO "tokumei_documents" VALUES('f477b566fde66d5a95b106e2a2854c656d3d1b0c80462b59fb8c5eb0915687b5','{}');
INSERT INTO "tokumei_documents" VALUES('57fa7fedf6d20a81abfa204fdce6733c8e3b7fc2b263e60d4bb5d41237294656','{}');
INSERT INTO "tokumei_documents" VALUES('d8d7ededf8b4146e2a6b36ebeb35d29da26d4a52719c7e6aa7bf05ffe8f39fa6','{}');
INSERT INTO "tokumei_documents" VALUES('dae0fe7218f22ca128f8e450aa765188d5a8e9420969e84a5de114fee98fc749','{}');
INSERT INTO "tokumei_documents" VALUES('c493b6cfe524c8a741adcdcf7501fcb78c86327d6016a5b896acd1fb6daaa19e','{}');
CREATE TABLE tokumei_plans (
	"plan" VARCHAR(64) NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	PRIMARY KEY ("plan", "key")
);
INSERT INTO "tokumei_plans" VALUES('fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854','087619585f4db63d1f1c6f5236e79beb6ff7c6c4b6db0e97ad4906a45cd009f9');
INSERT INTO "tokumei_plans" VALUES('fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854','186c47010f8427b9155fc73c601fcaa2b289a1db5f3479a2c60a0b5dbcca495d');
INSERT INTO "tokumei_plans" VALUES('fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854','2fed32b32a1471aa45f7bb6d3aa8cbd7147b414c0809ee4d80a6bb531adf12e3');
INSERT INTO "tokumei_plans" VALUES('fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854','38a80d1f2a9f149e40f3c3fd9582b2d2275978ae11b47fbc5211bd3cb8cc8d3d');
INSERT INTO "tokumei_plans" VALUES('fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854','4e1d07df3a719972eaa6a4a6c686d2e7041772677e76580d6300ac4b89225f03');
INSERT INTO "tokumei_plans" VALUES('fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854','52773b8c1b674d9ce33af7af85f08797eef9bd4f059105565fefeaac8a91d305');
INSERT INTO "tokumei_plans" VALUES('fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854','71a7f5ee3cbc00348af5178acf5dbce85bc8932e111e0f475c74e7866c2f838b');
INSERT INTO "tokumei_plans" VALUES('fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854','74afcff75820a51c252947822f812f8a7058c57b27afdb729dc502e2779f146a');
INSERT INTO "tokumei_plans" VALUES('fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854','bc7f35faf07b55f9eef8d0b887c07e4b57c6a8ad600ad5150326fca101c57f6d');
INSERT INTO "tokumei_plans" VALUES('fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854','c3b96a09d0bd27abe0f382570b58059a6fc9dc22144c0820960dd263d957675d');
INSERT INTO "tokumei_plans" VALUES('fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854','dea39002ca92427b454692e2ddcb61be67146a3da9d27430eca5b17b9fcd59f2');
INSERT INTO "tokumei_plans" VALUES('fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854','f001968c4f641f82ce293e0553eeda06d4fcac51cf8cbba31100e088a051bf99');
CREATE TABLE tokumei_results (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	"key" VARCHAR(64) NOT NULL, 
	scenario TEXT NOT NULL, 
	game TEXT NOT NULL, 
	defense TEXT NOT NULL, 
	parameters TEXT NOT NULL, 
	guarantee TEXT NOT NULL, 
	attack TEXT, 
	attack_parameters TEXT NOT NULL, 
	play INTEGER NOT NULL, 
	status VARCHAR(16) NOT NULL, 
	reason TEXT NOT NULL, 
	scores TEXT NOT NULL, 
	"values" TEXT NOT NULL, 
	seconds FLOAT NOT NULL, 
	created TEXT NOT NULL, 
	parts VARCHAR(64) DEFAULT '' NOT NULL, 
	UNIQUE ("key")
);
INSERT INTO "tokumei_results" VALUES(1,'dea39002ca92427b454692e2ddcb61be67146a3da9d27430eca5b17b9fcd59f2','bank','{}','Identity','{}','none',NULL,'{}',0,'ok','','{}','{"associations":1.0,"classifier_auc":0.7136432052752294,"classifier_auc_original":0.7136432052752294,"k":1.0,"l":1.0,"marginals":1.0,"queries":1.0}',7.78474099934101104736e-03,'2026-11-22T19:51:37+00:00','bb783e58cb8557f02d27f54a99f00cc60b9b9cafb5080a1ed9540345b3db0295');
INSERT INTO "tokumei_results" VALUES(3,'2fed32b32a1471aa45f7bb6d3aa8cbd7147b414c0809ee4d80a6bb531adf12e3','bank','{"decoys":"hard"}','Identity','{}','none','NearestNeighbour','{}',0,'ok','','{"membership":{"chance":0.5,"control_trials":null,"goal":"membership","rate":1.0,"trials":100},"reidentification":{"chance":0.005,"control_trials":null,"goal":"reidentification","rate":1.0,"trials":100}}','{"answered":1.0,"hits":1.0,"membership_auc":1.0,"precision":1.0,"top3":1.0}',1.72854710108367726206e-02,'2026-11-22T19:51:37+00:00','f477b566fde66d5a95b106e2a2854c656d3d1b0c80462b59fb8c5eb0915687b5');
INSERT INTO "tokumei_results" VALUES(4,'bc7f35faf07b55f9eef8d0b887c07e4b57c6a8ad600ad5150326fca101c57f6d','bank','{}','Constant','{}','none',NULL,'{}',0,'ok','','{}','{"associations":0.0,"classifier_auc":0.5,"classifier_auc_original":0.7136432052752294,"k":100.0,"l":1.0,"marginals":0.0,"queries":0.0}',1.63571370212594047188e-02,'2026-11-22T19:51:37+00:00','d8d7ededf8b4146e2a6b36ebeb35d29da26d4a52719c7e6aa7bf05ffe8f39fa6');
INSERT INTO "tokumei_results" VALUES(6,'087619585f4db63d1f1c6f5236e79beb6ff7c6c4b6db0e97ad4906a45cd009f9','bank','{"decoys":"hard"}','Constant','{}','none','NearestNeighbour','{}',0,'ok','','{"membership":{"chance":0.5,"control_trials":null,"goal":"membership","rate":0.48,"trials":100},"reidentification":{"chance":0.005,"control_trials":null,"goal":"reidentification","rate":0.0,"trials":100}}','{"answered":1.0,"hits":0.0,"membership_auc":0.4677,"precision":0.0,"top3":0.01}',0.0163931400020374,'2026-11-22T19:51:37+00:00','c493b6cfe524c8a741adcdcf7501fcb78c86327d6016a5b896acd1fb6daaa19e');
INSERT INTO "tokumei_results" VALUES(7,'f001968c4f641f82ce293e0553eeda06d4fcac51cf8cbba31100e088a051bf99','bank','{}','Identity','{}','none',NULL,'{}',1,'ok','','{}','{"associations":1.0,"classifier_auc":0.7253962435414049,"classifier_auc_original":0.7253962435414049,"k":1.0,"l":1.0,"marginals":1.0,"queries":1.0}',0.00312044401653111,'2026-11-22T19:51:38+00:00','bb783e58cb8557f02d27f54a99f00cc60b9b9cafb5080a1ed9540345b3db0295');
INSERT INTO "tokumei_results" VALUES(9,'74afcff75820a51c252947822f812f8a7058c57b27afdb729dc502e2779f146a','bank','{"decoys":"hard"}','Identity','{}','none','NearestNeighbour','{}',1,'ok','','{"membership":{"chance":0.5,"control_trials":null,"goal":"membership","rate":1.0,"trials":100},"reidentification":{"chance":0.005,"control_trials":null,"goal":"reidentification","rate":1.0,"trials":100}}','{"answered":1.0,"hits":1.0,"membership_auc":1.0,"precision":1.0,"top3":1.0}',1.75970559939742088317e-02,'2026-11-22T19:51:38+00:00','f477b566fde66d5a95b106e2a2854c656d3d1b0c80462b59fb8c5eb0915687b5');
INSERT INTO "tokumei_results" VALUES(10,'52773b8c1b674d9ce33af7af85f08797eef9bd4f059105565fefeaac8a91d305','bank','{}','Constant','{}','none',NULL,'{}',1,'ok','','{}','{"associations":0.0,"classifier_auc":0.5,"classifier_auc_original":0.7253962435414049,"k":100.0,"l":1.0,"marginals":0.0,"queries":0.0}',1.6730463990825228393e-02,'2026-11-22T19:51:38+00:00','d8d7ededf8b4146e2a6b36ebeb35d29da26d4a52719c7e6aa7bf05ffe8f39fa6');
INSERT INTO "tokumei_results" VALUES(12,'38a80d1f2a9f149e40f3c3fd9582b2d2275978ae11b47fbc5211bd3cb8cc8d3d','bank','{"decoys":"hard"}','Constant','{}','none','NearestNeighbour','{}',1,'ok','','{"membership":{"chance":0.5,"control_trials":null,"goal":"membership","rate":0.48,"trials":100},"reidentification":{"chance":0.005,"control_trials":null,"goal":"reidentification","rate":0.01,"trials":100}}','{"answered":1.0,"hits":0.01,"membership_auc":0.4865,"precision":0.01,"top3":0.01}',1.1107016005553305149e-02,'2026-11-22T19:51:38+00:00','c493b6cfe524c8a741adcdcf7501fcb78c86327d6016a5b896acd1fb6daaa19e');
CREATE TABLE tokumei_runs (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	started TEXT NOT NULL, 
	about TEXT NOT NULL, 
	"plan" VARCHAR(64) NOT NULL
);
INSERT INTO "tokumei_runs" VALUES(1,'2026-11-22T19:51:33+00:00','{"machine":{"architecture":"x86_64","cores":2,"python":"3.11.7","system":"Linux"},"packages":{"cvxopt":"1.3.3","dp-accounting":"0.6.0","numpy":"2.4.6","pandas":"2.3.3","scikit-learn":"1.9.1","scipy":"1.17.1"},"revision":"","scenarios":["bank"],"version":"0.1.0"}','fdc1b433de8894d713222d9edec0607b0519f5e906b8e775e1d85a02d219f854');
CREATE INDEX ix_tokumei_results_scenario ON tokumei_results (scenario);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('tokumei_runs',1);
INSERT INTO "sqlite_sequence" VALUES('tokumei_results',12);
COMMIT;
