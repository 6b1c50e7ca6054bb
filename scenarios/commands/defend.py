"""``tokumei defend``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    from defenses import Guarantee, MicrodataDefense
    from scenarios.tables.parts.records import LargeRecords
    from scenarios.tables.review.rows_of_people import PeopleInClasses, RowsOfPeople

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

        from scenarios.tables.dataset import load_table
        from scenarios.tables.impossible_rows import ignored_rules, with_rules
        from scenarios.tables.note import text_notes
        from scenarios.tables.parts.files.shuffled_output import write_outputs
        from scenarios.tables.parts.files.table_files import memory_bytes, read_in_parts
        from scenarios.tables.parts.memory_release import release_in_memory
        from scenarios.tables.parts.released_blocks import blocks_of
        from scenarios.tables.released import (
            STANDARD,
            check_table_name,
            input_path,
            refuse_existing,
        )
        from scenarios.tables.review.notes import (
            refuse_undeclared_identifiers,
            release_notes,
            table_notes,
            unique_text_columns,
        )
        from scenarios.tables.review.rows_of_people import RowsOfPeople, people_of_release

    defense = named_defense(method, given_parameters(parameters))
    refuse(truth == STANDARD, "--truth is secret and must be a file of its own")
    refuse_existing([output, truth, channel], inputs=[table, roles], force=force)
    check_table_name("-o", output)
    check_table_name("--truth", truth)
    available = memory_bytes(memory)
    if read_in_parts([table], asked=memory is not None or scheduler is not None):
        outputs = output, truth, channel
        _defend_in_parts(defense, table, roles, reading, available, blocks, *outputs, seed, scheduler)
        return
    refuse(blocks is not None, "--blocks: the table is not read in parts; leave the option out, or add --memory")
    dataset = load_table(input_path(table), roles, reading=reading)
    records = dataset.records
    refuse_undeclared_identifiers(table, roles, unique_text_columns(records), len(records))
    notes = [*table_notes(dataset, defense), *ignored_rules(defense, dataset.impossible, roles)]
    defense = with_rules(defense, dataset.impossible)
    defense.check(records)
    promised = defense.guarantee(records)
    root = SeedSequence(seed)
    with warnings_as_lines():
        release = release_in_memory(defense, records, root)
    refuse(channel is not None and release.channel is None, f"--channel: this release of {method} has none")
    people = RowsOfPeople.of(records)
    echo_notes(notes)
    in_blocks = blocks_of(release, len(records), promised)
    write_outputs(in_blocks, dataset, root, output, truth=truth, channel=channel)
    echo(f"{len(release.frame)} of {len(records)} records; {_in_words(promised, people)}", err=True)
    classes = None if people is None else people_of_release(records, release, promised)
    _warn_of_promise(promised, people, classes)
    numbers = {name: domain for name, domain in records.domains.items() if dataset.written.dates(name) is None}
    remarks = text_notes(filter(None, [release.remark]))
    echo_notes([*release_notes(records.frame, release.frame, numbers), *remarks])


def _defend_in_parts(
    defense: MicrodataDefense,
    table: str,
    roles: Path | None,
    reading: dict[str, Any],
    memory: int,
    blocks: int | None,
    output: str,
    truth: str | None,
    channel: str | None,
    seed: int | None,
    scheduler: str | None,
) -> None:
    """Anonymize a table that is read in parts."""
    from scenarios.tables.impossible_rows import ignored_rules
    from scenarios.tables.parts.defending import defend_in_parts
    from scenarios.tables.parts.validation import large_table_notes
    from scenarios.tables.released import input_path
    from scenarios.tables.review.notes import refuse_undeclared_identifiers

    def described(records: LargeRecords, unique: Sequence[str]) -> None:
        refuse_undeclared_identifiers(table, roles, unique, records.rows)
        echo_notes([*large_table_notes(records, defense), *ignored_rules(defense, records.dataset.impossible, roles)])

    folder = Path(table)
    for path in (output, truth, channel):
        refuse(
            path is not None and folder.is_dir() and Path(path).resolve().parent == folder.resolve(),
            f"{path} would become a part of the table; write to another folder than {table}",
        )
    with warnings_as_lines(), engine_of(scheduler) as engine:
        done = defend_in_parts(
            defense,
            input_path(table),
            roles,
            reading=reading,
            memory=memory,
            rows=blocks,
            output=output,
            truth=truth,
            channel=channel,
            seed=seed,
            engine=engine,
            describe=described,
        )
    echo(f"{done.released} of {done.records} records; {_in_words(done.guarantee, done.people)}", err=True)
    _warn_of_promise(done.guarantee, done.people)
    echo_notes(done.notes)


def named_defense(name: str, parameters: Mapping[str, Any]) -> MicrodataDefense:
    """The defense of a name, which must release a table."""
    from defenses.base import MicrodataDefense
    from scenarios.running.methods.methods import build

    defense = build({"use": name, **parameters}, "defenses")
    if not isinstance(defense, MicrodataDefense):
        hint = "; `tokumei ask` answers queries about a table under a budget" if defense.kind == "statistics" else ""
        raise ValueError(f"{name} releases {defense.kind}, no table{hint}")
    return defense


def _in_words(promised: Guarantee, rows: RowsOfPeople | None) -> str:
    """A promise with the columns and conditions that it refers to, and whether it counts people."""
    if str(promised) == "none":
        return f"promised: {promised.statement or 'none: the method gives no guarantee'}"
    head = "promised" if rows is None else "promised of rows, not of people"
    return f"{head}: {promised}; {promised.statement}" if promised.statement else f"{head}: {promised}"


def _warn_of_promise(promised: Guarantee, rows: RowsOfPeople | None, classes: PeopleInClasses | None = None) -> None:
    """Warn of a promise that says less of people than of rows, or that says next to nothing."""
    from scenarios.tables.review.rows_of_people import MOST_NAMED, promise_to_people

    echo_each("warning", () if rows is None else promise_to_people(promised, rows, classes))
    if promised.epsilon is not None and promised.epsilon > MOST_NAMED:
        echo(
            f"warning: epsilon = {promised.epsilon:.3g} promises next to nothing: above {MOST_NAMED:g}, odds may "
            "change by a factor above 1,000; only `tokumei report` shows what the release protects",
            err=True,
        )
