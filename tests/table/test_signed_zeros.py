"""−0.0 and 0.0 are one value: in a table, in every file that is written, and in a frame that goes back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crypsis.masking.out_of_core import microaggregate_files
from crypsis.privacy import KAnonymity
from crypsis.release import publish
from crypsis.release.lazy_release import publish_counted
from crypsis.table.encoding import encode_positive_zeros
from crypsis.table.files import read_table, write_table
from crypsis.table.frames import to_frame, wrap
from crypsis.table.lazy import count_lazily
from crypsis.table.table import Table

SIX = [-0.0, 0.0, 0.0, 0.0, 0.0, 0.0]


def signed(values) -> bool:
    """Whether any number is −0.0."""
    numbers = np.asarray(values, dtype=np.float64)
    return bool((np.signbit(numbers) & (numbers == 0)).any())


def frames(values):
    yield pl.DataFrame({"x": values})
    yield pl.DataFrame({"x": pl.Series(values, dtype=pl.Float32)})
    yield pd.DataFrame({"x": values}, index=range(10, 10 + len(values)))
    yield pd.DataFrame({"x": pd.array(values, dtype="Float64")})
    yield pd.DataFrame({"x": pd.Series(values, dtype=object)})
    yield pa.table({"x": values})


def test_a_table_never_holds_a_signed_zero():
    table = Table.from_columns({"x": [-0.0, 1.0]})
    assert not signed(table.column("x"))
    assert not signed(table.with_columns({"x": np.array([1.0, -0.0])}).column("x"))
    frozen = np.array([-0.0, np.nan])
    frozen.setflags(write=False)
    assert not signed(table.with_columns({"x": frozen}).column("x"))
    assert signed(frozen[:1])  # the caller's array is the caller's


@given(st.lists(st.sampled_from([-0.0, 0.0, -1.5, 2.0, float("nan")]), min_size=1))
def test_only_signed_zeros_change(values):
    before = np.array(values)
    after = encode_positive_zeros(before)
    assert not signed(after)
    assert np.array_equal(before, after, equal_nan=True)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("kind", ["numeric", "nominal"])
def test_the_written_bytes_tell_nobody_apart(tmp_path, suffix, kind):
    for place, frame in enumerate(frames([*SIX, 1.5])):
        table = wrap(frame, quasi_identifiers=["x"], kinds={"x": kind})
        path = write_table(table, tmp_path / f"{place}.{suffix}")
        if suffix == "parquet":
            found = pl.read_parquet(path)["x"].cast(pl.Float64).to_list()
            assert not signed(found)
        else:
            found = path.read_text().split()[1:]
        assert len(set(map(str, found))) == 2


@pytest.mark.parametrize("text", ["-0.0", "-0", "-0e3"])
def test_a_file_is_read_and_written_without_them(tmp_path, text):
    (tmp_path / "in.csv").write_text("x,y\n" + f"{text},a\n" + "0.0,b\n" * 5 + "1.5,c\n")
    write_table(read_table(tmp_path / "in.csv", roles={"x": "quasi"}), tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == ["0.0"] * 6 + ["1.5"]


def test_frames_go_back_with_one_zero_and_otherwise_as_they_were():
    for frame in frames([*SIX, None, 1.5]):
        if isinstance(frame, pd.DataFrame) and frame["x"].dtype == object:
            continue  # cells of any type, handed back as they came
        back = to_frame(wrap(frame, quasi_identifiers=["x"]))
        assert type(back) is type(frame)
        column = back["x"]
        cells = column.to_pylist() if isinstance(back, pa.Table) else list(column)
        numbers = [float("nan") if cell is None or cell is pd.NA else float(cell) for cell in cells]
        assert not signed(numbers)
        assert np.array_equal(numbers, [0.0] * 6 + [np.nan, 1.5], equal_nan=True)
        if isinstance(frame, pd.DataFrame):
            pd.testing.assert_frame_equal(back, frame)
        elif isinstance(frame, pl.DataFrame):
            assert back.schema == frame.schema


def test_nominal_zeros_are_one_category():
    table = wrap(pl.DataFrame({"x": [-0.0, 0.0, 1.5]}), kinds={"x": "nominal"})
    assert table.attribute("x").categories == ("0.0", "1.5")


@pytest.mark.parametrize("format", ["csv", "parquet"])
def test_k_by_our_count_is_k_by_the_bytes(tmp_path, format):
    frame = pl.DataFrame({"x": [*SIX, *[1.5] * 6]})
    publish(wrap(frame, quasi_identifiers=["x"]), tmp_path / "out", models=[KAnonymity(k=6)], format=format)
    data = tmp_path / "out" / "public" / f"data.{format}"
    if format == "csv":
        lines = data.read_text().splitlines()[1:]
        assert sorted(map(lines.count, set(lines))) == [6, 6]
    else:
        assert not signed(pl.read_parquet(data)["x"].to_list())


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_counted_data_are_written_without_them(tmp_path, suffix):
    frame = pl.DataFrame({"x": [*SIX, *[1.5] * 6], "wage": [*SIX, *[2.5] * 6]})
    source = tmp_path / f"in.{suffix}"
    frame.write_csv(source) if suffix == "csv" else frame.write_parquet(source)
    held = count_lazily(source, quasi_identifiers=["x"], hierarchies={"x": "intervals:1,2"})
    counted = held.decide_roles({"wage": "other"})
    assert counted.counts.total == 12
    assert not signed(counted.tuples["x"].to_list())
    publish_counted(counted, [0], tmp_path / "out", models=[KAnonymity(k=6)], suppression=0.01)
    written = pl.read_parquet(tmp_path / "out" / "public" / "*.parquet")
    assert not signed(written["x"].to_list())
    assert not signed(written["wage"].to_list())


def test_files_larger_than_memory_are_written_without_them(tmp_path):
    pl.DataFrame({"x": [-0.0] * 6 + [1.0, 2.0, 3.0], "wage": [*SIX, -0.0, 1.0, 2.0]}).write_parquet(
        tmp_path / "in.parquet"
    )
    microaggregate_files(tmp_path / "in.parquet", ["x"], 3, tmp_path / "out", np.random.default_rng(1))
    written = pl.concat([pl.read_parquet(path) for path in sorted((tmp_path / "out").rglob("*.parquet"))])
    assert not signed(written["x"].to_list())
    assert not signed(written["wage"].to_list())
