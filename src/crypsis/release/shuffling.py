"""The records of Parquet files in an order drawn at random, whatever their number.

Every record is dealt to a pile drawn by chance, and each pile, which fits in memory, is shuffled: together that is one
fair shuffle of all.
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.random import Generator

PILE = 1_000_000
"""Records a pile has, about."""
MOST_PILES = 512
"""Files that are open at the same time."""
BATCH = 250_000


def shuffle_files(data: Path, rng: Generator) -> None:
    """Replace the Parquet files of a folder by others with the same records in an order drawn at random."""
    files = sorted(data.glob("*.parquet"))
    rows = sum(int(pq.read_metadata(path).num_rows) for path in files)
    number = min(max(1, -(-rows // PILE)), MOST_PILES)
    piles = data / "piles"
    piles.mkdir()
    _deal(files, piles, number, rng)
    for path in files:
        path.unlink()
    for place, path in enumerate(sorted(piles.iterdir())):
        with pa.ipc.open_stream(path) as stream:
            pile = pl.DataFrame(pl.from_arrow(stream.read_all()))
        path.unlink()
        pile[rng.permutation(len(pile))].write_parquet(data / f"part-{place:03d}.parquet", row_group_size=BATCH)
    shutil.rmtree(piles)


def _deal(files: list[Path], piles: Path, number: int, rng: Generator) -> None:
    """Piles are streams: a Parquet writer would remember every small part it was given until it is closed."""
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
                            target = open_files.enter_context(pa.OSFile(str(piles / f"{place:03d}"), "wb"))
                            writer = pa.ipc.new_stream(target, part.schema, options=squeezed)
                            writers[place] = open_files.enter_context(writer)
                        writers[place].write_table(part)
