"""UCI Bank Marketing with few of its customers, for tests of what a run does rather than of what it finds."""

from dataclasses import replace

EVERY = 10
"""The table holds every tenth customer."""


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
