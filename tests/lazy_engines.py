"""Engines that count where the data lie, opened once per test module; an absent package steps aside in one line."""

from __future__ import annotations

from contextlib import contextmanager

import polars as pl
import pytest

from crypsis.table.lazy import scan


@contextmanager
def opened(engine: str, path):
    """The Parquet files of a folder as a lazy frame of the engine."""
    if engine == "spark":
        sql = pytest.importorskip("pyspark.sql", reason="pyspark is absent: pip install 'crypsis[spark]'")
        session = (
            sql.SparkSession.builder.master("local[1]")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        yield scan(path, "spark", session)
        session.stop()
    elif engine == "dask":
        distributed = pytest.importorskip("distributed", reason="dask is absent: pip install 'crypsis[dask]'")
        with (
            distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster),
        ):
            yield scan(path, "dask")
    else:
        if engine == "duckdb":
            pytest.importorskip("duckdb", reason="duckdb is absent: pip install 'crypsis[duckdb]'")
        yield scan(path, engine)


def people(rows: int, seed: int = 3) -> pl.DataFrame:
    """A name, age (some missing), region, sex, an illness and a wage."""
    import numpy as np

    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, rows).astype(object)
    age[rng.random(rows) < 0.03] = None
    region = rng.choice(["north", "south", "east", "west", None], rows, p=[0.5, 0.25, 0.15, 0.07, 0.03])
    return pl.DataFrame(
        {
            "name": [f"p{n}" for n in range(rows)],
            "age": pl.Series(age.tolist(), dtype=pl.Int64),
            "region": pl.Series(region.tolist(), dtype=pl.String),
            "sex": rng.choice(["f", "m"], rows).tolist(),
            "illness": rng.choice(["a", "b", "c", "d"], rows, p=[0.6, 0.3, 0.08, 0.02]).tolist(),
            "wage": np.round(rng.normal(100, 20, rows), 2),
        }
    )


QUASI = ("age", "region", "sex")
