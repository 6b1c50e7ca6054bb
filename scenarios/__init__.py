"""Scenarios: data sets, games, experiments, the runner and the command line.

Data sets: folders with records, roles, hierarchies and licence, or functions that generate or download them.
    dataset_names: Names of the data sets in alphabetical order; reads no data.
    load: Load a data set.

User tables: files, roles and domains of columns, and the risk of a table.
    Dataset: A table of records with its source.
    load_table: Read records from a CSV or Parquet file.

Games: what the attacker knows, what it claims, and how claims are scored.
    AttributeInference: The attacker knows people's quasi-identifiers and the release, and names their sensitive
        value.
    CandidateFile: Re-identification among candidates: the attacker holds a file that contains every original, and
        decoys.
    ClassifierMembership: Membership in the records behind a model: the release stays with its owner, who trains a
        classifier on it.
    DowncodingGame: The attacker names the exact value behind every generalized cell of a quasi-identifier.
    Game: A game between a publisher and an attacker.
    Indistinguishability: Which of two tables that differ in one record is behind an answer? The adversary picks
        both.
    Intersection: Attribute inference about people who are in two tables, each released by itself with the same
        defense.
    Join: A de-identified medical table and a named register, made of the same records by splitting their columns.
    Linkability: Two files hold different columns of the same people; a person is linked if both parts lead to a
        common row.
    Membership: Membership in a released table: half of the candidates are its originals, the others are held out.
    Newcomer: What did the newcomer spend? The mean is asked for over everybody, and over everybody but the
        newcomer.
    Outcome: What came of a play.
    PkAnonymity: One row's re-identification by an adversary that picked the table, as Pk-anonymity bounds it by
        1/k.
    PkSummary: What came of many plays of the Pk game.
    play: Play a game once: draw, defend, publish, attack, score.
    Pool: Guess which pool of items (a skin tone, a political side) each person prefers, reports being linked to
        senders.
    Reports: Guess what a person's value is from their reports, which carry the sender's name.
    SecretBits: Who has the secret attribute? Counts of it are answered for any group of persons.
    SecretNumbers: Whose number is above a line? Sums or means of it are answered for any group of persons.
    SinglingOut: The attacker names predicates; one singles out if exactly one of the originals meets it.
    SparseRatings: De-anonymization of ratings: the attacker knows a few ratings of each target, some of them wrong.
    StatisticsMembership: Membership in the records behind statistics: half of the candidates are those that a
        curator answers about.
    summarize_pk: Summary of the measures that `PkAnonymity` gave, each with a posterior.
    Training: A model is trained on records at clients; the server sees what arrives and looks for the records.
    VisitingHours: At what hour does the regular come? A shop's visitors are counted by the hour, each day.

Experiments: scenarios that report in tables and pictures instead of a board.
    Emoji: Count-mean sketches in use: a histogram of emoji, popular sites, new words, and pool inference.
    EpsilonAudit: Audits of every mechanism of `defenses.dp` and `defenses.ldp`, and of defenses that use them.
    Experiment: A study that runs by itself and reports in sections.
    FederatedCurves: Loss gap F(w_T) - F(w*) of noisy federated averaging, and the shape that the theory gives it.
    PramHistogram: Histograms after retention-replacement and after optimal PRAM, beside the published figures.
    Survey: Survey of columns of Adult and bank data under every local protocol that takes a domain of any size.

Audits of claimed epsilons: mechanisms run on neighbouring inputs, and lower bounds on their true epsilon.
    Audit: Result of an audit.
    Neighbours: A pair of neighbouring inputs of a mechanism.
    Subject: A mechanism with its claim and the neighbouring inputs on which the claim is audited.

The runner: plays the missing trials of a plan in worker processes within limits of time and memory.
    Plan: What is to be played.
    read_plan: Read a scenario.
"""

import lazy_loader

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
