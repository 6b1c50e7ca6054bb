"""Refusal of a request."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeVar

Value = TypeVar("Value")


class RefusalError(Exception):
    """A request is refused; the message says what is wrong and what would be right.

    Parameters
    ----------
    status : int
        Status code of HTTP.
    message : str
        One line for the visitor.
    problems : sequence of mapping, optional
        The whole list of errors of a file: row, column, problem, suggestion.
    headers : mapping, optional
        Further headers of the response.
    """

    def __init__(
        self,
        status: int,
        message: str,
        problems: Sequence[Mapping[str, Any]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.problems = problems
        self.headers = dict(headers or {})

    @classmethod
    def too_many(cls, what: str, wait: timedelta, hint: str = "") -> RefusalError:
        """RefusalError after too many attempts, which says when to try again, and what else helps."""
        seconds = max(1, math.ceil(wait.total_seconds()))
        again = f"{seconds} seconds" if seconds < 120 else f"{math.ceil(seconds / 60)} minutes"
        message = f"too many {what}; try again in {again}{f'; {hint}' if hint else ''}"
        return cls(429, message, headers={"Retry-After": str(seconds)})


def refuse_if(condition: object, status: int, message: str) -> None:
    """Refuse a request with this status and message if the condition holds."""
    if condition:
        raise RefusalError(status, message)


def found(value: Value | None, message: str, status: int = 404) -> Value:
    """A value that a request asks for or needs; without one, the request is refused with this message."""
    if value is None:
        raise RefusalError(status, message)
    return value
