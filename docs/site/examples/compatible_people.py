"""An attack in one file: the candidate who agrees with the row in most columns."""

from attacks import Attack, RankedAnswers, shared_columns


class CompatiblePeople(Attack):
    """Answers each released row with the candidate whom most of its cells cover.

    An interval covers the numbers in it, a set its members, and ``*`` every value.
    """

    kind = "microdata"
    goal = "reidentification"

    def run(self, release, knowledge, rng):
        """Count for each row and candidate the cells that cover the candidate's values."""
        columns = shared_columns(release, knowledge)
        agreements = sum(column.expand(column.contains().astype(float)) for column in columns)
        return RankedAnswers.from_scores(agreements, rng)
