"""Scenarios played from Python, and boards read from a database."""

from __future__ import annotations

import inspect
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attacks.base import Attack
from defenses.base import Defense
from leaderboard.pages.number_text import counted
from metrics.columns import refuse, require
from scenarios.running.boards.board_result import BoardResult

if TYPE_CHECKING:
    import pandas as pd

    from scenarios.running.plan import NamedMethod
    from scenarios.tables.dataset import Dataset

FilePath = str | PathLike[str]


def run(
    *scenarios: str,
    data: pd.DataFrame | Dataset | FilePath | None = None,
    roles: Mapping[str, Any] | FilePath | None = None,
    defenses: Iterable[str | Defense] = (),
    attacks: Iterable[str | Attack] = (),
    plays: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    db: FilePath = ":memory:",
    fresh: bool = False,
    time_limit: float | None = None,
    memory_limit: int | str | None = None,
    quiet: bool = True,
) -> BoardResult:
    """Play scenarios and return their board, as `tokumei run` does.

    The same seed gives the same board on any number of worker processes. `read_board` shows the board of a database.
    A `UserWarning` tells how many releases and trials failed, with the first reason.

    Parameters
    ----------
    *scenarios : str
        Names of shipped scenarios, and paths of scenario files. The default is ``"bank"``, or ``"table"`` with `data`.
    data : DataFrame, Dataset or path, optional
        The table to play on instead of the scenario's own.
    roles : mapping or path, optional
        Roles of the table's columns: a roles file, or its content, as in ``{"quasi_identifiers": ["age"]}``.
    defenses, attacks : iterable of str, Defense or Attack
        What to play instead of all methods of the scenario: names of some of them, ``"module:Class"``,
        ``"Mondrian k=3"``, or objects. The class of an object must stand in a module, which worker processes can
        import.
    plays, seed : int, optional
        Number of plays, and seed; by default those of the scenario.
    jobs : int, optional
        Number of worker processes; by default the number of cores.
    db : path or str
        Database of results: a file, from which a second run takes what is already played, or an SQLAlchemy URL. By
        default, results are kept in memory only.
    fresh : bool
        Play every trial again, even if its result is stored.
    time_limit : float, optional
        Seconds that a trial may take.
    memory_limit : int or str, optional
        Bytes that a trial may use, or a text such as ``"4G"``.
    quiet : bool
        Show no progress and no failures on standard error.

    Raises
    ------
    ValueError
        If a scenario, a method, a table or the database cannot be used.
    KeyboardInterrupt
        If the run was interrupted; finished trials are in the database.
    """
    from scenarios.running.display import Display
    from scenarios.running.runner import Changes, catalogues_of, changed_plans, play_catalogues
    from scenarios.running.workers import LocalProcesses, cores, read_size

    refuse(roles is not None and data is None, "roles describe a table; name it with data=")
    for name, value, least in (("plays", plays, 1), ("jobs", jobs, 1), ("seed", seed, 0)):
        refuse(value is not None and value < least, f"{name} must be at least {least}, got {value}")
    display = Display(quiet=quiet)
    dataset = None if data is None else _dataset(data, roles)
    if dataset is not None and roles is None and dataset is not data:
        columns = ", ".join(map(str, dataset.records.frame.columns))
        warnings.warn(f"no roles are given, so that all columns take part: {columns}; name roles=", stacklevel=2)
    elif dataset is not None and dataset.left_out:
        warnings.warn(f"columns without a role are left out: {', '.join(dataset.left_out)}", stacklevel=2)
    changes = Changes(
        defenses=tuple(_method(one, Defense) for one in _listed(defenses, "defenses")),
        attacks=tuple(_method(one, Attack) for one in _listed(attacks, "attacks")),
        plays=plays,
        seed=seed,
        time_limit=time_limit,
        memory_limit=read_size(memory_limit) if isinstance(memory_limit, str) else memory_limit,
    )
    plans = changed_plans(scenarios, dataset, changes, display.say_notes)
    catalogues = catalogues_of(plans, None if dataset is None else display.say)
    backend = LocalProcesses(jobs or cores())
    with _main_is_not_imported():
        played = play_catalogues(catalogues, backend, _place(db), display.listener, fresh=fresh)
    if played.interrupted:
        raise KeyboardInterrupt
    board = BoardResult(played.results, played.guarantees)
    if failures := board.failures:
        count = f"{len(failures)} of {counted(len(board.results), 'result')} failed"
        warnings.warn(f"{count}; board.failures lists them. The first: {failures.lines()[0]}", stacklevel=2)
    return board


