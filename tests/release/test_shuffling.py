"""Files in another order: the same records, none in a place that tells where it stood."""

from __future__ import annotations

import numpy as np
import polars as pl

from crypsis.release import shuffling
from crypsis.release.shuffling import shuffle_files


def test_the_same_records_in_an_order_drawn_at_random(tmp_path, monkeypatch):
    monkeypatch.setattr(shuffling, "PART", 700)
    monkeypatch.setattr(shuffling, "BATCH", 300)
    frame = pl.DataFrame({"n": range(4_000), "t": [str(n) for n in range(4_000)]})
    frame[:1_000].write_parquet(tmp_path / "a.parquet")
    frame[1_000:].write_parquet(tmp_path / "b.parquet")
    shuffle_files(tmp_path, np.random.default_rng(1))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [f"part-{n:03d}.parquet" for n in range(6)]
    order = pl.concat([pl.read_parquet(tmp_path / name) for name in names])
    assert order.sort("n").equals(frame)
    places = np.empty(4_000)
    places[order["n"].to_numpy()] = np.arange(4_000)
    assert abs(np.corrcoef(np.arange(4_000), places)[0, 1]) < 0.06
    assert abs(np.corrcoef(places[:-1], places[1:])[0, 1]) < 0.06, "neighbours are parted"
