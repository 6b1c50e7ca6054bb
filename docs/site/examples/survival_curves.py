"""A utility measure of a host's own: whether survival curves stay where they are."""

import numpy as np

from scenarios import UtilityMeasure


class SurvivalCurves(UtilityMeasure):
    """1 - the largest vertical distance of the Kaplan-Meier curves of the originals and of the table.

    Parameters
    ----------
    time : str
        Column with the time of the event, or of the last visit.
    event, occurred : str
        Column that says whether the event occurred, and its value if so.
    by : str
        Column of groups, each with a curve of its own, of which the worst counts; empty for one curve of all.

    References
    ----------
    Kaplan and Meier (1958), Nonparametric estimation from incomplete observations.
    """

    def __init__(self, *, time="time", event="event", occurred="yes", by=""):
        self.time = time
        self.event = event
        self.occurred = occurred
        self.by = by

    @classmethod
    def example(cls):
        """Curves of the invented people of `tokumei check`."""
        return cls(time="income", event="grade", occurred="high", by="illness")

    def value(self, tables):
        """The distance at the times of the originals."""
        original, released = tables.original, tables.released
        groups = sorted(original[self.by].dropna().unique()) if self.by else [None]
        distances = []
        for group in groups:
            before, after = (
                table if group is None else table[table[self.by] == group] for table in (original, released)
            )
            times = np.unique(before[self.time].dropna())
            distances.append(np.abs(self._curve(before, times) - self._curve(after, times)).max(initial=0.0))
        return 1 - float(max(distances))

    def _curve(self, table, times):
        """Share without the event at each of some times; 0 from the start where the table has nobody."""
        table = table.dropna(subset=[self.time, self.event])
        moment, happened = table[self.time].to_numpy(float), (table[self.event] == self.occurred).to_numpy()
        if not moment.size:
            return np.zeros(times.size)
        steps = np.unique(moment[happened])
        at_risk = (moment[None, :] >= steps[:, None]).sum(axis=1)
        events = ((moment[None, :] == steps[:, None]) & happened).sum(axis=1)
        survival = np.concatenate([[1.0], np.cumprod(1 - events / at_risk)])
        return survival[np.searchsorted(steps, times, side="right")]