def read_board(db: FilePath, *scenarios: str, defenses: Iterable[str] = (), attacks: Iterable[str] = ()) -> BoardResult:
    """The board of stored results, each method in its newest version.

    Results of earlier versions are left out, and so are those of an earlier seed, data set or game. A warning tells of
    them; ``earlier`` of the board names them.

    Parameters
    ----------
    db : path or str
        Database of results: an SQLite file, or an SQLAlchemy URL.
    *scenarios : str
        Only these scenarios; all of them by default.
    defenses, attacks : iterable of str
        Only these, by name or as in ``"Mondrian k=5"``; all by default.

    Raises
    ------
    ValueError
        If there is no such file, it is no database of results, or it has no results of a scenario, a defense or an
        attack.
    """
    from leaderboard import Store, stored_board

    place = _place(db)
    refuse("://" not in place and not Path(place).is_file(), f"there are no results at {place}")
    with Store(place) as store:
        results = [result for result in store.results() if not result.is_measurement]
        stored = sorted({result.scenario for result in results})
        for name in scenarios:
            refuse(
                name not in stored, f"there are no results of scenario {name!r} at {place}; it has {', '.join(stored)}"
            )
        chosen = [result for result in results if not scenarios or result.scenario in scenarios]
        names = {"defenses": _listed(defenses, "defenses"), "attacks": _listed(attacks, "attacks")}
        board = stored_board(store, chosen, **names)
    for one in board.earlier:
        warnings.warn(f"{one}; tokumei.run plays them again", stacklevel=2)
    return BoardResult(board.results, board.guarantees, board.earlier)


def _place(db: FilePath) -> str:
    return "sqlite://" if db == ":memory:" else str(db)


def _listed(methods: Iterable[Any], name: str) -> Sequence[Any]:
    """Methods as a sequence; a single one is refused, since the letters of a name would be taken for names."""
    refuse(isinstance(methods, str | Defense | Attack), f"{name} must be a list, as in {name}=[{methods!r}]")
    return tuple(methods)


def _method(one: Any, contract: type[Defense] | type[Attack]) -> str | NamedMethod:
    """A name as it is, or an object with its name and those parameters that differ from the defaults."""
    from scenarios.running.methods.methods import describe, source_name
    from scenarios.running.plan import NamedMethod

    if isinstance(one, str):
        return one
    require(isinstance(one, contract), f"{one!r} is no {contract.__name__.lower()}; give a name or an object")
    defaults = {name: parameter.default for name, parameter in inspect.signature(type(one)).parameters.items()}
    described, own = describe(one), one.get_params()
    given = {name: value for name, value in described.items() if own[name] != defaults[name]}
    return NamedMethod(source_name(one), one, given)


def _dataset(data: Any, roles: Mapping[str, Any] | FilePath | None) -> Dataset:
    """The table with its roles, read from files; objects are written to temporary ones, which no message names."""
    import pandas as pd
    import tomli_w

    from scenarios.tables.dataset import Dataset, load_table

    if isinstance(data, Dataset):
        refuse(roles is not None, "a Dataset has its roles; leave roles= out")
        return data
    with tempfile.TemporaryDirectory() as folder:
        path, file = data, roles
        if isinstance(data, pd.DataFrame):
            path = Path(folder, "table.parquet")
            data.to_parquet(path, index=False)
        if isinstance(roles, Mapping):
            file = Path(folder, "roles.toml")
            file.write_text(tomli_w.dumps(roles), encoding="utf-8")
        try:
            return load_table(path, file)  # type: ignore[arg-type]
        except ValueError as error:
            named = {str(Path(folder, "table.parquet")): "data", str(Path(folder, "roles.toml")): "roles"}
            message = str(error)
            for file_name, argument in named.items():
                message = message.replace(file_name, argument)
            raise ValueError(message) from None


@contextmanager
def _main_is_not_imported() -> Iterator[None]:
    """Keep worker processes from importing the main module, which would play the run again in each of them."""
    main = sys.modules["__main__"]
    names = ("__file__", "__spec__")
    before = {name: getattr(main, name) for name in names if hasattr(main, name)}
    for name in before:
        setattr(main, name, None)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(main, name, value)
