"""One refusal for conditions that must hold."""

from __future__ import annotations


def require(holds: object, otherwise: str, error: type[Exception] = ValueError) -> None:
    """Raise `error` with the message `otherwise` unless the condition `holds`.

    Parameters
    ----------
    holds : object
        The condition, as `if` takes it.
    otherwise : str
        Message of the exception.
    error : type of Exception
        The exception.

    Raises
    ------
    ValueError
        If the condition does not hold; another class where `error` names one.

    Examples
    --------
    >>> require([], "there are no candidates")
    Traceback (most recent call last):
    ValueError: there are no candidates
    """
    if not holds:
        raise error(otherwise)
