"""The seed of a report, which its files give unless somebody chooses one."""

from __future__ import annotations

import hashlib

SEEDS = 10**6
"""Number of seeds that files can give."""
COUNT = "A report with another seed or other roles is another try: count it with --releases."


def seed_of_files(table: bytes, released: bytes) -> int:
    """The seed that a table and a release give: the same files have the same report, and nobody picks its numbers.

    Parameters
    ----------
    table, released : bytes
        Content of the two files.

    Examples
    --------
    >>> seed_of_files(b"age 1", b"age 2") == seed_of_files(b"age 1", b"age 2")
    True
    """
    sums = hashlib.sha256(table).digest() + hashlib.sha256(released).digest()
    return int.from_bytes(hashlib.sha256(sums).digest()[:8], "big") % SEEDS


def seed_words(seed: int, *, chosen: bool) -> str:
    """Who gave the seed, and what counts as another try."""
    return f"Seed {seed}, {'chosen with --seed' if chosen else 'given by the files'}. {COUNT}"
