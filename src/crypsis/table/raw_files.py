"""The bytes of a file, read once and completely, and text in any encoding."""

from __future__ import annotations

import codecs
import os
import stat
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from crypsis.errors import PlanError, TableError

CHUNK = 1 << 24
"""Bytes without a line break after which a file is no text with records."""
PIECE = 1 << 16


def read_bytes(path: Path, text: bool = False) -> bytes:
    """Read a file.

    text  whether it must be text: one with an endless line is refused before it is read

    Raises
    ------
    TableError
        If there is no such file, it cannot be read, is empty, or changes while it is read.
    """
    if path.is_dir():
        raise TableError(f"{path} is a folder, not a file; give the path of a file inside it")
    try:
        with path.open("rb") as file:
            before = os.fstat(file.fileno())
            if stat.S_ISCHR(before.st_mode) or stat.S_ISBLK(before.st_mode):
                raise TableError(f"{path} is a device, not a file; give the path of a file")
            if text and stat.S_ISREG(before.st_mode):
                _refuse_endless_line(file, before.st_size, path)
            content = file.read()
            after = os.fstat(file.fileno())
    except FileNotFoundError:
        near = f"; the folder {path.parent} does not exist" if not path.parent.exists() else ""
        raise TableError(f"there is no file {path}{near}; check the path") from None
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise TableError(f"{path} cannot be read ({reason}); check its permissions") from None
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    if stat.S_ISREG(after.st_mode) and (not same or len(content) != after.st_size):
        raise TableError(f"{path} changed while it was read; wait until it is written, then try again")
    if not content or content.isspace():
        raise TableError(f"{path} is empty; give a file with a header line and at least one record")
    return content


def read_text(path: Path, encoding: str = "utf8") -> bytes:
    """Read a text file as UTF-8 with line feeds, without a byte order mark.

    Raises
    ------
    TableError
        If the encoding is unknown or the content is not in it.
    """
    content = read_bytes(path, text=True)
    try:
        codec = codecs.lookup(encoding).name
    except LookupError:
        raise TableError(
            f"{encoding!r} is no known encoding; use for example utf8, latin-1, cp1252 or utf-16"
        ) from None
    mark = len(codecs.BOM_UTF8) if codec == "utf-8" and content.startswith(codecs.BOM_UTF8) else 0
    content = content[mark:]
    try:
        text = content.decode(codec)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        hint = "utf-16" if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin-1"
        raise TableError(
            f"{path}, line {line}: byte {mark + error.start} is not valid {encoding}; save the file as UTF-8, or "
            f'name its encoding: in a plan [data] encoding = "{hint}", in Python encoding="{hint}"'
        ) from None
    if codec != "utf-8":
        content = text.removeprefix("\ufeff").encode()
    nul = content.find(b"\0")
    if nul >= 0:
        line = content.count(b"\n", 0, nul) + 1
        raise TableError(
            f"{path}, line {line}: a NUL byte (byte {mark + nul}) does not belong in a text file; export the data as "
            f"plain CSV, or name the encoding if it is utf-16"
        )
    if b"\n" not in content and b"\r" in content:
        content = content.replace(b"\r", b"\n")
    return content


def _refuse_endless_line(file: BinaryIO, size: int, path: Path) -> None:
    """Refuse a line longer than `CHUNK`: it is no table, and reading it would need many times its size."""
    for start in range(0, size - CHUNK + 1, CHUNK):
        file.seek(start)
        if not any(b"\n" in piece or b"\r" in piece for piece in _pieces(file, CHUNK)):
            file.seek(0)
            line = sum(piece.count(b"\n") for piece in _pieces(file, start)) + 1
            raise TableError(
                f"{path}, line {line}: the line is longer than {CHUNK >> 20} MB, which no table needs; give a text "
                f"file with one record a line, or a Parquet file"
            )
    file.seek(0)


def _pieces(file: BinaryIO, size: int) -> Iterator[bytes]:
    """The next bytes of a file in small pieces."""
    while size > 0 and (piece := file.read(min(size, PIECE))):
        size -= len(piece)
        yield piece


def read_toml(path: Path, what: str, remedy: str) -> dict[str, Any]:
    """Read a TOML document.

    what  what the document is, for messages
    remedy  where a valid one can be seen

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    PlanError
        If it cannot be read or is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"{path}: the {what} cannot be read ({type(error).__name__}); it must be UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{path}: not valid TOML: {error}; {remedy}") from None
