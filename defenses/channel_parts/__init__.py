"""What a channel is made of: parts that each tell how a column, or several jointly, are released."""

from defenses.channel_parts.categories import GroupMode, Retention
from defenses.channel_parts.containment import Containment
from defenses.channel_parts.noise import GroupMean, Noise
from defenses.channel_parts.numbers import Clipping, Rounded
from defenses.channel_parts.part import ChannelPart, ColumnPart, Likelihood, ValuePart
from defenses.channel_parts.rank_window import RankWindow, SwapLaw
from defenses.channel_parts.retention_vector import RetentionVector
from defenses.channel_parts.unlinked import Independent, Presence

__all__ = [
    "ChannelPart",
    "Clipping",
    "ColumnPart",
    "Containment",
    "GroupMean",
    "GroupMode",
    "Independent",
    "Likelihood",
    "Noise",
    "Presence",
    "RankWindow",
    "Retention",
    "RetentionVector",
    "Rounded",
    "SwapLaw",
    "ValuePart",
]
