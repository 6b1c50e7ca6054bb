# Store of results and runs
from .results.result import Result as Result
from .results.result import canonical as canonical
from .results.result import label as label
from .results.store import Store as Store
from .results.runs import Run as Run
from .results.runs import find_run as find_run
from .results.runs import record_run as record_run
from .results.runs import recorded_runs as recorded_runs
from .results.runs import results_of as results_of
from .results.earlier_versions import Earlier as Earlier
from .results.earlier_versions import Versions as Versions
from .results.earlier_versions import earlier_sections as earlier_sections
from .results.earlier_versions import earlier_tables as earlier_tables
from .results.guarantees import StatedGuarantee as StatedGuarantee
from .results.guarantees import stored_guarantees as stored_guarantees
from .results.earlier_versions import StoredBoard as StoredBoard
from .results.earlier_versions import stored_board as stored_board

# Ranking of defenses and the matrix of attacks
from .statistics.board import Row as Row
from .statistics.board import rank as rank
from .statistics.pairs import Pair as Pair
from .statistics.pairs import Success as Success
from .statistics.pairs import matrix as matrix
from .statistics.pairs import Utility as Utility
from .statistics.pairs import pooled_utility as pooled_utility

# Summary of several data sets and goals
from .statistics.summary import Usefulness as Usefulness
from .statistics.summary import usefulness as usefulness
from .statistics.exposure import Exposure as Exposure
from .statistics.exposure import WorstAttack as WorstAttack
from .statistics.exposure import exposures as exposures
from .statistics.summary import MeanRank as MeanRank
from .statistics.summary import mean_ranks as mean_ranks
from .statistics.summary import needs_summary as needs_summary
from .statistics.summary import summarize as summarize
from .statistics.summary import summary_tables as summary_tables
from .statistics.exposure import BOUNDS as BOUNDS
from .statistics.exposure import utility_left as utility_left

# Tables and exports of the board, and its HTML page
from .pages.exports import BOARD_COLUMNS as BOARD_COLUMNS
from .pages.exports import MATRIX_COLUMNS as MATRIX_COLUMNS
from .pages.exports import SETTING_COLUMNS as SETTING_COLUMNS
from .pages.exports import Records as Records
from .pages.exports import board_records as board_records
from .pages.exports import matrix_records as matrix_records
from .pages.exports import setting_records as setting_records
from .pages.board_tables import board_sections as board_sections
from .pages.board_tables import matrix_sections as matrix_sections
from .pages.latex import latex_matrix as latex_matrix
from .pages.page import render_page as render_page
from .statistics.guarantee_table import guarantee_tables as guarantee_tables
from .pages.comparison_tables import skip_tables as skip_tables

# Comparison of two boards, gates and history
from .statistics.comparison import Change as Change
from .statistics.comparison import Tolerance as Tolerance
from .statistics.comparison import compare as compare
from .statistics.comparison import pace as pace
from .statistics.comparison import plays_needed as plays_needed
from .pages.comparison_tables import change_checks as change_checks
from .pages.comparison_tables import change_records as change_records
from .pages.comparison_tables import change_sections as change_sections
from .pages.comparison_tables import change_table as change_table
from .statistics.gate import GateBounds as GateBounds
from .statistics.gate import GateCheck as GateCheck
from .statistics.gate import gate_checks as gate_checks
from .statistics.gate import unmeasured_goals as unmeasured_goals
from .pages.check_reports import ReportedCheck as ReportedCheck
from .pages.check_reports import github_annotations as github_annotations
from .pages.check_reports import junit_xml as junit_xml
from .pages.check_reports import trial_checks as trial_checks
from .results.runs import history_of as history_of
from .results.runs import history_report as history_report

# Comparison of attacks with a baseline
from .statistics.baseline import BaselineDifference as BaselineDifference
from .statistics.baseline import compare_with_baseline as compare_with_baseline
from .statistics.baseline import plays_to_judge as plays_to_judge
from .pages.comparison_tables import BASELINE_COLUMNS as BASELINE_COLUMNS
from .pages.comparison_tables import DEFENSE_COLUMNS as DEFENSE_COLUMNS
from .pages.comparison_tables import baseline_columns as baseline_columns
from .pages.comparison_tables import baseline_records as baseline_records
from .pages.comparison_tables import baseline_sections as baseline_sections

# Downtime by failures
from .statistics.downtime import Incident as Incident
from .statistics.downtime import downtime_hours as downtime_hours
from .statistics.downtime import downtime_cost_table as downtime_cost_table
from .statistics.downtime import downtime_table as downtime_table
from .statistics.downtime import hourly_cost as hourly_cost
from .results.failure_log import FailureLog as FailureLog
from .results.failure_log import recorded_incidents as recorded_incidents

# Reports of experiments
from .pages.report import Bars as Bars
from .pages.report import Section as Section
from .pages.report import Table as Table
from .pages.report import render_report as render_report
from .pages.report import table_sections as table_sections
from .pages.report import report_to_csv as report_to_csv
from .pages.report import report_to_json as report_to_json
from .pages.latex import report_to_latex as report_to_latex
from .pages.report import report_to_markdown as report_to_markdown
from .pages.report import report_to_terminal as report_to_terminal
from .pages.line_chart import Lines as Lines
from .pages.line_chart import Series as Series
