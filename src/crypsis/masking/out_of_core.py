"""Microaggregation of Parquet files larger than memory: blocks on disk, one after the other or on an engine.

A sample cuts space at medians into blocks that fit in memory; one pass deals the records out to a file per block; each
block is then microaggregated on its own and written. Every group has at least k records, since a block with fewer is
joined to its neighbour in the tree of cuts. Borders between blocks are not mended: each costs a little loss.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from crypsis.engines import Engine, Serial
from crypsis.errors import EngineError, PlanError, TableError, listing, unknown_column
from crypsis.masking.calibration import calibration_means
from crypsis.masking.partitioning import Blocks
from crypsis.table.encoding import encode_series_zeros
from crypsis.table.files import atomic_folder
from crypsis.table.lazy import require_arrow
from crypsis.table.precision import Scales

SAMPLE = 200_000
BATCH = 250_000
MOST_BLOCKS = 512
"""Files that are open at the same time while records are dealt out."""


@dataclass(frozen=True)
class Cuts:
    """A tree of medians over scaled columns: node i sends values ≤ at[i] of its column left; a leaf has column −1."""

    scales: Scales
    column: NDArray[np.int64]
    at: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    leaf: NDArray[np.int64]

    def blocks_of(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """The block of each record."""
        node = np.zeros(len(points), dtype=np.int64)
        rows = np.arange(len(points))
        while True:
            column = self.column[node]
            inner = column >= 0
            if not inner.any():
                return self.leaf[node]
            lower = points[rows, np.maximum(column, 0)] <= self.at[node]
            node = np.where(inner, np.where(lower, self.left[node], self.right[node]), node)


class BlockFile(NamedTuple):
    """One block on disk."""

    path: str
    out: str
    seed: SeedSequence


class BlockContext(NamedTuple):
    """What all blocks share."""

    names: tuple[str, ...]
    k: int
    scales: Scales
    partitioner: Blocks


@dataclass(frozen=True)
class Microaggregated:
    """What was written."""

    folder: Path
    records: int
    blocks: int
    groups: int
    least: int
    loss: float
    """SSE over SST in per cent, of the scaled columns"""


def microaggregate_files(
    source: str | Path,
    columns: Sequence[str],
    k: int,
    folder: str | Path,
    rng: Generator | int | None,
    *,
    block: int = 1_000_000,
    drop: Sequence[str] = (),
    partitioner: Blocks | None = None,
    engine: Engine | None = None,
) -> Microaggregated:
    """Replace the named numeric columns by means of groups of at least k records; one Parquet file per block.

    `source`: a Parquet file, or a folder of them;  folder  must not exist; `block`: records a block should have at
    most, about; peak memory follows it (and the number of workers); `engine`: where blocks are done; its workers must
    see the folder. The same bits on any engine.
    """
    files, rng = _files(Path(source)), default_rng(rng)
    names, before = tuple(columns), _stamps(files)
    rows = _check_request(files, names, k, drop)
    scales = _scales(files, names)
    number = min(max(1, -(-rows // max(block, 4 * k))), MOST_BLOCKS)
    cuts = cut(_sample(files, names, rows, rng), scales, number)
    with atomic_folder(folder) as aside, tempfile.TemporaryDirectory(dir=aside.parent) as workshop:
        counts = _deal(files, names, drop, cuts, Path(workshop))
        if _stamps(files) != before or int(counts.sum()) != rows:
            raise TableError(
                f"{source} was changed while its blocks were made, and nothing was written; wait until it is complete, "
                f"then start again"
            )
        pieces = [
            BlockFile(str(Path(workshop) / f"{place}.parquet"), str(aside / f"part-{place}.parquet"), seed)
            for place, seed in enumerate(SeedSequence(int(rng.integers(2**63))).spawn(len(counts)))
        ]
        pieces = _join_blocks(pieces, counts, k)
        shared = BlockContext(names, k, scales, partitioner or Blocks())
        found = (engine or Serial()).map(_microaggregate_file, pieces, shared)
    lost, groups, least = zip(*found, strict=True)
    varying = int((scales.deviation > 0).sum())
    loss = 100.0 * float(sum(lost)) / max(rows * varying, 1)
    return Microaggregated(Path(folder), rows, len(pieces), sum(groups), min(least), loss)


def cut(sample: NDArray[np.float64], scales: Scales, blocks: int) -> Cuts:
    """Medians of the sample: the largest part is cut, in its column of greatest variance, until there are `blocks`."""
    points = scales.scale(sample, "z")
    column, at, left, right = [-1], [0.0], [-1], [-1]
    parts = {0: np.arange(len(points))}
    alike: set[int] = set()  # parts whose records are all equal
    while len(parts) < blocks:
        node = max(parts, key=lambda n: (len(parts[n]) if n not in alike else 0, -n))
        if node in alike or not len(parts[node]):
            break
        inside = points[parts[node]]
        widest = int(np.argmax(inside.var(axis=0)))
        value = _halving_value(inside[:, widest])
        if value is None:
            alike.add(node)
            continue
        lower = inside[:, widest] <= value
        rows = parts.pop(node)
        column[node], at[node], left[node], right[node] = widest, value, len(column), len(column) + 1
        for some in (rows[lower], rows[~lower]):
            parts[len(column)] = some
            column.append(-1)
            at.append(0.0)
            left.append(-1)
            right.append(-1)
    leaf = np.full(len(column), -1, dtype=np.int64)
    leaf[_in_order(column, left, right)] = np.arange(len(parts))
    return Cuts(scales, np.array(column), np.array(at), np.array(left), np.array(right), leaf)


def _halving_value(values: NDArray[np.float64]) -> float | None:
    """The median, or the next lower value where nothing lies above it; nothing where all are equal."""
    value = float(np.quantile(values, 0.5, method="lower"))
    if value < values.max():
        return value
    below = values[values < value]
    return float(below.max()) if len(below) else None


def _in_order(column: list[int], left: list[int], right: list[int]) -> list[int]:
    """Leaves from left to right, so that neighbours in number are neighbours in the tree."""
    waiting, leaves = [0], []
    while waiting:
        node = waiting.pop()
        if column[node] < 0:
            leaves.append(node)
        else:
            waiting += [right[node], left[node]]
    return leaves


def _microaggregate_file(shared: BlockContext, piece: BlockFile) -> tuple[float, int, int]:
    """Microaggregate one file; → SSE of the scaled columns, groups, size of the smallest."""
    frame = pl.read_parquet(piece.path)
    values = frame.select(shared.names).cast(pl.Float64).to_numpy()
    points = np.ascontiguousarray(shared.scales.scale(values, "z"))
    labels = shared.partitioner.partition(points, shared.k, default_rng(piece.seed))
    groups = int(labels.max()) + 1
    lost, columns = 0.0, []
    for place, name in enumerate(shared.names):
        centres = calibration_means(points[:, place], labels, groups)[0]
        lost += float(((points[:, place] - centres[labels]) ** 2).sum())
        columns.append(pl.Series(name, calibration_means(values[:, place], labels, groups)[0][labels]))
    written = frame.with_columns(columns)
    written.with_columns(map(encode_series_zeros, written.get_columns())).write_parquet(piece.out)
    return lost, groups, int(np.bincount(labels).min())


# -- passes over the files --


def _files(source: Path) -> list[Path]:
    files = sorted(source.glob("*.parquet")) if source.is_dir() else [source]
    if not files or not all(path.is_file() for path in files):
        raise TableError(f"{source} is no Parquet file and no folder of them; give the path of one")
    return files


def _stamps(files: Sequence[Path]) -> list[tuple[int, int, int]]:
    """What changes when somebody replaces or rewrites a file."""
    found = [path.stat() for path in files]
    return [(each.st_ino, each.st_size, each.st_mtime_ns) for each in found]


def _check_request(files: Sequence[Path], names: Sequence[str], k: int, drop: Sequence[str]) -> int:
    """How many records there are, once all that was asked for is possible."""
    if k < 2:
        raise PlanError(f"k is {k} and groups need at least 2 records; choose 2 or more")
    pa, pq = require_arrow(), require_arrow("pyarrow.parquet")
    try:
        schema, rows = pq.read_schema(files[0]), sum(int(pq.read_metadata(path).num_rows) for path in files)
    except (pa.ArrowInvalid, OSError):
        raise TableError(f"{files[0]} cannot be read as Parquet; write it again") from None
    unknown = unknown_column((*names, *drop), schema.names)
    if unknown:
        raise TableError(unknown)
    words = [
        n
        for n in names
        if not (pa.types.is_integer(schema.field(n).type) or pa.types.is_floating(schema.field(n).type))
    ]
    if words or not names:
        raise TableError(f"{listing(map(repr, words)) or 'no column'} holds numbers to average; name numeric columns")
    if rows < k:
        raise TableError(f"{rows} records cannot form a group of {k}; choose a smaller k")
    return rows


def _scales(files: Sequence[Path], names: Sequence[str]) -> Scales:
    """Scales of each column; a missing or infinite value is refused."""
    numbers = pl.scan_parquet(list(files)).select(pl.col(names).cast(pl.Float64))
    made = numbers.select(
        pl.all().mean().name.suffix(" mean"),
        pl.all().std(ddof=0).name.suffix(" std"),
        pl.all().min().name.suffix(" low"),
        pl.all().max().name.suffix(" high"),
        (pl.all().is_null() | ~pl.all().is_finite()).sum().name.suffix(" bad"),
    ).collect(engine="streaming")
    for name in names:
        bad = int(made[f"{name} bad"][0])
        if bad:
            raise TableError(f"column {name!r} has {bad} missing or infinite values; fill them in or leave it out")
    mean, deviation, low, high = (
        np.array([made[f"{n} {what}"][0] for n in names], dtype=np.float64) for what in ("mean", "std", "low", "high")
    )
    return Scales(mean, low, np.where(high > low, deviation, 0.0), high / 2 - low / 2)


def _sample(files: Sequence[Path], names: Sequence[str], rows: int, rng: Generator) -> NDArray[np.float64]:
    """Records drawn without replacement, the same whatever the sizes of batches."""
    chosen = np.sort(rng.choice(rows, min(rows, SAMPLE), replace=False))
    parts, begin = [], 0
    for batch in _batches(files, names):
        here = chosen[np.searchsorted(chosen, begin) : np.searchsorted(chosen, begin + len(batch))] - begin
        parts.append(batch[here].select(pl.col(names).cast(pl.Float64)).to_numpy())
        begin += len(batch)
    return np.concatenate(parts)


def _batches(files: Sequence[Path], names: Sequence[str] | None) -> Any:
    pq = require_arrow("pyarrow.parquet")
    for path in files:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(BATCH, columns=None if names is None else list(names)):
                yield pl.from_arrow(batch)


def _deal(
    files: Sequence[Path], names: Sequence[str], drop: Sequence[str], cuts: Cuts, workshop: Path
) -> NDArray[np.int64]:
    """Every record to the file of its block; → how many each got."""
    counts = np.zeros(int(cuts.leaf.max()) + 1, dtype=np.int64)
    pq = require_arrow("pyarrow.parquet")
    writers: dict[int, Any] = {}
    with ExitStack() as open_files:
        for batch in _batches(files, None):
            kept = batch.drop(drop)
            values = batch.select(pl.col(names).cast(pl.Float64)).to_numpy()
            block = cuts.blocks_of(cuts.scales.scale(values, "z"))
            counts += np.bincount(block, minlength=len(counts))
            for place in np.unique(block).tolist():
                part = kept.filter(pl.Series(block == place)).to_arrow()
                if place not in writers:
                    path = workshop / f"{place}.parquet"
                    writers[place] = open_files.enter_context(pq.ParquetWriter(path, part.schema))
                writers[place].write_table(part)
    return counts


def _join_blocks(pieces: Sequence[BlockFile], counts: NDArray[np.int64], k: int) -> list[BlockFile]:
    """Blocks of at least k records: a smaller one is joined to its neighbour."""
    joined: list[tuple[list[BlockFile], int]] = []
    for piece, count in zip(pieces, counts.tolist(), strict=True):
        if not count:
            continue
        if joined and (count < k or joined[-1][1] < k):
            joined[-1] = ([*joined[-1][0], piece], joined[-1][1] + count)
        else:
            joined.append(([piece], count))
    for members, _ in joined:
        for other in members[1:]:
            both = pl.concat([pl.read_parquet(members[0].path), pl.read_parquet(other.path)])
            both.write_parquet(members[0].path)
    if not joined:
        raise EngineError("no block received a record though there are some; the files changed meanwhile: start again")
    return [members[0] for members, _ in joined]
