"""Compressed files: gz, and zip with one table inside; what would not fit in memory is not unpacked."""

from __future__ import annotations

import gzip
import io
import zipfile
import zlib
from dataclasses import replace
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING

from crypsis.errors import TableError, listing
from crypsis.table.readers.formats import (
    OPTION_WORDS,
    Contents,
    Input,
    ReadOptions,
    memory_for_formats,
    readers,
    refuse_options,
    writers,
)
from crypsis.table.readers.text import write_text_file

if TYPE_CHECKING:
    import polars as pl

    from crypsis.table.table import Table

SHARE = 4
"""Memory holds so many times what is unpacked."""
PIECE = 1 << 20
GZ, ZIP = (".gz",), (".zip",)


@readers.add(*GZ, what="a gz file", takes=frozenset(OPTION_WORDS), magic=(b"\x1f\x8b",))
def read_gz(file: Input, options: ReadOptions) -> Contents:
    """The one file that a gz file holds, by the suffix before .gz."""
    content, inner = file.read(), file.name[: -len(".gz")]
    pieces, size, most = list[bytes](), 0, memory_for_formats() // SHARE
    try:
        while content:
            engine = zlib.decompressobj(wbits=31)
            while content and not engine.eof:
                piece = engine.decompress(content, PIECE)
                content = engine.unconsumed_tail if not engine.eof else engine.unused_data
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    raise TableError(_too_large(file.shown, size))
                if not piece and not content:
                    break
            if not engine.eof:
                raise zlib.error("truncated")
            content = content.lstrip(b"\0")
    except zlib.error:
        raise TableError(f"{file.shown} is damaged or cut off; compress the file again") from None
    return _read_member(file, inner, b"".join(pieces), options)


@readers.add(*ZIP, what="a zip file", takes=frozenset(OPTION_WORDS))
def read_zip(file: Input, options: ReadOptions) -> Contents:
    """The one table that a zip file holds."""
    with open_zip(file.read(), file.shown) as archive:
        members = [
            m
            for m in archive.infolist()
            if not m.is_dir()
            and not m.filename.startswith("__MACOSX/")
            and not PurePosixPath(m.filename).name.startswith(".")
        ]
        if len(members) != 1:
            inside = f"{len(members)} files: {listing(repr(m.filename) for m in members)}" if members else "no file"
            raise TableError(
                f"{file.shown} holds {inside}; give a zip with one table inside, or unpack the one you mean"
            )
        member = members[0]
        if member.flag_bits & 1:
            raise TableError(f"{file.shown} is protected by a password; unpack it and give the table inside")
        if member.file_size > memory_for_formats() // SHARE:
            raise TableError(_too_large(file.shown, member.file_size))
        try:
            with archive.open(member) as unpacked:
                content = _read_at_most(unpacked, member.file_size, file.shown)
        except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError, EOFError, zlib.error):
            raise TableError(f"{file.shown} is damaged or cut off; compress the file again") from None
    return _read_member(file, PurePosixPath(member.filename).name, content, options)


def _read_at_most(inside: IO[bytes], size: int, shown: str) -> bytes:
    """All bytes of a member, which are not more than it claims."""
    content = inside.read(size + 1)
    if len(content) > size:
        raise TableError(_too_large(shown, size))
    return content


def open_zip(content: bytes, shown: str) -> zipfile.ZipFile:
    """A zip file, refused with a sentence where it is none."""
    try:
        return zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise TableError(f"{shown} is damaged or no zip file; compress the file again") from None


def _too_large(shown: str, size: int) -> str:
    return (
        f"{shown} unpacks to at least {size / 1e6:.0f} MB, and {memory_for_formats() // SHARE / 1e6:.0f} MB fit in "
        f"memory; "
        f"give a sample of it, or Parquet"
    )


def _read_member(file: Input, name: str, content: bytes, options: ReadOptions) -> Contents:
    """The table of an unpacked file, by its own suffix; text where it has none."""
    if file.content is not None:
        raise TableError(f"{file.shown} is packed twice; unpack it once and give that")
    inner = readers.of(name) or (readers.of("table.csv") if "." not in name else None)
    if not content or inner is None:
        known = listing([s for s in readers.suffixes() if s not in (*GZ, *ZIP)], most=30)
        what = "nothing" if not content else f"{name!r}, whose suffix is unknown"
        raise TableError(f"{file.shown} holds {what}; it may hold one table that ends in {known}")
    unpacked = replace(file, name=name, content=content)
    refuse_options(inner, options, unpacked.shown)
    return inner.call(unpacked, options)


# -- writing --


@writers.add(".csv.gz", ".tsv.gz", what="a gz file")
def write_gz(table: Table, frame: pl.DataFrame, suffix: str) -> bytes:
    """Delimited text, packed; the header of the gz file names neither a file nor a time."""
    return gzip.compress(write_text_file(table, frame, suffix.removesuffix(".gz")), mtime=0)
