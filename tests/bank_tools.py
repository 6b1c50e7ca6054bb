"""Small games on UCI Bank Marketing, for tests of what a run does rather than of what it finds."""

from dataclasses import replace

EVERY = 10
"""The table holds every tenth customer."""
PLAYED_ONCE = """
[scenario]
name = "bank"
dataset = "bank"
game = {{ use = "CandidateFile", originals = 20, candidates = 40 }}
plays = 1

[[defense]]
use = "{defense}"

[[attack]]
use = "NearestNeighbour"
"""


def small_bank(folder, defense):
    """Write a scenario named bank, in which a defense plays once against one attack, into a folder."""
    path = folder / "bank.toml"
    path.write_text(PLAYED_ONCE.format(defense=defense))
    return path


def few_customers(monkeypatch):
    """Have runs of this process play on a part of the bank's table.

    The game with hard decoys groups all customers who are alike, once in each worker process. On the whole table this
    takes most of a short run.
    """
    from scenarios import datasets

    whole = datasets.load("bank")
    records = whole.records
    few = replace(whole, records=records.with_frame(records.frame[::EVERY].reset_index(drop=True)))
    read = datasets._from_folder
    monkeypatch.setattr(datasets, "_from_folder", lambda folder: few if folder.name == "bank" else read(folder))
