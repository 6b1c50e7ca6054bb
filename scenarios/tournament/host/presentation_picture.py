"""Pictures of presentations: PNG or JPEG within limits, and without metadata."""

from __future__ import annotations

import io
import struct

from metrics.columns.parameters import refuse, require

LARGEST = 2 << 20
"""Largest size of a picture, in bytes."""
LONGEST_SIDE, MOST_PIXELS = 4096, 8_000_000
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG frames, which hold the size."""


def media_type(data: bytes) -> str | None:
    """Media type of a picture by its first bytes; None if it is neither PNG nor JPEG."""
    if data.startswith(_PNG):
        return "image/png"
    return "image/jpeg" if data.startswith(_JPEG) else None


def checked_picture(data: bytes) -> bytes:
    """A picture to store: Pillow writes it anew, which drops metadata and appended data.

    The size in pixels is read from the header, so no pixel of a too large picture is decoded.

    Raises
    ------
    ValueError
        If it is neither PNG nor JPEG, damaged or too large. Also if Pillow is not installed: metadata may tell where a
        photograph was taken.
    """
    refuse(len(data) > LARGEST, f"picture: has {len(data)} bytes, at most {LARGEST} are allowed")
    kind = media_type(data)
    if kind is None:
        raise ValueError("picture: is neither PNG nor JPEG; save it as one of them")
    try:
        width, height = _png_size(data) if kind == "image/png" else _jpeg_size(data)
    except (struct.error, IndexError):
        raise ValueError("picture: is damaged; save it again") from None
    require(
        0 < width <= LONGEST_SIDE and 0 < height <= LONGEST_SIDE and width * height <= MOST_PIXELS,
        f"picture: has {width} x {height} pixels; at most {LONGEST_SIDE} a side and {MOST_PIXELS} altogether are "
        "allowed",
    )
    return _written_anew(data, kind)


def _png_size(data: bytes) -> tuple[int, int]:
    if data[12:16] != b"IHDR":
        raise IndexError
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Width and height in the first frame header."""
    place = 2
    while True:
        if data[place] != 0xFF:
            raise IndexError
        marker = data[place + 1]
        if marker == 0xFF:
            place += 1
            continue
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        place += 2 + struct.unpack_from(">H", data, place + 2)[0]


def _written_anew(data: bytes, kind: str) -> bytes:
    """The picture decoded and encoded again."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise ValueError(
            "picture: the tournament's machine lacks Pillow, which removes hidden data from pictures; its host "
            "installs it by pip install 'tokumei[server]'. The text can be stored without a picture"
        ) from None
    name = kind.removeprefix("image/").upper()
    target = io.BytesIO()
    try:
        with Image.open(io.BytesIO(data), formats=[name]) as source:
            refuse(source.width * source.height > MOST_PIXELS, "picture: has too many pixels")
            turned = ImageOps.exif_transpose(source)
            mode = "RGBA" if name == "PNG" and turned.has_transparency_data else "RGB"
            pixels = turned.convert(mode)
        # A new image has the pixels alone, no metadata.
        clean = Image.new(mode, pixels.size)
        clean.paste(pixels)
        clean.save(target, name, **({"quality": 90} if name == "JPEG" else {}))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        raise ValueError("picture: is damaged; save it again") from None
    refuse(target.tell() > 2 * LARGEST, "picture: is too large when it is decoded; save it with fewer pixels")
    return target.getvalue()
