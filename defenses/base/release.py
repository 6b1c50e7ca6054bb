"""Releases: one class for each kind of publication."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from defenses.base.channel import Channel
from defenses.base.queries.query import QuerySession
from defenses.base.training import Encoding, ExampleBound, Network
from metrics.columns import require


@dataclass(frozen=True)
class Release(ABC):
    """The publication of a defense.

    Attributes
    ----------
    kind : str
        The kind of publication; attacks are matched by it.

    Examples
    --------
    A new kind of publication is a subclass that states its kind and its view:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from defenses import Release
    >>> @dataclass(frozen=True)
    ... class Histogram(Release):
    ...     kind = "histogram"
    ...     counts: dict
    ...     def view(self, rng):
    ...         return dict(self.counts)
    >>> Histogram({"flu": 2, "none": 5}).view(np.random.default_rng(1))
    {'flu': 2, 'none': 5}
    """

    kind: ClassVar[str]

    @abstractmethod
    def view(self, rng: Generator) -> Any:
        """Return what one attack receives: no secrets, and no state shared with other attacks."""

    def without_channel(self) -> Release:
        """Return the release for an attacker who does not know the mechanism."""
        return self


class SharedResults:
    """Results that the attacks on one release share; empty in every copy and pickle.

    `attacks.base.sides` keeps coded columns here. It compares the tables' contents before it answers from them, so
    that an attack that changes its view gets no result of the unchanged one. `attacks.base.simulation` keeps releases
    of the attacker's own people.
    """

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.simulations: dict[Any, Any] = {}

    def __reduce__(self) -> tuple[type[SharedResults], tuple[()]]:
        return SharedResults, ()


@dataclass(frozen=True)
class MicrodataRelease(Release):
    """A released table.

    Parameters
    ----------
    frame : DataFrame, shape (rows, columns)
        Released cells (see `metrics.columns.cells`). A defense keeps rows in the order of the records; the game
        shuffles them.
    origin : ndarray of int, shape (rows,)
        Position of the record that each row stems from, -1 for a row that stems from none or from several. It is the
        game's secret.
    channel : Channel, optional
        The public description of the mechanism; None where the mechanism does not act record by record.
    analysis : DataFrame, optional
        The table that analysts work on, where it is not `frame`: one rebuilt from randomized cells. Its rows stem from
        no record, and utility is measured on it. It follows from `frame` and the channel, so that views leave it out.

    Raises
    ------
    ValueError
        If `origin` does not hold one position per row.

    Examples
    --------
    Attacks receive a view without origins:

    >>> import numpy as np
    >>> import pandas as pd
    >>> from defenses import MicrodataRelease
    >>> release = MicrodataRelease(pd.DataFrame({"age": ["[30,39]", "52"]}), origin=[0, 1])
    >>> swapped = release.take([1, 0])
    >>> swapped.frame["age"].tolist(), swapped.origin.tolist()
    (['52', '[30,39]'], [1, 0])
    >>> swapped.view(np.random.default_rng(1)).origin.tolist()
    [-1, -1]
    """

    kind: ClassVar[str] = "microdata"
    frame: pd.DataFrame = field(repr=False)
    origin: NDArray[np.intp] = field(repr=False)
    channel: Channel | None = None
    analysis: pd.DataFrame | None = field(default=None, repr=False)
    shared: SharedResults = field(default_factory=SharedResults, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "origin", np.asarray(self.origin, dtype=np.intp))
        require(
            self.origin.shape == (len(self.frame),),
            f"origin must hold {len(self.frame)} positions, one a row, got shape {self.origin.shape}",
        )

    @property
    def remark(self) -> str:
        """What the publisher should know about this release beside its guarantee; empty where there is nothing."""
        return ""

    @property
    def analyst_table(self) -> pd.DataFrame:
        """The table that analysts work on: `analysis`, or else `frame`."""
        return self.frame if self.analysis is None else self.analysis

    def take(self, positions: ArrayLike) -> MicrodataRelease:
        """Return the rows at `positions`, shape (m,), numbered from 0."""
        rows = np.asarray(positions)
        return replace(self, frame=self.frame.iloc[rows].reset_index(drop=True), origin=self.origin[rows])

    def shuffled(self, rng: Generator) -> MicrodataRelease:
        """Return the rows in random order."""
        return self.take(rng.permutation(len(self.frame)))

    def view(self, rng: Generator) -> MicrodataRelease:
        """Return a copy without origins, which shares results with other views (`SharedResults`)."""
        return self._sharing(MicrodataRelease(self.frame.copy(), np.full(len(self.frame), -1), self.channel))

    def without_channel(self) -> MicrodataRelease:
        """Return the release for an attacker who does not know the mechanism."""
        return self._sharing(replace(self, channel=None))

    def _sharing(self, release: MicrodataRelease) -> MicrodataRelease:
        """Let another release of the same rows share this one's results."""
        object.__setattr__(release, "shared", self.shared)
        return release


@dataclass(frozen=True)
class StatisticsRelease(Release):
    """A curator that answers queries.

    Parameters
    ----------
    start : callable
        ``start(rng)`` opens a new session with its own accountant and noise.

    Examples
    --------
    Each session has its own budget, here of one query:

    >>> import numpy as np
    >>> from defenses import StatisticsRelease
    >>> class OneCount:
    ...     def __init__(self, rng):
    ...         self.answers = [40]
    ...     def answer(self, query):
    ...         return self.answers.pop() if self.answers else "refused"
    >>> release = StatisticsRelease(OneCount)
    >>> session = release.view(np.random.default_rng(1))
    >>> session.answer("people over 60"), session.answer("people over 60")
    (40, 'refused')
    """

    kind: ClassVar[str] = "statistics"
    start: Callable[[Generator], QuerySession]

    def open(self, rng: Generator) -> QuerySession:
        """Open a new session."""
        return self.start(rng)

    def view(self, rng: Generator) -> QuerySession:
        """Return one new session, so that an attack cannot multiply its budget."""
        return self.open(rng)


