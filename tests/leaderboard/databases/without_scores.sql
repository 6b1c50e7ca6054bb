-- Two plays by the development version of 2026-11-21, revision 0155967, shortened.
BEGIN TRANSACTION;
CREATE TABLE tokumei_documents (
	hash VARCHAR(64) NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (hash)
);
INSERT INTO "tokumei_documents" VALUES('db952e86f90b13a4dfce3d6e03937d32ef751cbade693cc4b089e9fe7a085740','{}');
INSERT INTO "tokumei_documents" VALUES('6338914dd49c9dd165d071baf58c7f7ce5591587b2f48ca83963bd17093bb7ac','{}');
INSERT INTO "tokumei_documents" VALUES('ad3b6e8c9e5a7aea6b954dc893ae2ad941ce6fb46df54e41299e0dbb41f9162c','{}');
INSERT INTO "tokumei_documents" VALUES('8b1b73cfa06e27de6e4346b67aafebf36456a9906de0c1f2ad6469258c3e2206','{}');
INSERT INTO "tokumei_documents" VALUES('61659b89776a2dbb0a01962ee48569439d2d91fe30fbc5eef965ca74a2f4a0ec','{}');
INSERT INTO "tokumei_documents" VALUES('66d8553f91f9afbc29d77851cd92889560645f3ab1f3715d3e32b60097133cd3','{}');
INSERT INTO "tokumei_documents" VALUES('c107bff0fb06986464fa320b009bce7feb54f0ff2f4017648d2563d5842607c3','{}');
INSERT INTO "tokumei_documents" VALUES('9f4984612c659078e6b848c770c9a6e49fa862b4a5c565e056f7df4f3cb1774d','{}');
INSERT INTO "tokumei_documents" VALUES('6e111a0948002a2c88da97924490c11c101b5e666d37f44b72f31421466fdae7','{}');
INSERT INTO "tokumei_documents" VALUES('6bccc320fbd978900a5547fb8edd8ade0a3e96022307c1023d6c8ec01e4782f2','{}');
INSERT INTO "tokumei_documents" VALUES('80d29210f9f3e2b8d164a9d66fabab8c014b62e05844fef7b4bd725de61a6b7c','{}');
CREATE TABLE tokumei_plans (
	"plan" VARCHAR(64) NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	PRIMARY KEY ("plan", "key")
);
INSERT INTO "tokumei_plans" VALUES('be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04','2f39731d5c23f57a4f7c0b1b0435342b81c146efa9340371eab5833ffb1952c7');
INSERT INTO "tokumei_plans" VALUES('be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04','3e6dd2999c63f536198b95330c3529952c0a57eeafa275c0f9ee009e135626f9');
INSERT INTO "tokumei_plans" VALUES('be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04','7653af9a0881a26b58d6e5c039f4981e13cad11b9291d329c1fba53fd42be64c');
INSERT INTO "tokumei_plans" VALUES('be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04','7fb3381d995b1f159f706f60243a07009de3a048afd23822ceeeddfecbc04496');
INSERT INTO "tokumei_plans" VALUES('be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04','973b8b51d5574230e3fa7543995c7bab4ef7e387ccca66b7290cd26e6599edef');
INSERT INTO "tokumei_plans" VALUES('be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04','ad4fd06ce6e6bf614d2df7121c0bcd2ee1fcc436163181deaef9234d5b0816d4');
INSERT INTO "tokumei_plans" VALUES('be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04','b26cb5a1586d3b744b698e8a506d48e846e919350ebe2a3ef215e20197c4f969');
INSERT INTO "tokumei_plans" VALUES('be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04','c713bbae9e7021b207b49e63c854f6719bf1794aa96b71af3cdd8888fc4c7173');
INSERT INTO "tokumei_plans" VALUES('be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04','c7bae7757014e941e7a49d4729f6d536b1f91867e869c05ec197709c0a9f1394');
INSERT INTO "tokumei_plans" VALUES('be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04','c8cc719165b360061b96d3c872ff6873cae43ac0fad1a4e535f0132a3ea935d7');
INSERT INTO "tokumei_plans" VALUES('be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04','cd93402e174cf0963331d5f985e2ecd8c6d1a1bd019c0a9129130da28160c5f1');
INSERT INTO "tokumei_plans" VALUES('be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04','db280fc6dc4cba0a8625c705528ec413780d15657a7a6670ea1987d383095970');
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
	"values" TEXT NOT NULL, 
	seconds FLOAT NOT NULL, 
	created TEXT NOT NULL, 
	parts VARCHAR(64) DEFAULT '' NOT NULL, 
	UNIQUE ("key")
);
INSERT INTO "tokumei_results" VALUES(1,'3e6dd2999c63f536198b95330c3529952c0a57eeafa275c0f9ee009e135626f9','bank','{}','Identity','{}','none',NULL,'{}',0,'ok','','{"associations":1.0,"classifier_auc":0.7136432052752294,"classifier_auc_original":0.7136432052752294,"k":1.0,"l":1.0,"marginals":1.0,"queries":1.0}',3.30385798588395118713e-03,'2026-11-22T19:51:27+00:00','61659b89776a2dbb0a01962ee48569439d2d91fe30fbc5eef965ca74a2f4a0ec');
INSERT INTO "tokumei_results" VALUES(3,'2f39731d5c23f57a4f7c0b1b0435342b81c146efa9340371eab5833ffb1952c7','bank','{"decoys":"hard"}','Identity','{}','none','NearestNeighbour','{}',0,'ok','','{"answered":1.0,"chance":0.005,"hits":1.0,"membership":1.0,"membership_auc":1.0,"membership_chance":0.5,"persons":100.0,"precision":1.0,"reidentification":1.0,"rows":100.0,"top3":1.0}',1.85735519917216151952e-02,'2026-11-22T19:51:27+00:00','c107bff0fb06986464fa320b009bce7feb54f0ff2f4017648d2563d5842607c3');
INSERT INTO "tokumei_results" VALUES(4,'973b8b51d5574230e3fa7543995c7bab4ef7e387ccca66b7290cd26e6599edef','bank','{}','Constant','{}','none',NULL,'{}',0,'ok','','{"associations":0.0,"classifier_auc":0.5,"classifier_auc_original":0.7136432052752294,"k":100.0,"l":1.0,"marginals":0.0,"queries":0.0}',1.73743030027253553271e-02,'2026-11-22T19:51:27+00:00','6e111a0948002a2c88da97924490c11c101b5e666d37f44b72f31421466fdae7');
INSERT INTO "tokumei_results" VALUES(6,'b26cb5a1586d3b744b698e8a506d48e846e919350ebe2a3ef215e20197c4f969','bank','{"decoys":"hard"}','Constant','{}','none','NearestNeighbour','{}',0,'ok','','{"answered":1.0,"chance":0.005,"hits":0.0,"membership":0.48,"membership_auc":0.4677,"membership_chance":0.5,"persons":100.0,"precision":0.0,"reidentification":0.0,"rows":100.0,"top3":0.01}',1.3216242005000822246e-02,'2026-11-22T19:51:27+00:00','80d29210f9f3e2b8d164a9d66fabab8c014b62e05844fef7b4bd725de61a6b7c');
INSERT INTO "tokumei_results" VALUES(7,'c7bae7757014e941e7a49d4729f6d536b1f91867e869c05ec197709c0a9f1394','bank','{}','Identity','{}','none',NULL,'{}',1,'ok','','{"associations":1.0,"classifier_auc":0.7253962435414049,"classifier_auc_original":0.7253962435414049,"k":1.0,"l":1.0,"marginals":1.0,"queries":1.0}',7.15388001117389649152e-03,'2026-11-22T19:51:28+00:00','61659b89776a2dbb0a01962ee48569439d2d91fe30fbc5eef965ca74a2f4a0ec');
INSERT INTO "tokumei_results" VALUES(9,'db280fc6dc4cba0a8625c705528ec413780d15657a7a6670ea1987d383095970','bank','{"decoys":"hard"}','Identity','{}','none','NearestNeighbour','{}',1,'ok','','{"answered":1.0,"chance":0.005,"hits":1.0,"membership":1.0,"membership_auc":1.0,"membership_chance":0.5,"persons":100.0,"precision":1.0,"reidentification":1.0,"rows":100.0,"top3":1.0}',1.13777500082505866885e-02,'2026-11-22T19:51:28+00:00','c107bff0fb06986464fa320b009bce7feb54f0ff2f4017648d2563d5842607c3');
INSERT INTO "tokumei_results" VALUES(10,'ad4fd06ce6e6bf614d2df7121c0bcd2ee1fcc436163181deaef9234d5b0816d4','bank','{}','Constant','{}','none',NULL,'{}',1,'ok','','{"associations":0.0,"classifier_auc":0.5,"classifier_auc_original":0.7253962435414049,"k":100.0,"l":1.0,"marginals":0.0,"queries":0.0}',7.97903101192787289619e-03,'2026-11-22T19:51:28+00:00','6e111a0948002a2c88da97924490c11c101b5e666d37f44b72f31421466fdae7');
INSERT INTO "tokumei_results" VALUES(12,'c8cc719165b360061b96d3c872ff6873cae43ac0fad1a4e535f0132a3ea935d7','bank','{"decoys":"hard"}','Constant','{}','none','NearestNeighbour','{}',1,'ok','','{"answered":1.0,"chance":0.005,"hits":0.01,"membership":0.48,"membership_auc":0.4865,"membership_chance":0.5,"persons":100.0,"precision":0.01,"reidentification":0.01,"rows":100.0,"top3":0.01}',5.94966400240082293748e-03,'2026-11-22T19:51:28+00:00','80d29210f9f3e2b8d164a9d66fabab8c014b62e05844fef7b4bd725de61a6b7c');
CREATE TABLE tokumei_runs (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	started TEXT NOT NULL, 
	about TEXT NOT NULL, 
	"plan" VARCHAR(64) NOT NULL
);
INSERT INTO "tokumei_runs" VALUES(1,'2026-11-22T19:51:24+00:00','{"machine":{"architecture":"x86_64","cores":2,"python":"3.11.7","system":"Linux"},"packages":{"cvxopt":"1.3.3","dp-accounting":"0.6.0","numpy":"2.4.6","pandas":"2.3.3","recordlinkage":"0.16","scikit-learn":"1.9.1","scipy":"1.17.1"},"revision":"","scenarios":["bank"],"version":"0.1.0"}','be1c0d9ea3b36389abeb97846ff56d5bd0a6cfe51212649357c1087111f16f04');
CREATE INDEX ix_tokumei_results_scenario ON tokumei_results (scenario);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('tokumei_runs',1);
INSERT INTO "sqlite_sequence" VALUES('tokumei_results',12);
COMMIT;
