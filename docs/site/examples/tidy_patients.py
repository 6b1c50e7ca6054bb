"""Repairs patients.csv and holds one patient in five back: writes treated.csv and others.csv."""

import pandas as pd

table = pd.read_csv("patients.csv", dtype=str, keep_default_na=False)  # as text: 02101 keeps its zero
table = table.drop_duplicates().sample(frac=1, random_state=1)
if not table["Patient ID"].is_unique:
    raise SystemExit("a patient has several rows: make one of them")
table["Sex"] = table["Sex"].str.upper()
held = len(table) // 5
table[:held].to_csv("others.csv", index=False)
table[held:].to_csv("treated.csv", index=False)
