"""Leaderboard: the store of results, the ranking of defenses, tables and HTML pages.

Store of results and runs
    canonical: Compact JSON with sorted keys: equal parameters give equal text.
    Earlier: Results of earlier versions of one method, or of all of a scenario, which a board leaves out.
    earlier_sections: Sections of a report: a table for each scenario.
    earlier_tables: Tables of the results that a board leaves out, by scenario; none for a scenario that keeps all.
    find_run: Find a run by number, or the latest run of a revision by the beginning of its name (four digits or
        more).
    label: Readable name of a method with its parameters, as in ``Mondrian k=5``; None parameters are left out.
    Promise: What one setting of a defense promises, and which columns it is about.
    record_run: Record a run before it plays.
    recorded_runs: All recorded runs, oldest first.
    Result: Result of one trial (a play of a defense against an attack) or of one release (a play of a defense).
    results_of: Finished results of a run, including those known from earlier runs.
    Run: One run of one or more scenarios.
    Store: Database of results; as a context manager it closes the database.
    stored_board: Board of stored results.
    stored_promises: Promises of the defenses among results, in the order of scenario, defense and parameters.
    StoredBoard: Results of a board, and what is said beside them.
    Versions: Versions of what stored results depend on; the last result of each method is of its newest version.

Ranking of defenses and the matrix of attacks
    matrix: Matrix of defenses and attacks, in alphabetical order; pairs without a finished trial are absent.
    Pair: One defense against one attack in one variant of a scenario's game.
    pooled_utility: Utility over plays: 1 for the original table, 0 for a constant table.
    rank: Rank the defenses within each scenario and variant of its game, best score first, missing scores last.
    Row: One defense in one variant of a scenario's game.
    Success: Success of an attack in one goal, over plays.
    Utility: Headline utility and its components, of which it is the mean.

Summary of several data sets and goals
    BOUNDS: Bounds of the worst advantage, fixed before any result was seen.
    Exposure: Utility and exposure of one setting of a defense in one scenario and variant.
    exposures: Exposure of each setting of each defense, in alphabetical order.
    mean_ranks: Rank families in every scenario, variant, goal and play, and average the ranks; best first.
    MeanRank: Mean rank of a family over scenarios, variants and goals, from 1 (best).
    needs_summary: Whether several scenarios were played, or more goals than one table shows well; variants of a
        game are few.
    summarize: Summary of results as sections of a report.
    summary_tables: Tables of results over all goals.
    Usefulness: Usefulness of one attack over all settings of all defenses.
    usefulness: Usefulness of each attack, the one that would be missed most first.
    utility_left: The most useful setting of each family whose worst advantage is at most a bound, by family.
    WorstAttack: The attack of the largest advantage on a defense, in one goal or in all.

Tables and exports of the board, and its HTML page
    BOARD_COLUMNS: Columns of the board as CSV.
    latex_board: The board as LaTeX (booktabs), one table per scenario and variant; captions state units and
        intervals.
    latex_matrix: The matrix as LaTeX (booktabs), one table per scenario and variant; more attacks than defenses
        become rows.
    MATRIX_COLUMNS: Columns of the matrix as CSV.
    matrix_to_csv: The matrix as CSV with the columns `MATRIX_COLUMNS`, one line per pair.
    matrix_to_json: The matrix as a JSON list of objects, one per pair.
    matrix_to_markdown: The matrix as Markdown: success in each goal, or the status of pairs without success.
    matrix_to_terminal: The matrix as plain text: success in each goal, or the status of pairs without success.
    promise_tables: Tables of what promises cover, by scenario; none for a scenario whose defenses say nothing.
    promises_to_markdown: What promises cover as Markdown; empty if nothing is known.
    promises_to_terminal: What promises cover as plain text of at most `width` characters a line; empty if nothing
        is known.
    render_page: HTML page of the board, which loads no external resources.
    SETTING_COLUMNS: Columns of settings as CSV.
    settings_to_csv: Each setting with its worst attack over all goals, as CSV with the columns `SETTING_COLUMNS`.
    skip_tables: Tables of the attacks that were skipped, by scenario; none for a scenario in which every attack was
        played.
    skips_to_markdown: Skipped attacks as Markdown; empty if there are none.
    skips_to_terminal: Skipped attacks as plain text of at most `width` characters a line; empty if there are none.
    to_csv: The board as CSV with the columns `BOARD_COLUMNS`; a missing value is an empty field.
    to_json: The board as a JSON list of objects: the CSV's columns and further fields.
    to_markdown: The board as Markdown, one table per scenario and variant.
    to_terminal: The board as plain text, one table per scenario and variant.

Comparison of two boards, gates and history
    Change: Change in one measure of a defense, or of an attack on it.
    change_checks: Changes as checks of a report: an alarm is a failure, a measure with too few plays is skipped.
    change_sections: Sections of a page: the significant changes, and every measure that was compared.
    changes_to_csv: Changes as CSV with the columns `CHANGE_COLUMNS`.
    changes_to_json: Changes as a JSON list of objects with the keys `CHANGE_COLUMNS`.
    changes_to_latex: Changes as a LaTeX table (booktabs).
    changes_to_markdown: Changes as a Markdown table.
    changes_to_terminal: Changes as a plain table: ``✗`` marks a significant worsening, ``✓`` a significant
        improvement.
    compare: Compare every defense, and every attack on it, that both sides have played.
    gate_checks: Compare every defense with every bound, in the order of the board.
    GateBounds: Bounds that every defense must meet; each lies between 0 and 1.
    GateCheck: One bound of a gate on one defense.
    github_annotations: Failed checks as workflow commands of GitHub Actions, which show them beside a pull request;
        one line each.
    history_of: Board rows of a defense in every recorded run, oldest run first.
    history_report: Report with a section for each scenario and variant: a table per defense, and charts of utility
        and success.
    junit_xml: JUnit XML of checks, one suite for each group, as servers of continuous integration read it.
    pace: Time that the head took for the same work, as a multiple of the base's; None if it cannot be estimated.
    plays_needed: Smallest number of plays with which every compared measure can alarm; None if all of them already
        can.
    ReportedCheck: One check of a report.
    Tolerance: Tolerated changes: of utility and success in their own unit, of time as a share.
    trial_checks: A check for each defense: an error if any of its releases or trials failed, and their total time.
    unmeasured_goals: Goals with a bound that no attack among the results pursued with enough trials to be judged.

Comparison of attacks with a baseline
    BASELINE_COLUMNS: Columns of a comparison with a baseline as CSV, and keys of its JSON.
    baseline_columns: `BASELINE_COLUMNS`, and `DEFENSE_COLUMNS` if the attacks were compared on each defense alone.
    baseline_sections: Sections of a report: a table for each scenario and variant.
    baseline_to_csv: A comparison with a baseline as CSV with the columns of `baseline_columns`.
    baseline_to_json: A comparison with a baseline as a JSON list of objects with the keys of `baseline_columns`.
    BaselineDifference: Success of an attack compared with a baseline, in one goal of one variant of a scenario's
        game.
    compare_with_baseline: Compare every attack with a baseline, in every goal that both pursue.
    DEFENSE_COLUMNS: Further columns of a comparison on each defense alone.
    plays_to_judge: Smallest number of plays with which every row could be significant; None if every row can be.

Downtime by failures
    downtime_hours: Data downtime: incidents x (time to detection + time to repair).
    downtime_table: Downtime by kind of incident, and in total, as a table of a report.
    FailureLog: Log of failed releases and trials in a database of results.
    hourly_cost: Cost of an hour of downtime: wages of the people whom it occupies or keeps from work, and other
        losses.
    Incident: One failure, from its beginning to its repair.
    recorded_incidents: All failures in a database's log, oldest first.

Reports of experiments
    Bars: A histogram with a second one as an outline.
    Lines: A line chart.
    render_report: HTML page of a report, which loads no external resources.
    report_to_csv: Tables of a report as CSV, one line per cell: section, table, row (from 1), column, value (not
        rounded).
    report_to_json: Tables of a report as JSON: a list of objects with section, title, columns, rows and note.
    report_to_latex: Tables of a report as LaTeX (booktabs).
    report_to_markdown: Tables of a report as Markdown.
    report_to_terminal: Tables of a report as plain text.
    Section: A section of a report.
    Series: One line of a line chart.
    Table: A table of a report.
"""

import lazy_loader

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
