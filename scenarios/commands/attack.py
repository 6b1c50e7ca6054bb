"""``tokumei attack``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from scenarios.commands.common import bad_input, roles_option
from scenarios.commands.defend import given_parameters

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from attacks.base.attack import Attack, Knowledge
    from attacks.base.claims import RankedAnswers
    from defenses.base.release import MicrodataRelease
    from scenarios.tables.text_column import TextColumn

# Pairs of rows and candidates up to which confidences are learned for attacks that state none; 8 GB or so.
MOST_LEARNED = 50_000_000
EPILOG = """\b
Examples:
  tokumei attack AssignmentLinkage -r released.csv -c people.csv -o correspondence.csv
  tokumei attack LikelihoodAssignment --channel channel.toml -r noisy.csv -c people.csv -o correspondence.csv
  tokumei attack NearestNeighbour -p metric=euclidean -r released.csv -c people.csv --truth who.csv > answers.csv
"""


@click.command(epilog=EPILOG)
@click.argument("assignment")
@click.option("-r", "--released", required=True, help="The released table (CSV or Parquet).")
@click.option("-c", "--candidates", required=True, help="The people in clear among whom to look (CSV or Parquet).")
@click.option(
    "-p",
    "--parameter",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of ASSIGNMENT (repeatable).",
)
@roles_option
@click.option("--channel", help="What is public about the mechanism, as `tokumei defend --channel` writes it.")
@click.option("-o", "--output", default="-", show_default=True, help="Where the answer goes; - is standard output.")
@click.option("--truth", help="Score the answer by who is who, as `tokumei defend --truth` writes it.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Breaks ties.")
@click.option("--force", is_flag=True, help="Replace the output file if it exists.")
def attack(
    assignment: str,
    released: str,
    candidates: str,
    parameters: tuple[str, ...],
    roles: Path | None,
    channel: str | None,
    output: str,
    truth: str | None,
    seed: int,
    *,
    force: bool,
) -> None:
    """Link a released table with people in clear by the linkage attack ASSIGNMENT, and say how surely.

    The answer is a CSV with columns released_row, candidate_row and confidence: for each released row that is answered
    the candidate that it stems from, rows counted from 0, and the probability that this is right. An attack that states
    no probability (NearestNeighbour, AssignmentLinkage, FellegiSunter) is given the one that
    ExpectationMaximizationLinkage learns for its answers, and a note says so.

    Probabilities presume that every released row stems from a candidate, or, where rows outnumber candidates, that
    every candidate has a released row. Rows beyond the number of candidates cannot all stem from them: a note then says
    so, and no expected share of right answers is stated.

    Candidates may have values that nobody of the release has. Where the channel states a column's domain and a
    candidate lies outside it, by the channel no released row stems from that candidate, and a note counts such
    candidates. A domain that --channel holds is the one of the roles file given to `tokumei defend`, or else that of
    the records, who are then told apart from others by it. A candidate outside a domain that --roles declares is
    refused.
    """
    import numpy as np

    from attacks.base.attack import NotApplicable
    from attacks.base.claims import RankedAnswers
    from scenarios.tables.released import STANDARD, as_csv, refuse_existing, write_text

    with bad_input():
        refuse_existing([output], inputs=[released, candidates, roles, channel, truth], force=force)
        method = _linkage(assignment, parameters)
        release, knowledge, notes = _read(released, candidates, roles, channel)
        who = None if truth is None else _who_is_who(Path(truth), len(release.frame), len(knowledge.candidates))
        rng = np.random.default_rng(seed)
        try:
            claims = method.run(release, knowledge, rng)
        except NotApplicable as reason:
            hint = "; `tokumei defend --channel` writes one" if "no channel" in str(reason) else ""
            raise ValueError(f"{assignment} does not fit: {reason}{hint}") from None
        except MemoryError:
            raise ValueError(f"{assignment}: too many pairs of rows and candidates for this machine") from None
        if not isinstance(claims, RankedAnswers):
            raise ValueError(f"{assignment} answers with {type(claims).__name__}, no ranked candidates")
        answer = _answer(claims, release, knowledge, rng)
        write_text(as_csv(answer), output)
    if claims.confidence is None and answer["confidence"].notna().any():
        notes.append(f"{assignment} states no confidence; it is what ExpectationMaximizationLinkage learned")
    rows, people = len(release.frame), len(knowledge.candidates)
    if rows > people:
        notes.append(
            f"{rows} released rows outnumber {people} candidates: where nobody has two rows, {rows - people} or more "
            "stem from no candidate; confidences presume that every candidate has a row, which may be wrong"
        )
    for note in notes:
        click.echo(f"note: {note}", err=True)
    aside = output == STANDARD
    click.echo(_how_sure(answer, rows, people), err=aside)
    if who is not None:
        click.echo(_score(answer, who, people), err=aside)


def _linkage(name: str, parameters: tuple[str, ...]) -> Attack:
    from attacks.base.attack import Attack
    from scenarios.methods import build

    method = build({"use": name, **given_parameters(parameters)}, "attacks")
    if not isinstance(method, Attack) or (method.kind, method.goal) != ("microdata", "reidentification"):
        raise ValueError(f"{name} is about {method.goal} in a {method.kind} release; this command links tables")
    return method


def _read(
    released: str, candidates: str, roles: Path | None, channel: str | None
) -> tuple[MicrodataRelease, Knowledge, list[str]]:
    import numpy as np

    from defenses.base.channel import Channel
    from defenses.base.release import MicrodataRelease
    from scenarios.files.toml_file import read_bytes, read_text
    from scenarios.tables.candidate_table import candidates_beside
    from scenarios.tables.released import input_path, read_roles
    from scenarios.tables.text_table import text_table

    known = None
    if channel is not None:
        text = read_text(Path(channel), read_bytes(Path(channel)))
        try:
            known = Channel.from_toml(text)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{channel}: {error}") from None
    columns, notes = text_table(input_path(released), read_bytes(input_path(released)), read_roles(roles).separator)
    frame = _cells(columns)
    knowledge, said = candidates_beside(frame, input_path(candidates), roles, known)
    release = MicrodataRelease(frame, np.full(len(frame), -1), known)
    return release, knowledge, [*notes, *said, *_contradictions(release, knowledge)]


def _contradictions(release: MicrodataRelease, knowledge: Knowledge) -> list[str]:
    """A note on released rows that stem from no candidate under the channel; none of large tables, where it takes long.

    They are of people who are no candidates, or the channel is of another release.
    """
    import numpy as np

    from attacks.linkage.channel_factors import IMPOSSIBLE
    from attacks.linkage.likelihood_assignment import DENSE, LikelihoodAssignment

    pairs = len(release.frame) * len(knowledge.candidates)
    if release.channel is None or not 0 < pairs <= DENSE:
        return []
    best = LikelihoodAssignment().evidence(release, knowledge, np.random.default_rng(0)).max(axis=1)
    strange = int((best <= IMPOSSIBLE).sum())
    rows = len(release.frame)
    return [f"by the channel {strange} of {rows} released rows stem from no candidate"] if strange else []


def _cells(columns: dict[str, TextColumn]) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    return pd.DataFrame(
        {name: np.array([*text.texts.to_pylist(), None], dtype=object)[text.codes] for name, text in columns.items()}
    )


def _who_is_who(path: Path, rows: int, candidates: int) -> NDArray[np.intp]:
    """The candidate of each released row, -1 where there is none, from a file that says so.

    Raises
    ------
    ValueError
        If the file has no columns released_row and record, names rows that do not exist or one twice, or lacks one.
    """
    import numpy as np

    from scenarios.files.toml_file import read_bytes
    from scenarios.tables.text_table import text_table

    columns, _ = text_table(path, read_bytes(path))
    for name in ("released_row", "record"):
        if name not in columns:
            raise ValueError(f"{path}: there is no column {name!r}; it has {', '.join(columns)}")
    row, record = (columns[name].number_rows() for name in ("released_row", "record"))
    for name, positions, lowest, count in (("released_row", row, 0, rows), ("record", record, -1, candidates)):
        wrong = ~((positions >= lowest) & (positions < count) & (positions == np.floor(positions)))
        if wrong.any():
            raise ValueError(
                f"{path}, row {int(wrong.argmax())}: {name} must be an integer in {lowest}..{count - 1}; "
                "records are counted as in the candidates' file"
            )
    if np.unique(row).size < row.size:
        raise ValueError(f"{path}: a released row stands twice")
    if row.size < rows:
        raise ValueError(f"{path}: is about {row.size} released rows, of which there are {rows}")
    who = np.full(rows, -1, dtype=np.intp)
    who[row.astype(np.intp)] = record.astype(np.intp)
    return who


def _answer(
    claims: RankedAnswers, release: MicrodataRelease, knowledge: Knowledge, rng: np.random.Generator
) -> pd.DataFrame:
    """The surest candidate of each released row that is answered, and how sure it is; missing where nothing says so."""
    import numpy as np
    import pandas as pd

    first = np.flatnonzero(claims.ranking(rng) == 0)
    first = first[np.argsort(claims.target[first])]
    row, candidate = claims.target[first], claims.answer[first]
    if claims.confidence is not None:
        confidence = claims.confidence[first]
    elif claims.targets * claims.answers <= MOST_LEARNED:
        confidence = _learned(release, knowledge, rng)[row, candidate]
    else:
        confidence = np.full(row.size, np.nan)
    return pd.DataFrame({"released_row": row, "candidate_row": candidate, "confidence": np.round(confidence, 6)})


def _learned(release: MicrodataRelease, knowledge: Knowledge, rng: np.random.Generator) -> NDArray[np.float64]:
    import numpy as np

    from attacks.linkage.expectation_maximization_linkage import ExpectationMaximizationLinkage
    from attacks.linkage.row_matching import matching_posterior

    evidence = ExpectationMaximizationLinkage().evidence(release, knowledge, rng)
    return np.clip(matching_posterior(evidence), 0, 1)


def _how_sure(answer: pd.DataFrame, rows: int, candidates: int) -> str:
    answered = f"{len(answer)} of {rows} released rows answered"
    if answer["confidence"].isna().any():
        return f"{answered}; no confidence can be stated"
    if not len(answer):
        return answered
    if rows > candidates:
        return f"{answered}; no expected share of right answers can be stated, since rows outnumber candidates"
    mean, sure = answer["confidence"].mean(), int((answer["confidence"] >= 0.95).sum())
    return f"{answered}; expected to be right: {mean:.1%} of the answers; {sure} of them with confidence 0.95 or more"


def _score(answer: pd.DataFrame, who: NDArray[np.intp], candidates: int) -> str:
    from metrics.estimate import wilson

    known = int((who >= 0).sum())
    right = int((answer["candidate_row"] == who[answer["released_row"].to_numpy()]).sum())
    if not known:
        return "right: 0 of 0, since no released row stems from a candidate"
    rate = wilson(right, known)
    return (
        f"right: {right} of {known} rows that stem from a candidate = {rate.value:.1%} "
        f"(95 % interval {rate.low:.1%} to {rate.high:.1%}; by chance {1 / candidates:.2%})"
    )
