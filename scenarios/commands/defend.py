"""``tokumei defend``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metrics.columns import refuse
from scenarios.commands.common import (
    echo,
    echo_each,
    echo_notes,
    engine_of,
    engine_options,
    heavy_imports,
    memory_option,
    parameter_option,
    reading_options,
    roles_option,
    warnings_as_lines,
)
from scenarios.running.methods.methods import given_parameters

if TYPE_CHECKING:
    from defenses import Guarantee, Microdata, MicrodataDefense
    from metrics.classes import SizeCounts
    from scenarios.tables import InOrder, Note, ReleaseCounts
    from scenarios.tables.review.rows_of_people import RowsOfPeople

EPILOG = """\b
Examples:
  tokumei defend Mondrian -p k=5 people.csv --roles roles.toml -o released.csv
  tokumei defend GlobalRecoding -p 'levels={age=2, job=1}' people.csv --roles roles.toml -o released.csv
  tokumei defend Mondrian -p k=5 people.csv --roles roles.toml -o released.parquet
  tokumei defend AdditiveNoise -p scale=0.5 people.csv --channel channel.toml --truth who.csv -o noisy.csv
  tokumei defend RetentionReplacement -p epsilon=2 people/ --roles roles.toml --memory 8GB -o released.parquet
  cat people.csv | tokumei defend Mondrian - | head
