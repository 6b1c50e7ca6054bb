"""Checks of single parameters, for authors of defenses; they stand in `metrics.columns.parameters`."""

from metrics.columns.parameters import check_boolean, check_choice, check_integer, check_list, check_real

__all__ = ["check_boolean", "check_choice", "check_integer", "check_list", "check_real"]
