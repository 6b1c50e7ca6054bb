"""``tokumei attack``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from scenarios.commands.common import echo, echo_each, parameter_option, roles_option
from scenarios.running.methods.methods import given_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pandas as pd

    from attacks import Attack, Knowledge, RankedAnswers
    from defenses.base import MicrodataRelease
    from metrics.columns import Integers

EPILOG = """\b
Examples:
  tokumei attack AssignmentLinkage -r released.csv -c people.csv -o correspondence.csv
  tokumei attack LikelihoodAssignment --channel channel.toml -r noisy.csv -c people.csv -o correspondence.csv
  tokumei attack NearestNeighbour -p metric=euclidean -r released.csv -c people.csv --truth who.csv > answers.csv
  tokumei attack BlockedLinkage -r million.parquet -c people.parquet -o correspondence.csv
  tokumei attack FellegiSunter --targets 100 -r released.csv -c people.csv -o correspondence.csv
  tokumei attack --self -r people.csv -o groups.csv
"""


@click.command(epilog=EPILOG)
@click.argument("assignment", required=False)
@click.option("-r", "--released", required=True, help="The released table (CSV or Parquet).")
@click.option("-c", "--candidates", help="The candidates: people in the clear (CSV or Parquet).")
@click.option("--self", "itself", is_flag=True, help="Link the table with itself: find who occurs in it twice.")
@parameter_option("ASSIGNMENT")
@roles_option
@click.option("--channel", help="What is public about the mechanism, as `tokumei defend --channel` writes it.")
@click.option("-o", "--output", default="-", show_default=True, help="File for the answer; - is standard output.")
@click.option("--truth", help="Score the answer by the true records, as `tokumei defend --truth` writes them.")
@click.option("--targets", type=click.IntRange(min=1), help="Ask about so many released rows, drawn at random.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed that breaks ties and draws targets."
)
@click.option("--force", is_flag=True, help="Replace the output file if it exists.")
def attack(
    assignment: str | None,
    released: str,
    candidates: str | None,
    parameters: tuple[str, ...],
    roles: Path | None,
    channel: str | None,
    output: str,
    truth: str | None,
    targets: int | None,
    seed: int,
    *,
    itself: bool,
    force: bool,
) -> None:
    """Link a released table with people in the clear by the linkage attack ASSIGNMENT, and state its confidence.

    The answer is a CSV file with the columns released_row, candidate_row and confidence. Each answered row gets the
    candidate that it stems from and the probability that this is correct; rows are counted from 0. Some attacks state
    no probability (NearestNeighbour, AssignmentLinkage, FellegiSunter). ExpectationMaximizationLinkage then learns one
    for their answers, and a note says so.

    Probabilities assume that every released row stems from a candidate. If several rows seem to stem from one
    candidate, ExpectationMaximizationLinkage, GroupLinkage and BlockedLinkage answer each row by itself, and the first
    and the last say so. Otherwise nobody has two rows. Where rows outnumber candidates, every candidate is then assumed
    to have a released row. A note says that the surplus rows stem from nobody, and no expected share of correct
    answers is stated.

    Candidates may have values that no released person has. Where the channel states a column's domain and a candidate
    lies outside it, no released row stems from that candidate; a note counts such candidates. The domain in --channel
    comes from the roles file given to `tokumei defend`. Without it, it comes from the records, and then sets them apart
    from other people. A candidate outside a domain that --roles declares is refused.

    Most attacks compare all pairs of rows and candidates. By default they answer for as many rows as make 25 million
    pairs, drawn at random if these are not all. They compare them with all candidates, and the score is that of the
    drawn rows. --targets sets the number of rows. The default of LikelihoodAssignment is 100,000 rows or more.

    BlockedLinkage, ExpectationMaximizationLinkage and GroupLinkage answer for all rows of large tables. A million rows
    and a million candidates take BlockedLinkage minutes, with or without --channel. It compares each row with
    candidates that agree in informative columns, and notes say which columns these are. If no columns tell enough, it
    answers for a random sample of rows, and a note says so.

    With --self, the table is linked with itself and ASSIGNMENT is left out: who occurs in it twice? All pairs of rows
    are weighed by the Fellegi-Sunter model. The answer has a line for each row that shares its person with another
    one: released_row, group (a number for the person) and the probability that the row does so. In --truth, rows of
    one person have the same record.
    """
    import numpy as np

    from attacks.linkage.blocks.answers_in_blocks import SearchedAnswers
    from attacks.linkage.linkage_answers import NotedAnswers
    from scenarios.tables import (
        STANDARD,
        answer_table,
        as_csv,
        read_release,
        read_truth,
        refuse_existing,
        stronger_attacks,
        write_text,
    )
    from scenarios.tables.sampled_release import drawn_rows, sampled_release, sampling_notes

    refuse_existing([output], inputs=[released, candidates, roles, channel, truth], force=force)
    if itself:
        of_two = {"ASSIGNMENT": assignment, "-c": candidates, "-p": parameters, "--channel": channel}
        _refuse_with_self({**of_two, "--targets": targets})
        _link_with_itself(released, roles, output, truth, seed)
        return
    if assignment is None or candidates is None:
        lacking = "ASSIGNMENT, the linkage attack" if assignment is None else "-c, the table of candidates"
        raise ValueError(f"{lacking}, is missing; --self does without and finds who occurs twice in one table")
    method = _linkage_attack(assignment, parameters)
    release, knowledge, notes, whose = read_release(released, candidates, roles, channel)
    rows, people = len(release.frame), len(knowledge.candidates)
    origin = None if truth is None else read_truth(Path(truth), rows, people)
    drawn = drawn_rows(method, rows, people, targets, seed)
    if drawn.size < rows:
        release = sampled_release(release, drawn)
        notes += sampling_notes(method, drawn.size, rows, people, asked=targets is not None)
    rng = np.random.default_rng(seed)
    claims = _claims(assignment, method, release, knowledge, rng)
    answer = answer_table(claims, release, knowledge, rng)
    answer["released_row"] = drawn[answer["released_row"].to_numpy()]
    if isinstance(claims, NotedAnswers):
        notes += claims.notes
    if isinstance(claims, SearchedAnswers) and claims.asked is not None:
        drawn = drawn[claims.asked]
    write_text(as_csv(answer), output)
    if claims.confidence is None and answer["confidence"].notna().any():
        notes.append(
            f"{assignment} states no confidence; that of ExpectationMaximizationLinkage in the same answers is written "
            "instead"
        )
    notes += stronger_attacks(method, claims, answer, release, knowledge)
    several = isinstance(claims, NotedAnswers) and claims.several
    if rows > people and not several:
        assumed = "every candidate has a row" if drawn.size > people else "every drawn row stems from a candidate"
        notes.append(
            f"{rows} released rows outnumber {people} candidates: if nobody has two rows, {rows - people} or more "
            f"stem from no candidate. Confidences assume that {assumed}, which may be wrong"
        )
    echo_each("note", notes)
    to_error = output == STANDARD
    echo(_confidence_line(answer, drawn.size, rows, surplus=rows > people and not several), err=to_error)
    if origin is not None:
        echo(_score_line(answer, origin, whose, drawn), err=to_error)


def _refuse_with_self(given: Mapping[str, object]) -> None:
    """Refuse what concerns two tables."""
    from metrics.columns import refuse_any

    refuse_any(
        (name for name, value in given.items() if value),
        lambda name: f"--self links one table with itself, and takes no {name}",
    )


def _link_with_itself(released: str, roles: Path | None, output: str, truth: str | None, seed: int) -> None:
    """Write which rows of a table are about one person, and how sure that is."""
    import numpy as np
    import pandas as pd

    from attacks.base import shared_columns
    from attacks.linkage.deduplication import duplicates, scored_pairs
    from scenarios.tables import STANDARD, as_csv, read_release, read_truth, write_text

    release, knowledge, notes, _ = read_release(released, released, roles, None)
    rows = len(release.frame)
    person = None if truth is None else read_truth(Path(truth), rows, rows)
    found = duplicates(shared_columns(release, knowledge), np.random.default_rng(seed))
    several = np.flatnonzero(found.group >= 0)
    confidence = np.round(found.confidence[several], 6)
    answer = pd.DataFrame({"released_row": several, "group": found.group[several], "confidence": confidence})
    write_text(as_csv(answer), output)
    echo_each("note", dict.fromkeys(notes))
    groups = int(found.group.max(initial=-1)) + 1
    stated = f"; expected to be right: {confidence.mean():.1%} of them" if several.size else ""
    to_error = output == STANDARD
    echo(f"rows of people who occur several times: {several.size} of {rows}, in groups: {groups}{stated}", err=to_error)
    if person is not None:
        precision, recall, both = scored_pairs(found.group, person)
        echo(f"pairs of rows: precision {precision:.1%}, recall {recall:.1%}, F1 {both:.3f}", err=to_error)


def _linkage_attack(name: str, parameters: tuple[str, ...]) -> Attack:
    """The attack of a name, which must re-identify the rows of a table."""
    from attacks.base import Attack
    from scenarios.running.methods.methods import build

    method = build({"use": name, **given_parameters(parameters)}, "attacks")
    if not isinstance(method, Attack) or (method.kind, method.goal) != ("microdata", "reidentification"):
        raise ValueError(f"{name} is about {method.goal} in a {method.kind} release; this command links tables")
    return method


def _claims(
    name: str, method: Attack, release: MicrodataRelease, knowledge: Knowledge, rng: np.random.Generator
) -> RankedAnswers:
    """Run the attack; its refusals become bad input."""
    from attacks import NotApplicable, RankedAnswers
    from metrics.columns import errors_at
    from scenarios.games import FinishedRelease, GivenPeople, Randomness, RowQuestion, claims_of
    from scenarios.tables.file_methods import ReleasedFile

    people = GivenPeople.listed(knowledge.auxiliary.with_frame(knowledge.candidates), knowledge.auxiliary)
    file, game = ReleasedFile.of(release, people.records), FinishedRelease(people=people, question=RowQuestion())
    try:
        claims = claims_of(file, method, game, people, release, Randomness.in_turn(rng))
    except NotApplicable as reason:
        hint = "; `tokumei defend --channel` writes one" if "no channel" in str(reason) else ""
        raise ValueError(f"{name} does not fit: {reason}{hint}") from None
    except MemoryError:
        pairs = f"{len(release.frame)} rows and {len(knowledge.candidates)} candidates"
        raise ValueError(
            f"{name}: too many pairs of {pairs} for this machine's memory; --targets asks about fewer rows"
        ) from None
    with errors_at(name, TypeError):
        return RankedAnswers.of(claims)


def _confidence_line(answer: pd.DataFrame, targets: int, rows: int, *, surplus: bool) -> str:
    """How many rows are answered, and the expected share of right answers."""
    answered = f"{len(answer)} of {targets} {'released' if targets == rows else 'drawn'} rows answered"
    if answer["confidence"].isna().any():
        return f"{answered}; no confidence can be stated"
    if not len(answer):
        return answered
    if surplus:
        return f"{answered}; no expected share of right answers can be stated, since rows outnumber candidates"
    mean, sure = answer["confidence"].mean(), int((answer["confidence"] >= 0.95).sum())
    return f"{answered}; expected to be right: {mean:.1%} of the answers; {sure} of them with confidence 0.95 or more"


def _score_line(answer: pd.DataFrame, origin: Integers, whose: Integers, drawn: Integers) -> str:
    """Share of right answers about the drawn rows that stem from a candidate; of people who have several rows."""
    import numpy as np

    from metrics.estimate import wilson
    from scenarios.games.people import by_person

    stems = (origin >= 0) & np.isin(np.arange(origin.size), drawn)
    if not stems.any():
        return "right: 0 of 0, since no released row stems from a candidate"
    named = np.full(origin.size, -1)
    named[answer["released_row"].to_numpy()] = answer["candidate_row"].to_numpy()
    own = whose[origin[stems]]
    right = (named[stems] >= 0) & (whose[named[stems]] == own)
    several, everybody = np.unique(whose).size < whose.size, np.ones(own.size, dtype=bool)
    units = own if several else np.arange(own.size)
    hits, trials = by_person(right.astype(float), everybody, units)
    chance = by_person(np.bincount(whose)[own] / whose.size, everybody, units)[0] / trials
    rate = wilson(hits, trials)
    what = f"{int(hits)} of {trials} rows that stem from a candidate"
    if several:
        what = f"{hits:.1f} of {trials} people, each by the mean over the person's rows,"
    return f"right: {what} = {rate.value:.1%} (95 % interval {rate.low:.1%} to {rate.high:.1%}; by chance {chance:.2%})"