"""


@click.command(epilog=EPILOG)
@click.argument("method")
@click.argument("table")
@parameter_option("METHOD")
@roles_option
@reading_options
@click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    help="File for the released table: .csv, .csv.gz or .parquet; - is standard output.",
)
@click.option("--truth", help="File for the record of origin of each released row; only its owner can read the file.")
@click.option("--channel", help="File for what is public about the mechanism, for attackers who know it.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Seed that repeats a release. Whoever knows it can undo all randomness; without it, nobody can.",
)
@memory_option
@engine_options
@click.option(
    "--blocks",
    type=click.IntRange(min=1),
    metavar="ROWS",
    help="Apply a METHOD that needs all rows to random blocks of about ROWS rows of a table that is read in parts.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    help="Worker processes for random blocks; the release does not depend on it.  [default: number of cores, if the "
    "table is long]",
)
@click.option("--force", is_flag=True, help="Replace output files that exist.")
def defend(
    method: str,
    table: str,
    parameters: tuple[str, ...],
    roles: Path | None,
    output: str,
    truth: str | None,
    channel: str | None,
    seed: int | None,
    memory: str | None,
    blocks: int | None,
    jobs: int | None,
    *,
    reading: dict[str, Any],
    scheduler: str | None,
    force: bool,
) -> None:
    """Anonymize TABLE (CSV, Parquet, or a folder of Parquet parts; - is standard input) with the defense METHOD.

    Rows are released in random order, because the order of records identifies people. Columns that the roles file
    declares as identifiers are never released. Without a roles file no column counts as an identifier, and a table with
    texts that differ in every record is refused.
    """
    with heavy_imports():
        from numpy.random import SeedSequence

        from scenarios.tables import (
            STANDARD,
            ReleaseCounts,
            check_table_name,
            ignored_rules,
            input_path,
            memory_bytes,
            read_in_parts,
            refuse_existing,
            refuse_undeclared_identifiers,
            release_notes,
            release_of,
            reviewed_table,
            risk_note,
            table_notes,
            text_notes,
            with_rules,
            write_outputs,
        )

    defense = named_defense(method, given_parameters(parameters))
    refuse(truth == STANDARD, "--truth is secret and must be a file of its own")
    refuse_existing([output, truth, channel], inputs=[table, roles], force=force)
    refuse(jobs is not None and blocks is None, "--jobs: only --blocks uses worker processes; leave the option out")
    check_table_name("-o", output)
    check_table_name("--truth", truth)
    bytes_given = memory_bytes(memory)
    in_parts = read_in_parts([table], asked=memory is not None or scheduler is not None)
    _refuse_parts(table, [output, truth, channel])
    given = bytes_given // 2 if in_parts else None
    with (
        warnings_as_lines(),
        engine_of(scheduler) as engine,
        reviewed_table(input_path(table), roles, reading=reading, memory=given, engine=engine) as reviewed,
    ):
        dataset = reviewed.dataset
        refuse_undeclared_identifiers(table, roles, reviewed.unique_texts, reviewed.rows)
        notes = [*table_notes(dataset, defense, reviewed), *ignored_rules(defense, dataset.impossible, roles)]
        root = SeedSequence(seed)
        in_order = map if blocks is None else _in_order(jobs, reviewed.rows, bytes_given)
        release = release_of(reviewed, with_rules(defense, dataset.impossible), root, rows=blocks, in_order=in_order)
        refuse(channel is not None and release.channel is None, f"--channel: this release of {method} has none")
        echo_notes(notes)
        counted = ReleaseCounts(release, reviewed)
        written = replace(release, blocks=counted.blocks)
        rows = write_outputs(written, dataset, root, output, truth=truth, channel=channel)
        guarantee, people = release.guarantee(), reviewed.people
        echo(f"{rows} of {reviewed.rows} records; {_in_words(guarantee, people)}", err=True)
        _warn_of_guarantee(guarantee, people, counted.people(guarantee.k))
        groups = counted.groups()
        echo_notes([] if groups is None else [risk_note(str(dataset.records.group), groups)])
        cells, dates = counted.cells, dataset.written.dates
        numbers = {name: domain for name, domain in dataset.records.domains.items() if dates(name) is None}
        echo_notes(_of_classes(counted, guarantee, dataset.records, cells))
        echo_notes([*release_notes(reviewed.cells(list(cells)), cells, numbers), *text_notes(release.notes)])


def _of_classes(
    counted: ReleaseCounts, guarantee: Guarantee, records: Microdata, cells: Mapping[str, Any]
) -> list[Note]:
    """Notes on the classes of a release, or on what a method without classes hardly changes."""
    if guarantee.k is not None:
        return [*_of_conventions(counted), *_gaps_in_classes(records, cells)]
    return counted.hardly_changed() if guarantee.l is None and guarantee.t is None else []


def _of_conventions(counted: ReleaseCounts) -> list[Note]:
    """A note of k by both conventions of ``*``, where they differ."""
    from scenarios.tables import Note, suppressed_words

    sizes = counted.by_convention()
    if sizes is None or sizes[0] == sizes[1]:
        return []
    k, any_value, suppressed = sizes
    numbers = {"k": k, "any_value": any_value, "suppressed": suppressed_words(suppressed)}
    return [Note("suppressed in classes", numbers=numbers)]


def _gaps_in_classes(records: Microdata, cells: Mapping[str, Any]) -> list[Note]:
    """Notes of the columns of classes whose released cells, by column, are missing in some rows."""
    from scenarios.tables import Note

    kinds = {"gaps in classes": records.quasi_identifiers, "gaps in diversity": records.sensitive}
    named = {kind: tuple(one for one in names if one in cells and cells[one].missing) for kind, names in kinds.items()}
    return [Note(kind, names) for kind, names in named.items() if names]


def _refuse_parts(table: str, outputs: Sequence[str | None]) -> None:
    """Refuse outputs in the folder of the table, of which they would become parts."""
    folder = Path(table)
    for path in outputs:
        refuse(
            path is not None and folder.is_dir() and Path(path).resolve().parent == folder.resolve(),
            f"{path} would become a part of the table; write to another folder than {table}",
        )


SHARED_ROWS, PROCESS_MEMORY = 100_000, 1 << 29
"""Least number of rows of a table whose random blocks several processes release, and bytes of memory for each."""


def _in_order(jobs: int | None, rows: int, memory: int) -> InOrder:
    """Where random blocks are released, given the number of rows and the bytes of memory: worker processes, or here."""
    from scenarios.running.workers import cores, in_order

    processes = jobs or (min(cores(), memory // PROCESS_MEMORY) if rows >= SHARED_ROWS else 1)
    return map if processes == 1 else partial(in_order, processes=processes)


def named_defense(name: str, parameters: Mapping[str, Any]) -> MicrodataDefense:
    """The defense of a name, which must release a table."""
    from defenses.base import MicrodataDefense
    from scenarios.running.methods.methods import build

    defense = build({"use": name, **parameters}, "defenses")
    if not isinstance(defense, MicrodataDefense):
        hint = "; `tokumei ask` answers queries about a table under a budget" if defense.kind == "statistics" else ""
        raise ValueError(f"{name} releases {defense.kind}, no table{hint}")
    return defense


def _in_words(guarantee: Guarantee, rows: RowsOfPeople | None) -> str:
    """A guarantee with the columns and conditions that it refers to, and whether it counts people."""
    if str(guarantee) == "none":
        return f"guaranteed: {guarantee.statement or 'none: the method gives no guarantee'}"
    head = "guaranteed" if rows is None else "guaranteed of rows, not of people"
    return f"{head}: {guarantee}; {guarantee.statement}" if guarantee.statement else f"{head}: {guarantee}"


def _warn_of_guarantee(guarantee: Guarantee, rows: RowsOfPeople | None, classes: SizeCounts | None = None) -> None:
    """Warn of a guarantee that says less of people than of rows, or that says next to nothing."""
    from scenarios.tables.review.rows_of_people import MOST_NAMED, guarantee_to_people

    echo_each("warning", () if rows is None else guarantee_to_people(guarantee, rows, classes))
    if guarantee.epsilon is not None and guarantee.epsilon > MOST_NAMED:
        echo(
            f"warning: epsilon = {guarantee.epsilon:.3g} guarantees next to nothing: above {MOST_NAMED:g}, odds may "
            "change by a factor above 1,000; only `tokumei report` shows what the release protects",
            err=True,
        )
