"""Channel parts: each describes how one column, or several jointly, are released."""

from defenses.base.channel_parts.categories import Containment, GroupMode, Retention, RetentionVector, TransitionTable
from defenses.base.channel_parts.noise import AddedNoise, Clipping, GroupMean, Rounded
from defenses.base.channel_parts.part import ChannelPart, ColumnPart, Independent, Likelihood, Presence, ValuePart
from defenses.base.channel_parts.rank_window import RankWindow, SwapLaw
from defenses.base.channel_parts.reports import ReportAmongFakes, ReportedNumber, ReportedSet

__all__ = [
    "AddedNoise",
    "ChannelPart",
    "Clipping",
    "ColumnPart",
    "Containment",
    "GroupMean",
    "GroupMode",
    "Independent",
    "Likelihood",
    "Presence",
    "RankWindow",
    "ReportAmongFakes",
    "ReportedNumber",
    "ReportedSet",
    "Retention",
    "RetentionVector",
    "Rounded",
    "SwapLaw",
    "TransitionTable",
    "ValuePart",
]
