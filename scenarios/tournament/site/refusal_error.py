"""Refusal of a request."""

from __future__ import annotations

import errno
import math
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from metrics.columns import Sentence, one_line
from scenarios.tournament.rules.log import DamagedFileError

# Damage of a tournament's folder, or a lack of room or permission, that the site notices.

_DAMAGED = Sentence("the tournament's files are damaged; the host must repair them")
_FULL = Sentence("the server has no room left for files; the host must make room")
_FORBIDDEN = Sentence("the server may not read or write the tournament's files; the host must permit it")
_BY_NUMBER = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), _FULL),
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), _FORBIDDEN),
}
_BY_DATABASE_CODE = {sqlite3.SQLITE_FULL: _FULL, sqlite3.SQLITE_READONLY: _FORBIDDEN}


class DamagedFolderError(Exception):
    """Files of the tournament cannot be read or written, or contradict each other.

    Parameters
    ----------
    message : str
        For the host; it says which file.
    public : str
        For others, who do not hear of files.
    """

    def __init__(self, message: str, public: str = _DAMAGED) -> None:
        super().__init__(message, public)
        self.public = public

    def __str__(self) -> str:
        return str(self.args[0])


@contextmanager
def noticing_damage(folder: Path) -> Iterator[None]:
    """Tell damage from refusals: an error about a file of the tournament is nobody's fault but the folder's."""
    try:
        yield
    except OSError as error:
        message = f"{error.filename or folder}: {error.strerror or one_line(error)}"
        raise DamagedFolderError(message, _BY_NUMBER.get(error.errno or 0, _DAMAGED)) from error
    except sqlite3.Error as error:
        # The lower byte is the kind of error, the rest its details.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        message = f"{folder / 'host'}: a database cannot be used ({one_line(error)})"
        raise DamagedFolderError(message, _BY_DATABASE_CODE.get(code, _DAMAGED)) from error
    except DamagedFileError as error:
        raise DamagedFolderError(one_line(error)) from error


Value = TypeVar("Value")


class RefusalError(Exception):
    """A request is refused; the message says what is wrong and what would be right.

    Parameters
    ----------
    status : int
        Status code of HTTP.
    message : str
        One line for the visitor.
    headers : mapping, optional
        Further headers of the response.
    """

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})

    @classmethod
    def too_many(cls, what: str, wait: timedelta, hint: str = "") -> RefusalError:
        """RefusalError after too many attempts, which says when to try again, and what else helps."""
        seconds = max(1, math.ceil(wait.total_seconds()))
        again = (
            Sentence("{seconds} seconds", seconds=seconds)
            if seconds < 120
            else Sentence("{minutes} minutes", minutes=math.ceil(seconds / 60))
        )
        said = Sentence("too many {what}; try again in {again}", what=what, again=again)
        return cls(429, Sentence.joined("; ", [said, hint]) if hint else said, headers={"Retry-After": str(seconds)})


def refuse_if(condition: object, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
    """Refuse a request with this status and message if the condition holds."""
    if condition:
        raise RefusalError(status, message, headers)


def found(value: Value | None, message: str, status: int = 404) -> Value:
    """A value that a request asks for or needs; without one, the request is refused with this message."""
    if value is None:
        raise RefusalError(status, message)
    return value
