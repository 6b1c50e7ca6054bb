"""Scenarios: data sets, games, experiments, the runner and the command line.

Data sets: folders with records, roles, hierarchies and licence, or functions that generate or download them.
    dataset_names: Names of the data sets in alphabetical order; reads no data.
    load: Load a data set.

User tables: files, roles and domains of columns, and the risk of a table.
    Dataset: A table of records with its source.
    load_table: Read records from a CSV or Parquet file.

Games: what the attacker knows, what it claims, and how claims are scored.
    AttributeInference: Attribute inference: the adversary knows quasi-identifiers and infers the sensitive value.
    CandidateFile: Re-identification among candidates: the adversary has a file of all originals and of decoys.
    CellDowncoding: Downcoding: the adversary claims the exact value behind every generalized cell of a
        quasi-identifier.
    ClassifierMembership: Membership inference on a model: the publisher trains a classifier on the release and
        publishes only the model.
    Game: A game between a publisher and an adversary.
    GraphNeighbours: Distinguishing game on a graph, against an adversary who knows all friendships but one, or but
        one person's.
    Indistinguishability: Distinguishing game of differential privacy: decide which of two neighbouring tables is
        behind an answer.
    Intersection: Attribute inference about people in two tables that are released independently with the same
        defense.
    Join: Sweeney's join of a de-identified medical table with a named register, both made from the same records.
    Linkability: Linkability: two files hold different columns of the same people, and a released row may link both
        parts.
    Membership: Membership inference on a released table: half of the candidates are its originals.
    Newcomer: Disclosure of a newcomer's value by the means over all persons and over all but the newcomer.
    Outcome: Result of one play.
    PkAnonymity: Re-identification of one row by an adversary that chooses the table; Pk-anonymity bounds its
        posterior by 1/k.
    PkSummary: Win rate, answer rate and posteriors over many plays of `PkAnonymity`.
    play: Play a game once: draw, defend, publish, attack, score.
    Pool: Pool inference: infer from linked reports which pool of items (skin tones, political sides) a person
        prefers.
    Reports: Inference of a person's value from linked reports under local differential privacy.
    SecretBits: Disclosure of a binary attribute: a curator answers counts of it for any group of persons.
    SecretNumbers: Disclosure of numbers above a threshold: a curator answers sums or means for any group of
        persons.
    SharedPeople: One question about people who are drawn once for all questions of a scenario.
    SinglingOut: Singling out: the adversary claims predicates, and one succeeds if it holds for exactly one
        original.
    SparseRatings: De-anonymization of sparse ratings: the adversary knows a few ratings of each target, some of
        them wrong.
    StatisticsMembership: Membership inference on statistics: half of the candidates are the records of a curator.
    summarize_pk: Summarize the measures of many plays of `PkAnonymity`.
    Training: Attacks of the server on federated training: reconstruction and membership inference.
    VisitingHours: Disclosure of a regular visitor's hour by daily histograms of a shop's visitors.

Questions about the people of one play
    AttributeQuestion: Attribute inference: the adversary knows all candidates' quasi-identifiers and predicts their
        sensitive value.
    LinkQuestion: Linkability: the adversary links two files that hold different columns of all candidates, in
        different orders.
    MemberQuestion: Membership: the adversary, who knows all candidates in clear, scores how likely each is an
        original.
    Question: A question about the people of one play that attacks answer from a released table.
    ReconstructionQuestion: Reconstruction: the adversary knows some quasi-identifiers of all candidates and claims
        their hidden columns.
    RowQuestion: Re-identification: the adversary links each released row to a candidate, whom it knows in clear.
    SinglingOutQuestion: Singling out: the adversary claims predicates, and one succeeds if it holds for exactly one
        original.

Experiments: scenarios that report in tables and pictures instead of a board.
    Emoji: Count-mean sketches in use: a histogram of emoji, popular sites, new words, and pool inference.
    EpsilonAudit: Audits of every mechanism of `defenses.dp` and `defenses.ldp`, and of defenses that use them.
    Experiment: A study that runs by itself and reports in sections.
    FederatedCurves: Loss gap F(w_T) - F(w*) of noisy federated averaging, and the shape that the theory gives it.
    LinkedSurveys: Several surveys of the same people, whose reports are linked to each other and then to the
        people.
    PramHistogram: Histograms after retention-replacement and after optimal PRAM, beside the published figures.
    Sketches: Count-mean sketches as published: error over their size, emoji by locale, sound of videos, and new
        words.
    Survey: Survey of columns of Adult and bank data under every local protocol that takes a domain of any size.

Audits of claimed epsilons: mechanisms run on neighbouring inputs, and lower bounds on their true epsilon
    Audit: Result of an audit.
    Neighbours: A pair of neighbouring inputs of a mechanism.
    Subject: A mechanism with its claim and the neighbouring inputs on which the claim is audited.

The runner: plays the missing trials of a plan in worker processes within limits of time and memory.
    Plan: The defenses, attacks and games of a scenario, and how often each combination is played.
    read_plan: Read a scenario that is played on one data set.

Boards from Python: play scenarios, and read what was played
    BoardResult: Results of a run or of a database, as a board.
    read_board: The board of stored results, each method in its newest version.
    run: Play scenarios and return their board, as `tokumei run` does.
"""

import sys

import lazy_loader

from scenarios.running.methods.former_modules import FormerModules

__distribution__ = "tokumei"
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
sys.meta_path.append(FormerModules())
