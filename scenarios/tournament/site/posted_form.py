"""Reading of posted forms: streamed, with limits, and without a client's file name on the disk.

Small files stay in memory: creating and removing others takes long while the disk makes submissions safe.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl

import anyio
from anyio import to_thread
from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from metrics.columns import PRIVATE, Sentence
from scenarios.tournament.site.refusal_error import RefusalError, refuse_if

# Content of an uploaded file.


@dataclass(frozen=True)
class UploadedContent:
    """Content of an uploaded file, which may be given to a worker process.

    Attributes
    ----------
    stored : bytes or Path
        The bytes themselves if they are few, otherwise a private file, which is removed when the request ends.
    """

    stored: bytes | Path

    def read(self) -> bytes:
        """All bytes."""
        return self.stored if isinstance(self.stored, bytes) else self.stored.read_bytes()


FIELD = 64 << 10
"""Largest size of all fields together, in bytes."""
FIELDS = 50
"""Largest number of fields."""
SECONDS = 120.0
"""Longest time that a request may take to arrive."""
_OVERHEAD = 1 << 10
"""Bytes of a part that are not its content."""
_CHUNK = 256 << 10
"""Bytes that are collected before they are written; files of a form stay in memory if they are fewer together."""


@dataclass(frozen=True)
class UploadLimits:
    """Limits of the files in a form.

    Attributes
    ----------
    files : int
        Largest number of files; 0 for a form without files.
    file : int
        Largest size of a file, in bytes.
    total : int
        Largest size of all files, in bytes.
    """

    files: int = 0
    file: int = 0
    total: int = 0

    @property
    def body(self) -> int:
        """Largest size of the request, in bytes."""
        return FIELD + self.total + _OVERHEAD * (self.files + FIELDS)


NO_FILES = UploadLimits()


@dataclass(frozen=True)
class UploadedFile:
    """A file that arrived.

    Attributes
    ----------
    claimed_name : str
        Name that the client gave it. Never use it as a path.
    content : UploadedContent
        Its content, in memory or in a file with a name of the server's own.
    """

    claimed_name: str
    content: UploadedContent


@dataclass(frozen=True)
class PostedForm:
    """Fields and files of a form.

    Attributes
    ----------
    fields : mapping of str to str
        Content of each field; the last one counts if a field is sent twice.
    files : list of UploadedFile
        Files, in order. They are removed when the request ends.
    fingerprint : str
        Hash of the content of fields and files.
    """

    fields: Mapping[str, str]
    files: list[UploadedFile] = field(default_factory=list)
    fingerprint: str = ""

    def text(self, name: str) -> str:
        """Content of a field without blanks around it; empty if it was not sent."""
        return self.fields.get(name, "").strip()


@asynccontextmanager
async def posted_form(request: Request, folder: Path, limits: UploadLimits = NO_FILES) -> AsyncIterator[PostedForm]:
    """Read a form from a request; its files are removed at the end of the block."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    refuse_if(
        request.headers.get("content-encoding", "identity").lower() != "identity",
        415,
        Sentence("the upload is compressed; send it as it is"),
    )
    declared = request.headers.get("content-length", "0")
    _refuse_large(not declared.isdecimal() or len(declared) > 15 or int(declared) > limits.body, limits)
    own = folder / secrets.token_hex(16)
    try:
        with anyio.fail_after(SECONDS):
            if kind == b"multipart/form-data":
                form = await _multipart(request, options.get(b"boundary", b""), own, limits)
            elif kind in (b"application/x-www-form-urlencoded", b""):
                form = await _urlencoded(request)
            else:
                raise RefusalError(
                    415, Sentence("send a form (multipart/form-data or application/x-www-form-urlencoded)")
                )
        yield form
    except TimeoutError:
        raise RefusalError(
            408, Sentence("the upload took longer than {seconds:.0f} seconds; try again", seconds=SECONDS)
        ) from None
    except ClientDisconnect:
        raise RefusalError(400, Sentence("the connection broke before the upload was complete; try again")) from None
    finally:
        if own.is_dir():
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(lambda: shutil.rmtree(own, ignore_errors=True))


async def _urlencoded(request: Request) -> PostedForm:
    body = b""
    async for chunk in request.stream():
        body += chunk
        refuse_if(len(body) > FIELD, 413, Sentence("the form is larger than {field} KB", field=FIELD >> 10))
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS, errors="strict")
    except ValueError:
        raise RefusalError(
            400, Sentence("the form is malformed; it has at most {fields} fields in UTF-8", fields=FIELDS)
        ) from None
    return PostedForm(dict(pairs), fingerprint=hashlib.sha256(body).hexdigest())


async def _multipart(request: Request, boundary: bytes, folder: Path, limits: UploadLimits) -> PostedForm:
    refuse_if(not boundary or len(boundary) > 200, 400, Sentence("the form is malformed: its header names no boundary"))
    collector = _Collector(folder, limits)
    parser = MultipartParser(boundary, collector.callbacks())  # type: ignore[arg-type]
    received = 0
    try:
        async for chunk in request.stream():
            received += len(chunk)
            _refuse_large(received > limits.body, limits)
            parser.write(chunk)
            if collector.waiting >= _CHUNK:
                await to_thread.run_sync(collector.flush)
        refuse_if(not collector.ended, 400, Sentence("the upload is incomplete; try again"))
        if collector.written:
            await to_thread.run_sync(collector.flush)
        return PostedForm(collector.fields(), collector.files(), collector.hash.hexdigest())
    except MultipartParseError:
        raise RefusalError(400, Sentence("the form is malformed; send it as multipart/form-data")) from None


