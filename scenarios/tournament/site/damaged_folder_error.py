"""Damage of a tournament's folder, or a lack of room or permission, that the site notices."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from metrics.columns.printable import one_line

_DAMAGED = "the tournament's files are damaged; the host must repair them"
_FULL = "the server has no room left for files; the host must make room"
_FORBIDDEN = "the server may not read or write the tournament's files; the host must permit it"
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
    """Tell damage from refusals: an error that names a file of the tournament is nobody's fault but the folder's.

    Parameters
    ----------
    folder : Path
        The tournament's folder.

    Raises
    ------
    DamagedFolderError
        In place of errors of the system and of the database, and of errors that name a file in the folder.
    """
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
    except ValueError as error:
        if str(folder) in str(error):
            raise DamagedFolderError(one_line(error)) from error
        raise
