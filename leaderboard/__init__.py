"""Leaderboard: the store of results, the ranking of defenses, tables and HTML pages.

Store of results and runs
    canonical: Compact JSON with sorted keys: equal parameters give equal text.
    find_run: The run of this number, or the latest of the revision that starts with this name (four digits or
        more).
    label: Name of a method with its parameters, for people: ``Mondrian k=5``; parameters that are None are left
        out.
    record_run: Remember a run before it plays.
    recorded_runs: All runs, the first one first.
    Result: What came of one trial (a play of a defense against an attack) or of one release (a play of a defense).
    results_of: Results of a run that have ended, those too that it knew from earlier runs.
    Run: One run of a scenario or several.
    Store: Results in a database; a context manager that closes it.

Ranking of defenses and the matrix of attacks
    matrix: Each defense against each attack, in alphabetical order; pairs of which no trial ended are absent.
    Pair: One defense against one attack in one variant of a scenario's game.
    pooled_utility: Utility over plays, 1 = as good as the original, 0 = a constant table.
    rank: Rank the defenses within each scenario and variant of its game, best score first, missing scores last.
    Row: One defense in one variant of a scenario's game.
    Success: Success of an attack in one goal.
    Utility: Headline utility and the components of which it is the mean.

Tables and exports of the board, and its HTML page
    BOARD_COLUMNS: Columns of the board as CSV.
    MATRIX_COLUMNS: Columns of the matrix as CSV.
    matrix_to_csv: The matrix as CSV with the columns `MATRIX_COLUMNS`, one line a pair.
    matrix_to_json: The matrix as a JSON list of objects, one a pair.
    matrix_to_markdown: The matrix as Markdown: success in rows / in members, or the status where there is none.
    matrix_to_terminal: The matrix as plain text: success in rows / in members, or the status where there is none.
    render_page: HTML text of the board; it loads nothing from anywhere.
    to_csv: The board as CSV with the columns `BOARD_COLUMNS`; what is missing is an empty field.
    to_json: The board as a JSON list of objects: the CSV's columns, and what does not fit into a cell.
    to_markdown: The board as Markdown, one table per scenario and variant.
    to_terminal: The board as plain text, one table per scenario and variant.

Comparison of two boards, gates and history
    Change: How one measure of one defense, or of one attack on it, changed.
    changes_to_csv: Changes as CSV with the columns `CHANGE_COLUMNS`.
    changes_to_json: Changes as a JSON list of objects with the names of `CHANGE_COLUMNS`.
    changes_to_markdown: Changes as a Markdown table.
    changes_to_terminal: Changes as a plain table: ``✗`` marks a worsening, ``✓`` an improvement, nothing what may
        be chance.
    compare: Compare every defense, and every attack on it, that both sides have played.
    gate_reasons: Why the gate is closed: one line for each defense and bound that is not held, nothing where all
        are.
    history_of: Rows of a defense in every run, the first run first.
    history_report: A section for each scenario and variant: a table a defense, and how utility and success moved.
    pace: How many times as long the head took for the same work; None where that cannot be told from a change.
    Tolerance: Changes that are let pass: in utility and success (in their own unit), and in time (as a share).

Reports of experiments
    Bars: A histogram, with another one behind it as an outline.
    Lines: A line chart.
    render_report: HTML text of a report; it loads nothing from anywhere.
    report_to_csv: Tables of a report as CSV, one line a cell: section, table, row (from 1), column, value at full
        precision.
    report_to_json: Tables of a report as JSON: a list of objects with section, title, columns, rows and note.
    report_to_markdown: Tables of a report as Markdown.
    report_to_terminal: Tables of a report as plain text.
    Section: A part of a report.
    Series: One line.
    Table: A table.
"""

import lazy_loader

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