@dataclass(frozen=True)
class ReportsRelease(Release):
    """Reports that each person randomized before sending.

    Parameters
    ----------
    reports : sequence
        One array or object of reports per round of collection, in the order of the persons.
    protocol : object
        The public mechanism of the reports, with its parameters.

    Examples
    --------
    Two rounds of collection from three persons:

    >>> from defenses import ReportsRelease
    >>> release = ReportsRelease([[True, False, True], [True, True, True]], protocol={"flip": 0.25})
    >>> len(release.reports), release.reports[1][0]
    (2, True)
    """

    kind: ClassVar[str] = "reports"
    reports: Sequence[Any]
    protocol: Any

    def view(self, rng: Generator) -> ReportsRelease:
        """Return the release itself: the reports and their senders are public."""
        return self


@dataclass(frozen=True)
class ModelRelease(Release):
    """A trained model, as far as it is public (predictions only, or all of it).

    Parameters
    ----------
    model : object
        A fitted estimator with ``predict_proba``.

    Examples
    --------
    A model that predicts the same shares of two classes for everybody:

    >>> import numpy as np
    >>> from defenses import ModelRelease
    >>> class Shares:
    ...     def predict_proba(self, people):
    ...         return np.tile([0.25, 0.75], (len(people), 1))
    >>> ModelRelease(Shares()).model.predict_proba([[34], [52]]).tolist()
    [[0.25, 0.75], [0.25, 0.75]]
    """

    kind: ClassVar[str] = "model"
    model: Any

    def view(self, rng: Generator) -> ModelRelease:
        """Return the model."""
        return self


@dataclass(frozen=True)
class FinalModel:
    """The classifier at the end of a training; it takes people with original values.

    Parameters
    ----------
    network : Network
        Its architecture.
    weights : ndarray, shape (size,)
        Its weights.
    encoding : Encoding
        Encoding of people as features.
    """

    network: Network
    weights: NDArray[np.float64] = field(repr=False)
    encoding: Encoding = field(repr=False)

    @property
    def target(self) -> str:
        """The column that it predicts."""
        return self.encoding.target

    @property
    def classes(self) -> tuple[str, ...]:
        """The categories, in the order of the probabilities."""
        return self.encoding.classes

    def predict_proba(self, people: pd.DataFrame) -> NDArray[np.float64]:
        """Class probabilities, shape (people, classes)."""
        return self.network.probabilities(self.weights, self.encoding.features(people))


@dataclass(frozen=True, kw_only=True)
class TrainingRelease(Release):
    """A model in training, as the server sees it.

    An update is the sum of a client's gradient steps: (weights before - weights after) / learning rate. With one
    step it is the gradient of the client's mean loss.

    Parameters
    ----------
    updates : sequence of mapping of int to ndarray
        Per round: the update of each client, shape (size,); empty where the server sees only their sum.
    aggregates : sequence of ndarray
        Per round: the mean of the updates, weighted by the clients' sizes, shape (size,), before the server's noise.
    participants : sequence of ndarray of int
        Per round: the clients whose updates count.
    models : sequence of ndarray
        Weights sent out before each round, and the final ones, shape (size,).
    sizes : tuple of int
        Number of records of each client.
    learning_rate : float
        Length of a step.
    local_epochs : int
        Number of steps of a client in a round.
    clipping : ExampleBound, optional
        The clients' clipping rule; None without clipping.
    noise : float
        Standard deviation of the noise on each coordinate of an update, or of the aggregate where only that is visible;
        0 without noise.
    network : Network
        The public architecture of the model, with its gradient.
    encoding : Encoding
        The public encoding of records as features.
    holder : ndarray of int, shape (records,)
        The client that holds each record. It is the game's secret; attacks get -1 instead.
    """

    kind: ClassVar[str] = "training"
    updates: Sequence[Mapping[int, NDArray[np.float64]]] = field(repr=False)
    aggregates: Sequence[NDArray[np.float64]] = field(repr=False)
    participants: Sequence[NDArray[np.intp]] = field(repr=False)
    models: Sequence[NDArray[np.float64]] = field(repr=False)
    sizes: tuple[int, ...]
    learning_rate: float
    local_epochs: int
    clipping: ExampleBound | None
    noise: float
    network: Network
    encoding: Encoding = field(repr=False)
    holder: NDArray[np.intp] = field(repr=False)

    def final(self) -> ModelRelease:
        """Return the final model alone."""
        return ModelRelease(FinalModel(self.network, self.models[-1], self.encoding))

    def contributions(self, turn: int, features: NDArray[np.float64], labels: NDArray[np.intp]) -> NDArray[np.float64]:
        """Contribution of each example to the sum in its client's first step of a round, shape (n, size)."""
        gradients = self.network.example_gradients(self.models[turn], features, labels)
        if self.clipping is None:
            return gradients
        return gradients * self.clipping.example_factors(np.linalg.norm(gradients, axis=1))[:, None]

    def view(self, rng: Generator) -> TrainingRelease:
        """Return what the server saw, without the assignment of records to clients."""
        return replace(self, holder=np.full(sum(self.sizes), -1))
