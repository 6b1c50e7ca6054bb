# Store of results and runs
from .result import Result as Result
from .result import canonical as canonical
from .result import label as label
from .store import Store as Store
from .runs import Run as Run
from .runs import find_run as find_run
from .runs import record_run as record_run
from .runs import recorded_runs as recorded_runs
from .runs import results_of as results_of
from .earlier_versions import Earlier as Earlier
from .earlier_versions import Versions as Versions
from .earlier_versions import earlier_sections as earlier_sections
from .earlier_versions import earlier_tables as earlier_tables
from .promises import Promise as Promise
from .promises import stored_promises as stored_promises
from .shown_results import StoredBoard as StoredBoard
from .shown_results import stored_board as stored_board

# Ranking of defenses and the matrix of attacks
from .board import Row as Row
from .board import rank as rank
from .pairs import Pair as Pair
from .success import Success as Success
from .pairs import matrix as matrix
from .utility import Utility as Utility
from .utility import pooled_utility as pooled_utility

# Summary of several data sets and goals
from .attack_usefulness import Usefulness as Usefulness
from .attack_usefulness import usefulness as usefulness
from .exposure import Exposure as Exposure
from .exposure import WorstAttack as WorstAttack
from .exposure import exposures as exposures
from .mean_rank import MeanRank as MeanRank
from .mean_rank import mean_ranks as mean_ranks
from .summary import needs_summary as needs_summary
from .summary import summarize as summarize
from .summary import summary_tables as summary_tables
from .utility_at_risk import BOUNDS as BOUNDS
from .utility_at_risk import utility_left as utility_left

# Tables and exports of the board, and its HTML page
from .exports import BOARD_COLUMNS as BOARD_COLUMNS
from .exports import MATRIX_COLUMNS as MATRIX_COLUMNS
from .exports import SETTING_COLUMNS as SETTING_COLUMNS
from .exports import matrix_to_csv as matrix_to_csv
from .exports import matrix_to_json as matrix_to_json
from .exports import settings_to_csv as settings_to_csv
from .exports import to_csv as to_csv
from .exports import to_json as to_json
from .tables import matrix_to_markdown as matrix_to_markdown
from .tables import matrix_to_terminal as matrix_to_terminal
from .latex import latex_board as latex_board
from .latex_grid import latex_matrix as latex_matrix
from .tables import to_markdown as to_markdown
from .tables import to_terminal as to_terminal
from .page import render_page as render_page
from .promise_table import promises_to_markdown as promises_to_markdown
from .promise_table import promises_to_terminal as promises_to_terminal
from .promise_table import promise_tables as promise_tables
from .skipped_attacks import skip_tables as skip_tables
from .skipped_attacks import skips_to_markdown as skips_to_markdown
from .skipped_attacks import skips_to_terminal as skips_to_terminal

# Comparison of two boards, gates and history
from .comparison import Change as Change
from .comparison import Tolerance as Tolerance
from .comparison import compare as compare
from .paces import pace as pace
from .comparison import plays_needed as plays_needed
from .change_tables import change_checks as change_checks
from .change_tables import change_sections as change_sections
from .change_tables import changes_to_csv as changes_to_csv
from .change_tables import changes_to_json as changes_to_json
from .change_tables import changes_to_latex as changes_to_latex
from .change_tables import changes_to_markdown as changes_to_markdown
from .change_tables import changes_to_terminal as changes_to_terminal
from .gate import GateBounds as GateBounds
from .gate import GateCheck as GateCheck
from .gate import gate_checks as gate_checks
from .gate import unmeasured_goals as unmeasured_goals
from .check_reports import ReportedCheck as ReportedCheck
from .check_reports import github_annotations as github_annotations
from .check_reports import junit_xml as junit_xml
from .check_reports import trial_checks as trial_checks
from .history import history_of as history_of
from .history import history_report as history_report

# Comparison of attacks with a baseline
from .baseline import BaselineDifference as BaselineDifference
from .baseline import compare_with_baseline as compare_with_baseline
from .baseline import plays_to_judge as plays_to_judge
from .baseline_tables import BASELINE_COLUMNS as BASELINE_COLUMNS
from .baseline_tables import DEFENSE_COLUMNS as DEFENSE_COLUMNS
from .baseline_tables import baseline_columns as baseline_columns
from .baseline_tables import baseline_sections as baseline_sections
from .baseline_tables import baseline_to_csv as baseline_to_csv
from .baseline_tables import baseline_to_json as baseline_to_json

# Downtime by failures
from .downtime import Incident as Incident
from .downtime import downtime_hours as downtime_hours
from .downtime import downtime_table as downtime_table
from .downtime import hourly_cost as hourly_cost
from .failure_log import FailureLog as FailureLog
from .failure_log import recorded_incidents as recorded_incidents

# Reports of experiments
from .report import Bars as Bars
from .report import Section as Section
from .report import Table as Table
from .report import render_report as render_report
from .report import report_to_csv as report_to_csv
from .report import report_to_json as report_to_json
from .latex import report_to_latex as report_to_latex
from .report import report_to_markdown as report_to_markdown
from .report import report_to_terminal as report_to_terminal
from .line_chart import Lines as Lines
from .line_chart import Series as Series
