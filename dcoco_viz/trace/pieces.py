"""Token pieces: the exact bytes of a token, held in a str that survives JSON and Parquet.

A byte-level token may be a part of a UTF-8 character. A piece is those bytes decoded with `surrogateescape`:
whole characters read normally; a stray byte 0xE2 is the lone surrogate U+DCE2, which JSON can carry escaped.
"""

from collections.abc import Iterable


def from_bytes(raw: bytes) -> str:
    """The piece of these bytes."""
    return raw.decode("utf-8", "surrogateescape")


def to_bytes(piece: str) -> bytes:
    """The bytes of a piece: inverse of `from_bytes`."""
    return piece.encode("utf-8", "surrogateescape")


def join(pieces: Iterable[str]) -> str:
    """Pieces as text: bytes split over tokens become characters again, stray bytes U+FFFD."""
    return b"".join(map(to_bytes, pieces)).decode("utf-8", "replace")
