"""Writes people.csv and others.csv: 1,000 people of UCI Adult, and 200 others of the same population."""

from scenarios import load

COLUMNS = ["age", "education", "marital-status", "occupation", "sex", "hours-per-week", "salary-class"]
table = load("adult").records.frame[COLUMNS].sample(1200, random_state=1)
table.insert(0, "name", [f"P{number:04d}" for number in range(1200)])
table[:1000].to_csv("people.csv", index=False)
table[1000:].to_csv("others.csv", index=False)
