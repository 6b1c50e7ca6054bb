"""Forms that clients send in many pieces cost no more memory than others."""

import asyncio
import tracemalloc

from starlette.requests import Request

from scenarios.tournament.site.posted_form import UploadLimits, posted_form

PIECE = 3
"""Bytes that arrive at once."""


def content_and_most_memory(pieces, folder):
    """The only file of a form whose body arrives in pieces, and the most memory that reading it took, in bytes."""
    waiting = iter(pieces)

    async def receive():
        piece = next(waiting, None)
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    async def read():
        headers = [(b"content-type", b"multipart/form-data; boundary=A")]
        request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
        limits = UploadLimits(files=1, file=1 << 20, total=1 << 20)
        async with posted_form(request, folder, limits) as form:
            return form.files[0].content.read()

    tracemalloc.start()
    try:
        return asyncio.run(read()), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_file_in_many_pieces_takes_little_memory(tmp_path):
    content = b"0123456789" * 3000
    head = b'--A\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    body = head + content + b"\r\n--A--\r\n"
    # What the first form loads is no memory of the second.
    content_and_most_memory([body], tmp_path)
    read, most = content_and_most_memory([body[at : at + PIECE] for at in range(0, len(body), PIECE)], tmp_path)
    assert read == content
    assert most < 8 * len(content)