@dataclass
class _Part:
    """A part of a form: a field, or a file by the name that the client gave, with what of it is in memory."""

    name: str
    claimed: str | None
    content: bytearray = field(default_factory=bytearray)
    size: int = 0


class _Collector:
    """Callbacks of the parser, which collect fields in memory, and files in memory or in a folder of their own."""

    def __init__(self, folder: Path, limits: UploadLimits) -> None:
        self.ended = self.written = False
        self.hash = hashlib.sha256()
        self.waiting = 0
        """Number of bytes of files that wait to be written."""
        self._folder, self._limits = folder, limits
        self._headers: dict[bytes, bytes] = {}
        self._header, self._value = b"", b""
        self._parts: list[_Part] = []
        self._field_bytes = self._file_bytes = 0

    def callbacks(self) -> dict[str, object]:
        """The callbacks by name."""
        names = ("part_data", "header_field", "header_value", "header_end", "headers_finished", "end")
        return {f"on_{name}": getattr(self, name) for name in names}

    def flush(self) -> None:
        """Write what waits; runs in a thread while the parser rests."""
        self.waiting, self.written = 0, True
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for number, part in enumerate(self._of_files):
            if part.content:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
                with os.fdopen(os.open(self._folder / str(number), flags, PRIVATE), "wb") as file:
                    file.write(part.content)
                part.content = bytearray()

    def fields(self) -> dict[str, str]:
        """Content of each field."""
        fields = {}
        for part in (one for one in self._parts if one.claimed is None):
            try:
                fields[part.name] = part.content.decode()
            except UnicodeDecodeError:
                raise RefusalError(400, Sentence("field {name!r} is no UTF-8 text", name=part.name[:40])) from None
        return fields

    def files(self) -> list[UploadedFile]:
        """The files, in order; they are in memory unless any was written."""
        stored = (
            self._folder / str(number) if self.written and part.size else bytes(part.content)
            for number, part in enumerate(self._of_files)
        )
        # A form whose file was not chosen sends one file without a name and content.
        return [
            UploadedFile(part.claimed or "", UploadedContent(content))
            for part, content in zip(self._of_files, stored, strict=True)
            if part.claimed or part.size
        ]

    @property
    def _of_files(self) -> list[_Part]:
        return [part for part in self._parts if part.claimed is not None]

    def header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def header_end(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header = self._value = b""

    def headers_finished(self) -> None:
        headers, self._headers = self._headers, {}
        disposition, options = parse_options_header(headers.get(b"content-disposition", b""))
        refuse_if(
            disposition != b"form-data" or b"name" not in options,
            400,
            Sentence("the form is malformed: one of its parts has no name"),
        )
        refuse_if(
            headers.get(b"content-transfer-encoding", b"binary").lower() not in (b"binary", b"7bit", b"8bit"),
            415,
            Sentence("a part of the form is encoded; send it as it is"),
        )
        self.hash.update(repr(sorted(options.items())).encode())
        names = {option: text.decode("utf-8", "replace") for option, text in options.items()}
        self._parts.append(_Part(names[b"name"], names.get(b"filename")))
        files = len(self._of_files)
        refuse_if(
            len(self._parts) - files > FIELDS, 413, Sentence("the form has more than {fields} fields", fields=FIELDS)
        )
        # One that was not chosen counts, too.
        most = self._limits.files
        refuse_if(files > max(most, 1), 413, Sentence("at most {most} files may be sent at once", most=most))

    def part_data(self, data: bytes, start: int, end: int) -> None:
        part, size = self._parts[-1], end - start
        self.hash.update(data[start:end])
        # Clients may send single bytes, so pieces are joined at once.
        part.content += data[start:end]
        part.size += size
        if part.claimed is None:
            self._field_bytes += size
            refuse_if(
                self._field_bytes > FIELD,
                413,
                Sentence("the fields of the form are larger than {field} KB", field=FIELD >> 10),
            )
            return
        self._file_bytes += size
        self.waiting += size
        _refuse_large(part.size > self._limits.file or self._file_bytes > self._limits.total, self._limits)

    def end(self) -> None:
        self.ended = True


def _refuse_large(condition: bool, limits: UploadLimits) -> None:
    """Refuse a form that is too large if the condition holds."""
    refuse_if(condition and not limits.files, 413, Sentence("the form is larger than {field} KB", field=FIELD >> 10))
    too_large = Sentence(
        "the upload is too large: a file has at most {file} MB, all together {total} MB",
        file=limits.file >> 20,
        total=limits.total >> 20,
    )
    refuse_if(condition, 413, too_large)


def clear_uploads(folder: Path) -> None:
    """Create the private folder for uploads, and remove what a killed server left in it."""
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
    folder.mkdir(mode=0o700)


def check_room(folder: Path, room: int) -> None:
    """Check that a file can be written in the folder for uploads, and that its disk has room for so many bytes."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(1 << 12))
    if shutil.disk_usage(folder).free < room:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
