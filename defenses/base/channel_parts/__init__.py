"""Channel parts: each describes how one column, or several jointly, are released."""

from defenses.base.channel_parts.categories import Containment, GroupMode, Retention
from defenses.base.channel_parts.noise import AddedNoise, GroupMean
from defenses.base.channel_parts.numbers import Clipping, Rounded
from defenses.base.channel_parts.part import ChannelPart, ColumnPart, Independent, Likelihood, Presence, ValuePart
from defenses.base.channel_parts.rank_window import RankWindow, SwapLaw
from defenses.base.channel_parts.reported_number import ReportedNumber
from defenses.base.channel_parts.reports import ReportAmongFakes, ReportedSet
from defenses.base.channel_parts.retention_vector import RetentionVector
from defenses.base.channel_parts.transition_table import TransitionTable

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
