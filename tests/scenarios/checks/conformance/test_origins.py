"""Origins that name wrong records are found; perturbed and swapped columns are not taken for them."""

import pytest

from defenses import MicrodataDefense, released_frame, rowwise_release
from scenarios.checks.conformance.defense_checks import check_origins


class Changed(MicrodataDefense):
    """Releases what `change` makes of the records' frame, as row for row."""

    def change(self, frame, rng):
        raise NotImplementedError

    def apply(self, records, rng):
        return rowwise_release(self.change(released_frame(records), rng), channel=None)


class Halved(Changed):
    def change(self, frame, rng):
        return frame[::2].reset_index(drop=True)


class HalvedWithoutNumbersAnew(Changed):
    def change(self, frame, rng):
        return frame.assign(age=50, income=0, city="*", grade="low")[::2]


class HalvedAndRounded(Changed):
    def change(self, frame, rng):
        return frame.assign(income=frame["income"].round(-3))[::2].reset_index(drop=True)


class Filtered(Changed):
    def change(self, frame, rng):
        return frame[frame["age"] < 60].reset_index(drop=True)


class Permuted(Changed):
    def change(self, frame, rng):
        return frame.iloc[rng.permutation(len(frame))].reset_index(drop=True)


class SortedTexts(Changed):
    def change(self, frame, rng):
        return frame.astype(str).sort_values("income").reset_index(drop=True)


class SwappedTogether(Changed):
    def change(self, frame, rng):
        columns = ["age", "income", "city"]
        return frame.assign(**frame[columns].iloc[rng.permutation(len(frame))].reset_index(drop=True))


class SwappedAlone(Changed):
    def change(self, frame, rng):
        return frame.apply(lambda column: column.iloc[rng.permutation(len(frame))].to_numpy())


class Noisy(Changed):
    def change(self, frame, rng):
        return frame.assign(age=frame["age"] + rng.integers(-30, 30, len(frame)), income=0.0)


class Taken(MicrodataDefense):
    def apply(self, records, rng):
        return rowwise_release(released_frame(records), channel=None).take(range(0, len(records), 2))


@pytest.mark.thorough_beyond(5)
@pytest.mark.parametrize(
    "method", [Halved, HalvedWithoutNumbersAnew, HalvedAndRounded, Filtered, Permuted, SortedTexts]
)
def test_wrong_origins_are_refused(method):
    with pytest.raises(AssertionError, match=r"row \d+ stems from record \d+, but its origin is \d+; .*\.take"):
        check_origins(method)


@pytest.mark.parametrize("method", [SwappedTogether, SwappedAlone, Noisy, Taken])
def test_right_origins_pass(method):
    check_origins(method)
