"""A chosen node applied to data that are never read as a whole, and the written files counted again.

Which classes must go is decided from the counts. The engine that holds the data then maps values to labels, leaves out
identifiers and suppressed records, and writes Parquet files. A second counted pass over those files must find exactly
what the counts promise, or the folder never gets its name.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.random import Generator
from numpy.typing import NDArray

from crypsis.audits import Audit
from crypsis.errors import PlanError, ReleaseRefused, TableError
from crypsis.release.file_findings import audit_files
from crypsis.release.findings import check_finding_waivers, refuse_open, split_waivers
from crypsis.release.manifest import digests, write_sealed
from crypsis.release.published import Order
from crypsis.release.shuffling import shuffle_files
from crypsis.table.equivalence_classes import columns_by_key, equivalence_classes, pack
from crypsis.table.files import atomic_folder
from crypsis.table.lattice import Lattice
from crypsis.table.lazy import RECORDS, Lazy, LazyTable, engine_of, scan, tally
from crypsis.table.lookalikes import DIGITS, known_contents
from crypsis.table.spellings import fold_label
from crypsis.table.suppression import Rule, allowed, rule_code, suppress
from crypsis.table.tallying import batches
from crypsis.text import node_text
from crypsis.version import __version__

CODE, LABEL, KEY = "crypsis code ", "crypsis label ", "crypsis key "
"""Names of columns that live only inside the map."""


@dataclass(frozen=True)
class LazyRelease:
    """A release as the count over its files found it."""

    folder: Path
    levels: tuple[int, ...]
    message: str
    records: int
    suppressed: int
    k: int
    l: int | None  # noqa: E741
    engine: str


@dataclass(frozen=True, eq=False)
class TupleOutcomes:
    """What happens to every distinct tuple at a node."""

    codes: NDArray[np.int32]
    """int32[tuples, quasi-identifiers]: group of the tuple at the node"""
    suppressed_tuples: NDArray[np.bool_]
    """bool[tuples]: whether the tuple is suppressed"""
    k: int
    l: int | None  # noqa: E741
    suppressed: int


def release_lazily(
    source: LazyTable,
    levels: Sequence[int],
    folder: str | Path,
    *,
    suppression: float = 0.01,
    rule: Rule = "failing-class",
    k: int = 0,
    l: int = 0,  # noqa: E741
    order: Order = "shuffled",
    rng: Generator | None = None,
    waivers: Mapping[str, str] | None = None,
) -> LazyRelease:
    """Generalise, suppress, write with the engine of the source, count the written files and compare.

    levels  one per quasi-identifier, e.g. `optimum(source.counts, k=5).levels`
    k, l    demanded of every class, as in the masking method `generalisation`; 0 takes what the limit allows
    order   of the written records; the order of the source can re-identify people
    rng     of that order; the operating system's randomness unless given
    waivers findings that may pass, with the reason, e.g. {"singling-out:wage": "not known outside the office"}
    folder  must not exist; gets `data/*.parquet` and a sealed `manifest.json` without any value of the data
    """
    lattice = lattice_of(source)
    levels = tuple(int(level) for level in levels)
    lattice.check(levels)
    outcome = decide(source, lattice, levels, suppression, rule, k, l)
    folder = Path(folder)
    with atomic_folder(folder, mode=0o755) as aside:
        found, _ = write_node(source, levels, outcome, aside / "data", order, rng, k, l)
        judged_findings(source, aside / "data", waivers)
        made = LazyRelease(
            folder, levels, node_text(lattice, levels), source.counts.total - found.suppressed, found.suppressed,
            found.k, found.l, source.engine,
        )  # fmt: skip
        write_sealed(aside / "manifest.json", _manifest(made, lattice, rule, aside / "data"))
    return made


def write_node(
    source: LazyTable,
    levels: Sequence[int],
    outcome: TupleOutcomes,
    data: Path,
    order: Order,
    rng: Generator | None = None,
    k: int = 0,
    l: int = 0,  # noqa: E741
) -> tuple[TupleOutcomes, pl.DataFrame]:
    """Write the data at a node into a new folder and count them there; → what was found, and the counted tuples.

    Files that do not hold what the counts promise, or less than k and l, are refused.
    """
    lattice, maps = lattice_of(source), data.parent / "maps"
    maps.mkdir()
    _sink(source.frame, _map(source, lattice, levels, outcome, maps), data)
    shutil.rmtree(maps)
    if order == "shuffled":
        shuffle_files(data, rng or np.random.default_rng())
    written = tally(scan(data, source.engine, _session(source.frame)), source.counts.names)
    return verified(written, promised(source, lattice, levels, outcome), lattice.names, outcome, k, l), written


def judged_findings(
    source: LazyTable, data: Path, waivers: Mapping[str, str] | None, unstated: Collection[str] = ()
) -> Audit:
    """What the written files reveal; refused unless each finding is waived.

    unstated  confidential columns of which nobody said that no one outside knows their values
    """
    names, of_findings = source.frame.collect_schema().names(), split_waivers(waivers)[1]
    check_finding_waivers(of_findings, names)
    return refuse_open(audit_files(data, source.published, unstated), of_findings)


def lattice_of(source: LazyTable) -> Lattice:
    """The lattice of the quasi-identifiers."""
    return Lattice(tuple(a for a in source.counts.attributes if a.role == "quasi"))


# -- which classes go --


def decide(
    source: LazyTable,
    lattice: Lattice,
    levels: Sequence[int],
    suppression: float,
    rule: Rule,
    k: int,
    l: int,  # noqa: E741
) -> TupleOutcomes:
    """Classes of the node and which of them are suppressed, by the rules of the method `generalisation`."""
    rule_code(rule)
    confidential = next((a.name for a in source.counts.attributes if a.role == "confidential"), "")
    if l and not confidential:
        raise PlanError("l was demanded but no column is confidential; name one as confidential")
    raised = [h.lift(source.leaves(n), v) for n, h, v in zip(lattice.names, lattice.hierarchies, levels, strict=True)]
    codes, records = np.stack(raised, axis=1), source.tuples[RECORDS].to_numpy()
    classes = equivalence_classes(codes)
    size, distinct = classes.totals(records), np.zeros(classes.count, dtype=np.int64)
    if confidential:
        distinct = known_contents(classes, source.coded, confidential)[1].distinct
    found = suppress(size, distinct, rule, allowed(suppression, int(size.sum())), k, l)
    gone = found.left_out
    if gone.all():
        raise TableError("every class would be suppressed and nothing is left to release; raise a level")
    reached = int(distinct[~gone].min()) if confidential else None
    return TupleOutcomes(codes, gone[classes.of], int(size[~gone].min()), reached, found.records)


# -- the map --


def _map(
    source: LazyTable, lattice: Lattice, levels: Sequence[int], outcome: TupleOutcomes, maps: Path
) -> Callable[[Lazy], Lazy]:
    """The function that generalises the data: joins with small tables of values, which are in `maps`."""
    schema = source.frame.collect_schema()
    names, keys = schema.names(), _keys(outcome.codes)
    for place, name in enumerate(lattice.names):
        labels = _labels(lattice, levels, place, outcome.codes[:, place])
        raw = source.tuples[name].cast(pl.Float64) if schema[name].is_float() else source.tuples[name]
        pairs = pl.DataFrame({name: raw, f"{CODE}{place}": outcome.codes[:, place].astype(np.int64)})
        pairs = pairs.with_columns(labels.alias(f"{LABEL}{place}")).drop_nulls(name).unique(name).sort(name)
        pairs.write_parquet(maps / f"{place}.parquet")
    doomed = pl.DataFrame(
        {f"{KEY}{n}": _packed(outcome.codes[outcome.suppressed_tuples], group) for n, group in enumerate(keys)}
    )
    doomed.unique().write_parquet(maps / "gone.parquet")
    raised = {name: place for place, name in enumerate(lattice.names) if levels[place]}
    chosen = [
        nw.col(f"{LABEL}{raised[name]}").alias(name) if name in raised else nw.col(name)
        for name in names
        if name not in source.identifiers
    ]

    def mapped(frame: Lazy) -> Lazy:
        for place, name in enumerate(lattice.names):
            frame = frame.join(_beside(source, maps / f"{place}.parquet"), on=name, how="left")
        frame = frame.with_columns(*(_key(group).alias(f"{KEY}{n}") for n, group in enumerate(keys)))
        if outcome.suppressed_tuples.any():
            on = [f"{KEY}{n}" for n in range(len(keys))]
            frame = frame.join(_beside(source, maps / "gone.parquet"), on=on, how="anti")
        return frame.select(*chosen)

    return mapped


def _labels(lattice: Lattice, levels: Sequence[int], place: int, codes: NDArray[np.int32]) -> pl.Series:
    words = pl.Series([*lattice.hierarchies[place].labels[levels[place]], None], dtype=pl.String)
    return words.gather(np.where(codes < 0, len(words) - 1, codes))


Group = list[tuple[int, int]]
"""Attributes packed into one key: (place, radix) each."""


def _keys(codes: NDArray[np.int32]) -> list[Group]:
    """Attributes in as few groups as 62 bits allow."""
    radices = [int(column.max(initial=-1)) + 2 for column in codes.T]
    return [[(place, radices[place]) for place in places] for places in columns_by_key(radices)]


def _packed(codes: NDArray[np.int32], group: Group) -> NDArray[np.int64]:
    return pack(len(codes), [codes[:, place] + 1 for place, _ in group], [radix for _, radix in group])


def _key(group: Group) -> nw.Expr:
    """The same as an expression of the engine."""
    key = nw.lit(0, dtype=nw.Int64)
    for place, radix in group:
        key = key * radix + nw.col(f"{CODE}{place}").fill_null(-1).cast(nw.Int64) + 1
    return key


def _beside(source: LazyTable, path: Path) -> Lazy:
    return scan(path, source.engine, _session(source.frame))


def _session(frame: Lazy) -> Any:
    return frame.to_native().sparkSession if engine_of(frame) == "spark" else None


def _sink(frame: Lazy, mapped: Callable[[Lazy], Lazy], data: Path) -> None:
    """Write Parquet files into a new folder; polars writes some records at a time."""
    native = frame.to_native()
    if isinstance(native, pl.LazyFrame):
        data.mkdir()
        with ExitStack() as open_files:
            writer: pq.ParquetWriter | None = None
            for batch in batches(native):
                made = mapped(nw.from_native(batch.lazy())).collect().to_polars().to_arrow()
                if writer is None:
                    writer = open_files.enter_context(pq.ParquetWriter(data / "part-0.parquet", made.schema))
                writer.write_table(made)
        return
    made = mapped(frame)
    engine = engine_of(frame)
    if engine == "dask":
        made.to_native().to_parquet(str(data), write_index=False)
    elif engine == "spark":
        made.to_native().write.parquet(str(data))
    else:
        data.mkdir()
        made.sink_parquet(data / "part-0.parquet")
    for path in data.iterdir():
        if path.suffix != ".parquet" or path.name.startswith("."):
            path.unlink()


# -- the second pass --


def promised(source: LazyTable, lattice: Lattice, levels: Sequence[int], outcome: TupleOutcomes) -> pl.DataFrame:
    """The expected count over the written files, from the tuples alone."""
    columns = [
        _labels(lattice, levels, place, outcome.codes[:, place]).alias(name)
        for place, name in enumerate(lattice.names)
        if levels[place]
    ]
    names = list(source.counts.names)
    kept = source.tuples.with_columns(columns).filter(pl.Series(~outcome.suppressed_tuples))
    return kept.group_by(names).agg(pl.col(RECORDS).sum()).sort(names)


def verified(
    written: pl.DataFrame,
    expected: pl.DataFrame,
    names: Sequence[str],
    outcome: TupleOutcomes,
    k: int,
    l: int,  # noqa: E741
) -> TupleOutcomes:
    """Refuse files that differ from the counts; returns k and l of the files."""
    if not _plain(written).equals(_plain(expected)):
        raise ReleaseRefused(
            f"the written files hold {written[RECORDS].sum()} records in {len(written)} distinct tuples and the counts "
            f"promise {expected[RECORDS].sum()} in {len(expected)}; nothing was released: were the data changed "
            f"meanwhile? count them again"
        )
    others = [name for name in written.columns if name not in (*names, RECORDS)]
    classes = written.group_by(*names).agg(pl.col(RECORDS).sum(), *(_values(written, n) for n in others[:1]))
    found_k = int(np.asarray(classes[RECORDS]).min())
    found_l = int(np.asarray(classes[others[0]]).min()) if others else None
    if found_k < k or (found_l or 0) < l:
        raise ReleaseRefused(
            f"the written files reach k = {found_k} and l = {found_l}, and k = {k} and l = {l} were demanded; nothing "
            f"was released"
        )
    return TupleOutcomes(outcome.codes, outcome.suppressed_tuples, found_k, found_l, outcome.suppressed)


def _values(written: pl.DataFrame, name: str) -> pl.Expr:
    """How many values of a column a class holds: look-alikes are one value, nulls none."""
    column = pl.col(name).drop_nulls()
    if written[name].dtype.is_numeric():
        return column.cast(pl.Float64).round_sig_figs(DIGITS).n_unique()
    labels = written[name].drop_nulls().cast(pl.String).unique().to_list()
    folded = [fold_label(label) for label in labels]
    return column.cast(pl.String).replace_strict(labels, folded, return_dtype=pl.String).n_unique()


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Counts in the same types for every engine."""
    columns = [
        series.cast(pl.Float64) if series.dtype.is_numeric() else series.cast(pl.String)
        for series in frame.drop(RECORDS).get_columns()
    ]
    plain = pl.DataFrame([*columns, frame[RECORDS]])
    return plain.sort(plain.columns)


def _manifest(made: LazyRelease, lattice: Lattice, rule: str, data: Path) -> dict[str, Any]:
    return {
        "format": 1,
        "version": __version__,
        "records": made.records,
        "suppressed": made.suppressed,
        "rule": rule,
        "levels": dict(zip(lattice.names, made.levels, strict=True)),
        "quasi_identifiers": list(lattice.names),
        "guarantees": {"k-anonymity": made.k} | ({} if made.l is None else {"l-diversity (distinct)": made.l}),
        "files": {f"data/{name}": digest for name, digest in digests(data).items()},
    }
