"""Checks of single parameters, which stand below, in `metrics.columns.parameters`."""

from metrics.columns.parameters import check_boolean as check_boolean
from metrics.columns.parameters import check_choice as check_choice
from metrics.columns.parameters import check_integer as check_integer
from metrics.columns.parameters import check_list as check_list
from metrics.columns.parameters import check_real as check_real
