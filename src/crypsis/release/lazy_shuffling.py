"""The written files of a lazy release, whose data are never read as a whole, in an order drawn at random."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
from numpy.random import Generator

from crypsis.table.lazy import require_arrow

PART = 1_000_000
"""Records of a part, about."""
MOST_PARTS = 512
"""Files that are open at the same time."""
BATCH = 250_000


def shuffle_lazy_release(data: Path, rng: Generator) -> None:
    """Shuffle the written files of a lazy release, whose data are never read as a whole."""
    pa, files = require_arrow(), sorted(data.glob("*.parquet"))
    rows = _count_written(files)
    number = min(max(1, -(-rows // PART)), MOST_PARTS)
    parts = data / "parts"
    parts.mkdir()
    _distribute(files, parts, number, rng)
    for path in files:
        path.unlink()
    for place, path in enumerate(sorted(parts.iterdir())):
        with pa.ipc.open_stream(path) as stream:
            part = pl.DataFrame(pl.from_arrow(stream.read_all()))
        path.unlink()
        part[rng.permutation(len(part))].write_parquet(data / f"part-{place:03d}.parquet", row_group_size=BATCH)
    shutil.rmtree(parts)


def _count_written(files: Iterable[Path]) -> int:
    return sum(int(pl.scan_parquet(path).select(pl.len()).collect().item()) for path in files)


def _distribute(files: list[Path], parts: Path, number: int, rng: Generator) -> None:
    """Parts are streams, since a Parquet writer would keep every small batch in memory until it is closed."""
    pa, pq = require_arrow(), require_arrow("pyarrow.parquet")
    squeezed = pa.ipc.IpcWriteOptions(compression="lz4")
    with ExitStack() as open_files:
        writers: dict[int, Any] = {}
        for path in files:
            with pq.ParquetFile(path, pre_buffer=False) as file:  # a buffer would keep all it has read
                for batch in file.iter_batches(BATCH):
                    frame = pl.DataFrame(pl.from_arrow(batch))
                    drawn = rng.integers(number, size=len(frame))
                    for place in range(number):
                        part = frame.filter(pl.Series(drawn == place)).to_arrow()
                        if place not in writers:
                            target = open_files.enter_context(pa.OSFile(str(parts / f"{place:03d}"), "wb"))
                            writer = pa.ipc.new_stream(target, part.schema, options=squeezed)
                            writers[place] = open_files.enter_context(writer)
                        writers[place].write_table(part)
