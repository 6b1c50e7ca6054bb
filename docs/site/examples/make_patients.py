"""Writes patients.csv: 3,000 made-up patients, with the faults of a real export."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(1)
n = 3000
born = pd.Timestamp("1935-01-01") + pd.to_timedelta((rng.beta(2.5, 2, n) * 30000).astype(int), "D")
table = pd.DataFrame(
    {
        "Patient ID": [f"P{number}" for number in rng.permutation(n) + 10000],
        "Born": born.strftime("%d/%m/%Y"),
        "Sex": rng.choice(["F", "M", "f", ""], n, p=[0.49, 0.47, 0.02, 0.02]),
        "Postcode": rng.choice(["02101", "02105", "02110", "02116", "02131", "02135", "02141", "02149"], n),
        "Occupation": rng.choice(["nurse", "driver", "teacher", "retired", "N/A"], n, p=[0.2, 0.2, 0.2, 0.35, 0.05]),
        "Cost": [f"{cost:,.0f}" for cost in rng.lognormal(8, 0.8, n)],
        "Diagnosis": rng.choice(
            ["I10", "E11.9", "M54.5", "F32.9", "C50.9", "B20"], n, p=[0.3, 0.3, 0.2, 0.1, 0.07, 0.03]
        ),
    }
)
pd.concat([table, table[:3]]).to_csv("patients.csv", index=False, encoding="utf-8-sig")
